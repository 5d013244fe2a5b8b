import { Agent, request } from "node:http"
import { type ClientOptions, Listener } from "./listener.js"
import type { Deployment } from "./test-bed.js"

/** A request through the proxy and its response; without a response, status 0 and the error. */
export interface Answered {
  what: string
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any shape.
  body: any
  error: string
  tookMs: number
}

/** Sends JSON from an address of this machine, over connections that are kept; writes every request down. */
export class ProxyClient {
  readonly all: Answered[] = []
  /** Requests that were repeated, because nginx had closed the connection that they were to use. */
  repeated = 0
  readonly #agents = new Map<string, Agent>()

  constructor(private readonly url: string) {}

  async send(what: string, from: string, method: string, path: string, headers: Record<string, string>, body?: object): Promise<Answered> {
    const begin = performance.now()
    const answered: Answered = { what, status: 0, body: null, error: "", tookMs: 0 }
    try {
      const { status, text } = await this.exchange(from, method, path, headers, body)
      Object.assign(answered, { status, error: text })
      Object.assign(answered, { body: JSON.parse(text), error: "" })
    } catch (error) {
      answered.error ||= String(error)
    }
    answered.tookMs = performance.now() - begin
    this.all.push(answered)
    return answered
  }

  private exchange(
    localAddress: string,
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: object,
  ): Promise<{ status: number; text: string }> {
    // A reload of nginx closes connections that clients keep, perhaps just when one sends a request.
    const agent = this.#agents.get(localAddress) ?? new Agent({ localAddress })
    this.#agents.set(localAddress, agent)
    const json = body && { "content-type": "application/json" }
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, this.url), { method, agent, headers: { ...headers, ...json } }, async (response) => {
        try {
          const parts = await response.toArray()
          resolve({ status: response.statusCode!, text: Buffer.concat(parts).toString() })
        } catch (error) {
          reject(error)
        }
      })
      sent.on("error", (error: NodeJS.ErrnoException) => {
        // As clients do: a kept connection that was closed has not taken the request.
        const isClosed = sent.reusedSocket && error.code === "ECONNRESET"
        if (!isClosed) return reject(error)
        this.repeated += 1
        resolve(this.exchange(localAddress, method, path, headers, body))
      })
      sent.end(body && JSON.stringify(body))
    })
  }

  close() {
    for (const agent of this.#agents.values()) agent.destroy()
  }
}

/** A visitor of the widget with an address of its own, who asks and listens through the proxy. */
export class Visitor {
  chatId = ""
  listener: Listener | null = null
  readonly asked: string[] = []
  #token: string | undefined

  constructor(
    private readonly deployment: Deployment,
    private readonly client: ProxyClient,
    private readonly url: string,
    readonly name: string,
    /** How it comes; an address of this machine of its own. */
    private readonly options: Required<ClientOptions>,
  ) {}

  /** Asks a question; the first one opens the chat, and the socket. */
  async ask() {
    const tag = `question-${this.name}-${this.asked.length}`
    this.asked.push(tag)
    const body = { text: `Please answer ${tag}`, messageId: tag, visitorToken: this.#token }
    const path = `/hooks/widget/${this.deployment.widgetId}`
    const answered = await this.client.send("question", this.options.localAddress, "POST", path, {}, body)
    if (answered.status !== 201 || this.listener) return
    this.chatId = answered.body.chatId
    this.#token = answered.body.visitorToken
    const credentials = { authorization: `Bearer ${this.#token}` }
    this.listener = new Listener(
      () => this.url,
      credentials,
      this.deployment.origin,
      () => {},
      this.options,
    )
  }

  /** Answers that it received. */
  get answers(): number {
    return (this.listener?.heard ?? []).filter(({ type, message }) => type === "MESSAGE_CREATED" && message?.role === "ASSISTANT").length
  }
}
