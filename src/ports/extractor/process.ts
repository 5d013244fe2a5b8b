import { ExtractionFailure } from "../extractor.js"
import { performTasks } from "../kit/task-program.js"
import type { Answer, Task } from "./processes.js"
import { tidy } from "./tidy.js"

/** The extractor process: reads the documents that it receives, one after the other. Libraries are loaded on demand. */
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

performTasks({ perform: answer })
