import { longest, type Report, worst } from "../test/kit/campaign/report.js"
import { must, sleep } from "../test/kit/campaign/wait.js"
import { type Chance, count } from "./kit/chance.js"
import { gaps, notToldOnce, storedIn } from "./kit/store.js"
import { type Deployment, post } from "./kit/test-bed.js"

/** What a clock campaign is to do. */
export interface ClockSize {
  /** How many ask, where the machine is fast enough. */
  customers: number
  /** The debounce: nobody asks after half of it, so that every due time is in memory when its instance is killed. */
  debounceMs: number
}

/** How late a turn may start whose instance was killed before its due time. */
const latestMs = 2_000
/** The share of the debounce in which customers ask. */
const askingShare = 1 / 2

/** An instance is killed with all due times in its memory; the other one finds the rows. */
export async function clockCampaign(deployment: Deployment, report: Report, _chance: Chance, size: ClockSize) {
  const { customers, debounceMs } = size
  const times = { REPLY_DEBOUNCE_MS: String(debounceMs), REPLY_MAX_WAIT_MS: String(debounceMs) }
  const [receiver] = await Promise.all(["clock-a", "clock-b"].map((name) => deployment.start(name, times)))
  const chatIds: string[] = []
  const begin = performance.now()
  const askingMs = debounceMs * askingShare
  for (const index of count(customers)) {
    if (performance.now() - begin > askingMs) break
    const body = { text: `Please answer clock-${index}`, messageId: `clock-${index}` }
    const { status, body: taken } = await post(`${receiver!.url}/hooks/widget/${deployment.widgetId}`, null, body)
    if (status !== 201) throw new Error(`The widget's hook answered ${status}: ${JSON.stringify(taken)}`)
    chatIds.push(taken.chatId)
    await sleep(Math.max(0, begin + (index + 1) * (askingMs / customers) - performance.now()))
  }
  const askedMs = performance.now() - begin
  await receiver!.kill()
  // Judged here, while the machine is as fast as it was during the questions.
  await report.reached("due times in the memory of the killed instance", chatIds.length, customers)
  const answered = "select count(*)::integer as count from message where role = 'Assistant'"
  await must("everybody is answered", async () => (await deployment.sql(answered))[0].count >= chatIds.length, debounceMs + 60_000)
  const late: number[] = (
    await deployment.sql(
      `select extract(epoch from min(t.started_at) - min(m.created_at)) * 1000 - $1 as ms
       from message m join assistant_turn t using (chat_id) where m.role = 'Customer' group by chat_id`,
      [debounceMs],
    )
  ).map(({ ms }) => Number(ms))
  const stored = await storedIn(deployment, chatIds)
  const answers = chatIds.map((id) => stored.filter((each) => each.chatId === id && each.role === "Assistant").length)
  report.note(`${chatIds.length} questions in ${worst([askedMs])}, then kill -9; the latest turn began ${worst(late)} after its due time`)
  report.promise(
    "each question is answered once",
    answers.flatMap((times, index) => (times === 1 ? [] : [`clock-${index}: ${times}`])),
  )
  report.promise(
    "no turn began before its due time",
    late.filter((ms) => ms < 0).map((ms) => `${Math.round(ms)} ms`),
  )
  await report.pace("the latest turn began after its due time", longest(late), latestMs)
  report.promise("messages are numbered without gaps, with one event each", [...gaps(stored), ...notToldOnce(stored)])
}
