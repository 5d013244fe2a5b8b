import type { Logger } from "pino"
import type { JobScheduler } from "../context/services.js"
import type { Database } from "../database/connect.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { clock } from "../entities/kit/clock.js"
import type { OpenWakeUp } from "../events/wake-up.js"
import { eventWebhookLimits } from "./limits.js"
import { columns, valuesOf } from "./rows.js"

/** Key of the advisory lock under which one instance at a time makes deliveries. */
const fanOutLock = 7_304_214

/** Waits until the deliveries of events that are being made are committed; run in a transaction of its own. */
export const awaitFanOut = { name: "await-event-fan-out", text: `select pg_advisory_xact_lock(${fanOutLock})` }

const anyEndpoint: Statement<{ exists: boolean }> = {
  name: "any-event-webhook",
  text: "select exists (select from event_webhook where not disabled)",
}

/**
 * Two statements in one message, which PostgreSQL runs as one transaction; the second one sees what earlier holders of the lock committed. It
 * starts where the oldest enabled endpoint does, since the log is not read while there is none; a join with that position would read the log
 * from its beginning. Each endpoint is locked, also one that is due already: otherwise it could be served, and found without further deliveries,
 * before these are committed. One that is being deleted is waited for and then has none, since they would refer to nothing.
 */
const fanOut = (now: string) => `
  select pg_advisory_xact_lock(${fanOutLock});
  with start as (
    select greatest(reader.position, (select min(from_position) from event_webhook where not disabled)) as position
    from event_fan_out reader where id = 1
  ), batch as (
    select * from event where position > (select position from start) order by position limit ${eventWebhookLimits.fanOutBatch}
  ), made as (
    insert into event_delivery (${columns})
    select ${valuesOf({ now: `'${now}'`, event: "e", webhook: "w", requestedAt: "null", retryAt: `'${now}'` })}
    from batch e join event_webhook w on w.company_id = e.company_id and not w.disabled and e.type = any(w.types) and e.position > w.from_position
    where e.type = 'CHAT_DELETED' or e.chat_id is null
      or not exists (select from event gone where gone.chat_id = e.chat_id and gone.type = 'CHAT_DELETED')
    for key share of w on conflict do nothing returning webhook_id, company_id
  ), waiting as (
    select distinct webhook_id as id, company_id from made
  ), due as (
    update event_webhook w set sending_due_at = least(w.sending_due_at, '${now}') from waiting where w.id = waiting.id
  ), moved as (
    update event_fan_out set position = (select max(position) from batch) where id = 1 and exists (select from batch)
  )
  select (select count(*)::integer from batch) as read, coalesce((select json_agg(waiting) from waiting), '[]') as waiting`

interface FannedOut {
  read: number
  waiting: { id: string; company_id: string }[]
}

/** Makes deliveries of new events for the endpoints, in the order of the log, one instance at a time; idle while there is no endpoint. */
export class FanOutReader {
  #hasEndpoints = false
  #running: Promise<void> | null = null
  #again = false
  #isStopped = false
  readonly #timer: NodeJS.Timeout

  constructor(
    private readonly database: Database,
    wakeUp: Pick<OpenWakeUp, "subscribe" | "onGap">,
    private readonly scheduler: Pick<JobScheduler, "schedule">,
    private readonly log: Logger,
  ) {
    wakeUp.subscribe("events", () => this.#hasEndpoints && this.look())
    wakeUp.onGap(() => this.look())
    // Looks for the first endpoint, and for events whose wake-up was lost.
    this.#timer = setInterval(() => this.look(), eventWebhookLimits.fanOutSweepMs)
  }

  /** Makes no more deliveries; resolves when the last ones are committed. */
  async stop() {
    this.#isStopped = true
    clearInterval(this.#timer)
    await this.#running
  }

  /** Reads new events, once more when another wake-up arrived meanwhile; never rejects. */
  look(): Promise<void> {
    if (this.#isStopped) return Promise.resolve()
    this.#again = true
    this.#running ??= this.run().catch((error) =>
      this.log.error({ err: error }, "deliveries of events could not be made; retrying in a second"),
    )
    return this.#running
  }

  private async run() {
    try {
      while (this.#again && !this.#isStopped) {
        this.#again = false
        const [row] = await unscoped(this.database, anyEndpoint)
        this.#hasEndpoints = row!.exists
        if (this.#hasEndpoints && (await this.batch()) === eventWebhookLimits.fanOutBatch) this.#again = true
      }
    } finally {
      // In the same tick as the last check of #again, so that no wake-up is lost in between.
      this.#running = null
    }
  }

  private async batch(): Promise<number> {
    const at = clock.now()
    const [, made] = (await this.database.pool.query(fanOut(at.toISOString()))) as unknown as [unknown, { rows: FannedOut[] }]
    const { read, waiting } = made.rows[0]!
    for (const { id, company_id: companyId } of waiting) void this.scheduler.schedule({ job: "send-events", companyId, id, at })
    return read
  }
}
