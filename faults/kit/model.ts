import { sleep } from "../../test/kit/campaign/wait.js"
import { type FakeOpenAi, startFakeOpenAi } from "../../test/kit/fake-openai.js"

/** A call of the model, for one customer's question. */
export interface ModelCall {
  at: number
  /** Name of the instance that asked. */
  by: string
  answer: string
  /** When its answer left; null while the model thinks. */
  answeredAt: number | null
}

/** The model of a deployment, with a delay for each question; it never gives the same answer twice. */
export class SlowModel {
  readonly calls = new Map<string, ModelCall[]>()
  readonly #thinksMs = new Map<string, number>()
  #running = 0
  #tool: string | null = null

  private constructor(private readonly fake: FakeOpenAi) {
    fake.reply = async ({ body, headers }) => {
      // The question that was asked last, whatever else the model is shown: its own answers name questions too.
      const asked = body.messages.filter(({ role }: { role: string }) => role === "user")
      const [tag = ""] =
        JSON.stringify(asked)
          .match(/question-[\w-]+/g)
          ?.slice(-1) ?? []
      const calls = this.callsFor(tag)
      const by = headers.authorization?.replace("Bearer ", "") ?? ""
      const call: ModelCall = { at: performance.now(), by, answer: `Answer ${calls.length + 1} to ${tag}`, answeredAt: null }
      calls.push(call)
      this.#running += 1
      await sleep(this.#thinksMs.get(tag) ?? 0)
      this.#running -= 1
      call.answeredAt = performance.now()
      const isOffered = body.tools?.some((each: { function: { name: string } }) => each.function.name === this.#tool)
      const hasResult = body.messages.some(({ role }: { role: string }) => role === "tool")
      if (isOffered && !hasResult) return { toolCalls: [{ name: this.#tool!, arguments: { question: tag } }] }
      return { text: call.answer }
    }
  }

  static async start() {
    return new SlowModel(await startFakeOpenAi())
  }

  get url() {
    return this.fake.url
  }

  /** Whether nobody waits for an answer. */
  get isQuiet() {
    return this.#running === 0
  }

  /** How long it is to think about a question. */
  thinks(tag: string, ms: number) {
    this.#thinksMs.set(tag, ms)
  }

  /** Has it call a tool with the question, before it answers. */
  callsTool(name: string) {
    this.#tool = name
  }

  callsFor(tag: string): ModelCall[] {
    const calls = this.calls.get(tag) ?? []
    this.calls.set(tag, calls)
    return calls
  }

  close() {
    return this.fake.close()
  }
}
