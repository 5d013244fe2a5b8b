import { readdirSync } from "node:fs"
import type { Sweep } from "../../src/jobs/kit/scheduler.js"
import { subscribe } from "../kit/sockets.js"
import { statementsOf } from "../kit/statements.js"
import { storedJobs } from "../kit/stored-jobs.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme } = w

/** All sweeps: those of durable work, and the others. */
async function sweeps(): Promise<Sweep[]> {
  const files = readdirSync("src/jobs").filter((name) => name.endsWith(".ts"))
  const modules = await Promise.all(files.map((name) => import(`../../src/jobs/${name.replace(/\.ts$/, ".js")}`)))
  return modules
    .flatMap((module) => Object.values<Partial<Sweep> & { sweep?: Sweep }>(module))
    .map((each) => each?.sweep ?? each)
    .filter((each): each is Sweep => each !== null && typeof each === "object" && "everySeconds" in each)
}

it("what the server asks at intervals is no statement of a call", async () => {
  await acme.chat()
  const heard = await subscribe(w, acme.token)
  const all = await sweeps()
  await until("every sweep is stored", async () => (await storedJobs(w)).length >= all.length)
  expect((await storedJobs(w)).map(({ name }) => name).sort()).toEqual(all.map(({ name }) => name).sort())
  const statements = await statementsOf(w, async (names) => {
    for (const sweep of all) await sweep.run(w.services)
    await until("the open sockets are checked", () => names().includes("sockets-changed"))
  })
  expect(statements).toEqual([])
  await heard.stop()
})
