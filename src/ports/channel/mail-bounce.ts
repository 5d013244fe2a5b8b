import type { Incoming } from "../channel.js"
import { portLimits } from "../limits.js"
import { idsIn, type Mail } from "./mail.js"
import { partIdOf } from "./mail-thread.js"

/** Whether a mail server reports on a mail that was sent. */
export const isBounce = (mail: Mail) =>
  /^multipart\/report\b/i.test(mail.header("content-type") ?? "") ||
  mail.header("x-failed-recipients") !== null ||
  /^mailer-daemon@/.test(mail.from?.address ?? "")

/** The failure of our message that a report tells of; nothing for delays, read confirmations, and mails that are not ours. */
export function receiptsOf(mail: Mail, domain: string): Incoming[] {
  const [, reportType = "delivery-status"] = /;\s*report-type="?([\w-]+)/i.exec(mail.header("content-type") ?? "") ?? []
  const report = mail.content.reports.map((part) => part.replace(/\r?\n[ \t]+/g, " ")).join("\n")
  const field = (name: string) => new RegExp(`^${name}:[ \\t]*(.+)$`, "im").exec(report)?.[1]?.trim() ?? null
  if (reportType.toLowerCase() !== "delivery-status" || (field("Action") ?? "failed").toLowerCase() !== "failed") return []
  const references = [...idsIn(field("References")), ...mail.references]
  const given = field("X-Part-Id")
  const partId = given && partIdOf(`<${given}@${domain}>`, domain) ? given : lastPartId(references, domain)
  const externalId = idsIn(field("Message-ID"))[0] ?? mail.inReplyTo
  if (!partId && !externalId) return []
  const words = field("Diagnostic-Code")?.replace(/^\w+;\s*/, "") || field("Status") || mail.subject || "The mail was returned"
  return [
    {
      kind: "receipt",
      status: "failed",
      ...(externalId && { externalId }),
      ...(partId && { partId }),
      error: words.slice(0, portLimits.mailDiagnostic),
      errorCode: "RECIPIENT_UNREACHABLE",
    },
  ]
}

const lastPartId = (references: string[], domain: string) =>
  references
    .map((reference) => partIdOf(reference, domain))
    .filter((id) => id !== null)
    .at(-1) ?? null
