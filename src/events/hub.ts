import type { Logger } from "pino"
import type { Database } from "../database/connect.js"
import type { Columns, RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { levelOf } from "../errors/errors.js"
import { SampledLog } from "../observability/sampled-log.js"
import { eventLimits } from "./limits.js"
import { eventCursor, type LoggedEvent, loggedEvent, type Representer } from "./logged-event.js"
import type { WakeUp } from "./wake-up.js"

/** Receives the live events of its companies, or of one chat of them, in order, until it leaves. */
export interface Listener {
  companyIds: ReadonlySet<string>
  /** ID of the only chat whose events it receives; null for all. */
  chatId: string | null
  receive(event: LoggedEvent): void
}

const tail: Statement<RowOf<"EventLog", "last_position" | "cleared_to">> = {
  name: "event-tail",
  text: "select last_position, cleared_to from event_log where id = 1",
}
const next: Statement<Columns<"Event">> = {
  name: "events-after",
  text: "select * from event where position > $1 order by position limit $2",
}

/** Distributes new events of the log in this process: one read per batch of events, whatever the number of subscribers. */
export class EventHub {
  /** By the ID of their chat, or of each of their companies: an event costs in proportion to those that receive it. */
  #listeners = new Map<string, Set<Listener>>()
  #position: bigint | null = null
  #reading: Promise<void> | null = null
  #again = false
  readonly #timer: NodeJS.Timeout
  readonly #log: SampledLog

  constructor(
    private readonly database: Database,
    wakeUp: WakeUp & { onGap(receive: () => void): void },
    private readonly represent: Representer,
    log: Logger,
  ) {
    this.#log = new SampledLog(log)
    wakeUp.subscribe("events", () => this.poll())
    wakeUp.onGap(() => this.poll())
    // Poll, in case the sequencer crashed before notifying.
    this.#timer = setInterval(() => this.poll(), eventLimits.eventSweepMs)
  }

  /** Stops polling. */
  close() {
    clearInterval(this.#timer)
    this.#position = null
  }

  /** Adds a listener and returns the position after which it receives every event. */
  async listen(listener: Listener): Promise<{ position: bigint; lastPosition: bigint; clearedTo: bigint }> {
    const [row] = await unscoped(this.database, tail)
    // Without listeners nothing was read: live events begin at the end of the log.
    this.#position ??= BigInt(row!.last_position)
    for (const key of keysOf(listener)) this.#listeners.set(key, (this.#listeners.get(key) ?? new Set()).add(listener))
    // Events that got positions while the tail was read caused no wake-up here.
    this.poll()
    return { position: this.#position, lastPosition: BigInt(row!.last_position), clearedTo: BigInt(row!.cleared_to) }
  }

  /** The cursor of the end of the log: `after` it comes what is not in the log yet. */
  async end(): Promise<string> {
    const [row] = await unscoped(this.database, tail)
    return eventCursor(row!.last_position)
  }

  /** Removes a listener; without listeners the log is not read. */
  leave(listener: Listener) {
    for (const key of keysOf(listener)) {
      const others = this.#listeners.get(key)
      others?.delete(listener)
      if (others?.size === 0) this.#listeners.delete(key)
    }
    if (this.#listeners.size === 0) this.#position = null
  }

  /** Reads new events, once more when another wake-up arrived meanwhile. */
  private poll() {
    if (this.#position === null) return
    this.#again = true
    this.#reading ??= this.read().catch((error) =>
      this.#log.line(levelOf(error), "the event log could not be read; retrying in a second", { err: error }),
    )
  }

  private async read() {
    try {
      while (this.#again && this.#position !== null) {
        this.#again = false
        const rows = await unscoped(this.database, next, [this.#position.toString(), eventLimits.eventBatch])
        for (const row of rows) this.deliver(loggedEvent(row, this.represent))
        if (rows.length === eventLimits.eventBatch) this.#again = true
      }
    } finally {
      // In the same tick as the last check of #again, so that no wake-up is lost in between.
      this.#reading = null
    }
  }

  private deliver(event: LoggedEvent) {
    if (this.#position === null || event.position <= this.#position) return
    this.#position = event.position
    for (const key of [event.chatId, event.companyId])
      for (const listener of (key && this.#listeners.get(key)) || []) if (listener.companyIds.has(event.companyId)) listener.receive(event)
  }
}

const keysOf = ({ chatId, companyIds }: Listener): Iterable<string> => (chatId ? [chatId] : companyIds)
