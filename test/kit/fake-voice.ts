import { simulatedVoice } from "../../src/ports/voice/simulated.js"
import type { VoiceAgentSettings, VoiceProvider } from "../../src/ports/voice.js"
import { happens } from "./wait.js"

/** A call of a fake voice provider. */
export interface VoiceCall {
  task: "provision" | "tearDown"
  assistantId: string
  agentId: string | null
  settings: VoiceAgentSettings | null
  signal: AbortSignal
}

export interface FakeVoice {
  calls: VoiceCall[]
  /** By assistant: the agent's id and settings. */
  agents: Map<string, { id: string; settings: VoiceAgentSettings }>
  reply(call: VoiceCall): Promise<void>
  /** Forgets earlier calls. */
  reset(): void
  /** Holds every further call; `next` returns the next one. */
  hold(): { next(): Promise<HeldVoiceCall> }
  provider: VoiceProvider
}

/** A voice provider in this process: set `reply` to refuse (throw) or to delay (await); `agents` holds its agents. */
export function fakeVoice(name = "fake"): FakeVoice {
  let count = 0
  const fake: FakeVoice = {
    calls: [],
    agents: new Map(),
    reply: async () => {},
    reset() {
      fake.calls.length = 0
      fake.agents.clear()
      fake.reply = async () => {}
    },
    hold() {
      const came: HeldVoiceCall[] = []
      const awaited: ((call: HeldVoiceCall) => void)[] = []
      fake.reply = (call) =>
        new Promise((resolve, reject) => {
          const held = { ...call, answer: resolve, refuse: reject }
          const hear = awaited.shift()
          if (hear) hear(held)
          else came.push(held)
        })
      return {
        next: async (): Promise<HeldVoiceCall> =>
          came.shift() ?? happens("the voice provider is called", new Promise((resolve) => awaited.push(resolve)), () => fake.calls.length),
      }
    },
    provider: {
      ...simulatedVoice(),
      name,
      async provision(settings, signal) {
        const call = { task: "provision" as const, assistantId: settings.assistantId, agentId: settings.agentId, settings, signal }
        fake.calls.push(call)
        await fake.reply(call)
        const id = fake.agents.get(settings.assistantId)?.id ?? `${name}-${++count}`
        fake.agents.set(settings.assistantId, { id, settings })
        return id
      },
      async tearDown(agent, signal) {
        const call = { task: "tearDown" as const, ...agent, settings: null, signal }
        fake.calls.push(call)
        await fake.reply(call)
        fake.agents.delete(agent.assistantId)
      },
    },
  }
  return fake
}

/** A call that a fake holds until the test answers or refuses it. */
export interface HeldVoiceCall extends VoiceCall {
  answer(): void
  refuse(error: Error): void
}
