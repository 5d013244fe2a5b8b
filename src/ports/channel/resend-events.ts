import { Webhook, WebhookVerificationError } from "standardwebhooks"
import { z } from "zod"
import type { Account, Event, HookRequest, Incoming } from "../channel.js"
import { portLimits } from "../limits.js"
import { type MailContent, mailboxesOf } from "./mail.js"

/** The events that a connection needs. */
export const events = ["email.received", "email.delivered", "email.bounced", "email.failed", "email.suppressed"]

/** The tag by which receipts name the part. */
export const partTag = "part"

const addresses = z.array(z.string()).catch([])
const received = z.object({
  type: z.literal("email.received"),
  data: z.object({ email_id: z.string(), to: addresses, cc: addresses, bcc: addresses, received_for: addresses }),
})
const reason = z.object({ message: z.string().optional(), reason: z.string().optional() }).optional()
const reported = z.object({
  type: z.enum(["email.delivered", "email.bounced", "email.failed", "email.suppressed"]),
  data: z.object({
    email_id: z.string(),
    from: z.string(),
    tags: z
      .object({ [partTag]: z.string().optional() })
      .optional()
      .catch(undefined),
    bounce: reason,
    failed: reason,
    suppressed: reason,
  }),
})
const eventFields = z.discriminatedUnion("type", [received, reported])

/** A received mail, whose files are asked for later. */
export const mailFields = z.object({
  id: z.string(),
  from: z.string().nullish(),
  to: addresses,
  reply_to: addresses,
  subject: z.string().nullish(),
  message_id: z.string().nullish(),
  text: z.string().nullish(),
  html: z.string().nullish(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])).catch({}),
  attachments: z
    .array(
      z.object({
        id: z.string(),
        filename: z.string().nullish(),
        content_type: z.string().catch("application/octet-stream"),
        content_disposition: z.string().nullish(),
        content_id: z.string().nullish(),
        size: z.number().catch(Number.MAX_SAFE_INTEGER),
      }),
    )
    .catch([]),
})

export const fileFields = z.object({ id: z.string(), filename: z.string().nullish(), download_url: z.string() })

/** The address that a connection sends from and receives for, in lower case. */
export const fromOf = ({ credentials }: Account) => mailboxesOf(credentials["from"] ?? "")[0]?.address ?? ""

/** Whether a text is a secret that requests can be signed with: Base64. */
export function isSigningSecret(text: string): boolean {
  try {
    new Webhook(text)
    return true
  } catch {
    // The library's only way to say so.
    return false
  }
}

/** Whether Resend signed a request at most five minutes ago, as Standard Webhooks with headers of its own names. */
export function isSigned({ headers, body }: HookRequest, { credentials }: Account): boolean {
  const secret = credentials["webhookSecret"]
  if (!secret) return false
  const renamed = Object.fromEntries(
    ["id", "timestamp", "signature"].map((name) => [`webhook-${name}`, String(headers[`svix-${name}`] ?? "")]),
  )
  try {
    new Webhook(secret).verify(body, renamed, { jsonParse: false })
    return true
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false
    throw error
  }
}

/** What an event reports; a webhook gets the mail of the whole team, of which only that for `from` is read. */
export function eventsOf(body: unknown, from: string): Event[] {
  const { success, data: event } = eventFields.safeParse(body)
  if (!success) return []
  if (event.type !== "email.received") return isOf(from, [event.data.from]) ? [{ account: null, item: receiptOf(event) }] : []
  const { email_id: emailId, to, cc, bcc, received_for: receivedFor } = event.data
  if (!isOf(from, [...receivedFor, ...to, ...cc, ...bcc])) return []
  return [{ account: null, item: { kind: "reference", externalId: emailId, reference: { emailId } } }]
}

/** Whether one of these addresses is `from`. Only values that contain it are parsed, as few and short as in a mail. */
const isOf = (from: string, values: string[]) =>
  values
    .filter((value) => value.length <= portLimits.mailSubject && value.toLowerCase().includes(from))
    .slice(0, portLimits.mailRecipients)
    .some((value) => mailboxesOf(value).some(({ address }) => address === from))

function receiptOf({ type, data }: z.infer<typeof reported>): Incoming {
  const { email_id: externalId, tags, bounce, failed, suppressed } = data
  const partId = tags?.[partTag]
  const named = { externalId, ...(partId && { partId }) }
  if (type === "email.delivered") return { kind: "receipt", status: "delivered", ...named }
  const why = bounce ?? failed ?? suppressed
  const error = why?.message ?? why?.reason ?? type
  return { kind: "receipt", status: "failed", ...named, error, errorCode: type === "email.failed" ? "REFUSED" : "RECIPIENT_UNREACHABLE" }
}

/** The content of a received mail; what its headers lack is taken from its fields. */
export function contentOf(mail: z.infer<typeof mailFields>): MailContent {
  const headers = Object.entries(mail.headers).flatMap(([name, values]) =>
    [values].flat().map((value) => ({ key: name.toLowerCase(), value })),
  )
  const fields = {
    from: mail.from,
    to: mail.to.join(", "),
    "reply-to": mail.reply_to.join(", "),
    subject: mail.subject,
    "message-id": mail.message_id,
  }
  for (const [key, value] of Object.entries(fields))
    if (value && !headers.some((header) => header.key === key)) headers.push({ key, value })
  const files = mail.attachments.map(
    ({ id, filename = null, content_type: mimeType, content_disposition: disposition, content_id: cid, size }) => ({
      filename,
      mimeType: mimeType.toLowerCase(),
      isInline: disposition === "inline" || (Boolean(cid) && disposition !== "attachment"),
      size,
      reference: { emailId: mail.id, id },
    }),
  )
  return { headers, text: mail.text ?? null, html: mail.html ?? null, files, reports: [] }
}
