// A connector between a messenger and the platform, over the bridge that docs/channels.md describes. It needs Node.js 20 and no packages:
//   HOOK_URL=… SECRET=… MESSENGER_URL=… PORT=5000 node docs/examples/bridge-connector.js
// The messenger of this example posts { id, user, name, text } to /messages, and takes { to, text, files } at MESSENGER_URL. Change
// fromMessenger() and toMessenger() for yours.
import { createHmac, timingSafeEqual } from "node:crypto"
import { createServer } from "node:http"
import { buffer } from "node:stream/consumers"
import { setTimeout } from "node:timers/promises"

const { HOOK_URL, SECRET, MESSENGER_URL, PORT = "5000", PAUSE_MS = "1000" } = process.env

/** A customer's message in the messenger's words, as an event of the bridge. */
const fromMessenger = ({ id, user, name, text }) => ({ messageId: id, chat: { externalId: user, name }, text })

/** Sends a message of the platform to the customer; returns the messenger's ID of it. */
async function toMessenger({ chat, text, media }) {
  const body = JSON.stringify({ to: chat.externalId, text, files: media.map(({ url }) => url) })
  const response = await fetch(MESSENGER_URL, { method: "POST", headers: { "content-type": "application/json" }, body })
  if (!response.ok) throw new Error(`the messenger answered ${response.status}`)
  return (await response.json()).id
}

const signatureOf = (body) => `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`

function isSigned(body, signature = "") {
  const [given, expected] = [Buffer.from(signature), Buffer.from(signatureOf(body))]
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** Posts an event to the platform until it is stored. A repeated event does no harm: the platform knows it by its messageId. */
async function report(event) {
  const body = JSON.stringify(event)
  const headers = { "content-type": "application/json", "x-signature": signatureOf(body) }
  for (let pause = Number(PAUSE_MS); ; pause = Math.min(pause * 2, 60_000)) {
    const response = await fetch(HOOK_URL, { method: "POST", headers, body }).catch(() => null)
    if (response?.ok) return
    // Another try would be refused too.
    if (response && response.status < 500 && response.status !== 429) return console.error("refused:", await response.text())
    await setTimeout(pause)
  }
}

/** Events of a customer wait for each other, so that they arrive in order. Keep them in a database, where they survive a restart. */
const queues = new Map()
function enqueue(event) {
  const key = event.chat.externalId
  const sent = (queues.get(key) ?? Promise.resolve()).then(() => report(event))
  queues.set(key, sent)
  void sent.then(() => queues.get(key) === sent && queues.delete(key))
}

/** Messenger's IDs of what was delivered, by messageId: the platform repeats a message whose response was lost. Keep them in a database. */
const delivered = new Map()
async function deliver(message) {
  if (!delivered.has(message.messageId)) delivered.set(message.messageId, toMessenger(message))
  try {
    return { status: 200, json: { externalId: await delivered.get(message.messageId) } }
  } catch (error) {
    // The platform sends it again.
    delivered.delete(message.messageId)
    return { status: 503, json: { error: error.message } }
  }
}

async function answer(request) {
  const body = await buffer(request)
  if (request.method !== "POST") return { status: 405, json: {} }
  if (request.url === "/messages") {
    enqueue(fromMessenger(JSON.parse(body)))
    return { status: 202, json: {} }
  }
  if (request.url !== "/deliver") return { status: 404, json: {} }
  return isSigned(body, request.headers["x-signature"]) ? deliver(JSON.parse(body)) : { status: 401, json: { error: "wrong signature" } }
}

const server = createServer(async (request, response) => {
  const { status, json } = await answer(request).catch(() => ({ status: 400, json: { error: "the request cannot be read" } }))
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json))
})
server.listen(Number(PORT), "127.0.0.1", () => console.log(`deliveryUrl: http://127.0.0.1:${server.address().port}/deliver`))
