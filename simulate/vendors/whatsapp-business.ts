import type { VendorAnswer, VendorCall } from "../kit/vendor-server.js"
import { type Customer, type Fields, fieldsOf, MetaVendor, type MetaVendorOptions, missing, refusal, type Sent } from "./meta.js"
import { contentFault, mediaKinds, uploadFault } from "./whatsapp-business-requests.js"

export interface WhatsAppVendorOptions extends MetaVendorOptions {
  phoneNumberId?: string
  /** Whether a hook must answer the challenge before it is taken. */
  checksHook?: boolean
}

/** Stand-in of WhatsApp's Cloud API for one phone number, with its customers. */
export class WhatsAppVendor extends MetaVendor {
  readonly phoneNumberId: string
  /** Approved templates: name and language. */
  readonly templates = new Map([["order_ready", "en_US"]])
  readonly groups = new Set<string>()
  /** Whether what cannot be delivered is taken at first, and reported by a status. */
  failsLater = false
  /** Statuses that are sent for each message, in their order. */
  statuses = ["sent", "delivered"]
  protected readonly filesNeedToken = true
  private readonly checksHook: boolean

  constructor({ phoneNumberId = "106540352242922", checksHook = true, ...options }: WhatsAppVendorOptions = {}) {
    const routes = {
      "GET /v25.0/:id": (call: VendorCall) => this.show(call),
      "POST /v25.0/:id": (call: VendorCall) => this.configure(call),
      "POST /v25.0/:id/media": (call: VendorCall) => this.store(call),
      "POST /v25.0/:id/messages": (call: VendorCall) => this.message(call),
    }
    super(routes, 130429, options)
    this.phoneNumberId = phoneNumberId
    this.checksHook = checksHook
  }

  hookUrl() {
    return this.callbackUrl
  }

  /** A request to the hook with a value of a field. */
  event(value: Fields, field = "messages", phoneNumberId = this.phoneNumberId): Fields {
    const metadata = { display_phone_number: "15550783881", phone_number_id: phoneNumberId }
    const changes = [{ field, value: { messaging_product: "whatsapp", metadata, ...value } }]
    return { object: "whatsapp_business_account", entry: [{ id: "102290129340398", changes }] }
  }

  /** A message of a customer; `fields` are its type and content. */
  write(customer: Customer, fields: Fields): Fields {
    this.customers.set(customer.id, { ...customer, wroteAt: Date.now() })
    const { id, userId, name, username } = customer
    const contacts = [{ profile: { name, ...(username && { username }) }, wa_id: id, ...(userId && { user_id: userId }) }]
    const from = { from: id, ...(userId && { from_user_id: userId }) }
    const message = { ...from, id: this.nextMessageId("wamid.", id), timestamp: seconds(), ...fields }
    return this.deliver(this.event({ contacts, messages: [message] }), id)
  }

  /** A message that the company wrote in WhatsApp's own app. */
  echo(to: string, fields: Fields): Fields {
    const echo = { from: "15550783881", to, id: this.nextMessageId("wamid.", null), timestamp: seconds(), ...fields }
    return this.deliver(this.event({ message_echoes: [echo] }, "smb_message_echoes"), to)
  }

  /** The customer reads a message. */
  read(message: Sent): Fields {
    return this.deliver(this.status(message, "read"), message.to)
  }

  /** The delivery state of a message of the company. */
  status({ id, to, partId }: Sent, status: string, errors?: Fields[]): Fields {
    const data = partId === null ? {} : { biz_opaque_callback_data: partId }
    return this.event({ statuses: [{ id, status, timestamp: seconds(), recipient_id: to, ...data, ...(errors && { errors }) }] })
  }

  private show({ params }: VendorCall): VendorAnswer {
    const id = params["id"]!
    if (id === this.phoneNumberId) return { json: { id, display_phone_number: "+1 555-078-3881", verified_name: "Shop" } }
    const upload = this.uploads.get(id)
    if (!upload) return missing(id)
    return {
      json: { messaging_product: "whatsapp", id, url: this.fileUrl(id), mime_type: upload.type, file_size: String(upload.bytes.length) },
    }
  }

  private async configure({ params, json }: VendorCall): Promise<VendorAnswer> {
    const configuration = fieldsOf(fieldsOf(json)["webhook_configuration"])
    const { override_callback_uri: url, verify_token: verifyToken } = configuration
    if (params["id"] !== this.phoneNumberId) return missing(params["id"]!)
    if (url === "") this.callbackUrl = null
    else if (typeof url !== "string" || typeof verifyToken !== "string") return refusal(100, "Invalid parameter")
    else {
      const fault = this.checksHook ? await this.challenge(url, verifyToken) : null
      if (fault) return refusal(2200, `Callback verification failed with the following errors: ${fault}`)
      this.callbackUrl = url
    }
    return { json: { success: true } }
  }

  private async store(call: VendorCall): Promise<VendorAnswer> {
    if (call.params["id"] !== this.phoneNumberId) return missing(call.params["id"]!)
    const form = await call.form()
    const fault = uploadFault(form)
    if (fault) return fault
    const file = form.get("file") as File
    return { json: { id: this.upload({ type: file.type, filename: file.name, bytes: Buffer.from(await file.arrayBuffer()) }) } }
  }

  private async message({ params, json }: VendorCall): Promise<VendorAnswer> {
    const request = fieldsOf(json)
    if (params["id"] !== this.phoneNumberId) return missing(params["id"]!)
    if (request["messaging_product"] !== "whatsapp") return refusal(100, "The parameter messaging_product is required.")
    return request["status"] === undefined ? this.send(request) : this.showTyping(request)
  }

  private showTyping(request: Fields): VendorAnswer {
    const { status, message_id: id } = request
    const type = fieldsOf(request["typing_indicator"])["type"]
    if (status !== "read" || type !== "text") return refusal(100, "Invalid parameter")
    const customer = this.messages.get(String(id))
    if (!customer) return refusal(131009, "Parameter value is not valid", { details: "Message ID is not known" })
    this.typing.push(customer)
    return { json: { success: true } }
  }

  private async send(request: Fields): Promise<VendorAnswer> {
    const to = String(request["to"] ?? request["recipient"] ?? "")
    const fault = contentFault(request, { uploads: this.uploads, templates: this.templates, messages: this.messages })
    if (fault) return fault
    const undelivered = this.deliveryFault(request, to)
    if (undelivered && !this.failsLater) return undelivered
    const message = { ...this.contentOf(request), id: this.nextMessageId("wamid.", null), to, request }
    if (undelivered) await this.report([this.status(message, "failed", [fieldsOf(fieldsOf(undelivered.json)["error"])])])
    else
      await this.accept(
        message,
        this.statuses.map((status) => this.status(message, status)),
      )
    return { json: { messaging_product: "whatsapp", contacts: [{ input: to, wa_id: to }], messages: [{ id: message.id }] } }
  }

  /** The refusal of a message to someone who cannot or may not be written to, or null. */
  private deliveryFault(request: Fields, to: string): VendorAnswer | null {
    if (request["recipient_type"] === "group") return this.groups.has(to) ? null : missing(to)
    const key = request["to"] === undefined ? "userId" : "id"
    const customer = [...this.customers.values()].find((known) => known[key] === to)
    if (customer?.isBlocked) return refusal(131026, "Message undeliverable", { details: "Message Undeliverable." })
    if (request["type"] === "template" || (customer && this.quietHours(customer) <= 24)) return null
    const details = "Message failed to send because more than 24 hours have passed since the customer last replied to this number."
    return refusal(131047, "Re-engagement message", { details })
  }

  private contentOf(request: Fields): Pick<Sent, "text" | "file" | "quoted" | "partId"> {
    const type = String(request["type"])
    const content = fieldsOf(request[type])
    const upload = mediaKinds.has(type) ? this.uploads.get(String(content["id"]))! : null
    return {
      text: (content["caption"] ?? content["body"] ?? content["name"] ?? null) as string | null,
      file: upload && { ...upload, filename: String(content["filename"] ?? upload.filename) },
      quoted: (fieldsOf(request["context"])["message_id"] as string | undefined) ?? null,
      partId: (request["biz_opaque_callback_data"] as string | undefined) ?? null,
    }
  }
}

const seconds = () => String(Math.floor(Date.now() / 1000))
