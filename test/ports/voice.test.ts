import { v7 } from "uuid"
import { simulatedVoice } from "../../src/ports/voice/simulated.js"
import { type VoiceAgentSettings, VoiceFailure, type VoiceProvider } from "../../src/ports/voice.js"

const adapters: Record<string, { open(): VoiceProvider }> = {
  simulated: { open: simulatedVoice },
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
})
