import { z } from "zod"
import {
  type Account,
  type ChannelAdapter,
  ChannelFailure,
  type Credentials,
  type FailureCode,
  type OutgoingFile,
  type Part,
} from "../channel.js"
import { callVendor, type VendorRequest, type VendorResponse } from "../kit/vendor-http.js"
import { portLimits } from "../limits.js"
import { mailboxesOf } from "./mail.js"
import { domainOf } from "./mail-incoming.js"
import type { MailReader } from "./mail-reader.js"
import { htmlOf } from "./mail-text.js"
import { outgoingOf } from "./mail-thread.js"
import { contentOf, events, eventsOf, fileFields, fromOf, isSigned, isSigningSecret, mailFields, partTag } from "./resend-events.js"

export interface ResendOptions {
  /** Address of the API, without a path. */
  baseUrl: string
}

const listOf = <T>(item: z.ZodType<T>) => z.object({ data: z.array(item), has_more: z.boolean().catch(false) })
const domainFields = z.object({ id: z.string(), name: z.string(), status: z.string() })
const webhookFields = z.object({ id: z.string(), endpoint: z.string() })
const referenceFields = z.object({ emailId: z.string() })
const sentFields = z.object({ id: z.string() })
const createdFields = z.object({ id: z.string(), signing_secret: z.string() })
const errorFields = z
  .object({ name: z.string().catch("error"), message: z.string().catch("no description") })
  .catch({ name: "error", message: "no description" })
const fileReference = z.object({ emailId: z.string(), id: z.string() })

/** The adapter of mail over Resend, whose mails are read by `mails`. */
export function resend({ baseUrl }: ResendOptions, mails: MailReader): ChannelAdapter {
  const root = baseUrl.replace(/\/+$/, "")

  /** Sends a request and reads its response; throws ChannelFailure. */
  async function call<T>(fields: z.ZodType<T>, path: string, { credentials }: Account, request: VendorRequest): Promise<T> {
    const { apiKey = "" } = credentials
    const headers = { ...request.headers, authorization: `Bearer ${apiKey}` }
    const response = await callVendor("Resend", `${root}${path}`, { ...request, headers })
    if (response.status >= 300) throw failureOf(response, apiKey)
    const { success, data } = fields.safeParse(response.json)
    if (success) return data
    throw new ChannelFailure("Resend sent a response that cannot be read", { kind: "doubt", code: "CHANNEL_UNAVAILABLE" })
  }

  /** All entries of a list, over all of its pages. */
  async function all<T extends { id: string }>(item: z.ZodType<T>, path: string, account: Account, signal: AbortSignal): Promise<T[]> {
    const entries: T[] = []
    for (let after = ""; ; after = `&after=${encodeURIComponent(entries.at(-1)!.id)}`) {
      const page = await call(listOf(item), `${path}?limit=100${after}`, account, { method: "GET", signal })
      entries.push(...page.data)
      if (!page.has_more || page.data.length === 0) return entries
    }
  }

  const removeWebhook = (id: string, account: Account, signal: AbortSignal) =>
    call(z.unknown(), `/webhooks/${encodeURIComponent(id)}`, account, { method: "DELETE", signal })

  return {
    capabilities: {
      replies: "any",
      mediaBytes: {
        image: portLimits.resendFileBytes,
        video: portLimits.resendFileBytes,
        audio: portLimits.resendFileBytes,
        document: portLimits.resendFileBytes,
      },
      together: true,
      captionLength: portLimits.mailText,
      textLength: portLimits.mailText,
      textUnit: "code points",
      windowHours: null,
      typing: false,
      receipts: ["delivered"],
      perSecond: portLimits.resendPerSecond,
      doubt: "same",
    },
    credentials: ["apiKey", "from", "webhookSecret?"],
    faultOf({ from = "", webhookSecret }) {
      if (mailboxesOf(from).length !== 1) return "from must be a mail address, such as Shop <support@example.com>"
      if (webhookSecret !== undefined && !isSigningSecret(webhookSecret))
        return "webhookSecret must be the webhook's signing secret, whsec_…"
      return null
    },
    signatureHeader: "svix-signature",
    verify: isSigned,
    hookStatus: 200,
    parse: (body, account) => eventsOf(body, fromOf(account)),

    async complete(reference, account, signal) {
      const { data } = referenceFields.safeParse(reference)
      if (!data) return []
      const path = `/emails/receiving/${encodeURIComponent(data.emailId)}?html_format=cid`
      const content = contentOf(await call(mailFields, path, account, { method: "GET", signal }))
      const source = { id: data.emailId, threadId: null, own: fromOf(account), isSent: false }
      return (await mails.items(content, source, account, signal)).map((item) => ({ account: null, item }))
    },

    async download(reference, account, signal) {
      const { data } = fileReference.safeParse(reference)
      // Its URL is valid for an hour, therefore it is asked for now.
      const path = `/emails/receiving/${encodeURIComponent(data?.emailId ?? "")}/attachments`
      const file = data && (await all(fileFields, path, account, signal)).find(({ id }) => id === data.id)
      if (!file) throw new ChannelFailure("Resend no longer has the file", { kind: "permanent", code: "REFUSED" })
      return {
        url: file.download_url,
        filename: file.filename ?? null,
        isOwn: URL.parse(file.download_url)?.origin === new URL(root).origin,
      }
    },

    async send(part, account, signal) {
      const from = fromOf(account)
      const { to, subject, thread, ...outgoing } = outgoingOf(part, account, domainOf(from))
      const inReplyTo = outgoing.inReplyTo && { "In-Reply-To": outgoing.inReplyTo }
      const json = {
        from: account.credentials["from"],
        to: [to],
        subject,
        ...bodyOf(part),
        headers: { ...outgoing.headers, ...inReplyTo, References: outgoing.references.join(" ") },
        // Receipts name them.
        tags: [{ name: partTag, value: part.id }],
        ...(part.files.length > 0 && { attachments: await Promise.all(part.files.map(attachmentOf)) }),
      }
      const timeoutMs = part.files.length > 0 ? portLimits.vendorUploadMs : portLimits.vendorCallMs
      const headers = { "idempotency-key": part.id }
      const sent = await call(sentFields, "/emails", account, { json, headers, timeoutMs, signal })
      return { externalId: sent.id, data: thread }
    },

    async check(account, signal) {
      const domain = domainOf(fromOf(account))
      const found = (await all(domainFields, "/domains", account, signal)).find(({ name }) => name.toLowerCase() === domain)
      if (found?.status === "verified") return {}
      const reason = found ? `is not verified with Resend: ${found.status}` : "is none of the domains at Resend"
      throw new ChannelFailure(`The domain ${domain} of from ${reason}`, { kind: "permanent", code: "REFUSED" })
    },
    async register(account, hookUrl, signal): Promise<Credentials> {
      if (account.credentials["webhookSecret"] || hookUrl === null) return {}
      // Left from an earlier connection, whose secret is not known any more.
      const before = (await all(webhookFields, "/webhooks", account, signal)).filter(({ endpoint }) => endpoint === hookUrl)
      for (const { id } of before) await removeWebhook(id, account, signal)
      const json = { endpoint: hookUrl, events }
      const created = await call(createdFields, "/webhooks", account, { json, signal })
      return { webhookSecret: created.signing_secret, webhookId: created.id }
    },
    async unregister(account, signal) {
      const { webhookId } = account.credentials
      if (webhookId) await removeWebhook(webhookId, account, signal)
    },
  }
}

/** Resend takes no mail without a text. */
function bodyOf({ text, files }: Part) {
  const shown = text ?? files.map(({ filename }) => filename).join("\n")
  return { text: shown, html: htmlOf(shown) }
}

async function attachmentOf(file: OutgoingFile) {
  const content = Buffer.from(await file.bytes()).toString("base64")
  return { filename: file.filename, content_type: file.mimeType, content }
}

function failureOf({ status, json, retryAfterMs }: VendorResponse, apiKey: string): ChannelFailure {
  const { name, message } = errorFields.parse(json)
  const words = message.replaceAll(apiKey || "\0", "[key]")
  const fail = (kind: "retry" | "permanent" | "credentials", code: FailureCode) =>
    new ChannelFailure(`${status}: ${name}: ${words}`, {
      kind,
      code,
      ...(kind === "retry" && retryAfterMs !== undefined && { retryAfterMs }),
    })
  if (name.endsWith("_quota_exceeded")) return fail("permanent", "RATE_LIMITED")
  if (status === 429) return fail("retry", "RATE_LIMITED")
  if (status >= 500 || name === "concurrent_idempotent_requests") return fail("retry", "CHANNEL_UNAVAILABLE")
  if (status === 401 || name.endsWith("_api_key")) return fail("credentials", "CREDENTIALS_REFUSED")
  if (/`to` field/.test(words)) return fail("permanent", "RECIPIENT_UNREACHABLE")
  return fail("permanent", status === 413 || /attachment|too large/i.test(name + words) ? "CONTENT_REFUSED" : "REFUSED")
}
