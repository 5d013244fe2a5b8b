import type { VendorAnswer } from "../kit/vendor-server.js"

/** The fields of a request that sends a mail. */
export interface SentFields {
  from?: string
  to?: string[]
  subject?: string
  text?: string | null
  html?: string | null
  headers?: Record<string, string>
  attachments?: { filename?: string; content?: string; content_type?: string }[]
  tags?: { name: string; value: string }[]
}

/** A response in Resend's form. */
export const refusal = (statusCode: number, name: string, message: string): VendorAnswer => ({
  status: statusCode,
  json: { statusCode, name, message },
})

const invalid = (message: string) => refusal(422, "validation_error", message)
const mostBytes = 40 * 1024 * 1024

/** The refusal of a mail, or null. */
export function refusesMail(fields: SentFields, domains: { name: string; status: string }[], refused: Set<string>): VendorAnswer | null {
  const { from, to, subject, text, html, headers = {}, attachments = [], tags = [] } = fields
  if (typeof from !== "string") return refusal(422, "missing_required_field", "Missing `from` field.")
  const domain = /@([^<>@\s]+)>?$/.exec(from)?.[1]
  const known = domains.find(({ name }) => name === domain)
  if (known?.status !== "verified") return refusal(403, "validation_error", `The ${domain} domain is not verified.`)
  if (!Array.isArray(to) || to.length < 1 || to.length > 50) return invalid("Invalid `to` field.")
  if (!to.every((each) => /^[^\s@,]+@[^\s@,]+\.[^\s@,]+$/.test(each) && !refused.has(each)))
    return invalid("Invalid `to` field. The email address needs to follow the `email@example.com` or `Name <email@example.com>` format.")
  if (typeof subject !== "string" || subject === "") return refusal(422, "missing_required_field", "Missing `subject` field.")
  if (!text && !html) return refusal(422, "missing_required_field", "Missing `html` or `text` field.")
  if (Object.values(headers).some((value) => typeof value !== "string" || /[\r\n]/.test(value))) return invalid("Invalid `headers` field.")
  if (attachments.some(({ filename, content }) => !filename || typeof content !== "string"))
    return refusal(422, "invalid_attachment", "Attachment must have either a `content` or `path`.")
  if (tags.some(({ name, value }) => !/^[\w-]{1,256}$/.test(name) || !/^[\w-]{1,256}$/.test(value))) return invalid("Invalid `tags` field.")
  const size = [text, html, ...attachments.map(({ content }) => content)].reduce((sum, each) => sum + (each?.length ?? 0), 0)
  return size > mostBytes ? invalid("The size of the email is too large.") : null
}
