import type { Instance } from "../../test/kit/campaign/instance.js"
import { sleep } from "../../test/kit/campaign/wait.js"
import type { Listener } from "./listener.js"
import { type Deployment, post } from "./test-bed.js"

/** A customer who asks one question in the widget and subscribes to the answer. */
export class Customer {
  chatId = ""
  /** When the hook answered 201. */
  askedAt = 0
  listener: Listener | null = null
  /** How often the question had to be sent. */
  sendings = 0
  /** Where the listener goes when its connection breaks. */
  #turn = 0

  constructor(
    private readonly deployment: Deployment,
    readonly tag: string,
    /** Where the customer listens, in turn. */
    private readonly instances: Instance[],
  ) {}

  /** Asks, again and again under the same message id until it is taken; then listens. */
  async ask(at: Instance): Promise<void> {
    const body = { text: `Please answer ${this.tag}`, messageId: this.tag }
    for (;;) {
      this.sendings += 1
      const taken = await post(`${at.url}/hooks/widget/${this.deployment.widgetId}`, null, body).catch(() => null)
      if (taken?.status === 201) {
        this.askedAt = performance.now()
        this.chatId = taken.body.chatId
        const credentials = { authorization: `Bearer ${taken.body.visitorToken}` }
        this.listener = this.deployment.listen(() => this.next().url, credentials)
        return
      }
      // A server that is too busy asks to come back.
      if (taken && taken.status !== 503) throw new Error(`The widget's hook answered ${taken.status}: ${JSON.stringify(taken.body)}`)
      await sleep(20)
    }
  }

  /** The answers of the assistant that it received. */
  get answers() {
    return (this.listener?.heard ?? []).filter(({ message }) => message?.role === "ASSISTANT")
  }

  private next(): Instance {
    this.#turn += 1
    return this.instances[this.#turn % this.instances.length]!
  }
}
