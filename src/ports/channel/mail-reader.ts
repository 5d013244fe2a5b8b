import type { Logger } from "pino"
import { type Account, ChannelFailure, type Incoming } from "../channel.js"
import { FairSlots } from "../kit/fair-slots.js"
import { TaskLost, TaskProcesses } from "../kit/task-processes.js"
import { portLimits } from "../limits.js"
import { type MailContent, unreadText } from "./mail.js"
import type { MailSource } from "./mail-incoming.js"

/** A task for a mail process: a mail as it was transferred, or its parts as a vendor has read them; or a file of one. */
export type MailTask =
  | { kind: "mail"; mail: Uint8Array | MailContent; source: MailSource; isHead: boolean }
  | { kind: "file"; raw: Uint8Array; index: number }

/** A file of a mail; null when the mail has none at that index. */
export type MailFileBytes = { bytes: Uint8Array; filename: string | null } | null

/** The result of a task; a fault is the stack of an error. */
export type MailAnswer = { items: Incoming[] } | { file: MailFileBytes } | { fault: string }

/** A mail that cannot be read whole: why not. */
type Unread = { loss: "late" | "memory" } | { fault: string }

/**
 * Reads mails in separate processes: anybody can send one that takes minutes, or more memory than there is. Companies share the processes
 * fairly.
 */
export class MailReader {
  private readonly slots = new FairSlots(portLimits.mailProcesses)
  private readonly processes = new TaskProcesses<MailTask, MailAnswer>({
    program: new URL("./mail-process", import.meta.url),
    heapMb: portLimits.mailHeapMb,
    startMs: portLimits.mailReadMs,
    idleMs: portLimits.mailIdleMs,
    uses: portLimits.mailUses,
  })

  /** The process of a task that takes longer than the deadline is ended. */
  constructor(
    private readonly log: Logger,
    private readonly deadlineMs: number = portLimits.mailReadMs,
  ) {}

  /** What a mail reports. Of a mail that cannot be read whole only the headers are read, and its message says so. Throws ChannelFailure. */
  async items(mail: Uint8Array | MailContent, source: MailSource, account: Account, signal: AbortSignal): Promise<Incoming[]> {
    const whole = await this.ask({ kind: "mail", mail, source, isHead: false }, account, signal)
    if ("items" in whole) return whole.items
    const { connectionId } = account
    this.log.warn({ connectionId, mail: source.id, ...whole }, "a mail cannot be read whole: its headers are read")
    const head = await this.ask({ kind: "mail", mail: headOf(mail), source, isHead: true }, account, signal)
    if ("items" in head) return head.items
    this.log.error({ connectionId, mail: source.id, ...head }, "the headers of a mail cannot be read: the mail is passed over")
    return []
  }

  /** A file of a mail. Throws ChannelFailure. */
  async file(raw: Uint8Array, index: number, account: Account, signal: AbortSignal): Promise<MailFileBytes> {
    const answer = await this.ask({ kind: "file", raw, index }, account, signal)
    if ("file" in answer) return answer.file
    this.log.warn({ connectionId: account.connectionId, ...answer }, "a file of a mail cannot be read")
    throw new ChannelFailure("The file cannot be read out of the mail", { kind: "permanent", code: "REFUSED" })
  }

  /** Ends the processes; mails that are being read fail, and are read again later. */
  close(): Promise<void> {
    return this.processes.close()
  }

  /** Runs a task when the company has a slot; a task that is interrupted for another company is repeated. */
  private ask(task: MailTask, { companyId }: Account, signal: AbortSignal): Promise<MailAnswer | Unread> {
    return this.slots.run(companyId, async (interruption) => {
      if (signal.aborted) throw notRead("that was stopped")
      return await this.processes.run(task, this.deadlineMs, AbortSignal.any([interruption, signal])).catch((error): Unread => {
        if (error === signal.reason) throw notRead("that was stopped")
        if (!(error instanceof TaskLost)) throw error
        // Not caused by the mail.
        if (error.loss === "ended") throw notRead("its reader ended")
        return { loss: error.loss }
      })
    })
  }
}

const notRead = (why: string) => new ChannelFailure(`The mail was not read: ${why}`, { kind: "retry", code: "CHANNEL_UNAVAILABLE" })

/** The beginning of a mail, or its headers as far as they are as short. */
function headOf(mail: Uint8Array | MailContent): Uint8Array | MailContent {
  if (mail instanceof Uint8Array) return mail.subarray(0, portLimits.mailHeadBytes)
  let left = portLimits.mailHeadBytes
  const headers = mail.headers.filter(({ key, value }) => {
    const size = key.length + value.length
    if (size > left) return false
    left -= size
    return true
  })
  return { headers, text: unreadText, html: null, files: [], reports: [] }
}
