import type { Lease } from "../../src/context/lease.js"
import type { Services } from "../../src/context/services.js"
import { Assistant } from "../../src/entities/assistant.js"
import { doubling, type Failure } from "../../src/entities/kit/work-state.js"
import { defineWork } from "../../src/jobs/kit/work.js"
import type { WorkDeclaration } from "../../src/jobs/kit/work-declaration.js"
import { promised } from "../kit/promise.js"
import { openTransaction } from "../kit/transaction.js"
import { stillTime, stopScheduler } from "../kit/turns.js"
import { happens, until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, sql } = w
const time = stillTime()

let second: { services: Services }

beforeAll(async () => {
  await stopScheduler(w)
  second = await another()
})
beforeEach(() => sql("update assistant set voice_due_at = null, voice_work_id = null, voice_lease_until = null, voice_failures = 0"))

/** A second server that does nothing by itself. */
async function another() {
  const server = await w.another()
  await stopScheduler(server)
  return server
}

/** Creates a number of rows of a company with due work; returns their ids. */
async function due(count: number, company: { assistant: { id: string } } = acme): Promise<string[]> {
  const copies = await sql(
    `insert into assistant select (jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid(), 'voice_due_at', $2::timestamptz))).*
     from assistant a, generate_series(1, $3) where a.id = $1 returning id`,
    [company.assistant.id, new Date(time.now()), count],
  )
  return copies.map(({ id }) => id)
}

const state = async (id: string) => {
  const [row] = await sql(
    `select extract(epoch from voice_due_at) * 1000 as due, voice_work_id as run, extract(epoch from voice_lease_until) * 1000 as lease,
       voice_failures as failures, voice_agent_error as result from assistant where id = $1`,
    [id],
  )
  return { ...row, due: row.due === null ? null : Math.round(row.due) - time.now(), lease: row.lease && Math.round(row.lease) - time.now() }
}

interface Begun {
  id: string
  services: Services
  lease: Lease<Assistant>
  /** Ends the work: a text is stored, an error is thrown. */
  end(outcome?: string | Error): void
}

let kinds = 0
/** Ends what a failed test leaves: work, for which later tests would wait, and locks of its connections. */
const leftovers: (() => unknown)[] = []
afterEach(() => Promise.all(leftovers.splice(0).map((end) => end())))

/** A kind of work that begins and then waits until the test ends it. */
function kindOfWork(more: Partial<WorkDeclaration<Assistant, string>> = {}) {
  const begun: Begun[] = []
  leftovers.push(() => {
    for (const { end } of begun) end()
  })
  const awaited: { count: number; tell(): void }[] = []
  const stored: boolean[] = []
  const work = defineWork<Assistant, string>({
    name: `test-work-${kinds++}`,
    entity: Assistant,
    columns: "voice",
    lease: { ms: 10_000, renewMs: 600_000 },
    retry: { tries: 4, pauseMs: doubling(1_000, 3_000) },
    slots: { instance: 50, company: 50 },
    sweepSeconds: 2,
    claim: (_tx, assistant) => assistant.name,
    async run(lease) {
      const outcome = await new Promise<string | Error | undefined>((end, fail) => {
        begun.push({ id: lease.id, services: lease.context.services, lease, end })
        lease.context.services.stopping.addEventListener("abort", () => fail(new Error("Stopped")))
        for (const { count, tell } of awaited) if (begun.length >= count) tell()
      })
      if (outcome instanceof Error) throw outcome
      stored.push(await lease.store((assistant) => (assistant.voiceAgentError = outcome ?? "done")))
    },
    failure: (_context, error) => error as unknown as Failure,
    giveUp: (assistant, { reason }) => (assistant.voiceAgentError = `given up: ${reason}`),
    ...more,
  })
  return {
    work,
    begun,
    stored,
    ids: () => begun.map(({ id }) => id),
    /** Resolves when this many have begun. */
    has: (count: number) => {
      const reached = new Promise<void>((tell) => (begun.length >= count ? tell() : awaited.push({ count, tell })))
      return happens(`${count} pieces of work have begun`, reached, () => `${begun.length} have begun`)
    },
    sweep: ({ services }: { services: Services } = w) => work.sweep.run(services),
    idle: ({ services }: { services: Services } = w) => services.running.idle(),
    async endAll(outcome?: string) {
      for (const each of begun) each.end(outcome)
      await w.services.running.idle()
    },
  }
}
/** An error with its retry options. */
const failure = (more: Partial<Failure> = {}) => Object.assign(new Error("No"), { reason: "No", ...more })

describe("a claim", () => {
  promised("by two instances that sweep at once is made once: they take disjoint batches", async () => {
    const ids = await due(60)
    const kind = kindOfWork({ slots: { instance: 30, company: 30 } })
    // A claim that fails, because a connection takes too long on a busy machine, is repeated by a later sweep.
    while (kind.begun.length < 60) await Promise.all([w, second, w, second].map((server) => kind.sweep(server)))
    expect(kind.ids().sort()).toEqual(ids.sort())
    for (const { services } of [w, second]) expect(kind.begun.filter((each) => each.services === services)).toHaveLength(30)
    await kind.endAll()
    await kind.idle(second)
    expect(kind.begun).toHaveLength(60)
  })

  promised("by the same job twenty times, on two instances, is made once", async () => {
    const [id] = await due(1)
    const kind = kindOfWork()
    await Promise.all(Array.from({ length: 20 }, (_, index) => kind.work.run([w, second][index % 2]!.services, acme.id, id!)))
    expect(kind.ids()).toEqual([id])
    expect([w, second].map(({ services }) => kind.work.running(services)).sort()).toEqual([0, 1])
    await kind.endAll()
    await kind.idle(second)
    expect([await state(id!), kind.work.running(w.services)]).toMatchObject([{ due: null, run: null, lease: null, result: "done" }, 0])
  })

  promised("is not made before its due time, in another company, or of a deleted row", async () => {
    const [id] = await due(1)
    const kind = kindOfWork()
    await sql("update assistant set voice_due_at = voice_due_at + interval '1 millisecond' where id = $1", [id])
    await kind.work.run(w.services, acme.id, id!)
    time.pass(1)
    await kind.work.run(w.services, globex.id, id!)
    await kind.work.run(w.services, acme.id, "01980000-0000-7000-8000-000000000000")
    expect(kind.ids()).toEqual([])
    await kind.sweep()
    expect(kind.ids()).toEqual([id])
    await kind.endAll()
  })

  it("skips a locked row, and ends although all slots wait for it", async () => {
    const [locked, free] = await due(2)
    await sql("update assistant set voice_due_at = voice_due_at - interval '1 hour' where id = $1", [locked])
    const kind = kindOfWork({ slots: { instance: 1, company: 1 } })
    await using writer = await openTransaction(w.databaseUrl)
    await writer.query("select 1 from assistant where id = $1 for update", [locked])
    await kind.sweep()
    await kind.has(1)
    await kind.endAll()
    expect(kind.ids()).toEqual([free])
    await writer.commit()
    await kind.sweep()
    await kind.endAll()
    expect(kind.ids()).toEqual([free, locked])
  })

  it("of a locked row delays no other work that is started with it", async () => {
    const [locked, free] = await due(2)
    const kind = kindOfWork()
    await using writer = await openTransaction(w.databaseUrl)
    await writer.query("select 1 from assistant where id = $1 for update", [locked])
    const started = Promise.all([locked!, free!].map((id) => kind.work.run(w.services, acme.id, id)))
    await kind.has(1)
    expect(kind.ids()).toEqual([free])
    await writer.commit()
    await started
    // The sweep finds the other.
    await kind.sweep()
    await kind.has(2)
    expect(kind.ids()).toEqual([free, locked])
    await kind.endAll()
  })

  it("that throws is logged, and blocks nothing", async () => {
    const [broken, sound] = await due(2)
    const kind = kindOfWork({
      claim: (_tx, { id }) => {
        if (id === broken) throw new Error("This row cannot be read")
        return id
      },
    })
    await kind.sweep()
    expect([kind.ids(), kind.work.running(w.services)]).toEqual([[sound], 1])
    expect(w.logged.at(-1)).toMatchObject({ level: 50, ids: [broken], err: { message: "This row cannot be read" } })
    await kind.endAll()
  })

  it("that finds nothing to do leaves nothing due", async () => {
    const [id] = await due(1)
    const kind = kindOfWork({ claim: () => null })
    await kind.sweep()
    expect([kind.ids(), await state(id!)]).toMatchObject([[], { due: null, run: null, lease: null }])
  })
})

describe("a lease", () => {
  it("that has expired lets another instance claim the work; the fence refuses the first one's result", async () => {
    const [id] = await due(1)
    const kind = kindOfWork()
    await kind.sweep()
    time.pass(9_999)
    await kind.sweep(second)
    expect(kind.begun).toHaveLength(1)
    time.pass(1)
    await kind.sweep(second)
    await kind.has(2)
    const [first, other] = kind.begun
    const { run } = await state(id!)
    first!.end("from the first")
    await kind.idle()
    expect([kind.stored, await state(id!)]).toMatchObject([[false], { run, lease: 10_000 }])
    other!.end("from the second")
    await kind.idle(second)
    expect([kind.stored, await state(id!)]).toMatchObject([[false, true], { run: null, result: "from the second", failures: 0 }])
  })

  it("that has expired does not count the first worker's failure", async () => {
    const [id] = await due(1)
    const kind = kindOfWork()
    await kind.sweep()
    time.pass(10_000)
    await kind.sweep(second)
    await kind.has(2)
    const { run } = await state(id!)
    kind.begun[0]!.end(failure())
    await kind.idle()
    expect(await state(id!)).toMatchObject({ run, failures: 0, due: null })
    await kind.endAll()
    await kind.idle(second)
  })

  it("is renewed while the work runs, and signals the worker when it is lost", async () => {
    const [id] = await due(1)
    const kind = kindOfWork({ lease: { ms: 10_000, renewMs: 20 } })
    await kind.sweep()
    time.pass(9_000)
    await until("the lease is renewed", async () => (await state(id!)).lease === 10_000)
    const { signal } = kind.begun[0]!.lease
    expect(signal.aborted).toBe(false)
    await sql("update assistant set voice_work_id = gen_random_uuid() where id = $1", [id])
    await until("the worker is told that it lost its lease", () => signal.aborted)
    await kind.endAll()
    expect(kind.stored).toEqual([false])
  })

  it("of a worker that died between its claim and its work expires, and the sweep claims the work", async () => {
    const dead = await another()
    const [id] = await due(1)
    // The claim is committed, and the worker does nothing more.
    const kind = kindOfWork({ run: () => new Promise((_never, fail) => dead.services.stopping.addEventListener("abort", fail)) })
    await kind.sweep(dead)
    expect(await state(id!)).toMatchObject({ run: expect.any(String), due: null, lease: 10_000 })
    const other = kindOfWork()
    await other.sweep()
    expect(other.begun).toHaveLength(0)
    time.pass(10_000)
    await other.sweep()
    await other.endAll()
    expect([other.stored, await state(id!)]).toMatchObject([[true], { run: null, result: "done" }])
  })

  it("that is lost too often gives the work up, if the kind declares it", async () => {
    const [id] = await due(1)
    const kind = kindOfWork({ lease: { ms: 10_000, renewMs: 600_000, losses: { most: 3, reason: "Lost" } } })
    for (const failures of [0, 1, 2]) {
      await kind.sweep()
      expect((await state(id!)).failures).toBe(failures)
      time.pass(10_000)
    }
    await kind.sweep()
    expect([kind.begun.length, await state(id!)]).toMatchObject([3, { due: null, run: null, failures: 0, result: "given up: Lost" }])
    await kind.endAll()
    expect(kind.stored).toEqual([false, false, false])
  })

  it("ends for a row that is deleted meanwhile", async () => {
    const [id] = await due(1)
    const kind = kindOfWork()
    await kind.sweep()
    await sql("delete from assistant where id = $1", [id])
    await kind.endAll()
    expect(kind.stored).toEqual([false])
  })
})

describe("work that fails", () => {
  it("is retried after its pauses, to the millisecond, and then given up", async () => {
    const [id] = await due(1)
    const kind = kindOfWork()
    for (const [failures, pause] of [1_000, 2_000, 3_000].entries()) {
      await kind.sweep()
      await kind.has(failures + 1)
      kind.begun.at(-1)!.end(failure())
      await kind.idle()
      expect(await state(id!)).toMatchObject({ due: pause, run: null, lease: null, failures: failures + 1 })
      time.pass(pause - 1)
      await kind.sweep()
      expect(kind.begun).toHaveLength(failures + 1)
      time.pass(1)
    }
    await kind.sweep()
    kind.begun.at(-1)!.end(failure())
    await kind.idle()
    expect([kind.begun.length, await state(id!)]).toMatchObject([4, { due: null, run: null, failures: 0, result: "given up: No" }])
  })

  it("forgets its failures when it succeeds", async () => {
    const [id] = await due(1)
    const kind = kindOfWork()
    await kind.sweep()
    kind.begun[0]!.end(failure())
    await kind.idle()
    time.pass(1_000)
    await kind.sweep()
    await kind.endAll()
    expect(await state(id!)).toMatchObject({ due: null, failures: 0, result: "done" })
  })

  it("keeps a list of pauses, each with its jitter, and a vendor's Retry-After when that is later", async () => {
    const ids = await due(40)
    const kind = kindOfWork({ retry: { tries: 3, pauseMs: (failures) => [5_000, 60_000][failures - 1]!, jitter: 0.2 } })
    const pauses = async () => (await Promise.all(ids.map(state))).map((each) => each.due as number)
    const failAll = async (error: Error) => {
      for (const each of kind.begun.slice(-ids.length)) each.end(error)
      await kind.idle()
    }
    await kind.sweep()
    await failAll(failure())
    const first = await pauses()
    expect([Math.min(...first) >= 5_000, Math.max(...first) <= 6_000, new Set(first).size > 20]).toEqual([true, true, true])
    time.pass(6_000)
    await kind.sweep()
    await failAll(failure({ retryAfterMs: 90_000 }))
    expect(new Set(await pauses())).toEqual(new Set([90_000]))
    time.pass(90_000)
    await kind.sweep()
    await failAll(failure())
    expect(new Set((await Promise.all(ids.map(state))).map(({ result }) => result))).toEqual(new Set(["given up: No"]))
  })

  it("permanently is given up at once", async () => {
    const [id] = await due(1)
    const kind = kindOfWork()
    await kind.sweep()
    kind.begun[0]!.end(failure({ tries: 1 }))
    await kind.idle()
    expect(await state(id!)).toMatchObject({ due: null, result: "given up: No" })
  })

  it("restarts its tries when it was requested again meanwhile, if the kind declares it", async () => {
    const [id] = await due(1)
    const kind = kindOfWork({ retry: ({ voice }) => (voice.dueAt ? null : { tries: 1, pauseMs: () => 0 }) })
    await kind.sweep()
    await sql("update assistant set voice_due_at = $2 where id = $1", [id, new Date(time.now() + 7_000)])
    kind.begun[0]!.end(failure())
    await kind.idle()
    expect(await state(id!)).toMatchObject({ due: 7_000, run: null, failures: 0 })
  })
})

it("work that waits for a slot is not overtaken by work of its company that becomes due later", async () => {
  // As many slots as need two releases for a sweep: after the first one a slot is free.
  const kind = kindOfWork({ slots: { instance: 60, company: 60 } })
  const first = await due(60)
  await kind.sweep()
  await kind.has(60)
  const waiting = await due(2)
  await Promise.all(waiting.map((id) => kind.work.run(w.services, acme.id, id)))
  time.pass(1_000)
  const [latest] = await due(1)
  kind.begun[0]!.end()
  // The slot is released after the result is stored.
  await until("the slot is free", () => kind.work.running(w.services) < 60)
  await kind.work.run(w.services, acme.id, latest!)
  expect(kind.ids().sort()).toEqual(first.sort())
  kind.begun[1]!.end()
  await kind.has(62)
  expect(kind.ids().slice(60).sort()).toEqual(waiting.sort())
  kind.begun[2]!.end()
  kind.begun[3]!.end()
  await kind.has(63)
  expect(kind.ids().slice(62)).toEqual([latest])
  await kind.endAll()
})

it("work that becomes due while it runs is run again afterwards, and not concurrently", async () => {
  const [id] = await due(1)
  const kind = kindOfWork()
  await kind.sweep()
  await sql("update assistant set voice_due_at = $2 where id = $1", [id, new Date(time.now())])
  await kind.sweep()
  await kind.work.run(w.services, acme.id, id!)
  expect(kind.begun).toHaveLength(1)
  await kind.endAll()
  expect(await state(id!)).toMatchObject({ due: 0, run: null })
  await kind.sweep()
  await kind.endAll()
  expect([kind.begun.length, await state(id!)]).toMatchObject([2, { due: null }])
})

it("a process that stops releases its work at once, without counting a try, and another instance starts it", async () => {
  const stopping = await another()
  const woken: object[] = []
  stopping.services.scheduler.schedule = async (job) => void woken.push(job)
  const ids = await due(3)
  const kind = kindOfWork()
  await kind.sweep(stopping)
  await kind.has(3)
  await stopping.stop()
  for (const id of ids) expect(await state(id)).toMatchObject({ due: 0, run: null, lease: null, failures: 0 })
  const wakes = ids.map((id) => ({ job: "voice-agent", companyId: acme.id, id, at: new Date(time.now()) }))
  expect(woken).toEqual(expect.arrayContaining(wakes))
  await kind.sweep()
  await kind.has(6)
  await kind.endAll()
  for (const id of ids) expect(await state(id)).toMatchObject({ due: null, result: "done" })
})

describe("companies", () => {
  it("are served in turn: one item of a company precedes the second of two hundred older ones", async () => {
    const many = await due(200)
    time.pass(60_000)
    const [one] = await due(1, globex)
    const kind = kindOfWork({ slots: { instance: 10, company: 10 } })
    await kind.sweep()
    expect(kind.ids()).toHaveLength(10)
    expect(kind.ids()).toContain(one)
    // Each end frees a slot, until all are done.
    for (let ended = 0; ended < 201; ended += 1) {
      await kind.has(ended + 1)
      kind.begun[ended]!.end()
    }
    await kind.idle()
    expect(kind.ids().sort()).toEqual([...many, one].sort())
  })

  it("that wait get the next slot, however many jobs another one has", async () => {
    const many = await due(30)
    const kind = kindOfWork({ slots: { instance: 5, company: 5 } })
    await Promise.all(many.map((id) => kind.work.run(w.services, acme.id, id)))
    expect(kind.ids()).toHaveLength(5)
    time.pass(60_000)
    const late = await due(2, globex)
    await kind.work.run(w.services, globex.id, late[0]!)
    expect(kind.ids()).toHaveLength(5)
    for (const each of [...kind.begun].slice(0, 2)) each.end()
    await kind.has(7)
    expect(kind.ids().slice(5).sort()).toEqual([...late].sort())
    for (let ended = 2; ended < 32; ended += 1) {
      await kind.has(ended + 1)
      kind.begun[ended]!.end()
    }
    await kind.idle()
    expect(kind.work.running(w.services)).toBe(0)
  })

  it("leave slots for others, if the kind declares it", async () => {
    await due(30)
    const kind = kindOfWork({ slots: { instance: 5, company: 3 } })
    await kind.sweep()
    expect(kind.ids()).toHaveLength(3)
    const [one] = await due(1, globex)
    await kind.work.run(w.services, globex.id, one!)
    expect(kind.ids().slice(3)).toEqual([one])
    for (let ended = 0; ended < 31; ended += 1) {
      await kind.has(ended + 1)
      kind.begun[ended]!.end()
    }
    await kind.idle()
  })

  it("get one slot each beyond the shared ones, and a second one only when a shared one is free", async () => {
    await due(10)
    const kind = kindOfWork({ slots: { instance: 6, company: 3, shared: 3 } })
    await kind.sweep()
    expect(kind.ids()).toHaveLength(3)
    const others = await due(10, globex)
    await kind.work.run(w.services, globex.id, others[3]!)
    await kind.work.run(w.services, globex.id, others[7]!)
    expect(kind.ids().slice(3)).toEqual([others[3]])
    await kind.sweep()
    expect(kind.ids()).toHaveLength(4)
    // Three still run: the slot beyond the shared ones stays free.
    kind.begun[0]!.end()
    await until("three still run", () => kind.work.running(w.services) === 3)
    await kind.sweep()
    expect(kind.ids()).toHaveLength(4)
    kind.begun[1]!.end()
    await kind.has(5)
    expect(kind.ids()).toHaveLength(5)
    for (let ended = 2; ended < 20; ended += 1) {
      await kind.has(ended + 1)
      kind.begun[ended]!.end()
    }
    await kind.idle()
  })

  it("get their first slot in a sweep, in which others wait with many rows", async () => {
    await due(30)
    const kind = kindOfWork({ slots: { instance: 6, company: 3, shared: 3 } })
    await kind.sweep()
    expect(kind.ids()).toHaveLength(3)
    const others = await due(2, globex)
    await kind.sweep()
    expect(kind.ids()).toHaveLength(4)
    expect(others).toContain(kind.ids()[3])
    for (let ended = 0; ended < 32; ended += 1) {
      await kind.has(ended + 1)
      kind.begun[ended]!.end()
    }
    await kind.idle()
  })
})

it("is counted: due, overdue, running, failed, and the oldest due time", async () => {
  const kind = kindOfWork()
  const counts = () => kind.work.counts(second.services)
  expect(await counts()).toEqual({ due: 0, overdue: 0, running: 0, failed: 0, oldest: null })
  const oldest = new Date(time.now())
  await due(3)
  expect(await counts()).toEqual({ due: 3, overdue: 0, running: 0, failed: 0, oldest })
  time.pass(2_000)
  expect(await counts()).toEqual({ due: 3, overdue: 3, running: 0, failed: 0, oldest })
  await kind.sweep()
  expect(await counts()).toEqual({ due: 0, overdue: 0, running: 3, failed: 0, oldest: null })
  kind.begun[0]!.end(failure())
  kind.begun[1]!.end()
  await until("one is running", async () => (await counts()).running === 1, counts)
  expect(await counts()).toEqual({ due: 0, overdue: 0, running: 1, failed: 1, oldest: null })
  time.pass(10_000)
  expect(await counts()).toMatchObject({ due: 2, running: 0, failed: 1 })
  await kind.endAll()
})
