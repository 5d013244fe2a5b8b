import { openTransaction } from "../kit/transaction.js"
import { stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, rest, sql } = w

const waiting = async (): Promise<number> => {
  const [{ count }] = await sql(
    "select count(*)::integer as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  )
  return count
}

it("a company's slow reports leave database connections to everyone else", async () => {
  await stopScheduler(w)
  // Reports wait for this lock as long as others would read.
  await using slow = await openTransaction(w.databaseUrl)
  await slow.query("lock table stretch in access exclusive mode")
  const reports = Promise.all(Array.from({ length: 15 }, () => rest.as(acme.token).get("/api/outcomes").expect(200)))
  await until("two reports are being made", async () => (await waiting()) >= 2)
  await rest.as(globex.token).get("/api/chats").expect(200)
  await rest.as(acme.token).get("/api/chats").expect(200)
  expect(await waiting()).toBe(2)
  await slow.rollback()
  expect(await reports).toHaveLength(15)
})
