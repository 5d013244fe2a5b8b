import type { VendorAnswer, VendorCall } from "../kit/vendor-server.js"
import { type Customer, type Fields, fieldsOf, MetaVendor, type MetaVendorOptions, missing, refusal, type Sent } from "./meta.js"

const MB = 1024 * 1024

/** In what the stand-ins of Messenger and Instagram differ. */
export interface MessagingRules {
  object: "page" | "instagram"
  /** ID of the account that events are for. */
  accountId: string
  /** The refusal of a text, or null. */
  textFault(text: string): VendorAnswer | null
  /** The refusal of an upload by its type, or null. */
  typeFault(mimeType: string): VendorAnswer | null
  windowClosed: { subcode: number }
  noSuchCustomer: { subcode: number }
  /** Whether messages carry the sender's data. */
  hasMetadata: boolean
  /** Value of the field `platform` of an upload. */
  platform: string | null
}

/** Stand-in of the Send API and of the events of a page, or of the Instagram account that is linked to it. */
export abstract class MessagingVendor extends MetaVendor {
  readonly pageId = "682498302938465"
  /** Fields that the page reports; null when it reports nothing. */
  subscribed: string[] | null = null
  protected readonly filesNeedToken = false

  constructor(
    protected readonly rules: MessagingRules,
    options: MetaVendorOptions,
  ) {
    const routes = {
      "GET /v25.0/me": (call: VendorCall) => this.me(call),
      "GET /v25.0/:id": (call: VendorCall) => this.profile(call),
      "POST /v25.0/me/message_attachments": (call: VendorCall) => this.store(call),
      "POST /v25.0/me/messages": (call: VendorCall) => this.message(call),
      "POST /v25.0/:id/subscribed_apps": (call: VendorCall) => this.subscribe(call),
      "DELETE /v25.0/:id/subscribed_apps": (call: VendorCall) => this.subscribe(call),
    }
    super(routes, 613, options)
  }

  hookUrl() {
    return this.subscribed && this.callbackUrl
  }

  /** A request to the hook with an item. */
  event(item: Fields, accountId = this.rules.accountId): Fields {
    const entry = { id: accountId, time: Date.now(), messaging: [{ timestamp: Date.now(), ...item }] }
    return { object: this.rules.object, entry: [entry] }
  }

  /** Something that a customer does; it opens the window. */
  from(customer: Customer, item: Fields): Fields {
    this.customers.set(customer.id, { ...customer, wroteAt: Date.now() })
    return this.deliver(this.event({ sender: { id: customer.id }, recipient: { id: this.rules.accountId }, ...item }), customer.id)
  }

  /** A message of a customer. */
  write(customer: Customer, message: Fields): Fields {
    return this.from(customer, { message: { mid: this.nextMessageId("m_", customer.id), ...message } })
  }

  /** A tap of a customer on a button. */
  tap(customer: Customer, title: string): Fields {
    return this.from(customer, { postback: { mid: this.nextMessageId("m_", customer.id), title, payload: "TAP" } })
  }

  /** The customer changes a message. */
  edit(customer: string, mid: string, text: string, num_edit = 1): Fields {
    const message_edit = { mid, text, num_edit }
    return this.deliver(this.event({ sender: { id: customer }, recipient: { id: this.rules.accountId }, message_edit }), customer)
  }

  /** A message that the company wrote in Meta's own app. */
  echo(to: string, message: Fields): Fields {
    return this.deliver(this.echoOf(to, { mid: this.nextMessageId("m_", null), app_id: 26390203743090, ...message }), to)
  }

  private echoOf(to: string, message: Fields): Fields {
    return this.event({ sender: { id: this.rules.accountId }, recipient: { id: to }, message: { is_echo: true, ...message } })
  }

  /** A file in a message. */
  attachment(type: string, file: { type: string; filename: string; bytes: Buffer }): Fields {
    return { type, payload: { url: this.fileUrl(this.upload(file)) } }
  }

  /** What is reported about a message that the customer's app has received. */
  protected abstract receipts(message: Sent): Fields[]

  /** The customer reads a message. */
  abstract read(message: Sent): Fields

  protected abstract me(call: VendorCall): VendorAnswer

  private profile({ params, query }: VendorCall): VendorAnswer {
    const customer = this.customers.get(params["id"]!)
    if (!customer) return missing(params["id"]!)
    const fields = (query.get("fields") ?? "id").split(",")
    const known = Object.entries(customer).filter(([name, value]) => fields.includes(name) && value !== undefined)
    return { json: { ...Object.fromEntries(known), id: customer.id } }
  }

  private subscribe({ method, params, query }: VendorCall): VendorAnswer {
    if (params["id"] !== this.pageId && params["id"] !== "me") return missing(params["id"]!)
    const fields = query.get("subscribed_fields")
    if (method === "POST" && !fields) return refusal(100, "The parameter subscribed_fields is required.")
    this.subscribed = method === "POST" ? fields!.split(",") : null
    return { json: { success: true } }
  }

  private async store(call: VendorCall): Promise<VendorAnswer> {
    const form = await call.form()
    const file = form.get("filedata")
    const type = this.typeIn(form.get("message"))
    if (form.get("platform") !== this.rules.platform) return refusal(100, "Param platform is not valid")
    if (!(file instanceof File) || !type) return refusal(100, "Incorrect attachment", { subcode: 2018008 })
    if (type !== "file" && !file.type.startsWith(`${type}/`)) return refusal(100, "Upload attachment failure.", { subcode: 2018047 })
    const fault = this.rules.typeFault(file.type)
    if (fault) return fault
    if (file.size === 0 || file.size > (type === "image" ? 8 : 25) * MB)
      return refusal(100, "Upload attachment failure.", { subcode: 2018047 })
    const upload = { type: file.type, filename: file.name, bytes: Buffer.from(await file.arrayBuffer()) }
    return { json: { attachment_id: this.upload(upload) } }
  }

  private typeIn(message: unknown): string | null {
    const type = typeof message === "string" ? fieldsOf(fieldsOf(JSON.parse(message))["attachment"])["type"] : null
    return ["image", "video", "audio", "file"].find((known) => known === type) ?? null
  }

  private async message({ json }: VendorCall): Promise<VendorAnswer> {
    const request = fieldsOf(json)
    const customer = this.customers.get(String(fieldsOf(request["recipient"])["id"]))
    if (!customer) return refusal(100, "No matching user found", this.rules.noSuchCustomer)
    if (customer.isBlocked) return refusal(551, "This person isn't available right now.")
    const { sender_action: action } = request
    if (action !== undefined) {
      if (action !== "typing_on" || request["message"] !== undefined) return refusal(100, "Invalid sender action")
      this.typing.push(customer.id)
      return { json: { recipient_id: customer.id } }
    }
    return this.windowFault(request, customer) ?? this.contentFault(request) ?? (await this.send(request, customer.id))
  }

  private windowFault({ messaging_type: type, tag }: Fields, customer: Customer): VendorAnswer | null {
    const isTagged = type === "MESSAGE_TAG" && tag === "HUMAN_AGENT"
    if (!isTagged && type !== "RESPONSE") return refusal(100, "Param messaging_type is not valid")
    const hours = isTagged ? 7 * 24 : 24
    if (this.quietHours(customer) <= hours) return null
    return refusal(10, "This message is sent outside of allowed window.", { status: 403, ...this.rules.windowClosed })
  }

  private contentFault(request: Fields): VendorAnswer | null {
    const { text, attachment, metadata } = fieldsOf(request["message"])
    const quoted = fieldsOf(request["reply_to"])["mid"]
    if (metadata !== undefined && !this.rules.hasMetadata) return refusal(100, "Param message[metadata] is not valid")
    if (quoted !== undefined && !this.messages.has(String(quoted))) return refusal(100, "Param reply_to[mid] is not valid")
    if ((text === undefined) === (attachment === undefined))
      return refusal(100, "Message cannot be empty, must provide valid attachment or text")
    if (attachment === undefined) return typeof text === "string" && text !== "" ? this.rules.textFault(text) : refusal(100, "Empty text")
    const { type, payload } = fieldsOf(attachment)
    const upload = this.uploads.get(String(fieldsOf(payload)["attachment_id"]))
    const isRight = upload && (type === "file" || upload.type.startsWith(`${type}/`))
    return isRight ? null : refusal(100, "Invalid attachment ID", { subcode: 2018074 })
  }

  private async send(request: Fields, to: string): Promise<VendorAnswer> {
    const { text = null, attachment, metadata } = fieldsOf(request["message"])
    const attachmentId = fieldsOf(fieldsOf(attachment)["payload"])["attachment_id"]
    const file = attachmentId === undefined ? null : this.uploads.get(String(attachmentId))!
    const message: Sent = {
      id: this.nextMessageId("m_", null),
      to,
      text: text as string | null,
      file,
      quoted: (fieldsOf(request["reply_to"])["mid"] as string | undefined) ?? null,
      partId: (metadata as string | undefined) ?? null,
      request,
    }
    const attachments = file && {
      attachments: [{ type: fieldsOf(attachment)["type"], payload: { url: this.fileUrl(String(attachmentId)) } }],
    }
    const echo = { mid: message.id, app_id: 1517776481860111, ...(message.text !== null && { text }), ...attachments }
    const data = this.rules.hasMetadata ? { metadata: message.partId ?? undefined } : {}
    await this.accept(message, [this.echoOf(to, { ...echo, ...data }), ...this.receipts(message)])
    return { json: { recipient_id: to, message_id: message.id } }
  }
}
