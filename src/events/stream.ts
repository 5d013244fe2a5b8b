import type { Database } from "../database/connect.js"
import type { Columns } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import type { EventType } from "../entities/event.js"
import { ResyncRequired } from "../errors/errors.js"
import type { EventHub, Listener } from "./hub.js"
import { eventLimits } from "./limits.js"
import { type LoggedEvent, loggedEvent, type Representer, readEventCursor } from "./logged-event.js"

/** The filter and the start of a subscription. */
export interface EventStreamOptions {
  companyIds: string[]
  chatId?: string | null
  types?: EventType[] | null
  /** Resume cursor: everything after it, then live. */
  after?: string | null
  /** A further condition for an event to be delivered. */
  only?(event: LoggedEvent): boolean
  /** Called when the subscriber reads so slowly that its backlog is full. */
  onSlow(): void
  /** Called when the subscriber has received everything that it missed; what follows is live. */
  onCaughtUp?(): void
}

const replayed: Statement<Columns<"Event">> = {
  name: "events-replayed",
  text: `select * from event where company_id = any($1::uuid[]) and position > $2 and position <= $3 order by position limit $4`,
}

const replayedOfChat: Statement<Columns<"Event">> = {
  name: "events-replayed-of-chat",
  text: `select * from event where chat_id = $5 and company_id = any($1::uuid[]) and position > $2 and position <= $3 order by position limit $4`,
}

/** The events after the cursor and then live events, each once, in the log's order. */
export async function eventStream(
  database: Database,
  hub: EventHub,
  represent: Representer,
  options: EventStreamOptions,
): Promise<AsyncIterableIterator<LoggedEvent>> {
  const start = options.after ? readEventCursor(options.after) : null
  const wanted = (event: LoggedEvent) => (!options.types || options.types.includes(event.type)) && (options.only?.(event) ?? true)
  const onSlow = () => {
    hub.leave(queue)
    options.onSlow()
  }
  const queue = new LiveQueue(new Set(options.companyIds), options.chatId ?? null, start, wanted, onSlow, options.onCaughtUp)
  const { position, clearedTo, lastPosition } = await hub.listen(queue)
  if (start !== null && (start < clearedTo || start > lastPosition)) {
    hub.leave(queue)
    // A cursor ahead of the log belongs to another database: no event could ever follow it.
    throw new ResyncRequired()
  }
  const missed = start === null ? null : eventsBetween(database, represent, options, queue, start, position)
  const next = async (): Promise<IteratorResult<LoggedEvent>> => {
    const result = await missed?.next()
    if (result && !result.done) return result
    queue.goLive()
    // Live events need no generator: each of its steps would be paid for every subscriber.
    iterator.next = () => queue.next()
    return queue.next()
  }
  const iterator: AsyncIterableIterator<LoggedEvent> = {
    next: () =>
      next().catch((error) => {
        hub.leave(queue)
        throw error
      }),
    return: async () => {
      queue.end()
      hub.leave(queue)
      await missed?.return(undefined)
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => iterator,
  }
  return iterator
}

/** The wanted events of the log after one position, up to another. */
async function* eventsBetween(
  database: Database,
  represent: Representer,
  options: EventStreamOptions,
  queue: LiveQueue,
  from: bigint,
  until: bigint,
): AsyncGenerator<LoggedEvent, undefined> {
  const { companyIds, chatId } = options
  // A visitor resumes too: the events of one chat are found without those of the whole company.
  const statement = chatId ? replayedOfChat : replayed
  let at = from
  while (at < until) {
    const range = [companyIds, at.toString(), until.toString(), eventLimits.eventBatch]
    const rows = await unscoped(database, statement, chatId ? [...range, chatId] : range)
    for (const row of rows) {
      const event = loggedEvent(row, represent)
      at = event.position
      if (queue.wanted(event)) yield event
    }
    if (rows.length < eventLimits.eventBatch) break
  }
}

/** A bounded queue of undelivered events: a slow reader is closed instead of using memory without bound. */
class LiveQueue implements Listener {
  #events: LoggedEvent[] = []
  #waiting: ((result: IteratorResult<LoggedEvent>) => void) | null = null
  #live = false
  #over = false

  constructor(
    readonly companyIds: ReadonlySet<string>,
    readonly chatId: string | null,
    /** The position of the subscriber's cursor, which may come from an instance that has read more of the log than this one. */
    private readonly after: bigint | null,
    readonly wanted: (event: LoggedEvent) => boolean,
    private readonly onSlow: () => void,
    private onCaughtUp: (() => void) | undefined,
  ) {}

  receive(event: LoggedEvent) {
    if (this.#over || (this.after !== null && event.position <= this.after) || !this.wanted(event)) return
    if (this.#waiting) {
      this.#waiting({ done: false, value: event })
      this.#waiting = null
      return
    }
    this.#events.push(event)
    // During replay the backlog may grow to ten times the limit.
    if (this.#events.length > eventLimits.subscriberBacklog * (this.#live ? 1 : 10)) {
      this.end()
      this.onSlow()
    }
  }

  goLive() {
    this.#live = true
  }

  /** Ends the subscription of a reader that is too slow. */
  end() {
    this.#over = true
    this.#events = []
    this.#waiting?.({ done: true, value: undefined })
    this.#waiting = null
  }

  /** The next event; none when the subscription was ended. */
  next(): Promise<IteratorResult<LoggedEvent>> {
    if (this.#over) return Promise.resolve({ done: true, value: undefined })
    const event = this.#events.shift()
    if (event) return Promise.resolve({ done: false, value: event })
    this.onCaughtUp?.()
    this.onCaughtUp = undefined
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }
}
