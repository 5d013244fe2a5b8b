import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { type Chunking, type DocumentBytes, ExtractionFailure, type Extractor, formatOf, unreadable } from "../extractor.js"
import { portLimits } from "../limits.js"

/** A task for an extractor process. */
export type Task =
  | { kind: "text"; bytes: Uint8Array; format: NonNullable<ReturnType<typeof formatOf>>; charset?: string | null }
  | { kind: "split"; text: string; chunking: Chunking }

/** The result of a task. */
export type Answer = { value: string | string[] } | { failure: string }

/**
 * Reads documents in separate processes. A thread would be cheaper, but does not limit memory reliably: one large allocation ends the
 * whole process.
 */
export class DocumentProcesses implements Extractor {
  private readonly waiting: (() => void)[] = []
  private readonly idle = new Map<ChildProcess, NodeJS.Timeout>()
  private readonly all = new Map<ChildProcess, number>()
  private busy = 0

  async text({ bytes, type, charset }: DocumentBytes, signal: AbortSignal): Promise<string> {
    const format = formatOf(type)
    if (!format) throw new ExtractionFailure(unreadable(type)!)
    const text = (await this.ask({ kind: "text", bytes, format, charset }, signal)) as string
    if (text === "") throw new ExtractionFailure(format === "pdf" ? "has no text: pictures of pages are not read" : "has no text")
    if (text.length > portLimits.knowledgeDocumentText)
      throw new ExtractionFailure(`has more than ${portLimits.knowledgeDocumentText} characters of text: split it`)
    return text
  }

  async split(text: string, chunking: Chunking, signal: AbortSignal): Promise<string[]> {
    return (await this.ask({ kind: "split", text, chunking }, signal)) as string[]
  }

  async close() {
    const ended = [...this.all.keys()].map((child) => {
      const end = once(child, "exit")
      child.ref()
      child.kill("SIGKILL")
      return end
    })
    await Promise.all(ended)
  }

  /** Waits for a free slot and runs a task in a process. */
  private async ask(task: Task, signal: AbortSignal): Promise<string | string[]> {
    if (this.busy >= portLimits.extractionProcesses) await new Promise<void>((resolve) => this.waiting.push(resolve))
    else this.busy += 1
    try {
      const child = this.take()
      const answer = await answerOf(child, task, signal)
      this.giveBack(child)
      if ("failure" in answer) throw new ExtractionFailure(answer.failure)
      return answer.value
    } finally {
      // The slot goes to the next waiting task.
      const next = this.waiting.shift()
      if (next) next()
      else this.busy -= 1
    }
  }

  private take(): ChildProcess {
    const [known] = this.idle
    if (!known) return this.start()
    const [child, timer] = known
    clearTimeout(timer)
    this.idle.delete(child)
    child.ref()
    child.channel?.ref()
    return child
  }

  /** Keeps a process for the next document, up to a number of documents, because libraries leak memory. */
  private giveBack(child: ChildProcess) {
    const uses = (this.all.get(child) ?? 0) + 1
    if (uses >= portLimits.extractionUses) return void child.kill("SIGKILL")
    this.all.set(child, uses)
    this.idle.set(child, setTimeout(() => child.kill("SIGKILL"), portLimits.extractionIdleMs).unref())
    child.unref()
    child.channel?.unref()
  }

  private start(): ChildProcess {
    const child = fork(program, { execArgv, serialization: "advanced", stdio: "ignore", env: environment })
    this.all.set(child, 0)
    // Running tasks handle errors themselves; between tasks an unhandled error would end this process.
    child.on("error", () => {})
    child.once("exit", () => {
      clearTimeout(this.idle.get(child))
      this.idle.delete(child)
      this.all.delete(child)
    })
    return child
  }
}

// When run from source (tests, development), the process needs the loader for TypeScript.
const isSource = import.meta.url.endsWith(".ts")
const program = fileURLToPath(new URL(isSource ? "./process.ts" : "./process.js", import.meta.url))
const execArgv = [`--max-old-space-size=${portLimits.extractionHeapMb}`, ...(isSource ? ["--import", import.meta.resolve("tsx")] : [])]
/** The process gets no secrets of the server, because it reads untrusted files. */
const environment = { NODE_ENV: process.env["NODE_ENV"] }

/** Runs a task in a process. A process that exceeds the timeout, or whose task is aborted, is killed. */
function answerOf(child: ChildProcess, task: Task, signal: AbortSignal): Promise<Answer> {
  return new Promise<Answer>((resolve, reject) => {
    const end = (error: ExtractionFailure) => {
      cleanUp()
      child.kill("SIGKILL")
      reject(error)
    }
    const onMessage = (answer: Answer) => {
      cleanUp()
      resolve(answer)
    }
    const aborted = () => end(new ExtractionFailure("was not read: that was stopped", true))
    const onExit = (_code: number | null, by: NodeJS.Signals | null) => end(lost(by))
    const onError = () => end(lost(null))
    const late = setTimeout(() => end(new ExtractionFailure("takes too long to be read")), portLimits.extractionMs)
    const cleanUp = () => {
      clearTimeout(late)
      signal.removeEventListener("abort", aborted)
      child.off("message", onMessage).off("exit", onExit).off("error", onError)
    }
    if (signal.aborted) return aborted()
    signal.addEventListener("abort", aborted)
    child.once("message", onMessage).once("exit", onExit).once("error", onError)
    child.send(task)
  })
}

/** A process that runs out of memory aborts itself; other exits are not caused by the document. */
const lost = (by: NodeJS.Signals | null) =>
  by === "SIGABRT" || by === "SIGTRAP" || by === "SIGILL"
    ? new ExtractionFailure("needs too much memory to be read")
    : new ExtractionFailure("was not read: its reader ended", true)
