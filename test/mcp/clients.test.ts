import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { toolTable } from "../../src/mcp/tools.js"
import { happens } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme } = w
const info = { name: "tests", version: "1.0" }
const address = () => new URL("/mcp", w.url)

/** The part of the clients that the tests use. */
interface Connected {
  protocol(): string | undefined
  listTools(): Promise<{ tools: { name: string }[] }>
  // biome-ignore lint/suspicious/noExplicitAny: as the tool returns it.
  callTool(call: { name: string; arguments: object; _meta?: object }): Promise<any>
  close(): Promise<void>
}

const newClient = (mode: "auto" | "legacy") => async (headers: Record<string, string>) => {
  const client = new Client(info, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(address(), { requestInit: { headers } }))
  return Object.assign(client, { protocol: () => client.getNegotiatedProtocolVersion() }) as unknown as Connected
}

async function olderClient(headers: Record<string, string>) {
  const client = new OlderClient(info)
  const transport = new OlderTransport(address(), { requestInit: { headers } })
  await client.connect(transport as never)
  return Object.assign(client, { protocol: () => transport.protocolVersion }) as unknown as Connected
}

describe.each([
  ["the client of the SDK that negotiates", newClient("auto"), "2026-07-28"],
  ["the client of the SDK that initializes", newClient("legacy"), "2025-11-25"],
  ["the older client", olderClient, "2025-11-25"],
])("%s", (_name, connect, revision) => {
  it("connects with a token as Bearer, lists the tools and calls them", async () => {
    const client = await happens("the client is connected", connect({ Authorization: `Bearer ${acme.token}` }))
    expect(client.protocol()).toBe(revision)
    const { tools } = await happens("the tools are listed", client.listTools())
    expect(tools.map(({ name }) => name)).toEqual(Object.keys(toolTable))
    const chat = await acme.chat({ name: "Ann" })
    const call = (name: string, given: object, _meta?: object) =>
      happens(`${name} is answered`, client.callTool({ name, arguments: given, ...(_meta && { _meta }) }))
    const key = { "Idempotency-Key": chat.id }
    const sent = await call("send_message", { chatId: chat.id, text: "Hi" }, key)
    expect((await call("send_message", { chatId: chat.id, text: "Hi" }, key)).structuredContent).toEqual(sent.structuredContent)
    const { structuredContent } = await call("read_chat", { chatId: chat.id })
    expect(structuredContent.messages.nodes).toEqual([expect.objectContaining({ id: sent.structuredContent.id, text: "Hi" })])
    await client.close()
  })

  it("shows why a call failed, although it holds results against the schema of the tool", async () => {
    const client = await happens("the client is connected", connect({ "X-Access-Token": acme.token }))
    await happens("the tools are listed", client.listTools())
    const result = await happens("read_chat is answered", client.callTool({ name: "read_chat", arguments: { chatId: acme.id } }))
    expect(result).toMatchObject({ isError: true, structuredContent: { code: "NOT_FOUND", message: "Chat not found" } })
    await client.close()
  })

  it("cannot connect without a credential", async () => {
    await expect(
      happens(
        "the client was refused",
        connect({}).catch((error) => Promise.reject(new Error(String(error)))),
      ),
    ).rejects.toThrow(/unauthorized|401/i)
  })
})
