import { hash, randomUUID } from "node:crypto"
import { Webhook } from "standardwebhooks"
import { Faults } from "../kit/faults.js"
import { HookSender } from "../kit/hook-sender.js"
import { type VendorAnswer, type VendorCall, VendorServer } from "../kit/vendor-server.js"
import { refusal, refusesMail, type SentFields } from "./resend-requests.js"

/** A mail that was sent over the API. */
export interface ResendMail {
  id: string
  messageId: string
  from: string
  to: string
  subject: string
  text: string | null
  html: string | null
  headers: Record<string, string>
  files: { filename: string; contentType: string | null; bytes: Buffer }[]
  tags: Record<string, string>
}

/** A mail that a customer sends; the other fields are made up. */
export interface WrittenMail {
  from?: string
  to?: string[]
  receivedFor?: string[]
  replyTo?: string[]
  subject?: string
  text?: string | null
  html?: string | null
  messageId?: string
  /** Further headers, by name in lower case. */
  headers?: Record<string, string>
  files?: { filename: string; contentType: string; bytes: Buffer; isInline?: boolean }[]
}

interface Received {
  mail: Record<string, unknown>
  files: Record<string, unknown>[]
}

export interface ResendVendorOptions {
  apiKey?: string
  /** A verified domain, to whose addresses customers write. */
  domain?: string
  faults?: Faults
  /** Pause before a hook request is repeated; Resend's own when absent. */
  pauseMs?: (attempt: number, retryAfterMs: number | null) => number
}

/** Stand-in of Resend's API for one team, with its customers. */
export class ResendVendor {
  readonly apiKey: string
  readonly faults: Faults
  readonly server: VendorServer
  readonly hooks: HookSender
  /** What was sent, in order. */
  readonly sent: ResendMail[] = []
  /** Addresses that Resend refuses. */
  readonly refused = new Set<string>()
  readonly domains: { id: string; name: string; status: string }[]
  readonly webhooks: { id: string; endpoint: string; events: string[]; signing_secret: string }[] = []
  /** Keys of requests that are still being handled. */
  readonly busyKeys = new Set<string>()
  /** Called with each mail that was sent. */
  onSent: (mail: ResendMail) => void = () => {}
  private readonly received = new Map<string, Received>()
  private readonly contents = new Map<string, Buffer>()
  private readonly accepted = new Map<string, { body: string; id: string }>()

  constructor({ apiKey = "re_stand_in_of_Resend", domain = "shop.example", faults = new Faults(), pauseMs }: ResendVendorOptions = {}) {
    this.apiKey = apiKey
    this.faults = faults
    this.domains = [{ id: randomUUID(), name: domain, status: "verified" }]
    const words = {
      tooMany: (seconds: number) => ({
        ...refusal(429, "rate_limit_exceeded", "Too many requests. You can only make 5 requests per second."),
        headers: { "retry-after": String(seconds) },
      }),
      broken: () => refusal(500, "internal_server_error", "An unexpected error occurred."),
      unknown: () => refusal(404, "not_found", "The requested endpoint does not exist."),
    }
    const guarded = (route: (call: VendorCall) => VendorAnswer) => (call: VendorCall) => this.refusesKey(call) ?? route(call)
    const routes = {
      "POST /emails": guarded((call) => this.send(call)),
      "GET /emails/receiving/:id": guarded(({ params }) => this.found(params["id"], ({ mail }) => ({ json: mail }))),
      "GET /emails/receiving/:id/attachments": guarded(({ params }) => this.found(params["id"], ({ files }) => listOf(files))),
      "GET /domains": guarded(() => listOf(this.domains)),
      "GET /webhooks": guarded(() => listOf(this.webhooks.map(({ signing_secret, ...shown }) => shown))),
      "POST /webhooks": guarded((call) => this.createWebhook(call)),
      "DELETE /webhooks/:id": guarded(({ params }) => this.removeWebhook(params["id"]!)),
      "GET /downloads/:id": ({ params, query }: VendorCall) => this.download(params["id"]!, query),
    }
    this.server = new VendorServer(routes, words, { faults })
    this.hooks = new HookSender({
      url: () => this.webhooks[0]?.endpoint ?? null,
      sign: (body) => this.headers(body),
      faults,
      ...(pauseMs && { pauseMs }),
    })
  }

  /** What proves to the hook that Resend sends. */
  headers(body: string, at = new Date()): Record<string, string> {
    const secret = this.webhooks[0]?.signing_secret
    const id = `msg_${hash("sha256", body).slice(0, 24)}`
    if (!secret) return {}
    const signature = new Webhook(secret).sign(id, at, body)
    return { "svix-id": id, "svix-timestamp": String(Math.floor(at.getTime() / 1000)), "svix-signature": signature }
  }

  async listen(port?: number) {
    await this.server.listen(port)
    return this
  }

  async close() {
    this.hooks.close()
    await this.server.close()
  }

  /** Creates a webhook, as an operator does in Resend's dashboard. */
  addWebhook(endpoint: string, events: string[] = []) {
    const webhook = { id: randomUUID(), endpoint, events, signing_secret: `whsec_${Buffer.from(randomUUID()).toString("base64")}` }
    this.webhooks.push(webhook)
    return webhook
  }

  /** A customer sends a mail. Returns the event that is delivered. */
  write(written: WrittenMail) {
    const id = randomUUID()
    const {
      from = "Ada Lovelace <ada@example.org>",
      to = [`support@${this.domains[0]!.name}`],
      replyTo = [],
      subject = "",
      headers = {},
    } = written
    const { messageId = `<${id}@example.org>`, text = null, html = null, receivedFor = to, files = [] } = written
    const attachments = files.map((file) => this.keep(file))
    const common = { from, to, subject, message_id: messageId, cc: [], bcc: [], created_at: new Date().toISOString() }
    const shown = attachments.map(({ download_url, expires_at, ...attachment }) => attachment)
    const raised = {
      from,
      to: to.join(", "),
      subject,
      "message-id": messageId,
      ...(replyTo.length > 0 && { "reply-to": replyTo.join(", ") }),
    }
    const mail = { object: "email", id, ...common, reply_to: replyTo, text, html, headers: { ...raised, ...headers }, attachments: shown }
    this.received.set(id, { mail, files: attachments })
    const data = { email_id: id, ...common, received_for: receivedFor, attachments: shown.map(({ size, ...attachment }) => attachment) }
    return this.raise("email.received", data)
  }

  /** Reports the result of a mail. Returns the event that is delivered. */
  report(type: "email.delivered" | "email.bounced" | "email.failed" | "email.suppressed", mail: ResendMail, more: object = {}) {
    const { id, messageId, from, to, subject, tags } = mail
    return this.raise(type, {
      email_id: id,
      message_id: messageId,
      created_at: new Date().toISOString(),
      from,
      to: [to],
      subject,
      tags,
      ...more,
    })
  }

  private raise(type: string, data: object) {
    const event = { type, created_at: new Date().toISOString(), data }
    const { events = [] } = this.webhooks[0] ?? {}
    if (events.length === 0 || events.includes(type)) void this.hooks.send(event)
    return event
  }

  private keep({ filename, contentType, bytes, isInline = false }: NonNullable<WrittenMail["files"]>[number]) {
    const id = randomUUID()
    this.contents.set(id, bytes)
    return {
      id,
      filename,
      size: bytes.length,
      content_type: contentType,
      content_disposition: isInline ? "inline" : "attachment",
      content_id: isInline ? filename : null,
      download_url: `${this.server.url}/downloads/${id}?signature=sig-1`,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    }
  }

  private refusesKey({ headers }: VendorCall): VendorAnswer | null {
    const { authorization } = headers
    if (!authorization) return refusal(401, "missing_api_key", "Missing API key in the authorization header.")
    return authorization === `Bearer ${this.apiKey}` ? null : refusal(403, "invalid_api_key", "API key is invalid.")
  }

  private found(id: string | undefined, answer: (received: Received) => VendorAnswer): VendorAnswer {
    const received = this.received.get(id ?? "")
    return received ? answer(received) : refusal(404, "not_found", "Email not found")
  }

  private download(id: string, query: URLSearchParams): VendorAnswer {
    const body = query.get("signature") === "sig-1" ? this.contents.get(id) : undefined
    return body ? { body, headers: { "content-type": "application/octet-stream" } } : { status: 403, body: "AccessDenied" }
  }

  private createWebhook({ json }: VendorCall): VendorAnswer {
    const { endpoint, events } = (json ?? {}) as { endpoint?: unknown; events?: unknown }
    if (typeof endpoint !== "string" || !URL.canParse(endpoint)) return refusal(422, "validation_error", "Invalid `endpoint` field.")
    if (!Array.isArray(events) || events.length === 0) return refusal(422, "missing_required_field", "Missing `events` field.")
    const { id, signing_secret } = this.addWebhook(endpoint, events)
    return { status: 201, json: { object: "webhook", id, signing_secret } }
  }

  private removeWebhook(id: string): VendorAnswer {
    const index = this.webhooks.findIndex((webhook) => webhook.id === id)
    if (index === -1) return refusal(404, "not_found", "Webhook not found")
    this.webhooks.splice(index, 1)
    return { json: { object: "webhook", id, deleted: true } }
  }

  private send({ json, headers, body }: VendorCall): VendorAnswer {
    const key = String(headers["idempotency-key"] ?? "")
    const known = this.accepted.get(key)
    if (this.busyKeys.has(key))
      return refusal(409, "concurrent_idempotent_requests", "Same idempotency key used while original request is still in progress.")
    if (known && known.body !== body.toString())
      return refusal(409, "invalid_idempotent_request", "Same idempotency key used with a different request payload.")
    if (known) return { json: { id: known.id } }
    const fields = (json ?? {}) as SentFields
    const refused = refusesMail(fields, this.domains, this.refused)
    if (refused) return refused
    const mail = this.mailOf(fields)
    if (key) this.accepted.set(key, { body: body.toString(), id: mail.id })
    this.sent.push(mail)
    this.onSent(mail)
    return { json: { id: mail.id } }
  }

  private mailOf({ from, to, subject, text = null, html = null, headers = {}, attachments = [], tags = [] }: SentFields): ResendMail {
    return {
      id: randomUUID(),
      // Whatever the request says.
      messageId: `<${randomUUID()}@eu-west-1.amazonses.com>`,
      from: from!,
      to: to![0]!,
      subject: subject!,
      text,
      html,
      headers,
      files: attachments.map(({ filename, content_type = null, content }) => ({
        filename: filename!,
        contentType: content_type,
        bytes: Buffer.from(content!, "base64"),
      })),
      tags: Object.fromEntries(tags.map(({ name, value }) => [name, value])),
    }
  }
}

const listOf = (data: object[]): VendorAnswer => ({ json: { object: "list", has_more: false, data } })
