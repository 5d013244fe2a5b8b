import { OrderBook } from "../../simulate/mcp/order-book.js"
import { ElevenLabsVendor } from "../../simulate/vendors/elevenlabs.js"
import { callLimits } from "../../src/calls/limits.js"
import { call as callWork } from "../../src/jobs/call.js"
import { callLines } from "../../src/jobs/call-lines.js"
import { callRecord } from "../../src/jobs/call-record.js"
import { voiceAgent } from "../../src/jobs/voice-agent.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { stillTime, stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const vendor = new ElevenLabsVendor()
await vendor.server.listen()
const openAi = await startFakeOpenAi()
const book = await OrderBook.start()
afterAll(() => Promise.all([vendor.server.close(), openAi.close(), book.close()]))

const w = world({
  OPENAI_BASE_URL: openAi.url,
  ELEVENLABS_BASE_URL: vendor.server.url,
  ELEVENLABS_API_KEY: "key",
  ELEVENLABS_WEBHOOK_SECRET: vendor.webhookSecret,
  PUBLIC_URL: "https://platform.example",
})
const { acme, rest, sql } = w
const time = stillTime()
let as: ReturnType<typeof rest.as>
let server: { id: string }

beforeAll(async () => {
  await stopScheduler(w)
  as = rest.as(acme.token)
  server = await acme.mcpServer({ url: book.url })
  await acme.subscription("active")
  await acme.voice({ balance: 10, lines: 3 })
})
beforeEach(() => {
  book.done.length = 0
})

/** An assistant with one tool of the order book, on a voice provider. */
async function assistantOn(provider: string) {
  const assistant = await acme.makeAssistant({ name: "Ada", vaRegistration: { provider } })
  const tools = [{ serverId: server.id, name: "find_order" }]
  const { body } = await as.put(`/api/assistants/${assistant.id}/mcp-tools`, { tools }).expect(200)
  return { assistant, tool: body.find(({ state }: { state: string }) => state === "enabled").tool as { id: string; name: string } }
}

async function work() {
  for (const each of [callLines, voiceAgent.sweep, callWork.sweep, callRecord.sweep]) {
    await each.run(w.services)
    await w.services.running.idle()
  }
}
const originate = async (assistant: { id: string }, dynamicVariables = {}): Promise<string> => {
  const body = { phoneNumber: "+380441234567", dynamicVariables }
  return (await as.post(`/api/assistants/${assistant.id}/originate`, body).expect(200)).body.workflowId
}
const log = async ({ id }: { id: string }) => (await as.get(`/api/assistant-tools-new/${id}/logs`).expect(200)).body.data

it("an assistant calls a tool of an MCP server on a simulated call", async () => {
  const { assistant, tool } = await assistantOn("simulated")
  openAi.reply = async ({ body }) =>
    body.messages.at(-1).role === "tool"
      ? { text: "It arrives tomorrow." }
      : { toolCalls: [{ name: tool.name, arguments: { number: 1042 } }] }
  const id = await originate(assistant, { simulate_says: "Where is order 1042?" })
  const ended = async () => {
    await work()
    time.pass(callLimits.pollMs)
    return (await sql("select reported_at from call where id = $1 and reported_at is not null", [id])).length > 0
  }
  await until("the call is reported", ended)
  const { body } = await as.get(`/api/calls-history/${id}`).expect(200)
  expect(body.replies.at(-1)).toMatchObject({ role: "agent", text: "It arrives tomorrow." })
  const [entry] = await log(tool)
  expect(entry).toMatchObject({ callId: id, chatId: null, success: true })
  expect(book.done).toEqual([{ tool: "find_order", arguments: { number: 1042 }, key: entry.id }])
})

describe("an agent at ElevenLabs", () => {
  /** The address of a tool at the vendor, when the agent has it, with the secret that the vendor sends. */
  function atVendor(tool: { id: string }) {
    const found = [...vendor.tools.values()].find(({ tool_config }) => tool_config.api_schema.url.endsWith(tool.id))
    if (!found) return null
    const { url, request_headers: headers } = found.tool_config.api_schema
    const { name, description } = found.tool_config
    return { url, name, description, secret: vendor.secrets.get(headers["X-Voice-Tool-Secret"].secret_id)!.value }
  }
  const ready = (assistant: { id: string }) =>
    until("the voice agent is ready", async () => {
      await work()
      return (await as.get(`/api/assistants-new/${assistant.id}`)).body.voiceAgentStatus === "ready"
    })

  it("calls a tool of an MCP server at the platform's own address", async () => {
    const { assistant, tool } = await assistantOn("elevenlabs")
    await ready(assistant)
    const offered = atVendor(tool)!
    expect(offered).toMatchObject({ url: `https://platform.example/hooks/voice/elevenlabs/tools/${tool.id}`, name: tool.name })
    const id = await originate(assistant)
    await work()
    const conversation = [...vendor.conversations.values()].find(({ user_id }) => user_id === id)!
    vendor.answer(conversation)
    const request = { method: "POST", body: JSON.stringify({ number: 1042, call_id: id }) }
    const address = `${w.url}/hooks/voice/elevenlabs/tools/${tool.id}`
    expect((await fetch(address, request)).status).toBe(401)
    const answer = await fetch(address, { ...request, headers: { "X-Voice-Tool-Secret": offered.secret } })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain("is on its way")
    expect(await log(tool)).toMatchObject([{ callId: id, status: "success" }])
    expect(book.done).toHaveLength(1)
  })

  it("loses a tool whose description has changed, and gets it again when a person accepts it", async () => {
    const { assistant, tool } = await assistantOn("elevenlabs")
    await ready(assistant)
    expect(atVendor(tool)).not.toBeNull()
    book.faults.describe("find_order", "Other words.")
    await as.post(`/api/companies/${acme.id}/mcp-servers/${server.id}/refresh`).expect(201)
    await until("the agent has the tool no more", async () => {
      await work()
      return atVendor(tool) === null
    })
    await as.put(`/api/assistants/${assistant.id}/mcp-tools`, { tools: [{ serverId: server.id, name: "find_order" }] }).expect(200)
    await until("the agent has the tool again", async () => {
      await work()
      return atVendor(tool)?.description === "Other words."
    })
  })
})
