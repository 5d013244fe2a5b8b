import { performTasks } from "../kit/task-program.js"
import { Mail } from "./mail.js"
import { itemsOf } from "./mail-incoming.js"
import { fileInMime, readHead, readMime } from "./mail-mime.js"
import type { MailAnswer, MailTask } from "./mail-reader.js"

/** The mail process: reads the mails that it receives, one after the other. */
async function perform(task: MailTask): Promise<MailAnswer> {
  if (task.kind === "file") return { file: await fileInMime(bufferOf(task.raw), task.index) }
  return { items: itemsOf(new Mail(await contentOf(task)), task.source) }
}

function contentOf({ mail, isHead, source }: Extract<MailTask, { kind: "mail" }>) {
  if (!(mail instanceof Uint8Array)) return mail
  return isHead ? readHead(bufferOf(mail)) : readMime(bufferOf(mail), (index) => ({ id: source.id, index }))
}

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => Buffer.from(buffer, byteOffset, byteLength)

performTasks<MailTask, MailAnswer>({
  // An error concerns one mail, and does not end the process.
  perform: (task) => perform(task).catch((error: unknown) => ({ fault: (error instanceof Error && error.stack) || String(error) })),
})
