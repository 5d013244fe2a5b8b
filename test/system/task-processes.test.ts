import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TaskProcesses } from "../../src/ports/kit/task-processes.js"
import { duration } from "../kit/pace.js"
import { reference } from "../kit/reference.js"
import type { FixtureTask } from "../kit/task-fixture.js"
import { happens, until } from "../kit/wait.js"

type Answer = { pid: number; names: string[] }
const program = new URL("../kit/task-fixture", import.meta.url)
const options = { program, heapMb: 64, startMs: 20_000, idleMs: 20_000 }

const open: TaskProcesses<FixtureTask, Answer>[] = []
afterEach(() => Promise.all(open.splice(0).map((processes) => processes.close())))
function processesWith(more: { idleMs?: number; uses?: number; startMs?: number } = {}) {
  const processes = new TaskProcesses<FixtureTask, Answer>({ ...options, ...more })
  open.push(processes)
  return processes
}

const lives = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
const end = (pid: number) => until(`process ${pid} has ended`, () => !lives(pid))

/** Time that a task does not need on any machine. */
const plentyMs = 60_000

/** A file that a task writes when it has come so far. */
const newMark = () => join(mkdtempSync(join(tmpdir(), "task-")), "mark")
const begun = (mark: string) => until("the task has begun", () => existsSync(mark))

describe("a task", () => {
  it("is performed by an idle process, and gets none of this process's environment", async () => {
    const processes = processesWith()
    process.env["SOME_SECRET"] = "secret"
    const { pid, names } = await processes.run({}, plentyMs)
    expect(names.filter((name) => name !== "NODE_ENV" && !name.startsWith("NODE_CHANNEL"))).toEqual([])
    expect(await processes.run({}, plentyMs)).toMatchObject({ pid })
    const [one, two] = await Promise.all([processes.run({}, plentyMs), processes.run({}, plentyMs)])
    expect(one.pid).toBe(pid)
    expect(two.pid).not.toBe(pid)
    expect((await processes.runInNew({}, plentyMs)).pid).not.toBe(pid)
  })

  it("has its time from when its process begins it", async () => {
    const processes = processesWith()
    const deadlineMs = 500 * (await reference()).slowdown
    await processes.run({ prepareMs: deadlineMs + 200 }, deadlineMs)
    const took = await duration(() =>
      expect(processes.run({ prepareMs: 300, spinMs: 60_000 }, deadlineMs)).rejects.toMatchObject({ loss: "late" }),
    )
    // Both are waited for in full, however slow the machine is.
    expect(took).toBeGreaterThan(300 + deadlineMs - 10)
    await expect(processesWith({ startMs: 500 }).run({ prepareMs: 60_000 }, 500)).rejects.toMatchObject({ loss: "ended" })
  })

  it("that was answered while this process was busy is not late", async () => {
    const processes = processesWith()
    await processes.run({}, plentyMs)
    const [beginsAt, endsAt] = [newMark(), newMark()]
    const { slowdown } = await reference()
    const answered = processes.run({ begun: beginsAt, spinMs: 20, ended: endsAt }, 100)
    await begun(beginsAt)
    // Until the task has ended, and then for longer than its time.
    while (!existsSync(endsAt));
    const busy = performance.now() + 200 * slowdown
    while (performance.now() < busy);
    await answered
  })

  it("that needs too much memory in one allocation ends only its process", async () => {
    const processes = processesWith()
    const { pid } = await processes.run({}, plentyMs)
    await expect(processes.run({ characters: 100_000_000 }, 20_000)).rejects.toMatchObject({ loss: "memory" })
    await end(pid)
    await processes.run({}, plentyMs)
  })

  it("that is aborted throws the reason, and ends its process", async () => {
    const processes = processesWith()
    const { pid } = await processes.run({}, plentyMs)
    const reason = new Error("not needed")
    const stop = new AbortController()
    const mark = newMark()
    const aborted = processes.run({ begun: mark, spinMs: 60_000 }, 20_000, stop.signal)
    await begun(mark)
    stop.abort(reason)
    await expect(aborted).rejects.toBe(reason)
    await end(pid)
    await expect(processes.run({}, plentyMs, stop.signal)).rejects.toBe(reason)
  })

  it("whose process is killed is lost, and the next one gets another", async () => {
    const processes = processesWith()
    const { pid } = await processes.run({}, plentyMs)
    const mark = newMark()
    const lost = processes.run({ begun: mark, spinMs: 60_000 }, 20_000)
    await begun(mark)
    process.kill(pid, "SIGKILL")
    await expect(lost).rejects.toMatchObject({ loss: "ended" })
    expect((await processes.run({}, plentyMs)).pid).not.toBe(pid)
  })
})

describe("a process", () => {
  it("ends when it has been idle, and after its number of tasks", async () => {
    const idle = await processesWith({ idleMs: 300 }).run({}, plentyMs)
    await end(idle.pid)
    const processes = processesWith({ uses: 2 })
    const pids = [(await processes.run({}, plentyMs)).pid, (await processes.run({}, plentyMs)).pid, (await processes.run({}, plentyMs)).pid]
    expect(pids[0]).toBe(pids[1])
    expect(pids[2]).not.toBe(pids[0])
    await end(pids[0]!)
  })

  it("ends with close(), also during a task, and none is started after it", async () => {
    const processes = processesWith()
    const { pid } = await processes.run({}, plentyMs)
    const lost = processes.run({ spinMs: 60_000 }, 20_000).catch((error) => error)
    await processes.close()
    expect(lives(pid)).toBe(false)
    expect(await lost).toMatchObject({ loss: "ended" })
    await expect(processes.run({}, plentyMs)).rejects.toMatchObject({ loss: "ended" })
  })

  it("that is idle does not keep its server running, and ends with it", async () => {
    const script = `
      import { TaskProcesses } from "./dist/src/ports/kit/task-processes.js"
      const program = new URL(${JSON.stringify(program.href)})
      const { pid } = await new TaskProcesses({ ...${JSON.stringify(options)}, program }).run({}, 60000)
      console.log(pid)`
    const server = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] })
    const ended = once(server, "exit")
    const pid = Number(String((await happens("the process has started", once(server.stdout, "data")))[0]))
    expect(pid).toBeGreaterThan(0)
    expect(await happens("the server has ended", ended)).toEqual([0, null])
    await end(pid)
  })
})
