import type { BenchChat } from "./chats.js"
import type { Deployment } from "./deployment.js"
import { until } from "./rounds.js"
import type { Side } from "./sides.js"
import type { Seen } from "./stand-ins.js"

/** A chat that was answered once; times are milliseconds since the epoch. */
export interface AnsweredChat {
  tag: string
  /** When the customer's last message was received, and when its answer was in the database. */
  askedAt: number
  storedAt: number
  turnBeganAt: number
  turnEndedAt: number
}

/** Waits until every chat of a batch is answered; the stand-in for the model knows first, without a query that would disturb. */
export async function awaitAnswers({ standIns }: Deployment, { client, contestant }: Side, chats: BenchChat[], seconds: number) {
  await until(`the model is asked by ${contestant} for ${chats.length} answers`, seconds, async () => {
    const { concluded } = await standIns.ask<{ concluded: number }>("concluded")
    return concluded >= chats.length
  })
  await until(`${contestant} stores all answers`, seconds, async () => {
    const { rowCount } = await client.query("select 1 from chat where reply_due_at is not null or turn_lease_until is not null limit 1")
    return rowCount === 0
  })
}

/** Throws unless every chat of a batch was answered exactly once, with its frames, events and turn; returns when, and how many turns failed before and were run again. */
export async function proveAnswered(
  { standIns }: Deployment,
  { client, contestant }: Side,
  chats: BenchChat[],
  calls: 0 | 1,
): Promise<{ answered: AnsweredChat[]; failed: number; tookMs: Seen["tookMs"] }> {
  const seen = await standIns.ask<Seen>("seen")
  const wanted = chats.length
  const wrong = (what: string) => new Error(`Of ${wanted} chats of ${contestant} ${what}`)
  if (seen.called !== wanted * calls) throw wrong(`the tool was called ${seen.called} times`)
  const { rows } = await client.query(proof, [chats.map(({ id }) => id)])
  const tags = new Map(chats.map(({ id, tag }) => [id, tag]))
  const answered = rows.map(({ id, asked, stored, began, ended, answers, frames, told, turns, calls: logged, is_idle: isIdle }) => {
    const isRight = answers === 1 && turns === 1 && frames === 2 * calls && logged === calls && told === 1 + 2 * calls && isIdle
    if (!isRight) throw wrong(`${id} has ${answers} answers, ${turns} answered turns, ${frames} frames, ${told} events, ${logged} calls`)
    return { tag: tags.get(id)!, askedAt: asked, storedAt: stored, turnBeganAt: began, turnEndedAt: ended }
  })
  if (answered.length !== wanted) throw wrong(`${answered.length} are there`)
  // Their cost is a part of the figures, and their number belongs beside them.
  const failed = rows.reduce((sum, each) => sum + each.failed, 0)
  return { answered, failed, tookMs: seen.tookMs }
}

const ms = (time: string) => `(extract(epoch from ${time}) * 1000)::float8`

/** Only what follows the customer's last message counts. */
const proof = `
  select c.id, ${ms("asked.at")} as asked, ${ms("said.stored")} as stored, ${ms("took.began")} as began, ${ms("took.ended")} as ended,
    said.answers, said.frames, told.events as told, took.turns, took.failed, called.calls,
    c.reply_due_at is null and c.turn_id is null and c.open_calls = '[]' as is_idle
  from chat c
    cross join lateral (
      select created_at as at, sequence from message m where m.chat_id = c.id and role = 'Customer' order by sequence desc limit 1) asked
    cross join lateral (
      select count(*) filter (where type = 'Text')::int as answers, count(*) filter (where type <> 'Text')::int as frames,
        max(stored_at) filter (where type = 'Text') as stored
      from message m where m.chat_id = c.id and m.sequence > asked.sequence and role = 'Assistant') said
    cross join lateral (
      select count(*) filter (where outcome = 'answered')::int as turns, count(*) filter (where outcome <> 'answered')::int as failed, min(started_at) as began, max(ended_at) as ended
      from assistant_turn t where t.chat_id = c.id) took
    cross join lateral (
      select count(*)::int as calls from tool_call t where t.chat_id = c.id) called
    left join (
      select chat_id, count(*)::int as events from event
      where type = 'MESSAGE_CREATED' and payload -> 'message' ->> 'role' = 'Assistant' group by chat_id) told on told.chat_id = c.id
  where c.id = any($1::uuid[])`
