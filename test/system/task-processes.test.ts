import { spawn } from "node:child_process"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { TaskProcesses } from "../../src/ports/kit/task-processes.js"
import type { FixtureTask } from "../kit/task-fixture.js"

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
/** Waits until a process has ended; Jest's timeout is the deadline. */
async function end(pid: number) {
  while (lives(pid)) await sleep(20)
}

describe("a task", () => {
  it("is performed by an idle process, and gets none of this process's environment", async () => {
    const processes = processesWith()
    process.env["SOME_SECRET"] = "secret"
    const { pid, names } = await processes.run({}, 1_000)
    expect(names.filter((name) => name !== "NODE_ENV" && !name.startsWith("NODE_CHANNEL"))).toEqual([])
    expect(await processes.run({}, 1_000)).toMatchObject({ pid })
    const [one, two] = await Promise.all([processes.run({}, 1_000), processes.run({}, 1_000)])
    expect(one.pid).toBe(pid)
    expect(two.pid).not.toBe(pid)
    expect((await processes.runInNew({}, 1_000)).pid).not.toBe(pid)
  })

  it("has its time from when its process begins it", async () => {
    const processes = processesWith()
    await processes.run({ prepareMs: 700 }, 500)
    const begin = performance.now()
    await expect(processes.run({ prepareMs: 300, spinMs: 60_000 }, 500)).rejects.toMatchObject({ loss: "late" })
    expect(performance.now() - begin).toBeGreaterThan(790)
    await expect(processesWith({ startMs: 500 }).run({ prepareMs: 60_000 }, 500)).rejects.toMatchObject({ loss: "ended" })
  })

  it("that was answered while this process was busy is not late", async () => {
    const processes = processesWith()
    await processes.run({}, 1_000)
    const answered = processes.run({ spinMs: 20 }, 100)
    await sleep(10)
    const busy = performance.now() + 300
    while (performance.now() < busy);
    await answered
  })

  it("that needs too much memory in one allocation ends only its process", async () => {
    const processes = processesWith()
    const { pid } = await processes.run({}, 1_000)
    await expect(processes.run({ characters: 100_000_000 }, 20_000)).rejects.toMatchObject({ loss: "memory" })
    await end(pid)
    await processes.run({}, 1_000)
  })

  it("that is aborted throws the reason, and ends its process", async () => {
    const processes = processesWith()
    const { pid } = await processes.run({}, 1_000)
    const reason = new Error("not needed")
    const stop = new AbortController()
    const aborted = processes.run({ spinMs: 60_000 }, 20_000, stop.signal)
    setTimeout(() => stop.abort(reason), 50)
    await expect(aborted).rejects.toBe(reason)
    await end(pid)
    await expect(processes.run({}, 1_000, stop.signal)).rejects.toBe(reason)
  })

  it("whose process is killed is lost, and the next one gets another", async () => {
    const processes = processesWith()
    const { pid } = await processes.run({}, 1_000)
    const lost = processes.run({ spinMs: 60_000 }, 20_000)
    setTimeout(() => process.kill(pid, "SIGKILL"), 50)
    await expect(lost).rejects.toMatchObject({ loss: "ended" })
    expect((await processes.run({}, 1_000)).pid).not.toBe(pid)
  })
})

describe("a process", () => {
  it("ends when it has been idle, and after its number of tasks", async () => {
    const idle = await processesWith({ idleMs: 300 }).run({}, 1_000)
    await end(idle.pid)
    const processes = processesWith({ uses: 2 })
    const pids = [(await processes.run({}, 1_000)).pid, (await processes.run({}, 1_000)).pid, (await processes.run({}, 1_000)).pid]
    expect(pids[0]).toBe(pids[1])
    expect(pids[2]).not.toBe(pids[0])
    await end(pids[0]!)
  })

  it("ends with close(), also during a task, and none is started after it", async () => {
    const processes = processesWith()
    const { pid } = await processes.run({}, 1_000)
    const lost = processes.run({ spinMs: 60_000 }, 20_000).catch((error) => error)
    await processes.close()
    expect(lives(pid)).toBe(false)
    expect(await lost).toMatchObject({ loss: "ended" })
    await expect(processes.run({}, 1_000)).rejects.toMatchObject({ loss: "ended" })
  })

  it("that is idle does not keep its server running, and ends with it", async () => {
    const script = `
      import { TaskProcesses } from "../ports/dist/src/ports/kit/task-processes.js"
      const program = new URL(${JSON.stringify(program.href)})
      const { pid } = await new TaskProcesses({ ...${JSON.stringify(options)}, program }).run({}, 1000)
      console.log(pid)`
    const server = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] })
    const ended = once(server, "exit")
    const pid = Number(String((await once(server.stdout, "data"))[0]))
    expect(pid).toBeGreaterThan(0)
    expect(await ended).toEqual([0, null])
    await end(pid)
  })
})
