import { request } from "node:http"
import type { Chat, User } from "@grammyjs/types"
import { Faults } from "../../simulate/kit/faults.js"
import type { VendorServer } from "../../simulate/kit/vendor-server.js"
import { BridgeVendor } from "../../simulate/vendors/bridge.js"
import { TelegramBotVendor } from "../../simulate/vendors/telegram-bot.js"
import type { Instance } from "../../test/kit/campaign/instance.js"
import type { Deployment } from "./test-bed.js"

/** A message of the platform, for a customer of a stand-in. */
export interface Outgoing {
  customer: number
  text: string
  /** The platform's ID of it, where the messenger's protocol names it. */
  messageId: string | null
}

/** A stand-in of a messenger, which a deployment is connected to. */
export interface Messenger {
  name: "telegram-bot" | "custom-messenger"
  connectionId: string
  /** ID of the connected account. */
  fromId: string
  /** Whether it recognizes a message that is sent to it again. */
  isIdempotent: boolean
  faults: Faults
  /** What has reached the customers, in order; a message that is sent twice is there twice unless it was recognized. */
  arrivals: Outgoing[]
  onArrival: (arrival: Outgoing) => void
  /** ID of a customer, who may be written to from now on. */
  meet(customer: number): string
  /** The body by which the hook gets a message of a customer. */
  update(customer: number, text: string): string
  /** Sends it to the hook of an instance; the status of the response, or null when there was none. */
  post(instance: Instance, body: string): Promise<number | null>
  /** Sends a share of it, and drops the connection before there is a response. */
  drop(instance: Instance, body: string, share: number): Promise<void>
  /** All requests with messages, also those that fail; in order. */
  requests(): Outgoing[]
}

/** What both stand-ins have in common, before the deployment is connected to them. */
type Unconnected = Omit<Messenger, "connectionId" | "post" | "drop"> & {
  credentials: Record<string, string>
  headers(body: string): Record<string, string>
  close(): Promise<void>
}

/** With a public address the connection is not polled. Nobody calls it: stand-ins send to the instance that a campaign names. */
const connecting = { PUBLIC_URL: "http://127.0.0.1:2" }

/** Connects a deployment to a stand-in of Telegram and to one of the bridge; returns the environment that its instances need. */
export async function openMessengers(deployment: Deployment) {
  const { stand: telegram, url } = await openTelegram()
  const bridge = await openBridge()
  const env = { TELEGRAM_BASE_URL: url }
  const messengers = [await connect(deployment, telegram, env), await connect(deployment, bridge, env)] as const
  return { env, messengers, close: () => Promise.all([telegram.close(), bridge.close()]) }
}

async function connect(deployment: Deployment, stand: Unconnected, env: Record<string, string>): Promise<Messenger> {
  const [assistant] = await deployment.sql("select id from assistant where company_id = $1", [deployment.companyId])
  const account = ["--messenger", stand.name, "--external-id", stand.fromId, "--name", stand.name, "--assistant", assistant.id]
  const credentials = JSON.stringify(stand.credentials)
  const args = ["channel:connect", "--company", deployment.companyId, ...account, "--credentials", credentials]
  const { id: connectionId } = await deployment.administer(args, { ...env, ...connecting })
  const hookOf = (instance: Instance) => `${instance.url}/hooks/${stand.name}/${connectionId}`
  const headersOf = (body: string) => ({ "content-type": "application/json", ...stand.headers(body) })
  return Object.assign(stand, {
    connectionId,
    async post(instance: Instance, body: string) {
      try {
        const response = await fetch(hookOf(instance), { method: "POST", headers: headersOf(body), body })
        await response.arrayBuffer()
        return response.status
      } catch {
        // The instance was killed, or is not back yet.
        return null
      }
    },
    drop: (instance: Instance, body: string, share: number) => sendShare(hookOf(instance), headersOf(body), Buffer.from(body), share),
  })
}

function sendShare(url: string, headers: Record<string, string>, body: Buffer, share: number): Promise<void> {
  return new Promise((resolve) => {
    const sending = request(url, { method: "POST", headers: { ...headers, "content-length": body.length }, agent: false })
    sending.on("error", () => {})
    sending.on("close", resolve)
    sending.write(body.subarray(0, Math.max(1, Math.floor(share * body.length))), () => sending.destroy())
  })
}

async function openTelegram(): Promise<{ stand: Unconnected; url: string }> {
  const vendor = await new TelegramBotVendor({ faults: slowly() }).listen()
  const secretToken = "secret-of-the-campaign"
  const idOf = (customer: number) => 1_000 + customer
  const stand: Unconnected = {
    name: "telegram-bot",
    fromId: "campaign_bot",
    isIdempotent: false,
    credentials: { botToken: vendor.token, secretToken },
    faults: vendor.faults,
    arrivals: [],
    onArrival: () => {},
    headers: () => ({ "x-telegram-bot-api-secret-token": secretToken }),
    meet(customer) {
      vendor.meet(idOf(customer))
      return String(idOf(customer))
    },
    update(customer, text) {
      // The campaign sends it.
      vendor.hook = null
      const id = idOf(customer)
      const [first_name, username] = [`Customer ${customer}`, `customer${customer}`]
      const chat: Chat.PrivateChat = { id, type: "private", first_name, username }
      const from: User = { id, is_bot: false, first_name, username }
      return JSON.stringify(vendor.write(chat, from, { text }))
    },
    requests: () =>
      bodiesTo(vendor.server, "/sendMessage").map(({ chat_id, text }) => ({ customer: Number(chat_id) - 1_000, text, messageId: null })),
    close: () => vendor.close(),
  }
  vendor.onSent = ({ chatId, text }) => arrive(stand, { customer: chatId - 1_000, text: text!, messageId: null })
  return { stand, url: vendor.server.url }
}

async function openBridge(): Promise<Unconnected> {
  const vendor = await new BridgeVendor({ faults: slowly() }).listen()
  const prefix = "customer-"
  // biome-ignore lint/suspicious/noExplicitAny: a body that the stand-in has checked.
  const outgoing = ({ chat, text, messageId }: any): Outgoing => ({
    customer: Number(chat.externalId.slice(prefix.length)),
    text,
    messageId,
  })
  const stand: Unconnected = {
    name: "custom-messenger",
    fromId: "campaign-connector",
    isIdempotent: true,
    credentials: { deliveryUrl: vendor.deliveryUrl, secret: vendor.secret },
    faults: vendor.faults,
    arrivals: [],
    onArrival: () => {},
    headers: vendor.sign,
    meet: (customer) => `${prefix}${customer}`,
    update: (customer, text) =>
      JSON.stringify(vendor.write({ chat: { externalId: `${prefix}${customer}`, name: `Customer ${customer}` }, text })),
    requests: () => bodiesTo(vendor.server, "/deliver").map(outgoing),
    close: () => vendor.close(),
  }
  vendor.onDelivered = (delivered) => arrive(stand, outgoing(delivered))
  return stand
}

function arrive(stand: Unconnected, arrival: Outgoing) {
  stand.arrivals.push(arrival)
  stand.onArrival(arrival)
}

/** Responses take a moment, as over a network: a kill strikes requests whose response has not arrived. */
const slowly = () => new Faults({ delay: 1 })

// biome-ignore lint/suspicious/noExplicitAny: bodies of the vendor's protocol.
const bodiesTo = ({ calls }: VendorServer, path: string): any[] => calls.filter((call) => call.path.endsWith(path)).map(({ json }) => json)
