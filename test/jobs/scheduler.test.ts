import { agendaStore } from "../../src/jobs/kit/agenda-store.js"
import { makeScheduler } from "../../src/jobs/kit/scheduler.js"
import { jobLimits } from "../../src/jobs/limits.js"
import { storedJobs, storeJob } from "../kit/stored-jobs.js"
import { stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme } = w
beforeAll(() => stopScheduler(w))

it("a scheduler that stops has stored the jobs that it was given before", async () => {
  const { config, database, log } = w.services
  const scheduler = await makeScheduler(config, database, log, { work: [], stored: [], sweeps: [] })
  const ids = Array.from({ length: 20 }, (_, index) => String(index))
  for (const id of ids) void scheduler.schedule({ job: "wake", companyId: acme.id, id, at: new Date() })
  await scheduler.stop()
  const stored = (await storedJobs(w)).filter(({ name }) => name === "wake")
  expect(stored.map(({ data }) => data?.id).sort()).toEqual(ids.sort())
})

it("a sweep that takes long keeps its lock, so that no other instance begins it", async () => {
  const { config, database, log } = w.services
  const held = Promise.withResolvers<void>()
  let begun = 0
  const run = () => {
    begun += 1
    return held.promise
  }
  const sweep = { name: "long-sweep", everySeconds: 3_600, run }
  const schedulers = await Promise.all([1, 2].map(() => makeScheduler(config, database, log, { work: [], stored: [], sweeps: [sweep] })))
  const lockedAt = async () => Number((await storedJobs(w)).find(({ name }) => name === "long-sweep")?.lockedAt ?? 0)
  try {
    for (const scheduler of schedulers) await scheduler.start(w.services)
    const first = await until("the sweep has begun", async () => (await lockedAt()) || null)
    await until("the lock is held for longer than one lasts", async () => (await lockedAt()) > first + jobLimits.agendaLockMs)
    expect(begun).toBe(1)
  } finally {
    held.resolve()
    for (const scheduler of schedulers) await scheduler.stop()
  }
})

it("a start removes the due times that earlier versions kept in the job store", async () => {
  await storeJob(w, "reply")
  const server = await w.another()
  await stopScheduler(server)
  expect((await storedJobs(w)).filter(({ name }) => name === "reply")).toEqual([])
})

it("a search for due jobs of a name does not queue behind the search before, on a slow database", async () => {
  const { config, database, log } = w.services
  await storeJob(w, "search")
  await storeJob(w, "search")
  const { backend, close } = await agendaStore(config, database, log)
  const inTwoHours = new Date(Date.now() + 2 * 3_600_000)
  const search = () => backend.repository.getNextJobToRun("search", inTwoHours, new Date(0), undefined, undefined)
  await backend.connect()
  try {
    const [first, meanwhile] = await Promise.all([search(), search()])
    const after = await search()
    expect([first?.name, meanwhile, after?.name]).toEqual(["search", undefined, "search"])
    expect(after?._id).not.toEqual(first?._id)
  } finally {
    await close()
  }
})
