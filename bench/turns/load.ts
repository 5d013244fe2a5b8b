import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { Agent, request } from "undici"
import { answerOrders } from "./helper.js"
import { type HookRequest, sendable } from "./hook-request.js"
import { at } from "./measurement.js"

/** Messages for some seconds over connections that each wait for their answers; each visitor writes again and again. */
export interface HookLoad {
  url: string
  seconds: number
  connections: number
  /** The most messages a second, of all connections; without, as many as are answered. */
  atMost: number | undefined
  requests: HookRequest[]
}

/** One message of each visitor, evenly over time, whether or not the earlier ones were answered. */
export interface PacedLoad {
  url: string
  perSecond: number
  requests: HookRequest[]
}

/** The result of a load; a paced one has no percentiles. */
export interface HookResult {
  good: number
  bad: number
  seconds: number
  p50: number
  p99: number
}

let messages = 0

async function flood({ url, seconds, connections, atMost = Number.POSITIVE_INFINITY, requests }: HookLoad): Promise<HookResult> {
  const { hostname, port } = new URL(url)
  const begin = performance.now()
  const times: number[] = []
  let [next, bad] = [0, 0]
  const nextRequest = async () => {
    const wait = begin + (next * 1000) / atMost - performance.now()
    const number = next++
    if (wait > 1) await sleep(wait)
    return performance.now() - begin < seconds * 1000 ? asBytes(requests[number % requests.length]!) : null
  }
  const answered = (isGood: boolean, ms: number) => {
    times.push(ms)
    if (!isGood) bad += 1
  }
  await Promise.all(Array.from({ length: connections }, () => converse(connect(Number(port), hostname), nextRequest, answered)))
  times.sort((one, other) => one - other)
  const took = (performance.now() - begin) / 1000
  return { good: times.length - bad, bad, seconds: took, p50: at(times, 0.5), p99: at(times, 0.99) }
}

function asBytes(request: HookRequest): string {
  const { method, path, headers, body } = sendable(request, ++messages)
  const lines = Object.entries({ ...headers, Host: "bench", "Content-Length": body.length }).map(([name, value]) => `${name}: ${value}`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`
}

/** Sends request after request over a connection, each when the one before is answered; by hand, since a client of a library costs more than what is measured. */
function converse(
  socket: Socket,
  nextRequest: () => Promise<string | null>,
  answered: (isGood: boolean, ms: number) => void,
): Promise<void> {
  let begin = 0
  let text = ""
  return new Promise((resolve, reject) => {
    const send = async () => {
      const request = await nextRequest()
      if (request === null) return void socket.end(resolve)
      text = ""
      begin = performance.now()
      socket.write(request)
    }
    socket.setEncoding("latin1").setNoDelay(true)
    socket.on("connect", () => void send()).on("error", reject)
    socket.on("data", (part: string) => {
      text += part
      const end = text.indexOf("\r\n\r\n")
      if (end < 0) return
      const length = /content-length: (\d+)/i.exec(text)
      if (!length) return void reject(new Error(`A response has no length: ${text.slice(0, end)}`))
      if (text.length < end + 4 + Number(length[1])) return
      answered(text.startsWith("HTTP/1.1 20"), performance.now() - begin)
      void send()
    })
  })
}

async function pace({ url, perSecond, requests }: PacedLoad): Promise<HookResult> {
  const dispatcher = new Agent({ connections: 64, keepAliveTimeout: 60_000 })
  const begin = performance.now()
  let good = 0
  const send = async (each: HookRequest) => {
    const { path, ...message } = sendable(each, ++messages)
    const { statusCode, body } = await request(`${url}${path}`, { ...message, dispatcher })
    await body.dump()
    if (statusCode < 300) good += 1
  }
  const sent: Promise<void>[] = []
  for (const [index, each] of requests.entries()) {
    const wait = begin + (index * 1000) / perSecond - performance.now()
    if (wait > 1) await sleep(wait)
    sent.push(send(each))
  }
  await Promise.all(sent)
  await dispatcher.close()
  const seconds = (performance.now() - begin) / 1000
  return { good, bad: requests.length - good, seconds, p50: Number.NaN, p99: Number.NaN }
}

answerOrders<HookLoad | PacedLoad>((order) => ("perSecond" in order ? pace(order) : flood(order)))
