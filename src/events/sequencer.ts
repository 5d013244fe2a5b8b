import type { Logger } from "pino"
import type { Database } from "../database/connect.js"
import { eventLimits } from "./limits.js"
import type { WakeUp } from "./wake-up.js"

/** The event log's side for writers: called after a commit that wrote event rows. */
export interface Sequencer {
  /** Has the committed events placed soon; resolves when they were, and their readers woken. */
  poke(): Promise<void>
}

/** Any number, the same on every instance: who holds this lock gives places in the log. */
const sequencerLock = 7_304_212

const place = {
  name: "place-events",
  text: `
    with batch as (
      select id, row_number() over (order by id) as place from event where position is null order by id limit $1
    ), log as (
      update event_log set last_position = last_position + (select count(*) from batch) where id = 1
      returning last_position, last_position - (select count(*) from batch) as base
    ), placed as (
      update event set position = log.base + batch.place from batch, log where event.id = batch.id returning 1
    )
    select log.last_position, (select count(*)::integer from batch) as count from log`,
}

/** Gives committed events their places in the log, one instance at a time, and wakes the readers. */
export function startSequencer(database: Database, wakeUp: WakeUp, log: Logger): Sequencer & { stop(): Promise<void> } {
  let running: Promise<void> | null = null
  let waiting: (() => void)[] = []
  let stopped = false
  let lately = 0

  const run = async () => {
    while (waiting.length > 0 && !stopped) {
      // A few milliseconds gather what other writers are committing just now into one batch; the busier it was lately, the more of them.
      const gather = Math.min(eventLimits.eventBatchMaxMs, Math.max(eventLimits.eventBatchMs, lately))
      await new Promise((resolve) => setTimeout(resolve, gather))
      // Whoever comes from here on may have committed too late for this look, and is waited for by the next.
      const served = waiting
      waiting = []
      try {
        do lately = await placeBatch(database, wakeUp)
        while (lately === eventLimits.eventBatch && !stopped)
      } catch (error) {
        log.error({ err: error }, "events wait for the next look at the log")
      }
      for (const done of served) done()
    }
    // In the same tick as the last look at who waits, so that nobody is left waiting in between.
    running = null
  }
  const poke = () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve)
      running ??= run()
    })
  // What an instance left behind when it died between its commit and its poke.
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

/** Places one batch; answers how many events it had. */
async function placeBatch(database: Database, wakeUp: WakeUp): Promise<number> {
  const client = await database.pool.connect()
  let placed: { last_position: string; count: number }
  try {
    await client.query("begin")
    // Waited for, not tried: who gives up here could leave an event that the holder's last look did not see.
    await client.query("select pg_advisory_xact_lock($1)", [sequencerLock])
    placed = (await client.query({ ...place, values: [eventLimits.eventBatch] })).rows[0]
    await client.query("commit")
    client.release()
  } catch (error) {
    client.release(true)
    throw error
  }
  if (placed.count > 0) await wakeUp.publish("events", placed.last_position)
  return placed.count
}
