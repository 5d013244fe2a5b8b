import { setTimeout as sleep } from "node:timers/promises"
import { Agent, request } from "undici"
import { answerOrders } from "./helper.js"

/** Begins to read a company's inbox again and again, or ends it and returns the readings. */
export type PersonOrder = { url: string; token: string } | "end"

/** Requests of the person: when each was sent, in milliseconds since the epoch, and how long it took. */
export interface Readings {
  readings: { at: number; ms: number }[]
}

const query = `{ chats(first: 20) { nodes { id name unreadCount isUnderAiControl lastMessageAt } pageInfo { hasNextPage endCursor } } }`
const pauseMs = 20
const dispatcher = new Agent({ keepAliveTimeout: 60_000 })

let isOver = true
let reading: Promise<Readings["readings"]> = Promise.resolve([])

async function read({ url, token }: { url: string; token: string }): Promise<Readings["readings"]> {
  const readings: Readings["readings"] = []
  while (!isOver) {
    const [at, begin] = [Date.now(), performance.now()]
    const headers = { "Content-Type": "application/json", "X-Access-Token": token }
    const { statusCode, body } = await request(`${url}/graphql`, { method: "POST", headers, body: JSON.stringify({ query }), dispatcher })
    const text = await body.text()
    readings.push({ at, ms: performance.now() - begin })
    if (statusCode !== 200 || text.includes('"errors"')) throw new Error(`A person's request answered ${statusCode}: ${text}`)
    await sleep(pauseMs)
  }
  return readings
}

answerOrders<PersonOrder>(async (order) => {
  isOver = order === "end"
  if (order !== "end") {
    reading = read(order)
    // Its failure is reported when the reading ends.
    reading.catch(() => {})
    return {}
  }
  return { readings: await reading }
})
