import type { Logger } from "pino"
import type { Database } from "../database/connect.js"
import { notePosition } from "../database/write-position.js"
import { levelOf } from "../errors/errors.js"
import { SampledLog } from "../observability/sampled-log.js"
import { eventLimits } from "./limits.js"
import type { WakeUp } from "./wake-up.js"

/** The writers' interface to the event log; called after a commit that wrote event rows. */
export interface Sequencer {
  /** Starts to assign positions to committed events; resolves when that is done and readers are notified. */
  poke(): Promise<void>
}

/** A batch of events that got their positions. */
export interface Placed {
  count: number
  /** Outcomes of the stretches whose end is among them. */
  outcomes: string[]
  /** The guardrail hits among them. */
  hits: { rule: string; direction: string; action: string }[]
}

/** Key of the advisory lock under which one instance at a time assigns positions. */
const sequencerLock = 7_304_212

/** Notes up to where the log of writes has what the placed events tell, so that a replica is not read by those who were told and before it has that. */
const noted = `, noted as (${notePosition("select distinct 'company:' || company_id as key from placed")})`

/**
 * Two statements in one message, which PostgreSQL runs as one transaction. Each statement sees what was committed when it began, so the second
 * one, which begins with the lock, sees every event that an earlier holder of the lock saw. Nothing is written when there is nothing to place.
 */
const place = (hasReplica: boolean) => `
    select pg_advisory_xact_lock(${sequencerLock});
    with batch as (
      select id, row_number() over (order by id) as place from event where position is null order by id limit ${eventLimits.eventBatch}
    ), log as (
      update event_log set last_position = last_position + size.count from (select count(*) as count from batch) size
      where id = 1 and size.count > 0
      returning last_position, last_position - size.count as base, size.count
    ), placed as (
      update event set position = log.base + batch.place from batch, log where event.id = batch.id
      returning company_id, case when type = 'STRETCH_ENDED' then payload #>> '{stretch,outcome}' end as outcome,
        case when type = 'GUARDRAIL_HIT' then payload -> 'guardrailHit' end as hit
    )${hasReplica ? noted : ""}
    select last_position, count::integer, array(select outcome from placed where outcome is not null) as outcomes,
      (select coalesce(json_agg(hit), '[]') from placed where hit is not null) as hits
    from log`

/** Assigns positions in the log to committed events, one instance at a time, and notifies readers. */
export function startSequencer(
  database: Database,
  wakeUp: Pick<WakeUp, "publish">,
  log: Logger,
  onPlaced: (placed: Placed) => void = () => {},
  hasReplica = false,
): Sequencer & { stop(): Promise<void> } {
  const statement = place(hasReplica)
  const sampled = new SampledLog(log)
  let running: Promise<void> | null = null
  let waiting: (() => void)[] = []
  let stopped = false
  let lately = 0

  const run = async () => {
    while (waiting.length > 0 && !stopped) {
      // Wait a few milliseconds, so that commits of other writers join the batch; longer when recent batches were large.
      const gather = Math.min(eventLimits.eventBatchMaxMs, Math.max(eventLimits.eventBatchMs, lately))
      await new Promise((resolve) => setTimeout(resolve, gather))
      // Later calls may belong to later commits, which the next batch serves.
      const served = waiting
      waiting = []
      try {
        do {
          const placed = await placeBatch(database, wakeUp, statement)
          lately = placed.count
          onPlaced(placed)
        } while (lately === eventLimits.eventBatch && !stopped)
      } catch (error) {
        sampled.line(levelOf(error), "positions could not be assigned; the next poll retries", { err: error })
      }
      for (const done of served) done()
    }
    // In the same tick as the last check of `waiting`, so that no poke is lost in between.
    running = null
  }
  const poke = () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve)
      running ??= run()
    })
  // Poll, in case an instance crashed between its commit and its poke.
  const timer = setInterval(poke, eventLimits.eventSweepMs)
  void poke()
  return {
    poke,
    async stop() {
      stopped = true
      clearInterval(timer)
      await running
    },
  }
}

/** Assigns positions to one batch. */
async function placeBatch({ pool }: Database, wakeUp: Pick<WakeUp, "publish">, statement: string): Promise<Placed> {
  // The lock is waited for, not tried: giving up could leave an event that the holder's last read did not see.
  const [, placed] = (await pool.query(statement)) as unknown as [unknown, { rows: (Placed & { last_position: string })[] }]
  const [batch] = placed.rows
  if (batch) await wakeUp.publish("events", batch.last_position)
  return batch ?? { count: 0, outcomes: [], hits: [] }
}
