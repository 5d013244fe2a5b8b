import { createHmac } from "node:crypto"
import { Faults } from "../kit/faults.js"
import { HookSender } from "../kit/hook-sender.js"
import { type Route, type VendorAnswer, type VendorCall, VendorServer } from "../kit/vendor-server.js"

export interface MetaVendorOptions {
  token?: string
  appSecret?: string
  verifyToken?: string
  faults?: Faults
  /** Pause before a hook request is repeated. */
  pauseMs?: (attempt: number, retryAfterMs: number | null) => number
}

/** A customer of a stand-in. */
export interface Customer {
  id: string
  name: string
  username?: string
  /** WhatsApp's ID of a person, which stays when the number is hidden. */
  userId?: string
  /** Time of the last message to the company, in milliseconds since the epoch. */
  wroteAt?: number
  isBlocked?: boolean
}

/** A file that was uploaded. */
export interface Upload {
  type: string
  filename: string
  bytes: Buffer
}

/** A message that the company has sent, as the customer sees it. */
export interface Sent {
  id: string
  to: string
  text: string | null
  file: Upload | null
  quoted: string | null
  /** The ID that the sender gave to it. */
  partId: string | null
  /** The body of the request. */
  request: Fields
}

export type Fields = Record<string, unknown>
export const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {})

export const HOUR = 60 * 60 * 1000

/** A response of the Graph API to a request that failed. */
export const refusal = (code: number, message: string, { status = 400, subcode, details }: Refused = {}): VendorAnswer => ({
  status,
  json: {
    error: {
      message: `(#${code}) ${message}`,
      type: "OAuthException",
      code,
      ...(subcode && { error_subcode: subcode }),
      ...(details && { error_data: { messaging_product: "whatsapp", details } }),
      fbtrace_id: "A3e1ZZZZZZZZZZZZZZZZZZZ",
    },
  },
})

export interface Refused {
  status?: number
  subcode?: number
  details?: string
}

/** The response to a request about something that does not exist or that the token does not reach. */
export const missing = (id: string) =>
  refusal(100, `Unsupported request. Object with ID '${id}' does not exist, or cannot be loaded due to missing permissions`, {
    subcode: 33,
  })

/** What the stand-ins of Meta's messengers share: tokens, signatures, errors, and the hook. */
export abstract class MetaVendor {
  readonly token: string
  readonly appSecret: string
  readonly verifyToken: string
  readonly faults: Faults
  readonly server: VendorServer
  readonly hooks: HookSender
  /** What the company has sent, in order. */
  readonly sent: Sent[] = []
  /** Customers who were shown that the company is typing. */
  readonly typing: string[] = []
  readonly customers = new Map<string, Customer>()
  /** Where events go: the app's URL, which the operator enters, or that of WhatsApp's number. */
  callbackUrl: string | null = null
  /** Whether receipts and echoes of a message are sent before its response, as now and then happens. */
  reportsFirst = false
  /** Called with each message that the company has sent. */
  onSent: (message: Sent) => void = () => {}
  protected readonly uploads = new Map<string, Upload>()
  /** All messages by their ID, each with the customer who wrote it; null for those of the company. */
  protected readonly messages = new Map<string, string | null>()
  private lastId = 0

  constructor(
    routes: Record<string, Route>,
    rateCode: number,
    {
      token = "EAAstandin",
      appSecret = "stand-in-app-secret",
      verifyToken = "stand-in",
      faults = new Faults(),
      pauseMs,
    }: MetaVendorOptions,
  ) {
    this.token = token
    this.appSecret = appSecret
    this.verifyToken = verifyToken
    this.faults = faults
    const words = {
      tooMany: (seconds: number) => ({ ...refusal(rateCode, "Rate limit hit", { status: 429 }), headers: usageOf(seconds) }),
      broken: () => refusal(2, "Service temporarily unavailable", { status: 500 }),
      unknown: (call: VendorCall) => refusal(2500, `Unknown path components: ${call.path}`),
    }
    const guarded = Object.entries(routes).map(([name, route]) => [name, (call: VendorCall) => this.refusesCaller(call) ?? route(call)])
    this.server = new VendorServer({ ...Object.fromEntries(guarded), "GET /files/:id/:name": (call) => this.file(call) }, words, { faults })
    const url = () => this.hookUrl()
    this.hooks = new HookSender({ url, sign: (body) => this.sign(body), faults, ...(pauseMs && { pauseMs }) })
  }

  /** The hook that events go to now; null without one. */
  abstract hookUrl(): string | null

  async listen(port?: number) {
    await this.server.listen(port)
    return this
  }

  async close() {
    this.hooks.close()
    await this.server.close()
  }

  /** What proves to the hook that Meta sends. */
  sign(body: string): Record<string, string> {
    return { "x-hub-signature-256": `sha256=${createHmac("sha256", this.appSecret).update(body).digest("hex")}` }
  }

  /** Asks a hook whether it is the company's; returns what is wrong with its response, or null. */
  async challenge(url: string, verifyToken: string): Promise<string | null> {
    const challenge = String(Date.now())
    const query = new URLSearchParams({ "hub.mode": "subscribe", "hub.challenge": challenge, "hub.verify_token": verifyToken })
    const response = await fetch(`${url}?${query}`).catch(() => null)
    if (!response) return "The URL couldn't be reached"
    const text = await response.text()
    if (response.status !== 200) return `HTTP Status Code = ${response.status}`
    return text === challenge ? null : "The response does not match the challenge"
  }

  /** Keeps a file that messages can name; returns its ID. */
  upload(file: Upload): string {
    const id = this.nextId()
    this.uploads.set(id, file)
    return id
  }

  /** Where a file is read. */
  protected fileUrl(id: string) {
    return `${this.server.url}/files/${id}/${encodeURIComponent(this.uploads.get(id)!.filename)}`
  }

  /** Whether reading a file needs the token. */
  protected abstract readonly filesNeedToken: boolean

  protected nextId() {
    return `1${String(++this.lastId).padStart(14, "0")}`
  }

  /** The ID of a new message. */
  protected nextMessageId(prefix: string, writer: string | null) {
    const id = `${prefix}${Buffer.from(this.nextId()).toString("base64")}`
    this.messages.set(id, writer)
    return id
  }

  /** Hours since the customer's last message. */
  protected quietHours({ wroteAt }: Customer) {
    return wroteAt === undefined ? Number.POSITIVE_INFINITY : (Date.now() - wroteAt) / HOUR
  }

  /** Records a message of the company, and sends what Meta reports about it. */
  protected async accept(message: Sent, reports: Fields[]) {
    this.sent.push(message)
    this.onSent(message)
    await this.report(reports)
  }

  protected async report(reports: Fields[]) {
    if (!this.hookUrl()) return
    const sent = reports.map((report) => this.hooks.send(report))
    if (this.reportsFirst) await Promise.all(sent)
  }

  /** Sends an event after those of the same customer, if there is a hook; returns it. */
  protected deliver(event: Fields, customer: string): Fields {
    if (this.hookUrl()) void this.hooks.send(event, customer)
    return event
  }

  private refusesCaller({ headers, query }: VendorCall): VendorAnswer | null {
    if (headers.authorization !== `Bearer ${this.token}`)
      return refusal(190, `Malformed access token ${headers.authorization?.slice(7)}`, { status: 401 })
    const proof = createHmac("sha256", this.appSecret).update(this.token).digest("hex")
    return query.get("appsecret_proof") === proof ? null : refusal(100, "Invalid appsecret_proof provided in the API argument")
  }

  private file({ params, headers }: VendorCall): VendorAnswer {
    const upload = this.uploads.get(params["id"]!)
    if (!upload || (this.filesNeedToken && headers.authorization !== `Bearer ${this.token}`)) return { status: 404, body: "" }
    return { body: upload.bytes, headers: { "content-type": upload.type } }
  }
}

/** Several events in one request, as Meta sends them under load. */
export function batch(events: Fields[]): Fields {
  return { object: events[0]!["object"], entry: events.flatMap(({ entry }) => entry as unknown[]) }
}

/** Meta's field for the time to wait, which is in minutes. */
const usageOf = (seconds: number) => ({
  "x-business-use-case-usage": JSON.stringify({
    "1": [{ type: "messaging", call_count: 100, estimated_time_to_regain_access: seconds / 60 }],
  }),
})
