import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { Agent, request } from "undici"
import { WebSocket } from "ws"
import { answerOrders } from "../turns/helper.js"

/** Opens subscribers: of ours with a selection and perhaps a chat each, or sockets of the reference. */
export interface OpenOrder {
  do: "open"
  url: string
  token: string
  /** What each selects of an event; null for the reference. */
  selection: string | null
  /** The chat of each subscriber; null for all events of the company. */
  chats: (string | null)[]
  /** How many of them stop reading. */
  silent: number
}

/** Publishes for some seconds, and counts the events that every reader has received. */
export interface PublishOrder {
  do: "publish"
  url: string
  token: string
  /** The bodies to post, one after the other; the last one is followed by the first. */
  bodies: string[]
  /** Subscribers that receive each event. */
  readers: number
  seconds: number
}

/** Events a second, and the payload of the last one. */
export interface Published {
  events: number
  perSecond: number
  payload: string
}

/** Events that may be on their way. */
const onTheWay = 8

const dispatcher = new Agent({ keepAliveTimeout: 60_000, connections: onTheWay })
let sockets: WebSocket[] = []
let received = 0
let last = ""

async function open({ url, token, selection, chats, silent }: OpenOrder) {
  const begin = sockets.length
  // A few at a time, as the server accepts them.
  for (let index = 0; index < chats.length; index += 50)
    sockets.push(...(await Promise.all(chats.slice(index, index + 50).map((chatId) => subscriber(url, token, selection, chatId)))))
  for (const socket of sockets.slice(begin, begin + silent)) socket.pause()
  return { open: sockets.length }
}

function subscriber(url: string, token: string, selection: string | null, chatId: string | null): Promise<WebSocket> {
  const id = randomUUID()
  const address = `${url.replace("http", "ws")}/graphql?id=${id}`
  const socket = new WebSocket(address, selection ? "graphql-transport-ws" : [], { perMessageDeflate: false })
  return new Promise((resolve, reject) => {
    socket.on("error", reject)
    socket.on("open", () => {
      if (!selection) return resolve(socket)
      socket.send(JSON.stringify({ type: "connection_init", payload: { accessToken: token } }))
    })
    socket.on("message", (data: Buffer) => {
      // Events are counted and not parsed: their readers must not be what limits the server.
      if (data.includes('"next"')) {
        received += 1
        if (last === "") last = data.toString()
        return
      }
      if (!data.includes("connection_ack")) return
      const query = `subscription ($chatId: UUID) { events(chatId: $chatId) ${selection} }`
      socket.send(JSON.stringify({ id, type: "subscribe", payload: { query, variables: { chatId } } }))
      resolve(socket)
    })
  })
}

async function publish({ url, token, bodies, readers, seconds }: PublishOrder): Promise<Published> {
  received = 0
  last = ""
  let posted = 0
  const begin = performance.now()
  const isOver = () => performance.now() - begin > seconds * 1000
  const headers = { "Content-Type": "application/json", "X-Access-Token": token }
  const work = async () => {
    while (!isOver()) {
      if (posted - received / readers >= onTheWay) {
        await sleep(1)
        continue
      }
      const body = bodies[posted++ % bodies.length]!
      const { statusCode, body: answer } = await request(url, { method: "POST", headers, body, dispatcher })
      const text = await answer.text()
      if (statusCode >= 300) throw new Error(`A message was answered ${statusCode}: ${text}`)
    }
  }
  await Promise.all(Array.from({ length: onTheWay / 2 }, work))
  const events = received / readers
  const perSecond = (events * 1000) / (performance.now() - begin)
  for (let tries = 0; received < posted * readers && tries < 100; tries++) await sleep(100)
  if (received < posted * readers) throw new Error(`${posted * readers - received} of ${posted * readers} events did not arrive`)
  return { events, perSecond, payload: last === "" ? "" : JSON.stringify(JSON.parse(last).payload) }
}

async function close() {
  const closed = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)))
  for (const socket of sockets) socket.terminate()
  await Promise.all(closed)
  sockets = []
  return {}
}

answerOrders<OpenOrder | PublishOrder | { do: "close" }>((order) =>
  order.do === "open" ? open(order) : order.do === "publish" ? publish(order) : close(),
)
