import pg from "pg"
import { until } from "./wait.js"
import type { World } from "./world.js"

/** The key of an advisory lock that nothing else uses. */
const lock = 4_711

/**
 * Blocks every transaction that writes such a row, by a trigger that waits for an advisory lock, until `open()` is called or its scope ends.
 * @example await using blocked = await blockWrites(w, "insert or update on chat", "new.assistant_id is not null")
 */
export async function blockWrites(world: World, writes: string, condition: string) {
  const keeper = new pg.Client({ connectionString: world.databaseUrl })
  await keeper.connect()
  await keeper.query(`select pg_advisory_lock(${lock})`)
  await keeper.query(
    `create function wait_at_gate() returns trigger language plpgsql as
     $$ begin perform pg_advisory_xact_lock_shared(${lock}); return new; end $$`,
  )
  await keeper.query(`create trigger gate before ${writes} for each row when (${condition}) execute function wait_at_gate()`)
  const waiters = async () => {
    const asked = "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    return (await world.sql(asked))[0].count as number
  }
  let isOpen = false
  /** Lets the transactions continue, and removes the trigger. */
  async function open() {
    if (isOpen) return
    isOpen = true
    await keeper.query(`select pg_advisory_unlock(${lock})`)
    await until("no transaction waits for a lock", async () => (await waiters()) === 0)
    await keeper.query("drop function wait_at_gate cascade")
    await keeper.end()
  }
  return {
    /** Resolves when this many transactions are blocked, directly or by a blocked one, or when `orElse` returns true. */
    async waiting(count: number, orElse: () => boolean = () => false) {
      await until(`${count} transactions are blocked`, async () => orElse() || (await waiters()) >= count)
    },
    open,
    [Symbol.asyncDispose]: open,
  }
}
