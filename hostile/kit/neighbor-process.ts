import { once } from "node:events"
import { Agent, request } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { Worker } from "node:worker_threads"

/** What the process is to do: the small query of a company, again and again, with a pause between two of them. */
export interface NeighborOrder {
  url: string
  /** Used in turn. */
  tokens: string[]
  /** The chat to which the company writes a message now and then, so that it has events. */
  chatId: string
  /** The text that all data of the company contain. */
  marker: string
  /** The text that no answer may contain. */
  foreignMarker: string
  pauseMs: number
}

/** What it saw since it was asked last. */
export interface NeighborSight {
  /** Milliseconds of each answer. */
  times: number[]
  /** The same of a server that does nothing: how long the machine itself delays an answer. */
  idleTimes: number[]
  seconds: number
  faults: string[]
}

// A process of its own: what it measures must not wait for the generator of the requests.
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const idle = new Worker(
  `const server = require("node:http").createServer((request, response) => request.resume().on("end", () => response.end("{}")))
  server.listen(0, "127.0.0.1", () => require("node:worker_threads").parentPort.postMessage(server.address().port))`,
  { eval: true },
)
const [idlePort] = await once(idle, "message")
const query = JSON.stringify({ query: "{ chatFolders { id name } }" })
let order: NeighborOrder | null = null
let sight: NeighborSight = { times: [], idleTimes: [], seconds: 0, faults: [] }
let since = performance.now()

process.on("message", (message: NeighborOrder | "read" | "stop") => {
  if (message === "stop") {
    order = null
    return
  }
  if (message === "read") {
    process.send!({ ...sight, seconds: (performance.now() - since) / 1_000 })
    sight = { times: [], idleTimes: [], seconds: 0, faults: [] }
    since = performance.now()
    return
  }
  order = message
})

/** Sends a body; returns the answer's text. */
let requests = 0
function ask(given: NeighborOrder, path: string, body: string): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(given.url)
  requests += 1
  const headers = {
    "content-type": "application/json",
    "x-access-token": given.tokens[requests % given.tokens.length],
    "content-length": Buffer.byteLength(body),
  }
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method: "POST", headers, agent, timeout: 30_000 }, (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (part) => {
        text += part
      })
      response.on("end", () => resolve({ status: response.statusCode!, text }))
      response.on("error", reject)
    })
    sent.on("error", reject)
    sent.on("timeout", () => sent.destroy(new Error("no answer in 30 s")))
    sent.end(body)
  })
}

async function run() {
  let writtenAt = performance.now()
  for (;;) {
    const given = order
    if (!given) {
      await sleep(5)
      continue
    }
    const begin = performance.now()
    try {
      const { status, text } = await ask(given, "/graphql", query)
      sight.times.push(performance.now() - begin)
      if (status !== 200 || !text.includes(given.marker) || text.includes(given.foreignMarker))
        sight.faults.push(`${status}: ${text.slice(0, 300)}`)
      if (performance.now() - writtenAt > 1_000) {
        writtenAt = performance.now()
        await ask(given, "/api/messages", JSON.stringify({ chatId: given.chatId, text: `A message ${given.marker}` }))
      }
    } catch (error) {
      sight.times.push(performance.now() - begin)
      if (order) sight.faults.push(String(error))
    }
    if (given.pauseMs === 0) continue
    const middle = performance.now()
    await ask({ ...given, url: `http://127.0.0.1:${idlePort}` }, "/", query)
    sight.idleTimes.push(performance.now() - middle)
    await sleep(given.pauseMs)
  }
}

await run()
