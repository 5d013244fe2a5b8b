import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { setImmediate } from "node:timers"
import { fileURLToPath } from "node:url"

/** What a process sends: that it begins the task, then the answer. */
export type FromProcess<Answer> = { begins: true } | { answer: Answer }

/** Why a task got no answer: it took too long, its process ran out of memory, or that ended or did not start for another reason. */
export class TaskLost extends Error {
  constructor(readonly loss: "late" | "memory" | "ended") {
    super(`The process of a task was lost: ${loss}`)
  }
}

/** What kind of processes perform the tasks. */
export interface ProcessOptions {
  /** The module that calls `performTasks()`, without its file extension. */
  program: URL
  /** Heap of a process, in megabytes. */
  heapMb: number
  /** How long a process may take to start and to prepare for a task, in milliseconds. */
  startMs: number
  /** How long an idle process is kept, in milliseconds. */
  idleMs: number
  /** Tasks that a process performs before it is replaced; without it any number. */
  uses?: number
}

/**
 * Performs untrusted tasks in separate processes, which get no secrets of this one. Threads would be cheaper, but do not limit memory
 * reliably: one large allocation ends the whole process. An idle process keeps neither this one alive nor itself for long.
 */
export class TaskProcesses<Task extends object, Answer> {
  private readonly idle = new Map<ChildProcess, NodeJS.Timeout>()
  private readonly all = new Map<ChildProcess, number>()
  private isClosed = false

  constructor(private readonly options: ProcessOptions) {}

  /**
   * Performs a task in an idle process, or in a new one. Its time counts from when the started process begins the task. Throws TaskLost, or
   * the reason of the signal; the process is then killed.
   */
  run(task: Task, deadlineMs: number, signal?: AbortSignal): Promise<Answer> {
    return this.perform(() => this.take() ?? this.start(), task, deadlineMs, signal)
  }

  /** Performs a task in a new process, which is kept for further tasks. */
  runInNew(task: Task, deadlineMs: number): Promise<Answer> {
    return this.perform(() => this.start(), task, deadlineMs)
  }

  /** Ends all processes; running and later tasks are lost. */
  async close() {
    this.isClosed = true
    const ended = [...this.all.keys()].map((child) => {
      const end = once(child, "exit")
      child.ref()
      child.kill("SIGKILL")
      return end
    })
    await Promise.all(ended)
  }

  private async perform(processOf: () => ChildProcess, task: Task, deadlineMs: number, signal?: AbortSignal): Promise<Answer> {
    signal?.throwIfAborted()
    if (this.isClosed) throw new TaskLost("ended")
    const child = processOf()
    try {
      const answer = await answerOf<Answer>(child, task, this.options.startMs, deadlineMs, signal)
      this.giveBack(child)
      return answer
    } catch (error) {
      child.kill("SIGKILL")
      throw error
    }
  }

  /** An idle process; null when all are busy. */
  private take(): ChildProcess | null {
    const [known] = this.idle
    if (!known) return null
    const [child, timer] = known
    clearTimeout(timer)
    this.idle.delete(child)
    child.ref()
    child.channel?.ref()
    return child
  }

  private giveBack(child: ChildProcess) {
    const uses = (this.all.get(child) ?? 0) + 1
    if (uses >= (this.options.uses ?? Number.POSITIVE_INFINITY)) return void child.kill("SIGKILL")
    this.all.set(child, uses)
    this.idle.set(child, setTimeout(() => child.kill("SIGKILL"), this.options.idleMs).unref())
    child.unref()
    child.channel?.unref()
  }

  private start(): ChildProcess {
    const { program, heapMb } = this.options
    // With a young generation that is large beside the heap, V8 gives up although most of that is garbage.
    const youngMb = Math.min(16, heapMb / 8)
    const execArgv = [`--max-old-space-size=${heapMb}`, `--max-semi-space-size=${youngMb}`, ...loader]
    const child = fork(fileURLToPath(program) + ending, { execArgv, serialization: "advanced", stdio: "ignore", env: environment })
    const forget = () => {
      clearTimeout(this.idle.get(child))
      this.idle.delete(child)
      this.all.delete(child)
    }
    this.all.set(child, 0)
    // Running tasks handle errors themselves; between tasks an unhandled error would end this process.
    child.on("error", () => void (child.pid === undefined && forget()))
    child.once("exit", forget)
    return child
  }
}

// When run from source (development), the processes need the loader for TypeScript.
const ending = import.meta.url.slice(-".ts".length)
const loader = ending === ".ts" ? ["--import", import.meta.resolve("tsx")] : []
const environment = { NODE_ENV: process.env["NODE_ENV"] }

/** The answer to a task. */
function answerOf<Answer>(child: ChildProcess, task: object, startMs: number, deadlineMs: number, signal?: AbortSignal): Promise<Answer> {
  return new Promise<Answer>((resolve, reject) => {
    const end = (finish: () => void) => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", onAbort)
      child.off("message", onMessage).off("exit", onExit).off("error", onError)
      finish()
    }
    const lose = (loss: TaskLost["loss"]) => end(() => reject(new TaskLost(loss)))
    const onAbort = () => end(() => reject(signal!.reason))
    const onExit = (_code: number | null, by: NodeJS.Signals | null) => lose(isOutOfMemory(by) ? "memory" : "ended")
    const onError = () => lose("ended")
    const onMessage = (message: FromProcess<Answer>) => {
      if ("answer" in message) return end(() => resolve(message.answer))
      clearTimeout(timer)
      // An answer that arrived while this process was busy is handled before the immediate.
      timer = setTimeout(() => setImmediate(lose, "late"), deadlineMs)
    }
    let timer = setTimeout(lose, startMs, "ended")
    signal?.addEventListener("abort", onAbort)
    child.on("message", onMessage).once("exit", onExit).once("error", onError)
    // Without a file descriptor there is no process, and no channel to it.
    if (child.connected) child.send(task)
    else onError()
  })
}

/** A process that runs out of memory aborts itself. */
const isOutOfMemory = (by: NodeJS.Signals | null) => by === "SIGABRT" || by === "SIGTRAP" || by === "SIGILL"
