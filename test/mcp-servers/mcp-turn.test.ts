import { OrderBook } from "../../simulate/mcp/order-book.js"
import { type FakeModelReply, startFakeOpenAi } from "../kit/fake-openai.js"
import { chatViews, stillTime, stopScheduler, unwrapped } from "../kit/turns.js"
import { world } from "../kit/world.js"

const book = await OrderBook.start()
const openAi = await startFakeOpenAi()
afterAll(() => Promise.all([openAi.close(), book.close()]))

const w = world({ OPENAI_BASE_URL: openAi.url })
const { acme, rest, gql } = w
const { write, said } = chatViews(w)
const time = stillTime()
let ada: { id: string }
let server: { id: string }

const servers = () => `/api/companies/${acme.id}/mcp-servers`

beforeAll(async () => {
  await stopScheduler(w)
  ada = await acme.makeAssistant({ name: "Ada" })
  server = (await rest.as(acme.token).post(servers(), { name: "shop", url: book.url }).expect(201)).body
})
beforeEach(() => {
  openAi.requests.length = book.requests.length = book.done.length = 0
  book.faults.clear()
})
afterEach(() => {
  expect(w.logged.filter(({ level }) => Number(level) >= 50)).toEqual([])
})

/** The model returns these in turn, and then always the last one. */
function answers(...replies: FakeModelReply[]) {
  openAi.reply = async () => (replies.length > 1 ? replies.shift()! : replies[0]!)
}

const finds = (number: unknown = 1042): FakeModelReply => ({
  toolCalls: [{ id: "call_1", name: "shop_find_order", arguments: { number } }],
})

const enable = (...names: string[]) =>
  rest.as(acme.token).put(`/api/assistants/${ada.id}/mcp-tools`, { tools: names.map((name) => ({ serverId: server.id, name })) })

/** A chat whose reply is due. */
async function chatToAnswer() {
  const chat = await acme.chat({ assistantId: ada.id })
  await write(chat, "Where is order 1042?")
  time.pass(4_000)
  return chat
}

const toldLast = () =>
  openAi.requests
    .at(-1)!
    .body.messages.filter(({ role }: { role: string }) => role === "tool")
    .map(({ content }: { content: string }) => unwrapped(content))

const both = ["Assistant: FunctionCall", "Assistant: FunctionCallOutput"]

describe("an MCP server", () => {
  it("is stored with the tools that it lists", async () => {
    expect(server).toMatchObject({ name: "shop", url: book.url, status: "ready", reason: null, hasCredentials: false })
    expect(server).toMatchObject({ tools: [{ name: "cancel_order" }, { name: "find_order", fault: null }, { name: "list_orders" }] })
  })
})

describe("a tool of an MCP server", () => {
  it("is not enabled by itself", async () => {
    const { body } = await rest.as(acme.token).get(`/api/assistants/${ada.id}/mcp-tools`).expect(200)
    expect(body.map(({ name, state }: { name: string; state: string }) => `${name} ${state}`)).toEqual([
      "cancel_order available",
      "find_order available",
      "list_orders available",
    ])
  })

  it("is called by the assistant, once, with the ID of the call", async () => {
    const { body } = await enable("find_order").expect(200)
    expect(body.find(({ name }: { name: string }) => name === "find_order")).toMatchObject({
      state: "enabled",
      server: { id: server.id, name: "shop" },
      tool: { name: "shop_find_order" },
    })
    answers(finds(), { text: "It is on its way." })
    const chat = await chatToAnswer()
    await w.runDue()

    expect(await said(chat)).toEqual(["Customer: Where is order 1042?", ...both, "Assistant: It is on its way."])
    expect(book.requests).toEqual(["tools/call"])
    const { data } = await gql(
      acme.token,
      `query ($id: UUID!) { assistant(id: $id) { mcpTools { name state tool { id type disabled } } } }`,
      { id: ada.id },
    )
    const { tool } = data.assistant.mcpTools.find(({ state }: { state: string }) => state === "ENABLED")
    expect(tool).toMatchObject({ type: "MCP", disabled: false })
    const { body: log } = await rest.as(acme.token).get(`/api/assistant-tools-new/${tool.id}/logs`).expect(200)
    expect(log.data).toMatchObject([{ chatId: chat.id, success: true, responseStatus: 200, params: { number: 1042 } }])
    expect(book.done).toEqual([{ tool: "find_order", arguments: { number: 1042 }, key: log.data[0].id }])
    expect(toldLast()).toEqual(["Order 1042 (floor lamp Boreal) is on its way and arrives tomorrow, between 9 and 12."])
  })
})
