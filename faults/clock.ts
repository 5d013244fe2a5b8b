import { type Report, worst } from "../test/kit/campaign/report.js"
import { must, sleep } from "../test/kit/campaign/wait.js"
import { type Chance, count } from "./kit/chance.js"
import { gaps, notToldOnce, storedIn } from "./kit/store.js"
import { type Deployment, post } from "./kit/test-bed.js"

/** What a clock campaign is to do. */
export interface ClockSize {
  customers: number
  /** Pause between two questions. */
  pauseMs: number
  /** The debounce: longer than all questions take, so that every due time is in memory when its instance is killed. */
  debounceMs: number
}

/** How late a turn may start whose instance was killed before its due time. */
const latestMs = 2_000

/** An instance is killed with all due times in its memory; the other one finds the rows. */
export async function clockCampaign(deployment: Deployment, report: Report, _chance: Chance, size: ClockSize) {
  const { customers, pauseMs, debounceMs } = size
  const times = { REPLY_DEBOUNCE_MS: String(debounceMs), REPLY_MAX_WAIT_MS: String(debounceMs) }
  const [receiver] = await Promise.all(["clock-a", "clock-b"].map((name) => deployment.start(name, times)))
  const chatIds: string[] = []
  const begin = performance.now()
  for (const index of count(customers)) {
    const body = { text: `Please answer clock-${index}`, messageId: `clock-${index}` }
    const { status, body: taken } = await post(`${receiver!.url}/hooks/widget/${deployment.widgetId}`, null, body)
    if (status !== 201) throw new Error(`The widget's hook answered ${status}: ${JSON.stringify(taken)}`)
    chatIds.push(taken.chatId)
    await sleep(Math.max(0, begin + (index + 1) * pauseMs - performance.now()))
  }
  const askedMs = performance.now() - begin
  await receiver!.kill()
  const answered = "select count(*)::integer as count from message where role = 'Assistant'"
  await must("everybody is answered", async () => (await deployment.sql(answered))[0].count >= customers, debounceMs + 60_000)
  const late: number[] = (
    await deployment.sql(
      `select extract(epoch from min(t.started_at) - min(m.created_at)) * 1000 - $1 as ms
       from message m join assistant_turn t using (chat_id) where m.role = 'Customer' group by chat_id`,
      [debounceMs],
    )
  ).map(({ ms }) => Number(ms))
  const stored = await storedIn(deployment, chatIds)
  const answers = chatIds.map((id) => stored.filter((each) => each.chatId === id && each.role === "Assistant").length)
  report.note(`${customers} questions in ${worst([askedMs])}, then kill -9; the latest turn began ${worst(late)} after its due time`)
  report.check("all due times were in the memory of the killed instance", askedMs < debounceMs ? [] : [`asking took ${worst([askedMs])}`])
  report.check(
    "each question is answered once",
    answers.flatMap((times, index) => (times === 1 ? [] : [`clock-${index}: ${times}`])),
  )
  report.check(
    `each turn began within ${latestMs} ms of its due time, and not before`,
    late.filter((ms) => ms > latestMs || ms < 0).map((ms) => `${Math.round(ms)} ms`),
  )
  report.check("messages are numbered without gaps, with one event each", [...gaps(stored), ...notToldOnce(stored)])
}
