import { v7 } from "uuid"
import { simulatedVoice } from "../../src/ports/voice/simulated.js"
import { type VoiceAgentSettings, VoiceFailure, type VoiceProvider } from "../../src/ports/voice.js"

const adapters: Record<string, { open(): VoiceProvider }> = {
  simulated: { open: simulatedVoice },
}

const going = () => new AbortController().signal

/** What an agent is asked to be. */
const wish = (more: Partial<VoiceAgentSettings> = {}): VoiceAgentSettings => ({
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
  it("is called as assistants name it", () => {
    expect(open().name).toBe(name)
  })

  it("makes one agent of an assistant, however often and by whichever instance it is asked", async () => {
    const wanted = wish()
    const agentId = await open().provision(wanted, going())
    expect(agentId).toMatch(/\S/)
    expect(await open().provision(wanted, going())).toBe(agentId)
    expect(await open().provision({ ...wanted, agentId, name: "Bea", firstMessage: null }, going())).toBe(agentId)
  })

  it("makes different agents of different assistants", async () => {
    const provider = open()
    expect(await provider.provision(wish(), going())).not.toBe(await provider.provision(wish(), going()))
  })

  it("removes an agent, also one whose id was never learnt, and one that is gone", async () => {
    const provider = open()
    const wanted = wish()
    const { assistantId } = wanted
    const agentId = await provider.provision(wanted, going())
    await provider.tearDown({ assistantId, agentId }, going())
    await provider.tearDown({ assistantId, agentId }, going())
    await provider.provision(wanted, going())
    await provider.tearDown({ assistantId, agentId: null }, going())
    await provider.tearDown({ assistantId: v7(), agentId: null }, going())
  })

  it("does nothing that was stopped, and says so as a failure of its own", async () => {
    const stopped = AbortSignal.abort()
    await expect(open().provision(wish(), stopped)).rejects.toThrow(VoiceFailure)
    await expect(open().tearDown({ assistantId: v7(), agentId: null }, stopped)).rejects.toThrow(VoiceFailure)
  })
})
