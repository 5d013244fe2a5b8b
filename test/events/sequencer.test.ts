import type pg from "pg"
import { v7 } from "uuid"
import { systemContext } from "../../src/context/request-context.js"
import { startSequencer } from "../../src/events/sequencer.js"
import { appendStatement, appendValues } from "../../src/messages/append.js"
import { promised } from "../kit/promise.js"
import { openTransaction } from "../kit/transaction.js"
import { stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, sql } = w

const placed = () => sql("select id::integer, position::integer from event order by id")
const insertEvent = `insert into event (company_id, type, payload, created_at) values ($1, 'CHAT_DELETED', '{"value": {}}', now()) returning id::integer`

/** What the sequencer sends during a call. */
async function sentDuring(work: () => Promise<unknown>): Promise<string[]> {
  const { prototype } = (w.services.database.pool as unknown as { Client: typeof pg.Client }).Client
  const sent = jest.spyOn(prototype, "query")
  await work()
  const texts = sent.mock.calls.map(([one]) => (typeof one === "string" ? one : (one as unknown as { text: string }).text))
  sent.mockRestore()
  return texts.flatMap((text) => /update event_log set last_position|pg_advisory_xact_lock|pg_notify|begin|commit/.exec(text)?.[0] ?? [])
}

describe("the sequencer", () => {
  // A new one for each test, instead of the server's: its next poll is a second away.
  let sequencer: ReturnType<typeof startSequencer>
  beforeAll(async () => {
    await stopScheduler(w)
    await (w.services.sequencer as typeof sequencer).stop()
  })
  beforeEach(async () => {
    sequencer = startSequencer(w.services.database, w.services.wakeUp, w.services.log)
    await sequencer.poke()
  })
  afterEach(() => sequencer.stop())

  it("places a batch by one message, and sends one notification", async () => {
    await sql(insertEvent, [acme.id])
    await sql(insertEvent, [acme.id])
    expect(await sentDuring(() => sequencer.poke())).toEqual(["pg_advisory_xact_lock", "pg_notify"])
    expect((await placed()).every(({ position }) => position !== null)).toBe(true)
  })

  promised("writes nothing and notifies nobody when there are no events", async () => {
    const log = () => sql("select xmin, ctid, last_position from event_log")
    const before = await log()
    expect(await sentDuring(() => sequencer.poke())).toEqual(["pg_advisory_xact_lock"])
    expect(await log()).toEqual(before)
  })

  it("sees what was committed while it waited for another instance, also that instance's positions", async () => {
    const [{ last }] = await sql("select last_position::integer as last from event_log")
    await using other = await openTransaction(w.databaseUrl)
    await other.query("select pg_advisory_xact_lock(7304212)")
    const [first] = await sql(insertEvent, [acme.id])
    const poked = sequencer.poke()
    const waits = "select count(*)::integer as waits from pg_stat_activity where wait_event = 'advisory' and datname = current_database()"
    await until("the sequencer waits for the other instance", async () => (await sql(waits))[0].waits > 0)
    const [second] = await sql(insertEvent, [acme.id])
    await other.query("update event set position = $2 where id = $1", [first.id, last + 1])
    await other.query("update event_log set last_position = $1", [last + 1])
    await other.commit()
    await poked
    expect((await placed()).filter(({ id }) => id >= first.id)).toEqual([
      { id: first.id, position: last + 1 },
      { id: second.id, position: last + 2 },
    ])
  })

  it("is called after a statement that wrote events, and after no other", async () => {
    const chat = await acme.chat()
    const poke = jest.spyOn(w.services.sequencer, "poke").mockResolvedValue()
    const context = systemContext(w.services, acme.id)
    const append = (companyId: string) => {
      const values = appendValues({ chatId: chat.id, role: "User", type: "Text", text: "Hello" }, [companyId], new Date())
      return context.statement(appendStatement(w.services.database.orm), values)
    }
    const calls: number[] = []
    for (const work of [
      () => context.statement({ name: "test-look", text: "select id from chat where id = $1" }, [chat.id]),
      () => context.statement({ name: "test-change", text: "update chat set name = 'Ann' where id = $1 returning id" }, [chat.id]),
      () => append(globex.id),
      () => append(acme.id),
      () => context.statement({ name: "test-nothing", text: "select id from chat where id = $1" }, [v7()]),
    ]) {
      await work()
      calls.push(poke.mock.calls.length)
    }
    poke.mockRestore()
    expect(calls).toEqual([0, 0, 0, 1, 1])
  })
})
