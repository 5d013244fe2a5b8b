import { Worker } from "node:worker_threads"
import type { FromProcess } from "./task-processes.js"

/** What a program does with a task. */
interface Work<Task, Answer> {
  /** What has to be loaded for it; takes nothing of the task's time. */
  prepare?: (task: Task) => void
  perform: (task: Task) => Answer | Promise<Answer>
}

/** Makes this process one of `TaskProcesses`: it performs the tasks that it receives, one at a time. An error ends it. */
export function performTasks<Task, Answer>({ prepare, perform }: Work<Task, Answer>) {
  const send = (message: FromProcess<Answer>) => process.send?.(message)
  process.on("message", async (task: Task) => {
    prepare?.(task)
    send({ begins: true })
    send({ answer: await perform(task) })
  })
  process.on("disconnect", () => process.exit())
  // An interrupt at the terminal reaches the whole process group; only the parent process decides when this one ends.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {})
  new Worker(watch, { eval: true, execArgv: [] }).unref()
}

/** During a task no event is handled here: a thread detects that the server is gone. */
const watch = `
  const parent = process.ppid
  setInterval(() => process.ppid === parent || process.kill(process.pid, "SIGKILL"), 1000)`
