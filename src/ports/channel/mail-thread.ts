import { z } from "zod"
import { type Account, ChannelFailure, type Part } from "../channel.js"
import { portLimits } from "../limits.js"
import { idsIn, isAddress, type Mail } from "./mail.js"

/** What is stored with a message, so that it can be answered. */
const threadFields = z.object({
  messageId: z.string(),
  /** Message-IDs of the mails before it, oldest first. */
  references: z.array(z.string()),
  subject: z.string(),
  /** The vendor's ID of the thread. */
  threadId: z.string().nullish(),
})
export type Thread = z.infer<typeof threadFields>

/** The mail that a message is sent as; `thread.messageId` is the reference to it, which vendors keep, unlike a Message-ID. */
export interface Outgoing {
  to: string
  subject: string
  headers: Record<string, string>
  inReplyTo: string | null
  references: string[]
  thread: Thread
}

/** The mail for a part: it answers the quoted mail, else the last one of the chat. Throws `ChannelFailure` when the chat has no address. */
export function outgoingOf(part: Part, account: Account, domain: string): Outgoing {
  const to = part.chat.externalId
  if (!isAddress(to)) throw new ChannelFailure("The chat has no mail address", { kind: "permanent", code: "RECIPIENT_UNREACHABLE" })
  const answered = answeredBy(part)
  const reference = `<${part.id}@${domain}>`
  const before = answered ? shortened([...answered.references, answered.messageId]) : []
  const subject = replySubject(answered?.subject ?? "") || account.name
  return {
    to,
    subject,
    headers: { "X-Part-Id": part.id, ...(part.isByAssistant && { "Auto-Submitted": "auto-replied" }) },
    inReplyTo: answered?.messageId ?? null,
    references: [...before, reference],
    thread: { messageId: reference, references: before, subject, ...(answered?.threadId && { threadId: answered.threadId }) },
  }
}

/** The thread that a mail belongs to, as it is stored with its message. */
export const threadOf = ({ messageId, references, inReplyTo, subject }: Mail, id: string, threadId: string | null): Thread => ({
  messageId: messageId ?? id,
  references: shortened(references.length > 0 ? references : inReplyTo ? [inReplyTo] : []),
  subject,
  ...(threadId && { threadId }),
})

/** The mail that a mail answers: the ID of our message when it is one of ours, otherwise its Message-ID; null when it answers none. */
export function quotedBy({ inReplyTo, references }: Mail, domain: string): string | null {
  const id = inReplyTo ?? references.at(-1)
  if (!id) return null
  // The vendor replaces our Message-ID; the reference before it is ours.
  const before = references[references.indexOf(id) - 1]
  const partId = partIdOf(id, domain) ?? (before ? partIdOf(before, domain) : null)
  return partId ? partId.slice(0, partId.lastIndexOf("-")) : id
}

/** The part ID in a reference of ours; null for any other. */
export function partIdOf(reference: string, domain: string): string | null {
  const [, id, at] = /^<([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}-\d{1,4})@([^@>]+)>$/i.exec(reference) ?? []
  return id && at?.toLowerCase() === domain ? id : null
}

/** "Re: " and the subject, without that of earlier answers; empty when there is no subject. */
function replySubject(subject: string): string {
  const topic = subject.replace(/^(?:(?:re|aw|sv|vs|antw|odp)(?:\[\d+\])?\s?:\s*)+/i, "").trim()
  return topic && `Re: ${topic}`
}

function answeredBy({ quoted, last }: Part): Thread | null {
  const lastThread = threadFields.safeParse(last?.data).data ?? null
  const quotedThread = threadFields.safeParse(quoted?.data).data
  if (quotedThread) return quotedThread
  const [messageId] = idsIn(quoted?.externalId ?? null)
  return messageId ? { references: [], subject: "", ...lastThread, messageId } : lastThread
}

/** Each once; of a long thread the first mail and the last ones, as RFC 5322 recommends to those that shorten. */
function shortened(references: string[]): string[] {
  const unique = [...new Set(references)]
  const most = portLimits.mailReferences
  return unique.length <= most ? unique : [unique[0]!, ...unique.slice(1 - most)]
}
