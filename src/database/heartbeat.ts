import { setTimeout as sleep } from "node:timers/promises"
import { Client } from "pg"
import type { Logger } from "pino"
import { rootLimits } from "../limits.js"
import { reconnectWait } from "../reconnect.js"
import type { Database } from "./connect.js"
import { destroyConnection } from "./pool-guard.js"

/** A channel of NOTIFY that the heartbeat's connection listens to. */
interface Channel {
  name: string
  receive(payload: string): void
  /** Called for each new connection: what was sent while there was none is lost. */
  onOpen(): void
}

/**
 * Asks the database every second whether it answers, on a connection of its own, which may listen to a channel too. When nothing comes back,
 * the pools are suspended. A lost connection is made again: one attempt after the other, since it is one loop, with growing waits in between.
 */
export class Heartbeat {
  readonly #stop = new AbortController()
  #channel: Channel | null = null
  #running: Promise<void> | null = null
  #isAnswered = false

  constructor(
    private readonly database: Database,
    private readonly log: Logger,
  ) {}

  /** Listens to a channel from the start on; said before it. */
  listen(channel: Channel) {
    this.#channel = channel
  }

  /** Whether the database answered the last question. */
  get isAnswered() {
    return this.#isAnswered
  }

  /** What the database is asked. LISTEN changes nothing where it is said again. */
  private get question() {
    return this.#channel ? `listen ${this.#channel.name}` : "select 1"
  }

  /** Opens the first connection; throws when there is none to be had. */
  async start(): Promise<void> {
    const client = await this.open()
    this.#running = this.run(client)
  }

  /** Ends the connection, or the attempts to make one. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  private async run(first: Client) {
    const { signal } = this.#stop
    let client: Client | null = first
    for (let failures = 0; !signal.aborted; failures += 1) {
      if (client) {
        await this.beat(client)
        failures = 0
      }
      await sleep(reconnectWait(failures), null, { signal }).catch(() => {})
      client = signal.aborted ? null : await this.openAgain()
    }
  }

  /** Asks until the connection is lost, nothing comes back in time, or the heartbeat is stopped. */
  private async beat(client: Client) {
    const lost = new AbortController()
    client.once("error", (error) => lost.abort(error))
    client.once("end", () => lost.abort(new Error("The connection has ended")))
    const signal = AbortSignal.any([lost.signal, this.#stop.signal])
    try {
      for (;;) {
        await client.query(this.question)
        await sleep(rootLimits.heartbeatMs, null, { signal })
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) this.report(signal.aborted ? signal.reason : error)
    } finally {
      destroyConnection(client)
    }
  }

  private async openAgain(): Promise<Client | null> {
    try {
      const client = await this.open()
      this.log.info("the database answers again")
      return client
    } catch (error) {
      this.report(error as Error)
      return null
    }
  }

  private async open(): Promise<Client> {
    const client = new Client({
      connectionString: this.database.url,
      connectionTimeoutMillis: rootLimits.heartbeatAnswerMs,
      query_timeout: rootLimits.heartbeatAnswerMs,
    })
    // Each error also fails the statement, or the attempt, that is under way; without a listener it would end the process.
    client.on("error", (error) => this.log.debug({ err: error }, "the connection of the heartbeat broke"))
    client.on("notification", ({ payload }) => this.#channel?.receive(payload ?? ""))
    try {
      await client.connect()
      await client.query(this.question)
    } catch (error) {
      destroyConnection(client)
      throw error
    }
    this.#isAnswered = true
    this.database.guard.resume()
    this.#channel?.onOpen()
    return client
  }

  private report(error: Error) {
    this.#isAnswered = false
    // A connection that was refused or cut is noticed by the pools themselves; one that is silent is not.
    if (/timeout|ETIMEDOUT/.test(error.message)) this.database.guard.suspend()
    this.log.warn({ reason: error.message }, "the database does not answer; it is tried again")
  }
}
