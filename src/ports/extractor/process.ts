import { Worker } from "node:worker_threads"
import { ExtractionFailure } from "../extractor.js"
import type { Answer, Task } from "./processes.js"
import { tidy } from "./tidy.js"

/** The extractor process: reads the documents that it receives, sequentially. Libraries are loaded on demand. */
async function perform(task: Task): Promise<string | string[]> {
  if (task.kind === "split") return (await import("./chunks.js")).splitIntoChunks(task.text, task.chunking)
  return tidy(await textOf(task))
}

async function textOf({ bytes, format, charset }: Extract<Task, { kind: "text" }>): Promise<string> {
  if (format === "pdf" || format === "docx" || format === "xlsx" || format === "pptx") {
    return (await import("./office.js")).officeText(bytes, format)
  }
  const { decoded, csvText } = await import("./plain.js")
  const text = decoded(bytes, charset)
  if (format === "csv") return csvText(text)
  return format === "html" ? (await import("./html.js")).pageText(text) : text
}

const answer = async (task: Task): Promise<Answer> =>
  perform(task).then(
    (value) => ({ value }),
    // Other errors of libraries concern the document too, but their messages are not for users.
    (error) => ({ failure: error instanceof ExtractionFailure ? error.message : "cannot be read: it is damaged or far too complicated" }),
  )

process.on("message", async (task: Task) => process.send?.(await answer(task)))
process.on("disconnect", () => process.exit())
// An interrupt at the terminal reaches the whole process group; only the parent process decides when this one ends.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {})

// While a document is read, no event is handled here: a thread detects that the server is gone.
const watch = `
  const parent = process.ppid
  setInterval(() => process.ppid === parent || process.kill(process.pid, "SIGKILL"), 1000)`
new Worker(watch, { eval: true, execArgv: [] }).unref()
