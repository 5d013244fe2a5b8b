import { performTasks } from "../../src/ports/kit/task-program.js"

/** A task of the program below. */
export type FixtureTask = { prepareMs?: number; spinMs?: number; characters?: number }

function spin(ms = 0) {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** The program of a process of test/system/task-processes.test.ts: it spins, makes a text, and answers what it knows of its process. */
performTasks<FixtureTask, { pid: number; names: string[] }>({
  prepare: ({ prepareMs }) => spin(prepareMs),
  perform({ spinMs, characters = 0 }) {
    spin(spinMs)
    // In one allocation.
    "~".repeat(characters).replace(/~/g, "~0")
    return { pid: process.pid, names: Object.keys(process.env) }
  },
})
