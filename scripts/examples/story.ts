import type { Demo } from "../../src/admin/demo.js"
import type { Caller, Player } from "./player.js"

/** The demo, and the servers that it calls. */
export interface Participants {
  demo: Demo
  /** The address of a server of the company's own, which takes requests of tools and events. */
  shopUrl: string
  /** The MCP server of an order book. */
  orderBookUrl: string
}

interface Session extends Participants {
  player: Player
  token: Caller
  owner: Caller
}

const onceOnly = { "Idempotency-Key": "delivery-of-4711" }

/** Uses each route of the API once, as a company would that sets up its assistant and answers its customers. */
export async function play(player: Player, participants: Participants): Promise<void> {
  const { demo } = participants
  const signedIn = await player.ask("POST /api/auth/sign-in", {}, { body: { email: demo.email, password: demo.password } })
  const renewed = await player.ask("POST /api/auth/refresh", {}, { body: { refreshToken: signedIn.refreshToken } })
  const session = {
    ...participants,
    player,
    owner: { Authorization: `Bearer ${renewed.accessToken}` },
    token: { "X-Access-Token": demo.token },
  }
  await setsUp(session)
  await buildsAssistant(session)
  const chat = await chats(session)
  await sortsChats(session, chat)
  await calls(session)
  await looksBack(session, chat)
  await refusals(session, chat)
  await tidiesUp(session, chat)
}

async function setsUp({ player, owner, token, demo, shopUrl }: Session) {
  await player.ask("GET /api/auth/me", owner)
  await player.ask("GET /api/companies/my", owner)
  await player.ask("GET /api/companies/{id}", token, { ids: [demo.companyId] })
  const tokens = "/api/companies/{companyId}/access-tokens"
  const made = await player.ask(`POST ${tokens}`, owner, { ids: [demo.companyId], body: { name: "Web shop", readOnly: true } })
  await player.ask(`PATCH ${tokens}/{tokenId}`, owner, { ids: [demo.companyId, made.id], body: { name: "Web shop, reports" } })
  await player.refused(403, "POST /api/chat-tags", { "X-Access-Token": made.token }, { body: { name: "Spare parts" } })
  const isNoted = (all: { lastUsedAt: string | null }[]) => all.every(({ lastUsedAt }) => lastUsedAt !== null)
  await player.askUntil("the use of both tokens is noted", `GET ${tokens}`, owner, { ids: [demo.companyId] }, isNoted)
  await player.ask(`DELETE ${tokens}/{tokenId}`, owner, { ids: [demo.companyId, made.id] })

  const webhooks = "/api/event-webhooks"
  const body = { url: `${shopUrl}/events`, types: ["MESSAGE_CREATED", "CHAT_UPDATED"] }
  const { id } = await player.ask(`POST ${webhooks}`, token, { body })
  await player.ask(`PATCH ${webhooks}/{id}`, token, { ids: [id], body: { types: ["MESSAGE_CREATED"], ordered: true } })
  await player.ask(`POST ${webhooks}/{id}/rotate-secret`, token, { ids: [id] })
  await player.ask(`GET ${webhooks}/{id}`, token, { ids: [id] })
  await player.ask(`GET ${webhooks}`, token)
}

async function buildsAssistant({ player, token, demo, shopUrl, orderBookUrl }: Session) {
  const made = await player.ask("POST /api/assistants-new", token, {
    body: {
      name: "Returns desk",
      prompt: "You help customers to return a lamp.",
      greeting: "Hello! What may we take back?",
      language: "en",
      vaRegistration: { provider: "simulated", voiceId: "calm", interruptible: true, silenceTimeoutSeconds: 20, maxDurationSeconds: 300 },
    },
  })
  const ids = [made.id]
  const isReady = (assistant: { voiceAgentStatus: string }) => assistant.voiceAgentStatus === "ready"
  await player.askUntil("the voice agent is made", "GET /api/assistants-new/{id}", token, { ids }, isReady)
  await player.ask("PATCH /api/assistants-new/{id}", token, { ids, body: { temperature: 0.2, excludedTags: ["VIP"] } })
  await player.ask("GET /api/assistants-new/{id}", token, { ids: [demo.assistantId] })
  await player.ask("GET /api/assistants-new", token, { query: { take: "2" } })

  const tools = "/api/assistant-tools-new"
  const params = {
    type: "object",
    properties: { order: { type: "integer", description: "Number of the order." } },
    required: ["order"],
    additionalProperties: false,
  }
  const tool = await player.ask(`POST ${tools}`, token, {
    body: { assistantId: made.id, name: "findOrder", description: "Says where an order is.", params, apiCallUrl: `${shopUrl}/orders` },
  })
  await player.ask(`PATCH ${tools}/{id}`, token, { ids: [tool.id], body: { timeoutSeconds: 5, webhookSecret: "a secret of the shop" } })
  await player.ask(`POST ${tools}/{id}/test`, token, { ids: [tool.id], body: { params: { order: 1042 } } })
  await player.ask(`GET ${tools}/{id}/logs`, token, { ids: [tool.id], query: { take: "2" } })
  await player.ask(`GET ${tools}/{id}`, token, { ids: [tool.id] })
  await player.ask(`GET ${tools}`, token, { query: { assistantId: made.id, take: "2" } })

  const servers = "/api/companies/{companyId}/mcp-servers"
  const server = await player.ask(`POST ${servers}`, token, { ids: [demo.companyId], body: { name: "shop", url: orderBookUrl } })
  await player.ask(`PATCH ${servers}/{id}`, token, { ids: [demo.companyId, server.id], body: { name: "Order book" } })
  await player.ask(`POST ${servers}/{id}/refresh`, token, { ids: [demo.companyId, server.id] })
  await player.ask(`GET ${servers}/{id}`, token, { ids: [demo.companyId, server.id] })
  await player.ask(`GET ${servers}`, token, { ids: [demo.companyId] })
  const enabled = { tools: [{ serverId: server.id, name: "find_order" }] }
  await player.ask("PUT /api/assistants/{assistantId}/mcp-tools", token, { ids, body: enabled })
  await player.ask("GET /api/assistants/{assistantId}/mcp-tools", token, { ids })
  await player.ask(`DELETE ${servers}/{id}`, token, { ids: [demo.companyId, server.id] })

  const guardrails = "/api/assistants/{assistantId}/guardrails"
  const rules = {
    card: { customer: "log", answer: "mask" },
    links: { answer: "log", hosts: ["shop.example.com"] },
    phone: { answer: "mask", countries: ["UA"] },
    words: { customer: "log", words: ["lawyer"], patterns: ["refund.{0,20}twice"] },
    length: { customer: "log", customerMax: 4_000 },
    sources: { answer: "log" },
  }
  await player.ask(`PUT ${guardrails}`, token, { ids: [demo.assistantId], body: rules })
  await player.ask(`GET ${guardrails}`, token, { ids: [demo.assistantId] })

  const knowledge = "/api/assistant-knowledge-new"
  const resourceContent = "A lamp can be returned within 30 days. The refund arrives within 5 working days."
  const item = await player.ask(`POST ${knowledge}`, token, {
    body: { assistantId: made.id, name: "Returns", kind: "text", resourceContent, isVector: true },
  })
  const one = { ids: [item.id] }
  await player.askUntil("the item is indexed", `GET ${knowledge}/{id}`, token, one, ({ indexStatus }) => indexStatus === "indexed")
  await player.ask(`POST ${knowledge}/query`, token, { body: { assistantId: made.id, query: "When does the refund arrive?" } })
  await player.ask(`PATCH ${knowledge}/{id}`, token, { ids: [item.id], body: { name: "Returns and refunds" } })
  await player.ask(`GET ${knowledge}`, token, { query: { assistantId: made.id, take: "2" } })

  await player.ask("POST /api/assistants-new/{id}/copy", token, { ids, body: { name: "Returns desk, new words" } })
  await player.ask(`DELETE ${knowledge}/{id}`, token, { ids: [item.id] })
  await player.ask(`DELETE ${tools}/{id}`, token, { ids: [tool.id] })
  await player.ask("DELETE /api/assistants-new/{id}", token, { ids })
}

/** A customer writes in the widget, the assistant answers, and a person takes over; returns the ID of the chat. */
async function chats(session: Session): Promise<string> {
  const { player, token, owner, demo } = session
  const written = await fetch(`${player.url}/hooks/widget/${demo.widgetId}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ name: "Olena", text: "How long does delivery take? My card is 4111 1111 1111 1111." }),
  })
  const { chatId } = (await written.json()) as { chatId: string }
  const newest = { query: { chatId, take: "2" } }
  const { data } = await player.askUntil("the assistant has answered", "GET /api/messages", token, newest, (page) => page.data.length === 2)
  const question = data.find(({ role }: { role: string }) => role === "Customer")
  await delivered(session, 2)

  const ids = [chatId]
  await player.ask("PATCH /api/chats/{id}/ai-control", owner, { ids, body: { isUnderAiControl: false, aiDisableReason: "manual" } })
  const media = await player.ask("POST /api/media/upload", token, { file: ["delivery.txt", "Delivery: 2 to 3 working days."] })
  const message = await player.ask("POST /api/messages", owner, {
    body: { chatId, text: "The details are in this file.", mediaIds: [media.id], replyToMessageId: question.id },
    headers: onceOnly,
  })
  await delivered(session, 3)
  await player.ask("GET /api/messages/{id}", token, { ids: [message.id] })
  await player.ask("GET /api/messages", token, newest)

  const body = { messenger: "playground", fromId: "web-shop", externalId: "customer-4711", name: "Marcus", assistantId: demo.assistantId }
  const made = await player.ask("POST /api/chats", token, { body })
  await player.refused(409, "POST /api/chats", token, { body })
  await player.ask("PATCH /api/chats/{id}/unassign-assistant", token, { ids: [made.id] })
  await player.ask("PATCH /api/chats/{id}/assign-assistant", token, { ids: [made.id], body: { assistantId: demo.assistantId } })
  await player.ask("DELETE /api/chats/{id}", token, { ids: [made.id] })
  await player.ask("GET /api/chats/messengers", token)
  return chatId
}

async function sortsChats({ player, token }: Session, chatId: string) {
  const ids = [chatId]
  const folder = await player.ask("POST /api/chat-folders", token, { body: { name: "Deliveries", color: "#3B82F6" } })
  await player.ask("PATCH /api/chat-folders/{id}", token, { ids: [folder.id], body: { name: "Delivery" } })
  await player.ask("GET /api/chat-folders", token)
  await player.ask("PATCH /api/chats/{id}/folder", token, { ids, body: { folderId: folder.id } })
  const tag = await player.ask("POST /api/chat-tags", token, { body: { name: "Wholesale", color: "#F59E0B" } })
  await player.ask("PATCH /api/chat-tags/{id}", token, { ids: [tag.id], body: { name: "Wholesale customer" } })
  await player.ask("GET /api/chat-tags", token)
  await player.ask("PUT /api/chats/{id}/tags", token, { ids, body: { tagIds: [tag.id] } })
  await player.ask("POST /api/chats/{id}/meta/labels", token, { ids, body: { label: "asked for delivery" } })
  const { meta } = await player.ask("POST /api/chats/{id}/meta/comments", token, { ids, body: { text: "Wants it before Friday." } })
  const managerId = player.recording.routes["GET /api/auth/me"]!.answer.id
  await player.ask("PATCH /api/chats/{id}", token, { ids, body: { name: "Olena Melnyk", managerId } })
  await player.ask("POST /api/chats/{id}/unread", token, { ids })
  await player.ask("POST /api/chats/{id}/read", token, { ids })
  const query = { take: "2", include: "lastMessage,assistant,manager", sortOrder: "DESC" }
  await player.ask("GET /api/chats", token, { query })
  await player.ask("GET /api/chats/{id}", token, { ids, query: { include: "assistant,manager" } })

  await player.ask("DELETE /api/chats/{id}/tags/{tagId}", token, { ids: [chatId, tag.id] })
  await player.ask("POST /api/chats/{id}/tags", token, { ids, body: { tagId: tag.id } })
  await player.ask("DELETE /api/chats/{id}/meta/labels/{label}", token, { ids: [chatId, "asked for delivery"] })
  await player.ask("DELETE /api/chats/{id}/meta/comments/{commentId}", token, { ids: [chatId, meta.comments[0].id] })
  await player.ask("DELETE /api/chat-tags/{id}", token, { ids: [tag.id] })
  await player.ask("DELETE /api/chat-folders/{id}", token, { ids: [folder.id] })
}

async function calls({ player, token, demo }: Session) {
  const body = { phoneNumber: "+380 44 123 45 67", dynamicVariables: { name: "Olena" } }
  const { workflowId } = await player.ask("POST /api/assistants/{id}/originate", token, { ids: [demo.assistantId], body })
  const call = { ids: [workflowId] }
  await player.askUntil("the call is recorded", "GET /api/calls-history/{id}", token, call, ({ recordingUrl }) => recordingUrl !== null)
  // At the same time: the call is written once more when its recording is stored.
  await player.askUntil("calls are listed", "GET /api/calls-history", token, { query: { take: "2" } }, () => true)
}

/** Reads what the demo's past has: stretches, outcomes, unanswered questions, hits and deliveries. */
async function looksBack({ player, token, demo }: Session, chatId: string) {
  const past = { from: "2026-01-19T00:00:00.000Z", to: "2026-01-26T00:00:00.000Z" }
  const { data: stretches } = await player.ask("GET /api/stretches", token, { query: { ...past, take: "2" } })
  await player.ask("PUT /api/stretches/{id}/rating", token, { ids: [stretches[0].id], body: { rating: 5, text: "Quick and friendly" } })
  await player.ask("PUT /api/channels/{id}/rating-question", token, { ids: [demo.widgetId], body: { question: "How was our help?" } })
  await player.ask("GET /api/outcomes", token, { query: { ...past, by: "ASSISTANT", timeZone: "Europe/Kyiv" } })
  const { data: questions } = await player.ask("GET /api/unanswered-questions", token, { query: { take: "2" } })
  const ids = [questions[0].id]
  await player.ask("POST /api/unanswered-questions/{id}/close", token, { ids })
  await player.ask("POST /api/unanswered-questions/{id}/reopen", token, { ids })
  await player.ask("GET /api/guardrail-hits", token, { query: { take: "2" } })
  await player.ask("POST /api/chats/{id}/end-stretch", token, { ids: [chatId] })
}

const webhook = "/api/event-webhooks/{id}"
const webhookIn = ({ recording }: Player) => recording.routes["GET /api/event-webhooks"]!.answer[0].id

/** Waits until the endpoint has received so many messages as events; returns the newest deliveries. */
function delivered({ player, token }: Session, count: number) {
  const newest = { ids: [webhookIn(player)], query: { type: "MESSAGE_CREATED", take: "2" } }
  const areSent = ({ data, totalCount }: { data: { status: string }[]; totalCount: number }) =>
    totalCount >= count && data.every(({ status }) => status === "succeeded")
  return player.askUntil("the events are delivered", `GET ${webhook}/deliveries`, token, newest, areSent)
}

async function tidiesUp(session: Session, chatId: string) {
  const { player, token } = session
  const id = webhookIn(player)
  await player.ask(`POST ${webhook}/test`, token, { ids: [id] })
  const { data } = await delivered(session, 3)
  await player.ask(`POST ${webhook}/deliveries/{deliveryId}/redeliver`, token, { ids: [id, data[0].id] })
  const since = "2026-01-30T09:00:00.000Z"
  await player.ask(`POST ${webhook}/redeliver`, token, { ids: [id], body: { since, onlyFailed: true } })
  await player.ask(`DELETE ${webhook}`, token, { ids: [id] })
  await player.ask("DELETE /api/chats/{id}", token, { ids: [chatId] })
}

/** Errors, one of each status that does not need a server in distress; those of 403 and 409 are above. */
async function refusals({ player, token, owner, demo }: Session, chatId: string) {
  const wrong = { body: { email: demo.email, password: "not the password" } }
  for (let left = 20; left > 0 && !player.recording.errors[429]; left -= 1)
    await player.refused(401, "POST /api/auth/sign-in", {}, wrong).catch(() => player.refused(429, "POST /api/auth/sign-in", {}, wrong))
  await player.refused(401, "GET /api/chats", {})
  await player.refused(400, "POST /api/chat-tags", token, { body: { name: "", color: "blue" } })
  await player.refused(404, "GET /api/chats/{id}", token, { ids: ["0197a3c0-8f00-7000-8000-000000000000"] })
  const message = "POST /api/messages"
  await player.refused(415, message, token, { body: {}, headers: { "Content-Type": "text/plain" } })
  await player.refused(413, message, token, { body: { text: "x".repeat(2_000_000) } })
  await player.refused(422, message, owner, { body: { chatId, text: "Other words." }, headers: onceOnly })
}
