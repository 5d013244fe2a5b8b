import type { Instance } from "../../test/kit/campaign/instance.js"
import { must } from "../../test/kit/campaign/wait.js"
import type { Heard, Listener } from "./listener.js"
import type { Deployment } from "./test-bed.js"

/** A message as it is stored, with the events that tell of its creation. */
export interface Stored {
  id: string
  chatId: string
  sequence: number
  role: string
  text: string
  /** Places in the log, null before it has one. */
  positions: (string | null)[]
}

/** All messages of some chats in their order. */
export async function storedIn(deployment: Deployment, chatIds: string[]): Promise<Stored[]> {
  const rows = await deployment.sql(
    `select m.id, m.chat_id as "chatId", m.sequence, m.role, m.text,
       coalesce((select json_agg(e.position::text order by e.id) from event e
         where e.chat_id = m.chat_id and e.type = 'MESSAGE_CREATED' and e.payload->'message'->>'id' = m.id::text), '[]') as positions
     from message m where m.chat_id = any($1::uuid[]) order by m.chat_id, m.sequence`,
    [chatIds],
  )
  return rows as Stored[]
}

/** Every event of these messages has its place: nothing is left for the sequencer. */
export const allPlaced = (deployment: Deployment) =>
  must(
    "all events have their places",
    async () => (await deployment.sql("select 1 from event where position is null limit 1")).length === 0,
  )

/** Waits until nothing is due or running, and stops the servers: what is stored now is final. */
export async function comeToRest(deployment: Deployment, instances: Instance[]) {
  await must("nothing is due or running", async () => {
    const open = await deployment.sql("select 1 from chat where reply_due_at is not null or turn_id is not null limit 1")
    return open.length === 0 && deployment.model.isQuiet
  })
  await allPlaced(deployment)
  await Promise.all(instances.map((instance) => instance.stop()))
}

/** Chats whose messages are not numbered 1, 2, 3 … */
export function gaps(stored: Stored[]): string[] {
  const next = new Map<string, number>()
  return stored.flatMap(({ chatId, sequence }) => {
    const expected = next.get(chatId) ?? 1
    next.set(chatId, sequence + 1)
    return sequence === expected ? [] : [`chat ${chatId}: ${sequence} stands where ${expected} is due`]
  })
}

/** Messages that do not have exactly one event of their creation. */
export const notToldOnce = (stored: Stored[]) =>
  stored.flatMap(({ text, positions }) => (positions.length === 1 ? [] : [`"${text}" has ${positions.length} events`]))

/** Where what a subscriber heard of messages differs from what the log tells in its order: lost, twice, or out of order. */
export function misheard(who: string, listener: Pick<Listener, "heard" | "refusals"> | null, stored: Stored[]): string[] {
  const heard = (listener?.heard ?? []).filter(({ type }) => type === "MESSAGE_CREATED")
  const position = ({ positions: [place] }: Stored) => BigInt(place ?? 0)
  const told = [...stored].sort((one, other) => Number(position(one) - position(other)))
  const ids = heard.map(({ message }) => message!.id)
  const faults = [...(listener?.refusals ?? ["never listened"])]
  const wrong = told.findIndex(({ id }, index) => ids[index] !== id)
  if (wrong >= 0) faults.push(`event ${wrong + 1} should tell "${told[wrong]!.text}" and told ${spoken(heard[wrong])}`)
  else if (ids.length !== told.length) faults.push(`${ids.length} events were heard, ${told.length} messages stored`)
  return faults.map((fault) => `${who}: ${fault}`)
}

const spoken = (heard: Heard | undefined) => (heard?.message ? `"${heard.message.text}"` : "nothing")

/** All that is known of a question: its chat, messages and turns, what waits, the calls of the model, and what the database does. */
export async function traceOf({ sql, model }: Deployment, chatId: string, tag: string) {
  const sessions = "select pid, state, wait_event, now() - xact_start as age, left(query, 200) as query from pg_stat_activity"
  return {
    chat: await sql("select * from chat where id::text = $1", [chatId]),
    messages: await sql("select * from message where chat_id::text = $1 order by sequence", [chatId]),
    turns: await sql("select * from assistant_turn where chat_id::text = $1", [chatId]),
    items: await sql("select i.* from channel_item i where i::text like '%' || $1 || '%'", [tag]),
    sessions: await sql(sessions),
    modelCalls: [...model.calls.entries()].filter(([question]) => question.includes(tag)),
  }
}
