import { createHmac } from "node:crypto"
import { v7 } from "uuid"
import { Faults } from "../kit/faults.js"
import { HookSender } from "../kit/hook-sender.js"
import { type VendorAnswer, type VendorCall, VendorServer } from "../kit/vendor-server.js"

/** A message that the platform has delivered to the connector. */
export interface Delivered {
  messageId: string
  chat: { externalId: string; fromId: string }
  text: string | null
  media: { url: string; mimeType: string; filename: string }[]
  replyToMessageId: string | null
  /** ID that the connector gave it. */
  externalId: string
}

/** A message that the connector passes on to the platform. */
export interface BridgeMessage {
  messageId: string
  chat: { externalId: string; name?: string; username?: string; phoneNumber?: string; chatType?: "private" | "group" }
  text?: string
  media?: { url: string; filename?: string }[]
  replyToMessageId?: string
}

export interface BridgeVendorOptions {
  secret?: string
  faults?: Faults
  /** Pause before a hook request is repeated. */
  pauseMs?: (attempt: number, retryAfterMs: number | null) => number
}

/** Stand-in of a connector that speaks the bridge's protocol, with its customers. */
export class BridgeVendor {
  readonly secret: string
  readonly faults: Faults
  readonly server: VendorServer
  readonly hooks: HookSender
  /** What the platform has delivered, each message once, in order. */
  readonly delivered: Delivered[] = []
  /** Address of the platform's hook. */
  hook: string | null = null
  /** Called with each message that was delivered. */
  onDelivered: (message: Delivered) => void = () => {}
  private readonly files = new Map<string, { bytes: Buffer; mimeType: string }>()

  constructor({ secret = "secret of the stand-in", faults = new Faults(), pauseMs }: BridgeVendorOptions = {}) {
    this.secret = secret
    this.faults = faults
    const refusal = (status: number, error: string): VendorAnswer => ({ status, json: { error } })
    const words = {
      tooMany: (seconds: number) => ({ ...refusal(429, "Too many messages"), headers: { "retry-after": String(seconds) } }),
      broken: () => refusal(500, "The connector is broken"),
      unknown: () => refusal(404, "Unknown path"),
    }
    const routes = {
      "POST /deliver": (call: VendorCall) => this.deliver(call) ?? refusal(401, "Wrong signature"),
      "GET /files/:name": ({ params }: VendorCall) => this.file(params["name"]!) ?? refusal(404, "Unknown file"),
    }
    this.server = new VendorServer(routes, words, { faults })
    this.hooks = new HookSender({ url: () => this.hook, sign: (body) => this.sign(body), faults, ...(pauseMs && { pauseMs }) })
  }

  get deliveryUrl() {
    return `${this.server.url}/deliver`
  }

  /** The headers that prove a body. */
  sign = (body: string) => ({ "x-signature": this.signature(body) })

  async listen(port?: number) {
    await this.server.listen(port)
    return this
  }

  async close() {
    this.hooks.close()
    await this.server.close()
  }

  /** A message of a customer; returns the event that the hook gets. */
  write({ messageId = v7(), ...message }: Omit<BridgeMessage, "messageId"> & { messageId?: string }): BridgeMessage {
    return this.send({ messageId, ...message }, message.chat.externalId)
  }

  /** Any event of the protocol: a receipt, an edit, a deletion, an echo. Returns it. */
  send<Event extends object>(event: Event, lane: string): Event {
    if (this.hook) void this.hooks.send(event, lane)
    return event
  }

  /** Serves a file, and returns the entry of `media` that names it. */
  upload(bytes: Buffer, filename: string, mimeType: string) {
    this.files.set(filename, { bytes, mimeType })
    return { url: `${this.server.url}/files/${encodeURIComponent(filename)}`, filename }
  }

  private signature = (body: Buffer | string) => `sha256=${createHmac("sha256", this.secret).update(body).digest("hex")}`

  /** Null for a request that the platform did not sign. */
  private deliver(call: VendorCall): VendorAnswer | null {
    if (call.headers["x-signature"] !== this.signature(call.body)) return null
    const fault = faultOf(call.json)
    if (fault) return { status: 400, json: { error: fault } }
    const body = call.json as Omit<Delivered, "externalId">
    const known = this.delivered.find(({ messageId }) => messageId === body.messageId)
    const message = known ?? { ...body, externalId: `bridge-${this.delivered.length + 1}` }
    if (!known) {
      this.delivered.push(message)
      this.onDelivered(message)
    }
    return { json: { externalId: message.externalId } }
  }

  private file(name: string): VendorAnswer | null {
    const file = this.files.get(name)
    return file ? { body: file.bytes, headers: { "content-type": file.mimeType } } : null
  }
}

/** What is wrong with the body of a delivery; null for a right one. */
function faultOf(body: unknown): string | null {
  const { messageId, chat, text, media, replyToMessageId } = (body ?? {}) as Partial<Delivered>
  if (typeof messageId !== "string" || messageId === "") return "messageId is missing"
  if (typeof chat?.externalId !== "string" || typeof chat.fromId !== "string") return "chat is incomplete"
  if (text !== null && (typeof text !== "string" || [...text].length > 16_000)) return "text is too long or none"
  if (!Array.isArray(media) || media.some(({ url, mimeType, filename }) => !url || !mimeType || !filename)) return "media is incomplete"
  if (!text && media.length === 0) return "the message is empty"
  return replyToMessageId === null || typeof replyToMessageId === "string" ? null : "replyToMessageId is no ID"
}
