import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import createClient from "openapi-fetch"
import { Webhook } from "standardwebhooks"
import type { components, paths } from "./platform.js"

type Chat = components["schemas"]["Chat"]

const baseUrl = process.env["PLATFORM_URL"] ?? "http://127.0.0.1:4000"
const token = process.env["PLATFORM_TOKEN"] ?? ""
const api = createClient<paths>({ baseUrl, headers: { "X-Access-Token": token } })

/** The account of this run's chats, so that it finds its own. */
const fromId = `tour-${randomUUID()}`

/** An error response of the platform. */
class PlatformError extends Error {
  constructor(readonly body: components["schemas"]["Error"]) {
    super(`${body.code}: ${body.message} (request ${body.requestId})`)
  }
}

/** The data of a successful response; throws otherwise. */
function dataOf<T>({ data, error }: { data?: T; error?: components["schemas"]["Error"] }): T {
  if (data === undefined) throw error ? new PlatformError(error) : new Error("The response has no body")
  return data
}

async function createChat(name: string): Promise<Chat> {
  const body = { messenger: "playground", fromId, externalId: randomUUID(), name } as const
  return dataOf(await api.POST("/api/chats", { body }))
}

/** Every chat of the tour, page by page: each page has the cursor of the next one. */
async function allChats(): Promise<Chat[]> {
  const chats: Chat[] = []
  let cursor: string | null = null
  do {
    const query = { fromId, take: 1, ...(cursor !== null && { cursor }) }
    const page: components["schemas"]["ChatPage"] = dataOf(await api.GET("/api/chats", { params: { query } }))
    chats.push(...page.data)
    cursor = page.nextCursor
  } while (cursor !== null)
  return chats
}

/** Sends the same request twice, as after a lost response: the message is stored once. */
async function sendOnce(chatId: string, words: string): Promise<boolean> {
  const header = { "Idempotency-Key": randomUUID() }
  const send = async () => dataOf(await api.POST("/api/messages", { params: { header }, body: { chatId, text: words } }))
  const [first, second] = [await send(), await send()]
  return first.id === second.id
}

/** Receives an event of an endpoint, and verifies its signature over the bytes as they arrived. */
async function receiveEvent(): Promise<{ type: string; isForgedRefused: boolean }> {
  let secret = ""
  let received = { type: "", isForgedRefused: false }
  const receiver = createServer(async (request, response) => {
    const body = await text(request)
    const headers = request.headers as Record<string, string>
    const event = verified(secret, body, headers)
    if (event) received = { type: event.type, isForgedRefused: verified(secret, `${body} `, headers) === null }
    response.writeHead(event ? 204 : 400).end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`
  const endpoint = dataOf(await api.POST("/api/event-webhooks", { body: { url, types: ["MESSAGE_CREATED"] } }))
  secret = endpoint.secret ?? ""
  const params = { path: { id: endpoint.id } }
  const delivery = dataOf(await api.POST("/api/event-webhooks/{id}/test", { params }))
  if (delivery.status !== "succeeded") throw new Error(`The event was not delivered: ${JSON.stringify(delivery.attempts)}`)
  dataOf(await api.DELETE("/api/event-webhooks/{id}", { params }))
  receiver.close()
  return received
}

/** The event of a request, or null when its signature is not of this secret or older than five minutes. */
function verified(secret: string, body: string, headers: Record<string, string>): { type: string } | null {
  try {
    return new Webhook(secret).verify(body, headers) as { type: string }
  } catch {
    return null
  }
}

const [olena] = [await createChat("Olena"), await createChat("Marcus")]
console.log(
  `chats: ${(await allChats())
    .map(({ name }) => name)
    .sort()
    .join(", ")}`,
)
console.log(`stored once: ${await sendOnce(olena.id, "Your order is on its way.")}`)
const params = { path: { id: olena.id } }
const body = { isUnderAiControl: false, aiDisableReason: "manual" } as const
const control = dataOf(await api.PATCH("/api/chats/{id}/ai-control", { params, body }))
console.log(`AI answers: ${control.isUnderAiControl}`)
const { error } = await api.GET("/api/chats/{id}", { params: { path: { id: randomUUID() } } })
console.log(`refused: ${error?.statusCode} ${error?.code}`)
const event = await receiveEvent()
console.log(`event: ${event.type}, forged refused: ${event.isForgedRefused}`)
