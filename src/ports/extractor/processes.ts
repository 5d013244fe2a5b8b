import { type Chunking, type DocumentBytes, ExtractionFailure, type Extractor, formatOf, unreadable } from "../extractor.js"
import { FairSlots } from "../kit/fair-slots.js"
import { TaskLost, TaskProcesses } from "../kit/task-processes.js"
import { portLimits } from "../limits.js"

/** A task for an extractor process. */
export type Task =
  | { kind: "text"; bytes: Uint8Array; format: NonNullable<ReturnType<typeof formatOf>>; charset?: string | null }
  | { kind: "split"; text: string; chunking: Chunking }

/** The result of a task. */
export type Answer = { value: string | string[] } | { failure: string }

/** Reads documents in separate processes, since they are untrusted. */
export class DocumentProcesses implements Extractor {
  private readonly slots = new FairSlots(portLimits.extractionProcesses)
  private readonly processes = new TaskProcesses<Task, Answer>({
    program: new URL("./process", import.meta.url),
    heapMb: portLimits.extractionHeapMb,
    startMs: portLimits.extractionMs,
    idleMs: portLimits.extractionIdleMs,
    uses: portLimits.extractionUses,
  })

  /** A task that takes longer than the deadline fails, and its process is ended. */
  constructor(private readonly deadlineMs: number = portLimits.extractionMs) {}

  async text(companyId: string, { bytes, type, charset }: DocumentBytes, signal: AbortSignal): Promise<string> {
    const format = formatOf(type)
    if (!format) throw new ExtractionFailure(unreadable(type)!)
    const task = async (): Promise<Task> => ({
      kind: "text",
      bytes: typeof bytes === "function" ? await bytes() : bytes,
      format,
      charset,
    })
    const text = (await this.ask(companyId, task, signal)) as string
    if (text === "") throw new ExtractionFailure(format === "pdf" ? "has no text: pictures of pages are not read" : "has no text")
    if (text.length > portLimits.knowledgeDocumentText)
      throw new ExtractionFailure(`has more than ${portLimits.knowledgeDocumentText} characters of text: split it`)
    return text
  }

  async split(companyId: string, text: string, chunking: Chunking, signal: AbortSignal): Promise<string[]> {
    return (await this.ask(companyId, async () => ({ kind: "split", text, chunking }), signal)) as string[]
  }

  close(): Promise<void> {
    return this.processes.close()
  }

  /** Runs a task in a process when the company has a slot; a task that is interrupted for another company is repeated. */
  private ask(companyId: string, task: () => Promise<Task>, signal: AbortSignal): Promise<string | string[]> {
    return this.slots.run(companyId, async (interruption) => {
      if (signal.aborted) throw stopped()
      const made = await task()
      const answer = await this.processes.run(made, this.deadlineMs, AbortSignal.any([interruption, signal])).catch((error) => {
        if (error instanceof TaskLost) throw failureOf[error.loss]()
        throw error === signal.reason ? stopped() : error
      })
      if ("failure" in answer) throw new ExtractionFailure(answer.failure)
      return answer.value
    })
  }
}

const stopped = () => new ExtractionFailure("was not read: that was stopped", true)

const failureOf = {
  late: () => new ExtractionFailure("takes too long to be read"),
  memory: () => new ExtractionFailure("needs too much memory to be read"),
  // Not caused by the document.
  ended: () => new ExtractionFailure("was not read: its reader ended", true),
}
