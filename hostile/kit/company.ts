import { randomBytes } from "node:crypto"
import type { Hooks } from "./messengers.js"
import { Pools } from "./pools.js"
import type { Voice } from "./voice.js"

/** Who sends a request: people and tokens of the company, a visitor of its widget, nobody, or credentials of no one. */
export type CredentialName = "owner" | "admin" | "member" | "leaver" | "token" | "readToken" | "visitor" | "none" | "bad"

/** The password of all users. */
export const password = "correct horse battery"

/** Runs a command of the administration. */
// biome-ignore lint/suspicious/noExplicitAny: each command prints its own object.
export type Administer = (...args: string[]) => Promise<any>

/** Connects accounts of messengers to a company. */
type ConnectMessengers = (companyId: string) => Promise<Hooks>

/** A company whose data contain its marker, with credentials of every kind. */
export interface Company {
  id: string
  /** A text that all data of the company contain, and nothing else. */
  marker: string
  token: string
  /** Further access tokens: together they may send more requests a minute than any client can. */
  tokens: string[]
  widgetId: string
  /** Its connections to messengers whose vendors sign. */
  hooks: Hooks
  /** The voice provider of the deployment. */
  voice: Voice
  pools: Pools
  /** The headers of a request with a credential, from another client address each time. */
  headersOf(credential: CredentialName): Record<string, string>
  /** The value of a credential for a socket; null for none. */
  credentialOf(credential: CredentialName): string | null
}

const malformed = [
  "",
  "Bearer",
  "Bearer x y",
  "Basic abc",
  `Bearer ${"x".repeat(5_000)}`,
  "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.",
  "amp_x",
]
const roles = ["owner", "admin", "member"] as const
const leavers = 6
const furtherTokens = 50
/** More than all calls of a campaign can cost. */
const voiceMinutes = 1_000_000
const voiceLines = 5

/** Creates a company over the command line and REST. */
export async function createCompany(
  administer: Administer,
  connectMessengers: ConnectMessengers,
  voice: Voice,
  url: string,
  name: string,
): Promise<Company> {
  const marker = `zq${randomBytes(8).toString("hex")}`
  const pools = new Pools()
  const { id } = await administer("company:create", "--name", `${name} ${marker}`)
  await administer("subscription:set", "--company", id, "--plan", "pro", "--status", "active")
  await administer("balance:set", "--company", id, "--voice", String(voiceMinutes), "--voice-lines", String(voiceLines))
  const values: Partial<Record<CredentialName, string>> = {}
  for (const role of roles) {
    const email = `${role}-${marker}@example.com`
    const user = await administer("user:create", "--email", email, "--password", password, "--name", `${role} ${marker}`)
    await administer("member:add", "--company", id, "--user", user.id, "--role", role)
    pools.keep("User", user.id)
    pools.keep("email", email)
    values[role] = (await signIn(url, email)).accessToken
  }
  pools.keep("password", password)
  pools.keep("Company", id)
  const leaving: string[] = []
  for (let index = 0; index < leavers; index += 1) {
    const session = await signIn(url, `member-${marker}@example.com`)
    if (index < leavers / 2) leaving.push(session.accessToken)
    else pools.add("refreshToken", session.refreshToken)
  }
  const tokens = `${url}/api/companies/${id}/access-tokens`
  values.token = (await post(tokens, values.owner!, { name: "Campaign" })).token
  values.readToken = (await post(tokens, values.owner!, { name: "Reader", readOnly: true })).token
  const more = Array.from({ length: furtherTokens }, (_, n) => post(tokens, values.owner!, { name: `Further ${n}` }))
  const furthers: { token: string }[] = await Promise.all(more)
  const assistantId = await createData(url, values.token!, { id, marker }, pools)
  pools.keep("voice assistant", assistantId)
  pools.keep("tool secret", voice.toolSecret(assistantId))
  const connect = ["--messenger", "widget", "--external-id", marker, "--name", `Site ${marker}`, "--assistant", assistantId]
  const { id: widgetId } = await administer("channel:connect", "--company", id, ...connect)
  pools.keep("Channel", widgetId)
  const visit = await post(`${url}/hooks/widget/${widgetId}`, null, { text: `Hello from a visitor ${marker}` })
  values.visitor = visit.visitorToken
  pools.keep("visitorToken", visit.visitorToken)
  pools.keep("VisitorChat", visit.chatId)
  const hooks = await connectMessengers(id)
  for (const [messenger, { accountId }] of Object.entries(hooks)) pools.keep(`account of ${messenger}`, accountId)
  let requests = 0
  const credentialOf = (credential: CredentialName) => {
    if (credential === "none") return null
    if (credential === "leaver") return leaving.shift() ?? "used"
    return values[credential] ?? malformed[requests % malformed.length]!
  }
  return {
    id,
    marker,
    token: values.token!,
    tokens: furthers.map(({ token }) => token),
    widgetId,
    hooks,
    voice,
    pools,
    credentialOf,
    headersOf(credential) {
      requests += 1
      const from = { "x-forwarded-for": `10.${(requests >> 16) & 255}.${(requests >> 8) & 255}.${requests & 255}` }
      const value = credentialOf(credential)
      if (value === null) return from
      if (credential === "bad") return { ...from, [requests % 2 ? "authorization" : "x-access-token"]: value }
      return { ...from, ...(value.startsWith("amp_") ? { "x-access-token": value } : { authorization: `Bearer ${value}` }) }
    },
  }
}

const signIn = (url: string, email: string) => post(`${url}/api/auth/sign-in`, null, { email, password })

/** Creates data of every kind over REST and GraphQL; returns the assistant of the company's widget. */
async function createData(url: string, token: string, { id: companyId, marker }: Pick<Company, "id" | "marker">, pools: Pools) {
  const make = async (kind: string, path: string, body: object) => {
    const { id } = await post(`${url}${path}`, token, body)
    pools.keep(kind, id)
    return id as string
  }
  const named = (name: string) => ({ name: `${name} ${marker}` })
  const { textModels } = await graphql(url, token, "{ textModels { id } }")
  for (const { id } of textModels) pools.keep("TextModel", id)
  const { createAssistantFolder } = await graphql(url, token, `mutation { createAssistantFolder(input: { name: "${marker}" }) { id } }`)
  pools.keep("AssistantFolder", createAssistantFolder.id)
  const assistantId = await make("Assistant", "/api/assistants-new", { ...named("Assistant"), prompt: marker })
  await make("Assistant", "/api/assistants-new", { ...named("Another"), prompt: marker })
  const tool = { assistantId, name: `tool_${marker}`, description: marker, apiCallUrl: "http://127.0.0.1:9/" }
  const toolId = await make("AssistantTool", "/api/assistant-tools-new", tool)
  pools.keep("voice tool", toolId)
  await post(`${url}/api/assistant-tools-new/${toolId}/test`, token, {})
  const { toolCalls } = await graphql(url, token, `{ toolCalls(toolId: "${toolId}") { nodes { id } } }`)
  for (const { id } of toolCalls.nodes) pools.keep("ToolCall", id)
  const knowledge = { assistantId, ...named("Knowledge"), kind: "text", resourceContent: `Opening hours ${marker}`, isVector: true }
  await make("Knowledge", "/api/assistant-knowledge-new", knowledge)
  for (const n of [1, 2])
    await make("McpServer", `/api/companies/${companyId}/mcp-servers`, { ...named(`Server ${n}`), url: "http://127.0.0.1:9/mcp" })
  const webhookId = await make("EventWebhook", "/api/event-webhooks", { url: `http://127.0.0.1:9/${marker}`, types: ["CHAT_DELETED"] })
  await make("ChatFolder", "/api/chat-folders", named("Folder"))
  for (const n of [1, 2, 3]) await make("ChatTag", "/api/chat-tags", named(`Tag ${n}`))
  for (const n of [1, 2, 3, 4, 5]) {
    const chat = { messenger: "playground", fromId: "playground", externalId: `customer-${n}-${marker}`, ...named("Customer") }
    const chatId = await make("Chat", "/api/chats", chat)
    for (const m of [1, 2, 3]) await make("Message", "/api/messages", { chatId, text: `Message ${m} ${marker}` })
    await post(`${url}/api/chats/${chatId}/meta/comments`, token, { text: marker })
  }
  const form = new FormData()
  form.append("file", new Blob([`A file ${marker}`]), `${marker}.txt`)
  const upload = await fetch(`${url}/api/media/upload`, { method: "POST", headers: { "x-access-token": token }, body: form })
  const media = (await upload.json()) as { id: string; url: string }
  pools.keep("Media", media.id)
  pools.keep("mediaUrl", new URL(media.url).pathname + new URL(media.url).search)
  pools.keep("EventDelivery", await failedDelivery(url, token, webhookId))
  const { chats } = await graphql(url, token, "{ chats(first: 2) { pageInfo { endCursor } } }")
  pools.keep("cursor", chats.pageInfo.endCursor)
  return assistantId
}

/** A delivery to an endpoint for events, which nothing answers. */
async function failedDelivery(url: string, token: string, webhookId: string): Promise<string> {
  const { id } = await post(`${url}/api/chats`, token, { messenger: "playground", fromId: "playground", externalId: "deleted" })
  await fetch(`${url}/api/chats/${id}`, { method: "DELETE", headers: { "x-access-token": token } })
  const query = `{ eventDeliveries(webhookId: "${webhookId}") { nodes { id } } }`
  for (;;) {
    const [delivery] = (await graphql(url, token, query)).eventDeliveries.nodes
    if (delivery) return delivery.id
  }
}

/** Posts JSON; throws when it was not accepted. */
// biome-ignore lint/suspicious/noExplicitAny: bodies of any shape.
export async function post(url: string, credential: string | null, body: object): Promise<any> {
  const sender: Record<string, string> = credential?.startsWith("amp_")
    ? { "x-access-token": credential }
    : credential
      ? { authorization: `Bearer ${credential}` }
      : { "x-forwarded-for": `10.99.${randomBytes(1)[0]}.${randomBytes(1)[0]}` }
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...sender },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`)
  return answer.json()
}

/** Runs an operation; throws its errors. */
// biome-ignore lint/suspicious/noExplicitAny: as the query shaped it.
export async function graphql(url: string, token: string, query: string, variables: object = {}): Promise<any> {
  const { data, errors } = await post(`${url}/graphql`, token, { query, variables })
  if (errors) throw new Error(`${query}: ${errors[0].message}`)
  return data
}
