import { promised } from "../kit/promise.js"
import { statementsOf } from "../kit/statements.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, gql } = w

const messagesOf = (chatId: string, texts: string[]) =>
  texts.reduce((before, text) => before.then(() => acme.message({ chatId, text })), Promise.resolve<unknown>(null))

const chatsWithMessages = `query ($n: Int) { chats(first: 50) { nodes { id
  messages(first: $n) { totalCount nodes { text } pageInfo { hasNextPage endCursor } } } } }`

it("each chat of a list shows its newest messages, and goes on as the root field does", async () => {
  const [long, short, empty] = [await acme.chat(), await acme.chat(), await acme.chat()]
  await messagesOf(long.id, ["one", "two", "three"])
  await messagesOf(short.id, ["only"])
  const body = await gql(acme.token, chatsWithMessages, { n: 2 })
  // biome-ignore lint/suspicious/noExplicitAny: as the query shapes it.
  const shown = new Map<string, any>(body.data.chats.nodes.map((chat: any) => [chat.id, chat.messages]))
  expect(shown.get(long.id)).toMatchObject({ totalCount: 3, nodes: [{ text: "three" }, { text: "two" }], pageInfo: { hasNextPage: true } })
  expect(shown.get(short.id)).toMatchObject({ totalCount: 1, nodes: [{ text: "only" }], pageInfo: { hasNextPage: false } })
  expect(shown.get(empty.id)).toEqual({ totalCount: 0, nodes: [], pageInfo: { hasNextPage: false, endCursor: null } })
  const after = shown.get(long.id).pageInfo.endCursor
  const rest = await gql(
    acme.token,
    `query ($id: UUID!, $after: String) {
      chat(id: $id) { messages(after: $after) { nodes { text } edges { cursor node { text } } } }
      messages(chatId: $id, after: $after) { nodes { text } edges { cursor node { text } } } }`,
    { id: long.id, after },
  )
  expect(rest.data.chat.messages.nodes).toEqual([{ text: "one" }])
  expect(rest.data.chat.messages).toEqual(rest.data.messages)
  const other = await gql(acme.token, `query ($id: UUID!, $after: String) { chat(id: $id) { messages(after: $after) { nodes { id } } } }`, {
    id: short.id,
    after,
  })
  expect(other.errors![0]!.extensions).toMatchObject({ code: "BAD_USER_INPUT", statusCode: 400 })
})

it("an assistant shows its tools and knowledge items as their root fields do", async () => {
  for (const name of ["first_tool", "second_tool", "third_tool"]) await acme.tool({ name })
  const body = await gql(
    acme.token,
    `query ($id: UUID!) { assistant(id: $id) { tools(take: 2) { totalCount nodes { name } }
        knowledgeItems { totalCount nodes { id name resourceContent } } }
      assistantTools(assistantId: $id, take: 2) { totalCount nodes { name } }
      knowledgeItems(assistantId: $id) { totalCount nodes { id name resourceContent } } }`,
    { id: acme.assistant.id },
  )
  expect(body.data.assistantTools.nodes).toEqual([{ name: "third_tool" }, { name: "second_tool" }])
  expect(body.data.assistant.tools).toEqual(body.data.assistantTools)
  expect(body.data.knowledgeItems.totalCount).toBe(1)
  expect(body.data.assistant.knowledgeItems).toEqual(body.data.knowledgeItems)
})

it("an assistant shows its chats, most recent activity first, and goes on as the root field does", async () => {
  const [assistant, other] = [await acme.makeAssistant(), await acme.makeAssistant()]
  const [first, second, third] = [
    await acme.chat({ assistantId: assistant.id }),
    await acme.chat({ assistantId: assistant.id }),
    await acme.chat({ assistantId: assistant.id }),
  ]
  const foreign = await acme.chat({ assistantId: other.id })
  await messagesOf(first.id, ["the latest"])
  const query = `query ($id: UUID!, $after: String) {
    assistant(id: $id) { chats(first: 2, after: $after) { totalCount nodes { id } edges { cursor } pageInfo { hasNextPage endCursor } } }
    chats(assistantId: $id, first: 2, after: $after) { totalCount nodes { id } edges { cursor } pageInfo { hasNextPage endCursor } } }`
  const page = (await gql(acme.token, query, { id: assistant.id })).data
  expect(page.assistant.chats).toMatchObject({
    totalCount: 3,
    nodes: [{ id: first.id }, { id: third.id }],
    pageInfo: { hasNextPage: true },
  })
  expect(page.assistant.chats).toEqual(page.chats)
  const next = (await gql(acme.token, query, { id: assistant.id, after: page.chats.pageInfo.endCursor })).data
  expect(next.assistant.chats).toMatchObject({ nodes: [{ id: second.id }], pageInfo: { hasNextPage: false } })
  expect(next.assistant.chats).toEqual(next.chats)
  const all = await gql(acme.token, "{ assistants(take: 100) { nodes { id chats { nodes { id } } } } }")
  const shown = all.data.assistants.nodes.find(({ id }: { id: string }) => id === other.id)
  expect(shown.chats.nodes).toEqual([{ id: foreign.id }])
})

promised("another company sees none of them", async () => {
  const chat = await acme.chat()
  await messagesOf(chat.id, ["private words"])
  const body = await gql(
    globex.token,
    `query ($chat: UUID!, $assistant: UUID!) { chat(id: $chat) { messages { nodes { text } } }
      assistant(id: $assistant) { tools { nodes { id } } knowledgeItems { nodes { id } } }
      chats { nodes { messages { nodes { text } } } } }`,
    { chat: chat.id, assistant: acme.assistant.id },
  )
  expect(body.data).toMatchObject({ chat: null, assistant: null })
  expect(JSON.stringify(body.data)).not.toContain("private words")
})

it("a list of more chats sends no more statements", async () => {
  const read = () => statementsOf(w, () => gql(acme.token, chatsWithMessages, { n: 5 }))
  const few = await read()
  for (let n = 0; n < 10; n += 1) await messagesOf((await acme.chat()).id, ["hello"])
  expect(await read()).toHaveLength(few.length)
  // The chats, their messages, and the counts of these.
  expect(few.length).toBeLessThanOrEqual(5)
})

it.each(["first: 0", "first: 101", "first: -1"])("messages(%s) of a chat is refused as the root field refuses it", async (size) => {
  const { id } = await acme.chat()
  const body = await gql(acme.token, `query ($id: UUID!) { chat(id: $id) { messages(${size}) { nodes { id } } } }`, { id })
  const root = await gql(acme.token, `query ($id: UUID!) { messages(chatId: $id, ${size}) { nodes { id } } }`, { id })
  const { requestId: _one, ...extensions } = body.errors![0]!.extensions
  const { requestId: _other, ...expected } = root.errors![0]!.extensions
  expect(extensions).toEqual(expected)
  expect(extensions.code).toBe("BAD_USER_INPUT")
})

it("the messages of many chats count in the cost of the operation", async () => {
  const body = await gql(acme.token, `{ chats(first: 100) { nodes { messages(first: 100) { nodes { id replyTo { id chat { id } } } } } } }`)
  expect(body.errors![0]!.extensions).toMatchObject({ code: "BAD_USER_INPUT" })
  expect(body.errors![0]!.message).toMatch(/could return \d+ objects, more than 20000/)
})
