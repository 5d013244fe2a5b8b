import supertest from "supertest"
import { toolTable } from "../../src/mcp/tools.js"
import { indexAll } from "../kit/knowledge.js"
import { mcpClient } from "../kit/mcp.js"
import { argumentsFor, misfit } from "../kit/mcp-tools.js"
import { promised } from "../kit/promise.js"
import { type Belongings, belongings } from "../kit/routes.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, rest, sql } = w
const agentOf = (credential: string) => mcpClient(() => w.url, credential)

// biome-ignore lint/suspicious/noExplicitAny: as the tool returns it.
type Result = any

/** Calls a tool that must succeed. */
async function call(name: string, given: Record<string, unknown> = {}, credential = acme.token): Promise<Result> {
  const { structuredContent, isError } = await agentOf(credential).call(name, given)
  expect([name, isError ? structuredContent : undefined]).toEqual([name, undefined])
  return structuredContent
}

/** Calls a tool that must fail. */
async function failure(name: string, given: Record<string, unknown>, credential = acme.token): Promise<Result> {
  const { structuredContent, isError } = await agentOf(credential).call(name, given)
  expect([name, isError]).toEqual([name, true])
  return structuredContent
}

const idsOf = ({ nodes }: { nodes: { id: string }[] }) => nodes.map(({ id }) => id)

it("an agent finds the chat that needs a person, answers it and gives it back", async () => {
  await acme.subscription("active")
  const quiet = await acme.chat({ assistantId: acme.assistant.id })
  const chat = await acme.chat({ name: "Ann", assistantId: acme.assistant.id })
  await acme.message({ chatId: chat.id, role: "Customer", text: "Where is my parcel?" })
  await rest.as(acme.token).patch(`/api/chats/${chat.id}/ai-control`, { isUnderAiControl: false, aiDisableReason: "auto" }).expect(200)

  const found = await call("search_chats", { needsAttention: true, withTotal: true })
  expect([found.totalCount, idsOf(found)]).toEqual([1, [chat.id]])
  expect(found.nodes[0]).toMatchObject({ name: "Ann", unreadCount: 1, lastMessage: { role: "Customer", text: "Where is my parcel?" } })
  expect(idsOf(await call("search_chats", { needsAttention: false }))).toContain(quiet.id)

  expect(await call("take_over", { chatId: chat.id })).toMatchObject({ id: chat.id, isUnderAiControl: false })
  const sent = await call("send_message", { chatId: chat.id, text: "It arrives tomorrow." }, acme.member.jwt)
  expect(sent).toMatchObject({ chatId: chat.id, role: "User", type: "Text", status: "sent" })
  const comment = await call("comment_chat", { chatId: chat.id, text: "Asked the carrier." }, acme.member.jwt)
  expect(comment.meta.comments).toEqual([expect.objectContaining({ text: "Asked the carrier.", authorId: acme.member.id })])
  expect((await call("label_chat", { chatId: chat.id, label: "Parcel" })).tags).toEqual([{ id: expect.any(String), name: "Parcel" }])
  const manager = { id: acme.member.id, name: acme.member.name }
  expect((await call("assign_chat", { chatId: chat.id, managerId: acme.member.id })).manager).toEqual(manager)
  expect(await call("give_back", { chatId: chat.id })).toMatchObject({ isUnderAiControl: true, aiDisableReason: null })

  const read = await call("read_chat", { chatId: chat.id })
  expect(read).toMatchObject({ manager, meta: { labels: ["Parcel"], comments: [{ text: "Asked the carrier." }] } })
  expect(read.messages.nodes[0]).toMatchObject({ text: "It arrives tomorrow.", author: manager })
  expect((await call("assign_chat", { chatId: chat.id, managerId: null })).manager).toBeNull()
})

it("what a tool does is an event of the company, as of the operation", async () => {
  const chat = await acme.chat()
  await call("send_message", { chatId: chat.id, text: "Hi" })
  await call("label_chat", { chatId: chat.id, label: "VIP" })
  const events = await sql("select type from event where chat_id = $1", [chat.id])
  expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(["MESSAGE_CREATED", "CHAT_UPDATED"]))
})

it("a call is measured as an operation of its own transport", async () => {
  await call("read_chat", { chatId: (await acme.chat()).id })
  const { text } = await supertest(w.url).get("/metrics")
  const labels = 'transport="mcp",kind="query",field="chat",outcome="OK"'
  expect(Number(new RegExp(`^platform_operations_total\\{${labels}\\} (\\d+)$`, "m").exec(text)?.[1])).toBeGreaterThan(0)
  expect(text).toMatch(/^platform_http_requests_total\{method="POST",route="\/mcp",status="200"\} \d+$/m)
})

it("chats are found by each condition, and in pages", async () => {
  const mark = "Needle"
  const chats = []
  for (const name of ["a", "b", "c"]) chats.push(await acme.chat({ name: `${mark} ${name}` }))
  const [a, b, c] = chats.map(({ id }) => id)
  await acme.message({ chatId: b, role: "Customer", text: "Hello" })
  const found = async (conditions: Record<string, unknown>) => idsOf(await call("search_chats", { search: mark, ...conditions }))
  expect(await found({})).toEqual([b, c, a])
  expect(await found({ unread: true })).toEqual([b])
  expect(await found({ unread: false, messenger: "playground" })).toEqual([c, a])
  expect(await found({ messenger: "gmail" })).toEqual([])
  expect(await found({ isUnderAiControl: true })).toEqual([])
  expect(await found({ lastMessageFrom: "2020-01-01", lastMessageTo: "2999-12-31" })).toEqual([b])
  expect(await found({ lastMessageTo: "2020-01-01" })).toEqual([])
  expect(await found({ companyId: acme.id })).toEqual([b, c, a])

  const first = await call("search_chats", { search: mark, first: 2 })
  expect([idsOf(first), first.pageInfo.hasNextPage]).toEqual([[b, c], true])
  const second = await call("search_chats", { search: mark, first: 2, after: first.pageInfo.endCursor })
  expect([idsOf(second), second.pageInfo.hasNextPage]).toEqual([[a], false])
})

it("older messages of a chat are read page by page", async () => {
  const chat = await acme.chat()
  for (const text of ["1", "2", "3"]) await acme.message({ chatId: chat.id, text })
  const textsOf = ({ messages }: Result) => messages.nodes.map(({ text }: { text: string }) => text)
  const newest = await call("read_chat", { chatId: chat.id, first: 2 })
  expect([textsOf(newest), newest.messages.pageInfo.hasNextPage]).toEqual([["3", "2"], true])
  expect(textsOf(await call("read_chat", { chatId: chat.id, first: 2, after: newest.messages.pageInfo.endCursor }))).toEqual(["1"])
})

it("knowledge that an agent adds is found", async () => {
  const { id: assistantId } = await acme.makeAssistant()
  const text = "Returns of lamps are free for ninety days."
  const item = await call("add_knowledge", { assistantId, name: "Lamps", kind: "text", resourceContent: text, isVector: true })
  expect(item).toMatchObject({ assistantId, name: "Lamps", kind: "text", indexStatus: "pending" })
  await indexAll(w)
  const { data } = await call("search_knowledge", { assistantId, query: "returns of lamps" })
  expect(data[0]).toMatchObject({ knowledgeId: item.id, knowledgeName: "Lamps", content: text })
})

it("a prompt is read and replaced, and the audit trail says by whom", async () => {
  const { id } = await acme.makeAssistant({ name: "Prompted", prompt: "You sell lamps." })
  const [listed] = (await call("list_assistants", { q: "prompted" })).nodes
  expect([listed.id, "prompt" in listed]).toEqual([id, false])
  expect((await call("list_assistants", { q: "prompted", withPrompt: true })).nodes[0].prompt).toBe("You sell lamps.")
  expect(await call("update_assistant_prompt", { assistantId: id, prompt: "You sell chairs." })).toMatchObject({
    prompt: "You sell chairs.",
  })
  const entries = await sql("select actor_kind, action, changed from audit_entry where subject_id = $1 order by id desc limit 1", [id])
  expect(entries).toEqual([{ actor_kind: "TOKEN", action: "updateAssistant", changed: ["prompt"] }])
})

it("a call is started and listed", async () => {
  await acme.voice({ balance: 10, lines: 0 })
  const { id: assistantId } = await acme.makeAssistant()
  const call1 = await call("start_call", { assistantId, phoneNumber: "+380 44 765 43 21", dynamicVariables: { name: "Ann" } })
  expect(call1).toMatchObject({ assistantId, status: "queued", phoneNumber: "+380447654321" })
  const listed = await call("list_calls", { phone: "+380447654321", status: "queued", from: "2020-01-01" })
  expect([idsOf(listed), "transcript" in listed.nodes[0]]).toEqual([[call1.id], false])
  expect((await call("list_calls", { assistantId, withTranscript: true })).nodes[0]).toMatchObject({ id: call1.id, transcript: null })
})

describe("an idempotency key in _meta", () => {
  const key = (value: unknown) => ({ "Idempotency-Key": value })

  promised("stores one message for a call that is repeated", async () => {
    const chat = await acme.chat()
    const given = { chatId: chat.id, text: "once" }
    const first = await agentOf(acme.token).request("send_message", given, key("k1"))
    const again = await agentOf(acme.token).request("send_message", given, key("k1"))
    expect(again.body.result.structuredContent).toEqual(first.body.result.structuredContent)
    expect([first, again].map(({ headers }) => headers["idempotency-replayed"])).toEqual([undefined, "true"])
    expect(await sql("select from message where chat_id = $1", [chat.id])).toHaveLength(1)
  })

  promised("starts one call, in each revision of the protocol", async () => {
    await acme.voice({ balance: 10, lines: 0 })
    const given = { assistantId: acme.assistant.id, phoneNumber: "+380441112233" }
    const started = await mcpClient(() => w.url, acme.token, "2025-06-18").call("start_call", given, key("k2"))
    const again = await agentOf(acme.token).call("start_call", given, key("k2"))
    expect(again.structuredContent).toEqual(started.structuredContent)
    expect(await sql("select from call where phone_number = $1", ["+380441112233"])).toHaveLength(1)
  })

  it("is refused for another message, and when it is no string", async () => {
    const chat = await acme.chat()
    await agentOf(acme.token).call("send_message", { chatId: chat.id, text: "one" }, key("k3"))
    const other = await agentOf(acme.token).call("send_message", { chatId: chat.id, text: "two" }, key("k3"))
    expect([other.isError, other.structuredContent.code]).toEqual([true, "IDEMPOTENCY_KEY_REUSED"])
    const odd = await agentOf(acme.token).call("send_message", { chatId: chat.id, text: "two" }, key(7))
    expect([odd.isError, odd.structuredContent.details]).toEqual([true, [{ path: "_meta.Idempotency-Key", message: "must be a string" }]])
  })

  it("means nothing to a tool whose operation has none, and is no argument", async () => {
    const chat = await acme.chat()
    for (const _time of [1, 2]) expect((await agentOf(acme.token).call("take_over", { chatId: chat.id }, key("k4"))).isError).toBeFalsy()
    expect((await failure("send_message", { chatId: chat.id, text: "x", idempotencyKey: "k5" })).details[0].path).toBe("idempotencyKey")
  })
})

describe("arguments that do not fit", () => {
  const id = "019ab3d5-4a6b-7c2e-8f10-2d3e4f5a6b7c"
  it.each([
    ["read_chat", {}, "chatId", "is required"],
    ["read_chat", { chatId: null }, "chatId", "must not be null"],
    ["read_chat", { chatId: 7 }, "chatId", "must be a UUID"],
    ["read_chat", { chatId: "7" }, "chatId", "must be a UUID"],
    ["read_chat", { chatId: id, first: "5" }, "first", "must be a whole number"],
    ["read_chat", { chatId: id, last: 5 }, "last", "is not an argument of read_chat, whose arguments are chatId, first, after"],
    [
      "read_chat",
      { chatId: id, constructor: 1 },
      "constructor",
      "is not an argument of read_chat, whose arguments are chatId, first, after",
    ],
    ["search_chats", { unread: "yes" }, "unread", "must be true or false"],
    ["search_chats", { first: 0 }, "first", "must be 1 to 100"],
    ["search_chats", { messenger: "pigeon" }, "messenger", expect.stringContaining("must be one of instagram, ")],
    ["search_chats", { lastMessageFrom: "soon" }, "lastMessageAt", expect.stringContaining("has an invalid value")],
    ["search_chats", { after: "nonsense" }, "cursor", expect.any(String)],
    ["send_message", { chatId: id }, "text", "must not be empty without media"],
    ["send_message", { chatId: id, text: "x".repeat(16_001) }, "text", "must be at most 16000 characters"],
    ["send_message", { chatId: id, mediaIds: id }, "mediaIds", "must be a list"],
    ["send_message", { chatId: id, text: "\0" }, "text", "must not contain NUL (U+0000)"],
    ["assign_chat", { chatId: id }, "managerId", "is required"],
    ["label_chat", { chatId: id, label: " " }, "label", "must be 1 to 64 characters"],
    ["add_knowledge", { assistantId: id, name: "A", kind: "song" }, "kind", "must be one of text, url, file"],
    ["start_call", { assistantId: id, phoneNumber: "tomorrow" }, "phoneNumber", expect.any(String)],
  ])("%s %j", async (name, given, path, message) => {
    const failed = await failure(name, given)
    expect(failed).toMatchObject({ code: "BAD_USER_INPUT", statusCode: 400, details: [{ path, message }] })
  })

  it("null is one that is left out, where it may be", async () => {
    expect(await call("search_chats", { withTotal: null, unread: null, first: null })).not.toHaveProperty("totalCount")
    const chat = await acme.chat()
    expect((await failure("read_chat", { chatId: chat.id, first: 0 })).message).toBe("first must be 1 to 100")
  })

  it("all of them are told at once", async () => {
    const { message, details } = await failure("start_call", { phoneNumber: 5, tone: "kind" })
    expect(details.map(({ path }: { path: string }) => path).sort()).toEqual(["assistantId", "phoneNumber", "tone"])
    expect(message).toContain("assistantId is required")
  })
})

describe.each(Object.keys(toolTable))("%s", (name) => {
  let own: Belongings
  // biome-ignore lint/suspicious/noExplicitAny: as tools/list shows it.
  let listed: any

  beforeAll(async () => {
    own = await belongings(acme)
    listed = (await agentOf(acme.token).list()).find((tool: { name: string }) => tool.name === name)
  })

  it("accepts what its schema describes, and returns what its schema describes, also when it fails", async () => {
    const given = argumentsFor(own)[name]!
    expect(misfit(listed.inputSchema, given)).toBeNull()
    expect(misfit(listed.outputSchema, await call(name, given))).toBeNull()
    const failed = await failure(name, { ...given, unknown: 1 })
    expect(misfit(listed.outputSchema, failed)).toBeNull()
    // Only the other alternative is for errors.
    expect(misfit(listed.outputSchema.anyOf[0], failed)).not.toBeNull()
  })

  it("says of each argument what it means, and truly what it does", async () => {
    for (const [argument, schema] of Object.entries<{ description?: string }>(listed.inputSchema.properties))
      expect([argument, schema.description]).toEqual([argument, expect.stringMatching(/^[A-Z].*\.$/)])
    const before = await everything()
    const { readOnlyHint, idempotentHint } = listed.annotations
    const given = argumentsFor(own)[name]!
    await call(name, given)
    const after = await everything()
    if (readOnlyHint) expect(after).toEqual(before)
    await call(name, given)
    if (idempotentHint) expect(await everything()).toEqual(after)
  })
})

/** How many rows of each kind the companies have that tools can add to. */
async function everything() {
  const tables = ["message", "knowledge", "call", "chat_tag", "chat_tag_assignment", "audit_entry"]
  const known = await sql("select table_name from information_schema.tables where table_name = any($1)", [tables])
  const counts = known.map(async ({ table_name }) => [table_name, (await sql(`select count(*)::int from ${table_name}`))[0].count])
  const credits = await sql("select embedding_credits from company where id = any($1) order by id", [[acme.id, globex.id]])
  return { counts: Object.fromEntries(await Promise.all(counts)), credits }
}
