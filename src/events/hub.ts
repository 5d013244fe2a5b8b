import type { Logger } from "pino"
import type { WakeUp } from "../context/services.js"
import type { Database } from "../database/connect.js"
import type { Columns, RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { eventLimits } from "./limits.js"
import { type LoggedEvent, loggedEvent, type Representer } from "./logged-event.js"

/** A live end of the log: hears events of its companies, in order, until it is taken off. */
export interface Listener {
  companyIds: ReadonlySet<string>
  hear(event: LoggedEvent): void
}

const tail: Statement<RowOf<"EventLog", "last_position" | "cleared_to">> = {
  name: "event-tail",
  text: "select last_position, cleared_to from event_log where id = 1",
}
const next: Statement<Columns<"Event">> = {
  name: "events-after",
  text: "select * from event where position > $1 order by position limit $2",
}

/** The live end of the log in this process: one read per batch of events, whatever the number of subscribers. */
export class EventHub {
  #listeners = new Set<Listener>()
  #position: bigint | null = null
  #reading: Promise<void> | null = null
  #again = false
  readonly #timer: NodeJS.Timeout

  constructor(
    private readonly database: Database,
    wakeUp: WakeUp & { onGap(hear: () => void): void },
    private readonly represent: Representer,
    private readonly log: Logger,
  ) {
    wakeUp.subscribe("events", () => this.look())
    wakeUp.onGap(() => this.look())
    // An instance that dies between giving events their places and saying so wakes nobody.
    this.#timer = setInterval(() => this.look(), eventLimits.eventSweepMs)
  }

  /** Stops looking. */
  close() {
    clearInterval(this.#timer)
    this.#position = null
  }

  /** Puts a listener on; answers the position from which on it will hear everything. */
  async listen(listener: Listener): Promise<{ position: bigint; lastPosition: bigint; clearedTo: bigint }> {
    const [row] = await unscoped(this.database, tail)
    // Nobody listened until now, so nothing was read: the live end begins at the end of the log.
    this.#position ??= BigInt(row!.last_position)
    this.#listeners.add(listener)
    // What was placed while the tail was being read woke nobody.
    this.look()
    return { position: this.#position, lastPosition: BigInt(row!.last_position), clearedTo: BigInt(row!.cleared_to) }
  }

  /** Takes a listener off; without listeners the log is not read. */
  leave(listener: Listener) {
    this.#listeners.delete(listener)
    if (this.#listeners.size === 0) this.#position = null
  }

  /** Reads what is new, again when it was asked meanwhile. */
  private look() {
    if (this.#position === null) return
    this.#again = true
    this.#reading ??= this.read().catch((error) => {
      this.log.error({ err: error }, "the event log could not be read; it is tried again")
      setTimeout(() => this.look(), eventLimits.eventSweepMs).unref()
    })
  }

  private async read() {
    try {
      while (this.#again && this.#position !== null) {
        this.#again = false
        const rows = await unscoped(this.database, next, [this.#position.toString(), eventLimits.eventBatch])
        for (const row of rows) this.tell(loggedEvent(row, this.represent))
        if (rows.length === eventLimits.eventBatch) this.#again = true
      }
    } finally {
      // In the same tick as the last question whether to look again, so that no wake-up falls in between.
      this.#reading = null
    }
  }

  private tell(event: LoggedEvent) {
    if (this.#position === null || event.position <= this.#position) return
    this.#position = event.position
    for (const listener of this.#listeners) if (listener.companyIds.has(event.companyId)) listener.hear(event)
  }
}
