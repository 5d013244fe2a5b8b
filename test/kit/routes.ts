import type { Route } from "../../src/rest/kit/routes.js"
import { routeTable } from "../../src/rest/table.js"
import type { Credential } from "./clients.js"
import { password } from "./company-fixture.js"
import { samples } from "./files.js"
import type { CompanyFixture, World } from "./world.js"

/** A company's rows, one of each kind, by the first part of the paths with their ids. */
export type Belongings = Record<string, string> & { company: CompanyFixture }

/** Fills the chat with one of each kind of content. */
async function fill(company: CompanyFixture, own: Belongings) {
  const as = company.rest.as(company.token)
  const { chats: chatId } = own
  await as.patch(`/api/chats/${chatId}/folder`, { folderId: own["chat-folders"] }).expect(200)
  await as.put(`/api/chats/${chatId}/tags`, { tagIds: [own["tags"]] }).expect(200)
  await company.rest.as(company.member.jwt).post(`/api/chats/${chatId}/meta/comments`, { text: "A note" }).expect(201)
  const { body: media } = await as.ask("post", "/api/media/upload").attach("file", samples.txt, "notes.txt").expect(201)
  own["stretches"] = (await company.stretch({ chatId: chatId! })).id
  own["unanswered-questions"] = (await company.question({ chatId: chatId! })).id
  await company.guardrailHit({ chatId: chatId! })
  await company.message({ chatId, mediaIds: [media.id], replyToMessageId: own["messages"] })
}

/** A new endpoint for events. A company has at most 50, and some tests call this often: the newest of many makes place. */
async function webhookOf(company: CompanyFixture) {
  const as = company.rest.as(company.token)
  const { body: all } = await as.get("/api/event-webhooks").expect(200)
  if (all.length > 40) await as.delete(`/api/event-webhooks/${all[0].id}`).expect(200)
  return company.eventWebhook()
}

/** A new MCP server, in the same way: a company has at most 20. */
async function mcpServerOf(company: CompanyFixture) {
  const as = company.rest.as(company.token)
  const servers = `/api/companies/${company.id}/mcp-servers`
  const { body: all } = await as.get(servers).expect(200)
  if (all.length > 15) await as.delete(`${servers}/${all[0].id}`).expect(200)
  return company.mcpServer()
}

/** The kinds of rows that a request to a route names in its path and its body. */
export function kindsOf(route: Route, company: CompanyFixture, bodyOf = (own: Belongings): unknown => bodyFor(route, own)): Set<string> {
  const kinds = new Set([...route.path.matchAll(/([\w-]+)\/\{\w+\}/g)].map(([, part]) => part!))
  const noticing = { get: (_own: object, kind: string) => (kind === "company" ? company : kinds.add(kind) && "") }
  bodyOf(new Proxy({}, noticing) as Belongings)
  return kinds
}

/** Creates one row of each kind that a path can name, or of some kinds and what they belong to. */
export async function belongings(company: CompanyFixture, kinds?: Set<string>): Promise<Belongings> {
  const wants = (...any: string[]) => !kinds || any.some((kind) => kinds.has(kind))
  const as = company.rest.as(company.token)
  const own: Record<string, unknown> = { company, companies: company.id, channels: company.widget.id, labels: "VIP" }
  const chatty = wants("chats", "messages", "stretches", "unanswered-questions")
  if (chatty || wants("chat-folders")) own["chat-folders"] = (await company.folder()).id
  if (chatty || wants("chat-tags", "tags", "comments")) {
    const tag = await company.tag()
    Object.assign(own, { "chat-tags": tag.id, tags: tag.id, comments: tag.id })
  }
  const ofAssistant = ["assistants-new", "assistants", "assistant-knowledge-new", "assistant-tools-new", "calls-history"]
  if (chatty || wants(...ofAssistant)) {
    const assistantId: string = (await company.makeAssistant()).id
    Object.assign(own, { "assistants-new": assistantId, assistants: assistantId })
    if (wants("assistants-new", "assistants", "assistant-knowledge-new"))
      own["assistant-knowledge-new"] = (await company.makeKnowledge({ assistantId })).id
    if (wants("assistants-new", "assistants", "assistant-tools-new")) own["assistant-tools-new"] = (await company.tool({ assistantId })).id
    if (wants("calls-history")) own["calls-history"] = (await company.call({ assistantId })).id
    if (chatty) {
      own["chats"] = (await company.chat({ assistantId, managerId: company.member.id })).id
      own["messages"] = (await company.message({ chatId: own["chats"] })).id
      await fill(company, own as Belongings)
    }
  }
  await company.subscription("active")
  await company.voice({ balance: 100, lines: 0 })
  if (wants("event-webhooks", "deliveries")) {
    own["event-webhooks"] = (await webhookOf(company)).id
    own["deliveries"] = (await as.post(`/api/event-webhooks/${own["event-webhooks"]}/test`).expect(201)).body.id
  }
  if (wants("mcp-servers")) own["mcp-servers"] = (await mcpServerOf(company)).id
  if (wants("access-tokens")) {
    const tokens = `/api/companies/${company.id}/access-tokens`
    own["access-tokens"] = (await company.rest.as(company.owner.jwt).post(tokens, { name: "Shop" }).expect(201)).body.id
  }
  return own as Belongings
}

/** Every route with its name, for `describe.each`. */
export const everyRoute = routeTable.map((route) => [`${route.method} ${route.path}`, route] as const)

/** Routes that take no credential. */
export const isPublic = ({ path }: Route) => path === "/api/auth/sign-in" || path === "/api/auth/refresh"

/** The credential for a route: a user's JWT where an access token is refused, else an access token. */
export const credentialFor = ({ path }: Route, company: CompanyFixture): Credential =>
  /^\/api\/auth\/me|access-tokens/.test(path) ? company.owner.jwt : company.token

/** The names of a path's parameters. */
export const parametersIn = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)

/** A route's address with ids: each parameter is the id of a row of the kind that the part before it names. */
export function addressOf({ path }: Route, own: Belongings, instead: Record<string, string> = {}): string {
  return path.replace(/([\w-]+)\/\{(\w+)\}/g, (_all, part: string, name: string) => {
    const id = instead[name] ?? own[part]
    if (!id) throw new Error(`test/kit/routes.ts does not know what /${part}/{${name}} names: add it to belongings()`)
    return `${part}/${id}`
  })
}

/** The required query of a route. */
export const queryFor = ({ method, path }: Route, own: Belongings) =>
  method === "GET" && path === "/api/messages" ? `?chatId=${own["chats"]}` : ""

/** A valid body for a route. */
export function bodyFor({ method, path, body }: Route, own: Belongings): Record<string, unknown> | undefined {
  if (!body) return undefined
  const made = bodies(own)[`${method} ${path}`]
  if (!made) throw new Error(`test/kit/routes.ts knows no body for ${method} ${path}: add it to bodies()`)
  return made
}

let count = 0

const bodies = (own: Belongings): Record<string, Record<string, unknown>> => ({
  "POST /api/auth/sign-in": { email: own.company.owner.email, password },
  "POST /api/auth/refresh": { refreshToken: own.company.owner.refreshToken },
  "POST /api/companies/{companyId}/access-tokens": { name: "Shop" },
  "PATCH /api/companies/{companyId}/access-tokens/{tokenId}": { name: "Renamed" },
  "POST /api/assistants-new": { name: "Helper" },
  "PATCH /api/assistants-new/{id}": { name: "Renamed" },
  "POST /api/assistants-new/{id}/copy": { name: "Copied" },
  "POST /api/assistant-tools-new": {
    assistantId: own["assistants-new"],
    name: `tool${++count}`,
    description: "Looks.",
    apiCallUrl: "https://example.com/",
  },
  "PATCH /api/assistant-tools-new/{id}": { description: "Looks closely." },
  "POST /api/assistant-tools-new/{id}/test": { params: {} },
  "POST /api/companies/{companyId}/mcp-servers": { name: "shop", url: "http://127.0.0.1:9/mcp" },
  "PATCH /api/companies/{companyId}/mcp-servers/{id}": { name: "Renamed" },
  "PUT /api/assistants/{assistantId}/mcp-tools": { tools: [] },
  "PUT /api/assistants/{assistantId}/guardrails": { card: { customer: "log", answer: "mask" } },
  "POST /api/assistant-knowledge-new": {
    assistantId: own["assistants-new"],
    name: "Prices",
    kind: "text",
    resourceContent: "Everything costs one euro.",
  },
  "PATCH /api/assistant-knowledge-new/{id}": { name: "Renamed" },
  "POST /api/assistant-knowledge-new/query": { assistantId: own["assistants-new"], query: "When are you open?" },
  "POST /api/assistants/{id}/originate": { phoneNumber: "+380 (44) 123-45-67" },
  "POST /api/chats": { messenger: "playground", fromId: "playground", externalId: `visitor-${++count}` },
  "PATCH /api/chats/{id}": { name: "Renamed" },
  "PATCH /api/chats/{id}/ai-control": { isUnderAiControl: false },
  "PATCH /api/chats/{id}/assign-assistant": { assistantId: own["assistants-new"] },
  "POST /api/chats/{id}/meta/labels": { label: "Rush" },
  "PATCH /api/chats/{id}/folder": { folderId: own["chat-folders"] },
  "PUT /api/chats/{id}/tags": { tagIds: [own["tags"]] },
  "POST /api/chats/{id}/tags": { tagId: own["tags"] },
  "POST /api/chats/{id}/meta/comments": { text: "Call back." },
  "POST /api/chat-tags": { name: `Tag ${++count}` },
  "PATCH /api/chat-tags/{id}": { name: `Tag ${++count}` },
  "POST /api/chat-folders": { name: "Returns" },
  "PATCH /api/chat-folders/{id}": { name: "Renamed" },
  "POST /api/event-webhooks": { url: "http://127.0.0.1:9/", types: ["CHANNEL_UPDATED"] },
  "PATCH /api/event-webhooks/{id}": { ordered: true },
  "POST /api/event-webhooks/{id}/redeliver": { since: "2026-01-31T09:15:00.123Z" },
  "POST /api/messages": { chatId: own["chats"], text: "Hello" },
  "PUT /api/stretches/{id}/rating": { rating: 4, text: "Quick" },
  "PUT /api/channels/{id}/rating-question": { question: "How was our help?" },
})

/** Bodies with all fields of a route, or with special ones: the name of the route, and what is special. */
export const fullBodies: [route: string, says: string, body: (own: Belongings) => Record<string, unknown>][] = [
  [
    "POST /api/chats",
    "with everything",
    (own) => ({
      companyId: own.company.id,
      messenger: "telegram-bot",
      fromId: "shop",
      externalId: `visitor-${++count}`,
      name: "Ann",
      accountName: "Shop",
      username: "ann",
      phoneNumber: "+380 44 123",
      chatType: "private",
      assistantId: own["assistants-new"],
      managerId: own.company.member.id,
      sourceChannel: "prom",
    }),
  ],
  [
    "POST /api/assistants/{id}/originate",
    "with everything",
    (own) => ({
      phoneNumber: "+380441234567",
      callerAssistantId: own["assistants-new"],
      dynamicVariables: { name: "Ann", age: 40, isNew: true, note: null },
    }),
  ],
  [
    "PATCH /api/chats/{id}",
    "with everything",
    (own) => ({ name: null, assistantId: own["assistants-new"], managerId: own.company.owner.id, isUnderAiControl: true }),
  ],
  ["PATCH /api/chats/{id}", "taking all away", () => ({ name: "", assistantId: null, managerId: null, isUnderAiControl: false })],
  [
    "POST /api/messages",
    "of a customer",
    (own) => ({ chatId: own["chats"], role: "Customer", type: "Text", text: "Hi", companyId: own.company.id }),
  ],
  ["POST /api/messages", "that quotes", (own) => ({ chatId: own["chats"], role: "System", text: "Hi", replyToMessageId: own["messages"] })],
  [
    "POST /api/assistant-tools-new",
    "with everything",
    (own) => ({
      assistantId: own["assistants-new"],
      name: `tool${++count}`,
      description: "Looks.",
      params: { type: "object", properties: { id: { type: "string", description: "An id" } } },
      type: "webhook_postcall",
      apiCallUrl: "https://example.com/",
      httpMethod: "PUT",
      timeoutSeconds: 7,
      webhookSecret: "word",
      disabled: true,
    }),
  ],
  [
    "POST /api/event-webhooks",
    "with everything",
    (own) => ({
      companyId: own.company.id,
      url: "http://127.0.0.1:9/",
      types: ["CHANNEL_UPDATED", "CHAT_DELETED"],
      query: "{ type payload }",
      disabled: true,
      ordered: true,
    }),
  ],
  [
    "PATCH /api/event-webhooks/{id}",
    "with everything",
    () => ({ url: "http://127.0.0.1:9/events", types: ["CHANNEL_UPDATED"], query: "{ id }", disabled: false, ordered: false }),
  ],
  [
    "POST /api/event-webhooks/{id}/redeliver",
    "with everything",
    () => ({ since: "2026-01-31T09:15:00.123Z", until: "2026-02-01T00:00:00.000Z", onlyFailed: true }),
  ],
  ["PATCH /api/assistant-tools-new/{id}", "with another kind", () => ({ type: "webhook_init", httpMethod: "DELETE", disabled: true })],
  [
    "POST /api/assistants-new",
    "with everything",
    (own) => ({
      companyId: own.company.id,
      name: "Helper",
      prompt: "You help.",
      greeting: "Hello!",
      handOffMessage: "A colleague will answer.",
      language: "en",
      temperature: 0.5,
      excludedTags: ["VIP"],
      isDraft: true,
      draftOfId: own["assistants-new"],
    }),
  ],
  [
    "POST /api/assistant-knowledge-new",
    "of a page",
    (own) => ({
      assistantId: own["assistants-new"],
      name: "Prices",
      kind: "url",
      resourceUrl: "http://127.0.0.1:9/",
      isVector: false,
      chunkSize: 500,
      chunkOverlap: 50,
    }),
  ],
]

/** All rows of a company as one text, to check that nothing has changed. */
export async function everythingOf(world: World, companyId: string): Promise<string> {
  // Without the numbers of its chats, which a sweep adds up at any time; `check:counters` holds them against the chats.
  const tables = await world.sql(
    "select table_name from information_schema.columns where column_name = 'company_id' and table_name not like 'chat\\_count%' order by 1",
  )
  const rows = await Promise.all(
    tables.map(({ table_name }) => world.sql(`select t::text as row from "${table_name}" t where company_id = $1 order by 1`, [companyId])),
  )
  return JSON.stringify(rows)
}
