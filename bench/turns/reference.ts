import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import { createServer, type IncomingMessage } from "node:http"
import pg from "pg"
import { v7 } from "uuid"
import { hookSecret, signatureOf } from "./hook-request.js"
import { runDeliveries } from "./reference-deliveries.js"
import { firstInbound, inbound, inboundOfChannel } from "./reference-statements.js"
import { runTurns } from "./reference-turns.js"

/**
 * The reference: what a customer's message and an assistant's turn cost at least. Plain node:http, one hand-written prepared statement for each
 * message, two for each turn, each delivery and each call of a tool; the rows and events are those of ours.
 */
const { DATABASE_URL, DELIVERY_URL, JWT_SECRET, OPENAI_BASE_URL, REPLY_DEBOUNCE_MS, REPLY_MAX_WAIT_MS } = process.env
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10, idleTimeoutMillis: 0 })
const turns = runTurns(pool, OPENAI_BASE_URL!)
runDeliveries(pool, DELIVERY_URL!)
const pauses = [Number(REPLY_DEBOUNCE_MS), Number(REPLY_MAX_WAIT_MS)]
const head = Buffer.from(JSON.stringify({ alg: "HS256", typ: "JWT" })).toString("base64url")
const digestOf = (signed: string) => createHmac("sha256", JWT_SECRET!).update(signed).digest()

function sign(chatId: string, companyId: string): string {
  const now = Math.floor(Date.now() / 1000)
  const claims = { typ: "visitor", sub: chatId, cid: companyId, iat: now, exp: now + 30 * 24 * 60 * 60 }
  const signed = `${head}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`
  return `${signed}.${digestOf(signed).toString("base64url")}`
}

function verify(token: string): { sub: string; cid: string } {
  const end = token.lastIndexOf(".")
  const given = Buffer.from(token.slice(end + 1), "base64url")
  const signature = digestOf(token.slice(0, end))
  if (given.length !== signature.length || !timingSafeEqual(given, signature)) throw new Error("The token is not signed by us")
  const claims = JSON.parse(Buffer.from(token.slice(token.indexOf(".") + 1, end), "base64url").toString())
  if (claims.typ !== "visitor" || claims.exp * 1000 < Date.now()) throw new Error("The token is no visitor's, or too old")
  return claims
}

/** A message of the bridge or of Telegram; who sent it is proven as over ours. */
async function receiveOfChannel(request: IncomingMessage): Promise<object> {
  const [, , messenger, connectionId] = request.url!.split("/")
  const body = await bodyOf(request)
  const isBridge = messenger === "custom-messenger"
  const given = Buffer.from(String(request.headers[isBridge ? "x-signature" : "x-telegram-bot-api-secret-token"]))
  const expected = Buffer.from(isBridge ? signatureOf(body) : hookSecret)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw new Error("The request is not signed")
  const event = JSON.parse(body)
  const message = isBridge
    ? { customer: event.chat.externalId, text: event.text, externalId: event.messageId }
    : { customer: String(event.message.chat.id), text: event.message.text, externalId: String(event.message.message_id) }
  if (typeof message.text !== "string" || message.text.trim() === "" || message.text.length > 16_000) throw new Error("There is no text")
  const id = v7()
  const values = [id, connectionId, messenger, message.customer, message.text, message.externalId]
  const { rows } = await pool.query({ name: "inbound-of-channel", text: inboundOfChannel, values })
  if (rows.length === 0) throw new Error("The message was not stored")
  return { chatId: rows[0].id, messageId: id }
}

async function receive(request: IncomingMessage): Promise<object> {
  if (!request.url!.startsWith("/hooks/widget/")) return receiveOfChannel(request)
  const widgetId = request.url!.slice("/hooks/widget/".length)
  const { text, messageId, visitorToken } = JSON.parse(await bodyOf(request))
  if (typeof text !== "string" || text.trim() === "" || text.length > 10_000) throw new Error("There is no text")
  const id = v7()
  if (visitorToken) {
    const { sub: chatId, cid: companyId } = verify(visitorToken)
    const values = [id, chatId, companyId, widgetId, text, messageId, ...pauses]
    const { rows } = await pool.query({ name: "inbound", text: inbound, values })
    if (rows.length === 0) throw new Error("The message was not stored")
    if (rows[0].due !== null) turns.expect(chatId, rows[0].due)
    return { chatId, messageId: id, visitorToken: sign(chatId, companyId) }
  }
  const chatId = v7()
  const address = String(request.headers["x-forwarded-for"])
  const visitor = `visitor:${createHash("sha256")
    .update(JSON.stringify([messageId, address, text]))
    .digest("hex")}`
  const { rows } = await pool.query({
    name: "first-inbound",
    text: firstInbound,
    values: [id, chatId, widgetId, visitor, text, messageId, pauses[0]],
  })
  if (rows.length === 0) throw new Error("There is no such widget")
  turns.expect(chatId, rows[0].due)
  return { chatId, messageId: id, visitorToken: sign(chatId, rows[0].company_id) }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}

createServer((request, response) => {
  const send = (status: number, body: object) => {
    const text = JSON.stringify(body)
    response.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) }).end(text)
  }
  if (request.method !== "POST") return send(200, { status: "ready" })
  receive(request).then(
    (stored) => send(201, stored),
    (error: unknown) => send(500, { error: String(error) }),
  )
}).listen(Number(process.env["PORT"]), "127.0.0.1")
