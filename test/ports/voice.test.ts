import { buffer } from "node:stream/consumers"
import { v7 } from "uuid"
import { ElevenLabsVendor } from "../../simulate/vendors/elevenlabs.js"
import { elevenLabsVoice } from "../../src/ports/voice/elevenlabs.js"
import { simulatedVoice } from "../../src/ports/voice/simulated.js"
import { type DialRequest, type VoiceAgentSettings, VoiceFailure, type VoiceProvider } from "../../src/ports/voice.js"

const vendor = new ElevenLabsVendor()
await vendor.server.listen()
afterAll(() => vendor.server.close())
const { webhookSecret } = vendor
const elevenlabs = (apiKey = "key") => elevenLabsVoice({ baseUrl: vendor.server.url, apiKey, webhookSecret })

const adapters: Record<string, { open(): VoiceProvider }> = {
  simulated: { open: simulatedVoice },
  elevenlabs: { open: elevenlabs },
}

const going = () => new AbortController().signal

/** The settings of an agent. */
const settings = (more: Partial<VoiceAgentSettings> = {}): VoiceAgentSettings => ({
  assistantId: v7(),
  agentId: null,
  name: "Ada",
  instructions: "You answer the phone of {{shop}}.",
  firstMessage: "Hello!",
  language: "en",
  voiceId: null,
  phoneNumber: "+380441234567",
  interruptible: true,
  silenceTimeoutSeconds: 30,
  maxDurationSeconds: 600,
  ...more,
})

/** A call from an agent that the provider has. */
async function callOf(provider: VoiceProvider, more: Partial<DialRequest> = {}): Promise<DialRequest> {
  const agent = settings()
  const agentId = await provider.provision(agent, going())
  return { callId: v7(), agent: { ...agent, agentId }, toNumber: "+380441234567", fromNumber: null, ringSeconds: 60, ...more }
}

describe.each(Object.entries(adapters))("a voice provider: %s", (name, { open }) => {
  it("has the name that assistants use", () => {
    expect(open().name).toBe(name)
  })

  it("creates one agent for an assistant, however often and by whichever instance it is called", async () => {
    const wanted = settings()
    const agentId = await open().provision(wanted, going())
    expect(agentId).toMatch(/\S/)
    expect(await open().provision(wanted, going())).toBe(agentId)
    expect(await open().provision({ ...wanted, agentId, name: "Bea", firstMessage: null }, going())).toBe(agentId)
  })

  it("creates different agents for different assistants", async () => {
    const provider = open()
    expect(await provider.provision(settings(), going())).not.toBe(await provider.provision(settings(), going()))
  })

  it("deletes an agent, also one whose id is unknown, and a missing one", async () => {
    const provider = open()
    const wanted = settings()
    const { assistantId } = wanted
    const agentId = await provider.provision(wanted, going())
    await provider.tearDown({ assistantId, agentId }, going())
    await provider.tearDown({ assistantId, agentId }, going())
    await provider.provision(wanted, going())
    await provider.tearDown({ assistantId, agentId: null }, going())
    await provider.tearDown({ assistantId: v7(), agentId: null }, going())
  })

  it("does nothing after an abort, and fails with its own error", async () => {
    const stopped = AbortSignal.abort()
    await expect(open().provision(settings(), stopped)).rejects.toThrow(VoiceFailure)
    await expect(open().tearDown({ assistantId: v7(), agentId: null }, stopped)).rejects.toThrow(VoiceFailure)
  })

  it("dials and names the call, or knows none that it was not asked for", async () => {
    const provider = open()
    const result = await provider.dial(await callOf(provider), going())
    expect(result).toMatchObject({ kind: "dialed", providerCallId: expect.stringMatching(/\S/) })
    expect(await provider.lookUp({ callId: v7(), providerCallId: null }, going())).toBeNull()
  })

  it("verifies no webhook without a signature", () => {
    expect(open().verifyWebhook({ headers: {}, body: Buffer.from("{}") }, new Date())).toBe(false)
  })
})

describe("ElevenLabs", () => {
  const provider = elevenlabs()
  const dial = async (more: Partial<DialRequest> = {}) => provider.dial(await callOf(provider, more), going())
  beforeEach(() => {
    vendor.dialed.length = 0
    vendor.faults.clear()
  })

  it("gets an agent whose texts have no placeholders, with the two built-in tools and those of the assistant", async () => {
    const tool = { id: v7(), name: "getOrder", description: "Looks.", timeoutSeconds: 15, url: "https://example.com/t", secret: "ab" }
    const parameters = { type: "object", properties: { orderId: { type: "integer" } }, required: ["orderId"] }
    const wanted = settings({
      tools: [
        { ...tool, parameters },
        { ...tool, name: "second", parameters: {} },
      ],
      interruptible: false,
    })
    const agentId = await provider.provision(wanted, going())
    const config = vendor.agents.get(agentId).conversation_config
    expect(config.agent.prompt.prompt).toBe("You answer the phone of { {shop}}.")
    expect(Object.keys(config.agent.prompt.built_in_tools)).toEqual(["end_call", "voicemail_detection"])
    expect(config.conversation.client_events).not.toContain("interruption")
    expect(config.tts.model_id).toBe("eleven_flash_v2")
    const [first, second] = config.agent.prompt.tool_ids
    const { api_schema: schema } = vendor.tools.get(first).tool_config
    expect(schema.request_body_schema).toEqual({
      type: "object",
      required: ["orderId", "call_id"],
      properties: { orderId: { type: "integer", description: "orderId" }, call_id: { type: "string", dynamic_variable: "call_id" } },
    })
    expect(vendor.secrets.get(schema.request_headers["X-Voice-Tool-Secret"].secret_id)).toMatchObject({ value: "ab" })
    // A tool that the assistant lost is deleted after the agent does not name it any more.
    await provider.provision({ ...wanted, agentId, tools: [{ ...tool, parameters }] }, going())
    expect(vendor.agents.get(agentId).conversation_config.agent.prompt.tool_ids).toEqual([first])
    expect([vendor.tools.has(first), vendor.tools.has(second)]).toEqual([true, false])
    await provider.tearDown({ assistantId: wanted.assistantId, agentId }, going())
    expect([vendor.agents.has(agentId), vendor.tools.has(first)]).toEqual([false, false])
  })

  it("gets the texts of a call with its dial, and only the id of the call as a variable", async () => {
    const request = await callOf(provider)
    request.agent.instructions = "You call Ann, {{missing}}."
    await provider.dial(request, going())
    expect(vendor.dialed.at(-1)).toMatchObject({
      agent_phone_number_id: "number-1",
      to_number: "+380441234567",
      telephony_call_config: { ringing_timeout_secs: 60 },
      conversation_initiation_client_data: {
        user_id: request.callId,
        dynamic_variables: { call_id: request.callId },
        conversation_config_override: { agent: { prompt: { prompt: "You call Ann, { {missing}}." }, first_message: "Hello!" } },
      },
    })
    expect(await provider.lookUp({ callId: request.callId, providerCallId: null }, going())).toMatchObject({
      callId: request.callId,
      state: "dialing",
    })
  })

  const outbound = "outbound-call"
  it.each([
    ["429", { fault: "429", on: outbound, retryAfter: 7 }, { kind: "refused", busy: true, retryAfterMs: 7_000 }, 0],
    ["5xx", { fault: "500", on: outbound }, { kind: "in_doubt" }, 0],
    ["a reset before it was handled", { fault: "reset", on: outbound }, { kind: "in_doubt" }, 0],
    ["a reset after it was handled", { fault: "reset-after", on: outbound }, { kind: "in_doubt" }, 1],
    ["5xx of the list of numbers", { fault: "500", on: "phone-numbers" }, { kind: "refused", busy: true }, 0],
    [
      "429 of the list of numbers",
      { fault: "429", on: "phone-numbers", retryAfter: 3 },
      { kind: "refused", busy: true, retryAfterMs: 3_000 },
      0,
    ],
  ] as const)("dials once whatever happens: %s", async (_says, fault, result, dialed) => {
    const request = await callOf(provider)
    vendor.faults.next({ ...fault })
    expect(await provider.dial(request, going())).toMatchObject(result)
    expect(vendor.dialed).toHaveLength(dialed)
  })

  it("refuses a number that is not the account's, an unknown agent, and a wrong key", async () => {
    expect(await dial({ fromNumber: "+15559999" })).toMatchObject({
      kind: "refused",
      busy: false,
      reason: expect.stringContaining("+15559999"),
    })
    expect(await dial({ agent: settings({ agentId: "gone" }) })).toMatchObject({ kind: "refused", busy: false })
    await expect(elevenlabs("wrong").provision(settings(), going())).rejects.toMatchObject({ isFinal: true })
    expect(vendor.dialed).toHaveLength(0)
  })

  it("fails with its own error when it is broken or busy, whatever it is asked", async () => {
    const call = { callId: v7(), providerCallId: "conv_0" }
    const asked: (() => Promise<unknown>)[] = [
      () => provider.provision(settings(), going()),
      () => provider.tearDown({ assistantId: v7(), agentId: "agent_1" }, going()),
      () => provider.lookUp(call, going()),
      () => provider.recording({ ...call, replies: [] }, going()),
    ]
    for (const ask of asked)
      for (const fault of ["429", "500", "reset"] as const) {
        vendor.faults.next(fault)
        await expect(ask()).rejects.toThrow(VoiceFailure)
      }
  })

  it("reports how a call stands, what was said, and its recording", async () => {
    const request = await callOf(provider)
    const result = await provider.dial(request, going())
    const providerCallId = result.kind === "dialed" ? result.providerCallId : ""
    const conversation = vendor.conversations.get(providerCallId)!
    const call = { callId: request.callId, providerCallId }
    vendor.answer(conversation)
    expect(await provider.lookUp(call, going())).toMatchObject({ state: "in_progress", ending: null, replies: null })
    await expect(provider.recording({ ...call, replies: [] }, going())).rejects.toThrow(VoiceFailure)
    vendor.end(conversation, {
      seconds: 12,
      said: [
        ["agent", "Hello!"],
        ["user", "Hi."],
        ["agent", ""],
      ],
    })
    expect(await provider.lookUp(call, going())).toMatchObject({
      state: "ended",
      durationSeconds: 12,
      ending: { reason: "Call ended by remote party", isError: false },
      replies: [
        { role: "agent", text: "Hello!", startSeconds: 0, endSeconds: 2 },
        { role: "customer", text: "Hi.", startSeconds: 2, endSeconds: null },
      ],
    })
    const recording = await provider.recording({ ...call, replies: [] }, going())
    expect((await buffer(recording!.content)).subarray(0, 2)).toEqual(Buffer.from([0xff, 0xfb]))
  })

  it("accepts its own signature for half an hour, one of several, and no other", () => {
    const now = new Date()
    const check = ({ body, headers }: { body: string; headers: Record<string, string> }, at = now) =>
      provider.verifyWebhook({ headers, body: Buffer.from(body) }, at)
    const signed = vendor.webhook("post_call_transcription", {}, now)
    const signature = signed.headers["elevenlabs-signature"]!
    expect(check(signed)).toBe(true)
    expect(check({ ...signed, headers: { "elevenlabs-signature": signature.replace(",", ",v0=00,") } })).toBe(true)
    expect(check({ ...signed, body: `${signed.body} ` })).toBe(false)
    expect(check(vendor.webhook("post_call_transcription", {}, now, "forged"))).toBe(false)
    expect(check(signed, new Date(now.getTime() + 31 * 60_000))).toBe(false)
    expect(check(signed, new Date(now.getTime() - 60_000))).toBe(false)
    expect(check({ ...signed, headers: { "elevenlabs-signature": "t=x,v0=" } })).toBe(false)
  })
})
