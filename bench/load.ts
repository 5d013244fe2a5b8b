import autocannon from "autocannon"
import type { Workload } from "./options.js"
import { type Contestant, requestFor } from "./requests.js"
import { type Samples, sampleOf } from "./samples.js"

/** Load to generate: a number of seconds of a workload, or a number of message writes, each to the next chat. */
export interface LoadOrder {
  contestant: Contestant
  workload: Workload
  url: string
  connections: number
  token: string
  companyId: string
  cursor: string | null
  samples: Samples
  seconds?: number
  writes?: number
}

/** The result of a load. */
export interface LoadResult {
  /** Correct responses. */
  good: number
  /** Errors, time-outs, statuses other than 2xx, and bodies that carry an error. */
  bad: number
  seconds: number
  p50: number
  p99: number
}

const requestsPerConnection = 250

function request(order: LoadOrder, number: number) {
  const { contestant, workload, token, companyId, cursor, samples } = order
  const text = `Message ${number}: the parcel left our warehouse this morning and should reach you tomorrow.`
  return requestFor(contestant, workload, { token, companyId, cursor, text, ...sampleOf(samples, workload, number) })
}

/** Each connection has its own samples in its own order, so that no row is hot. */
const requestsOf = (order: LoadOrder, connection: number) =>
  Array.from({ length: requestsPerConnection }, (_, index) => request(order, connection * requestsPerConnection + index))

/** A request that differs each time. */
function endless(order: LoadOrder, connection: number): autocannon.Request[] {
  let number = connection
  const setupRequest = (built: autocannon.Request) => {
    number += order.connections
    return Object.assign(built, request(order, number))
  }
  return [{ ...request(order, number), setupRequest }]
}

async function run(order: LoadOrder): Promise<LoadResult> {
  let connection = 0
  const result = await autocannon({
    url: order.url,
    connections: order.connections,
    ...(order.writes ? { amount: order.writes } : { duration: order.seconds }),
    setupClient: (client) => client.setRequests(order.writes ? endless(order, connection++) : requestsOf(order, connection++)),
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
