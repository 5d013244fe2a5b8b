import { randomBytes } from "node:crypto"
import MailComposer from "nodemailer/lib/mail-composer"
import PostalMime, { type Email } from "postal-mime"
import { Faults } from "../kit/faults.js"
import { type VendorAnswer, type VendorCall, VendorServer } from "../kit/vendor-server.js"
import { rawOf, refusal, threadTopic, withMessageId } from "./gmail-requests.js"

/** A mail of the mailbox. */
export interface GmailMail {
  id: string
  threadId: string
  labelIds: string[]
  raw: Buffer
  email: Email
  /** In milliseconds. */
  internalDate: number
}

/** A mail that somebody writes; the other fields are made up. */
export interface WrittenMail {
  from?: string
  to?: string
  subject?: string
  text?: string
  html?: string
  inReplyTo?: string
  references?: string[]
  headers?: Record<string, string>
  files?: { filename: string; contentType: string; content: Buffer; cid?: string }[]
}

export interface GmailVendorOptions {
  address?: string
  faults?: Faults
}

/** Stand-in of Gmail's API and of Google's OAuth server for one mailbox, with its customers. */
export class GmailVendor {
  readonly address: string
  readonly credentials = { clientId: "client-1.apps", clientSecret: "GOCSPX-stand-in", refreshToken: "1//stand-in-of-Google" }
  readonly faults: Faults
  readonly server: VendorServer
  /** All mails, oldest first. */
  readonly mails: GmailMail[] = []
  /** Addresses that Gmail refuses. */
  readonly refused = new Set<string>()
  /** What the refresh token grants. */
  scope = "https://www.googleapis.com/auth/gmail.readonly https://www.googleapis.com/auth/gmail.send"
  /** Called with each mail that was sent over the API. */
  onSent: (mail: GmailMail) => void = () => {}
  private historyId = 1000
  /** Changes before this number are forgotten. */
  private oldest = 0
  private readonly history: { id: number; mail: GmailMail }[] = []
  private accessToken: string | null = null

  constructor({ address = "support@shop.example", faults = new Faults() }: GmailVendorOptions = {}) {
    this.address = address
    this.faults = faults
    const words = {
      tooMany: (seconds: number) => ({
        ...refusal(429, "User-rate limit exceeded.", "rateLimitExceeded"),
        headers: { "retry-after": String(seconds) },
      }),
      broken: () => refusal(500, "Internal error encountered.", "backendError"),
      unknown: () => refusal(404, "Not Found", "notFound"),
    }
    const guarded = (route: (call: VendorCall) => VendorAnswer | Promise<VendorAnswer>) => (call: VendorCall) =>
      call.headers.authorization === `Bearer ${this.accessToken}` && this.accessToken
        ? route(call)
        : refusal(401, "Request had invalid authentication credentials.", "authError")
    const me = "/gmail/v1/users/me"
    const routes = {
      "POST /token": (call: VendorCall) => this.token(call),
      [`GET ${me}/profile`]: guarded(() => ({ json: { emailAddress: this.address, historyId: String(this.historyId) } })),
      [`GET ${me}/history`]: guarded(({ query }) => this.changes(query)),
      [`GET ${me}/messages`]: guarded(({ query }) => this.list(query)),
      [`GET ${me}/messages/:id`]: guarded(({ params, query }) => this.get(params["id"]!, query)),
      [`POST ${me}/messages/send`]: guarded((call) => this.send(call)),
      [`POST /upload${me}/messages/send`]: guarded((call) => this.send(call)),
    }
    this.server = new VendorServer(routes, words, { faults })
  }

  async listen(port?: number) {
    await this.server.listen(port)
    return this
  }

  close() {
    return this.server.close()
  }

  /** Ends the access token before its time. */
  expireToken() {
    this.accessToken = null
  }

  /** Forgets all changes up to now. */
  forgetHistory() {
    this.oldest = this.historyId + 1
    this.historyId += 10
  }

  /** The number of the last change. */
  get position() {
    return String(this.historyId)
  }

  /** A mail comes to the mailbox, or leaves it when a person sends it in Gmail. */
  async write(written: WrittenMail, labelIds = ["INBOX", "UNREAD"]): Promise<GmailMail> {
    const { from = "Ada Lovelace <ada@example.org>", to = this.address, subject = "", files = [], ...others } = written
    const fields = { from, to, subject, ...others, attachments: files }
    return await this.store(await new MailComposer(fields).compile().build(), labelIds)
  }

  /** Stores a mail as it was transferred. */
  async store(raw: Buffer, labelIds = ["INBOX", "UNREAD"], threadId: string | null = null): Promise<GmailMail> {
    const email = await PostalMime.parse(raw, { forceRfc822Attachments: true })
    const id = randomBytes(8).toString("hex")
    const mail = { id, threadId: threadId ?? this.threadOf(email) ?? id, labelIds, raw, email, internalDate: Date.now() }
    this.mails.push(mail)
    this.history.push({ id: ++this.historyId, mail })
    return mail
  }

  private threadOf({ references, inReplyTo, subject }: Email): string | null {
    const known = new Set(`${references ?? ""} ${inReplyTo ?? ""}`.match(/<[^<>\s]+>/g))
    const parent = this.mails.findLast(({ email }) => known.has(email.messageId ?? ""))
    return parent && threadTopic(parent.email.subject) === threadTopic(subject) ? parent.threadId : null
  }

  private async token(call: VendorCall): Promise<VendorAnswer> {
    const form = await call.form()
    const error = (status: number, error: string, words: string) => ({ status, json: { error, error_description: words } })
    const { clientId, clientSecret, refreshToken } = this.credentials
    if (form.get("grant_type") !== "refresh_token") return error(400, "unsupported_grant_type", "Invalid grant_type")
    if (form.get("client_id") !== clientId || form.get("client_secret") !== clientSecret)
      return error(401, "invalid_client", "The OAuth client was not found.")
    if (form.get("refresh_token") !== refreshToken) return error(400, "invalid_grant", "Token has been expired or revoked.")
    this.accessToken = `ya29.${randomBytes(8).toString("hex")}`
    return { json: { access_token: this.accessToken, expires_in: 3599, scope: this.scope, token_type: "Bearer" } }
  }

  private changes(query: URLSearchParams): VendorAnswer {
    const start = Number(query.get("startHistoryId"))
    if (!(start >= this.oldest)) return refusal(404, "Requested entity was not found.", "notFound")
    const records = this.history.filter(({ id }) => id > start)
    const { page, nextPageToken } = pageOf(records, query)
    const history = page.map(({ id, mail: { id: message, threadId, labelIds } }) => ({
      id: String(id),
      messagesAdded: [{ message: { id: message, threadId, labelIds } }],
    }))
    return { json: { ...(history.length > 0 && { history }), ...nextPageToken, historyId: String(this.historyId) } }
  }

  private list(query: URLSearchParams): VendorAnswer {
    const after = Number(/\bafter:(\d+)/.exec(query.get("q") ?? "")?.[1] ?? 0) * 1000
    const labels = query.getAll("labelIds")
    const hidden = labels.includes("SPAM") || labels.includes("TRASH") ? [] : ["SPAM", "TRASH"]
    const found = this.mails.filter(
      ({ labelIds, internalDate }) =>
        internalDate >= after && labels.every((label) => labelIds.includes(label)) && !hidden.some((label) => labelIds.includes(label)),
    )
    const { page, nextPageToken } = pageOf(found.toReversed(), query)
    return { json: { ...(page.length > 0 && { messages: page.map(({ id, threadId }) => ({ id, threadId })) }), ...nextPageToken } }
  }

  private get(id: string, query: URLSearchParams): VendorAnswer {
    const mail = this.mails.find((each) => each.id === id)
    if (!mail) return refusal(404, "Requested entity was not found.", "notFound")
    const { threadId, labelIds, raw, email, internalDate } = mail
    const common = { id, threadId, labelIds, internalDate: String(internalDate) }
    if (query.get("format") === "raw") return { json: { ...common, raw: raw.toString("base64url") } }
    const wanted = query.getAll("metadataHeaders").map((name) => name.toLowerCase())
    const headers = email.headers.filter(({ key }) => wanted.length === 0 || wanted.includes(key))
    return { json: { ...common, payload: { headers: headers.map(({ originalKey: name, value }) => ({ name, value })) } } }
  }

  private async send(call: VendorCall): Promise<VendorAnswer> {
    const given = rawOf(call)
    if (!given)
      return refusal(400, "'raw' RFC822 payload message string or uploading message via /upload/* URL required", "invalidArgument")
    if (given.raw.length > 35 * 1024 * 1024) return refusal(413, "Request Entity Too Large", "uploadTooLarge")
    const email = await PostalMime.parse(given.raw, { forceRfc822Attachments: true })
    const recipients = (email.to ?? []).map(({ address = "" }) => address)
    if (recipients.length === 0) return refusal(400, "Recipient address required", "invalidArgument")
    if (recipients.some((address) => !/^[^\s@]+@[^\s@]+$/.test(address) || this.refused.has(address)))
      return refusal(400, "Invalid To header", "invalidArgument")
    const { threadId } = given
    if (threadId && !this.mails.some((mail) => mail.threadId === threadId))
      return refusal(404, "Requested entity was not found.", "notFound")
    const fits = threadId && this.threadOf(email) === threadId ? threadId : null
    const replaced = withMessageId(given.raw, `<CA${randomBytes(12).toString("base64url")}@mail.gmail.com>`)
    const mail = await this.store(replaced, ["SENT"], fits)
    this.onSent(mail)
    return { json: { id: mail.id, threadId: mail.threadId, labelIds: mail.labelIds } }
  }
}

function pageOf<T>(all: T[], query: URLSearchParams) {
  const [begin, size] = [Number(query.get("pageToken") ?? 0), Number(query.get("maxResults") ?? 100)]
  const page = all.slice(begin, begin + size)
  return { page, nextPageToken: begin + size < all.length ? { nextPageToken: String(begin + size) } : {} }
}
