import type { VendorAnswer, VendorCall } from "../kit/vendor-server.js"

/** A refusal in Google's form. */
export const refusal = (code: number, message: string, reason: string): VendorAnswer => ({
  status: code,
  json: { error: { code, message, errors: [{ message, domain: "global", reason }], status: reason } },
})

/** A subject without what mail programs put before it. */
export const threadTopic = (subject = "") => subject.replace(/^((re|fwd?):\s*)+/i, "").trim()

/** The mail of a request that sends one; null when it is malformed. */
export function rawOf({ json, headers, body }: VendorCall): { raw: Buffer; threadId: string | null } | null {
  const boundary = /^multipart\/related; *boundary="?([^";]+)/.exec(headers["content-type"] ?? "")?.[1]
  if (!boundary) {
    const { raw, threadId = null } = (json ?? {}) as { raw?: unknown; threadId?: string | null }
    return typeof raw === "string" && /^[\w-]+=*$/.test(raw) ? { raw: Buffer.from(raw, "base64url"), threadId } : null
  }
  const [, metadata = "", mail = ""] = body.toString("latin1").split(`--${boundary}`)
  const contentOf = (part: string) => part.slice(part.indexOf("\r\n\r\n") + 4, -2)
  const { threadId = null } = JSON.parse(contentOf(metadata) || "{}")
  return /message\/rfc822/i.test(mail) ? { raw: Buffer.from(contentOf(mail), "latin1"), threadId } : null
}

/** The mail with another Message-ID. */
export function withMessageId(raw: Buffer, messageId: string): Buffer {
  const end = raw.indexOf("\r\n\r\n")
  const head = raw.toString("latin1", 0, end)
  const others = head.replace(/^Message-ID:.*(\r\n[ \t].*)*\r\n/im, "")
  return Buffer.concat([Buffer.from(`Message-ID: ${messageId}\r\n${others}`, "latin1"), raw.subarray(end)])
}
