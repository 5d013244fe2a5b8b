import autocannon from "autocannon"
import type { Workload } from "./options.js"
import { type Contestant, type Matter, requestFor } from "./requests.js"

/** One stretch of load. */
export interface LoadOrder {
  contestant: Contestant
  workload: Workload
  url: string
  seconds: number
  connections: number
  matter: Omit<Matter, "chatId" | "text">
  chatIds: string[]
}

/** What came of it. */
export interface LoadResult {
  /** Answers that were right. */
  good: number
  /** Errors, time-outs, statuses other than 2xx, and bodies that carry an error. */
  bad: number
  seconds: number
  p50: number
  p99: number
}

const requestsPerConnection = 250

/** Each connection asks about chats of its own, in an order of its own, so that none is hot. */
function requestsOf({ contestant, workload, matter, chatIds }: LoadOrder, connection: number) {
  return Array.from({ length: requestsPerConnection }, (_, index) => {
    const chatId = chatIds[(connection * requestsPerConnection + index) % chatIds.length]!
    const text = `Message ${index} of connection ${connection}: the parcel left our warehouse this morning and should reach you tomorrow.`
    return requestFor(contestant, workload, { ...matter, chatId, text })
  })
}

async function run(order: LoadOrder): Promise<LoadResult> {
  let connection = 0
  const result = await autocannon({
    url: order.url,
    connections: order.connections,
    duration: order.seconds,
    setupClient: (client) => client.setRequests(requestsOf(order, connection++)),
    verifyBody: (body) => !String(body).includes('"errors":['),
  })
  const { errors, timeouts, non2xx, mismatches } = result
  return {
    good: result["2xx"] - mismatches,
    bad: errors + timeouts + non2xx + mismatches,
    seconds: result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
  }
}

process.on("message", (order: LoadOrder) => {
  run(order).then(
    (result) => process.send!(result),
    (error: unknown) => {
      process.stderr.write(`${error}\n`)
      process.exit(1)
    },
  )
})
process.on("disconnect", () => process.exit(0))
