import { writeFileSync } from "node:fs"
import { performTasks } from "../../src/ports/kit/task-program.js"

/** A task of the program below; `begun` and `ended` name files that it writes when it has come so far. */
export type FixtureTask = { prepareMs?: number; spinMs?: number; characters?: number; begun?: string; ended?: string }

function spin(ms = 0) {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** The program of a process of test/system/task-processes.test.ts: it spins, makes a text, and answers what it knows of its process. */
performTasks<FixtureTask, { pid: number; names: string[] }>({
  prepare: ({ prepareMs }) => spin(prepareMs),
  perform({ spinMs, characters = 0, begun, ended }) {
    if (begun) writeFileSync(begun, "")
    spin(spinMs)
    // In one allocation.
    "~".repeat(characters).replace(/~/g, "~0")
    if (ended) writeFileSync(ended, "")
    return { pid: process.pid, names: Object.keys(process.env) }
  },
})
