import { otherThan, tell } from "../kit/answers.js"
import type { Attack } from "./attack.js"

const fields = Array.from({ length: 1_200 }, (_, index) => `a${index}: __typename`)
const document = { query: `{ ${fields.join(" ")} }` }

/** What someone without credentials can do: chats without end, and documents that are costly to refuse. */
export const strangers: Attack = {
  title: "strangers who open chats and send large documents",
  isLoad: true,
  async run({ server, attacker }, report) {
    const visit = (n: number) =>
      tell(`${server.url}/hooks/widget/${attacker.widgetId}`, { "x-forwarded-for": "10.66.0.1" }, { text: `Hello ${n}` })
    const visits = await atOnce(10, 3_000, visit)
    const opened = visits.filter(({ code }) => code === "ok").length
    report.note(`${opened} of 3000 chats were opened from one address`)
    report.promise("at most 60 chats a minute are opened from one address", opened > 120 ? [`${opened} were`] : [])
    report.promise("the others are refused for their number", otherThan(["ok", "RATE_LIMITED"], visits))
    const ask = (n: number) => tell(`${server.url}/graphql`, { "x-forwarded-for": `10.67.0.${n % 10}` }, document)
    const answers = await atOnce(10, 600, ask)
    report.promise("the documents are refused", otherThan(["BAD_USER_INPUT", "RATE_LIMITED"], answers))
  },
}

/** Runs a number of requests, so many at once. */
async function atOnce<T>(lanes: number, count: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  let next = 0
  const lane = async () => {
    while (next < count) {
      const n = next
      next += 1
      results.push(await work(n))
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return results
}
