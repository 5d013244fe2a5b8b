import { EventEmitter, once } from "node:events"
import type { Instance } from "../../test/kit/campaign/instance.js"
import { onThisMachine, sleep } from "../../test/kit/campaign/wait.js"
import type { Listener } from "./listener.js"
import type { Requests } from "./requests.js"
import { addressOf, type Deployment } from "./test-bed.js"

/** One burst of a customer: how many messages, how long the model thinks about each, and the pause after the answer. */
export interface BurstPlan {
  messages: number
  thinksMs: number
  pauseMs: number
}

/** A message that a customer has written, again and again until it was taken. */
export interface Written {
  tag: string
  /** Whether it is its burst's last one, which has to be answered. */
  isLast: boolean
  /** The id that the answer 201 said; null while it is under way. */
  id: string | null
  sendings: number
}

/** Longer than PostgreSQL is ever away. */
const patienceMs = 180_000

/** A customer who writes bursts of messages in one chat and waits for the answer to each; sent again when it is refused with 503. */
export class Regular {
  chatId = ""
  listener: Listener | null = null
  readonly written: Written[] = []
  /** The last message of a burst whose answer the customer waits for, or null. */
  unanswered: string | null = null
  readonly #answers = new EventEmitter()
  #visitorToken: string | undefined
  #sent = 0

  constructor(
    private readonly deployment: Deployment,
    private readonly requests: Requests,
    readonly name: string,
    private readonly instances: Instance[],
    private readonly plans: BurstPlan[],
  ) {}

  /** Writes burst after burst until told to stop; `thinksMs` may have the model think longer than planned. */
  async write(isOver: () => boolean, thinksMs: (planned: number) => number) {
    for (let burst = 0; !isOver(); burst += 1) {
      const plan = this.plans[burst % this.plans.length]!
      for (let index = 1; index <= plan.messages; index += 1) {
        const tag = `question-${this.name}-${burst}-${index}`
        this.deployment.model.thinks(tag, thinksMs(plan.thinksMs))
        await this.send(tag, index === plan.messages)
      }
      await sleep(plan.pauseMs)
    }
  }

  private async send(tag: string, isLast: boolean) {
    const written: Written = { tag, isLast, id: null, sendings: 0 }
    this.written.push(written)
    if (isLast) this.unanswered = tag
    for (;;) {
      const instance = this.instances[this.#sent++ % this.instances.length]!
      written.sendings += 1
      const text = JSON.stringify({ text: `Please answer ${tag}`, messageId: tag, visitorToken: this.#visitorToken })
      const headers = { "content-type": "application/json", "x-forwarded-for": addressOf(this.name) }
      const init = { method: "POST", headers, body: text }
      const { asked, body } = await this.requests.ask("message", instance, `/hooks/widget/${this.deployment.widgetId}`, init)
      if (asked.status === 201) {
        written.id = body.messageId
        this.enter(body)
        break
      }
      // Sooner than it is told to.
      await sleep(Math.max(250, (asked.retryAfter ?? 0) * 250))
    }
    // Heard already, where the answer came before the 201. Nobody waits for ever: who is not answered is found in the store.
    if (this.unanswered === tag) await once(this.#answers, tag, { signal: AbortSignal.timeout(onThisMachine(patienceMs)) }).catch(() => {})
  }

  /** In the chat from the first message on. */
  private enter({ chatId, visitorToken }: { chatId: string; visitorToken: string }) {
    if (this.listener) return
    Object.assign(this, { chatId })
    this.#visitorToken = visitorToken
    let turn = 0
    const url = () => this.instances[turn++ % this.instances.length]!.url
    const listener: Listener = this.deployment.listen(url, { authorization: `Bearer ${visitorToken}` }, () => {
      const question = / to (question-\S+)$/.exec(listener.heard.at(-1)?.message?.text ?? "")
      if (!question) return
      if (this.unanswered === question[1]) this.unanswered = null
      this.#answers.emit(question[1]!)
    })
    listener.isPatient = true
    this.listener = listener
  }
}
