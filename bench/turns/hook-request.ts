import { createHmac } from "node:crypto"

/** The hooks over which messages come. */
export type HookMessenger = "widget" | "custom-messenger" | "telegram-bot"

/** The secret with which the bridge's requests are signed, and the one that Telegram's have as a header. */
export const hookSecret = "a-secret-of-the-benchmark"

/** A customer's message: to the widget, where without a token it is the first of a new visitor, or from another known customer. */
export interface HookRequest {
  path: string
  text: string
  visitorToken: string | null
  /** ID of a customer on another channel; null for the widget's visitors. */
  customer: string | null
}

const messengerOf = (path: string) => path.split("/")[2] as HookMessenger

/** The request as it is sent. Each has an id of its own, which makes it safe to repeat, and each new visitor an address of its own. */
export function sendable({ path, text, visitorToken, customer }: HookRequest, number: number) {
  const address = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
  const messageId = `bench-${process.pid}-${number}`
  const messenger = messengerOf(path)
  const body = JSON.stringify(
    messenger === "widget"
      ? { text, messageId, visitorToken }
      : messenger === "telegram-bot"
        ? updateOf(Number(customer), number, text)
        : { messageId, chat: { externalId: customer, name: customerName }, text },
  )
  const headers = { "Content-Type": "application/json", "X-Forwarded-For": address, ...proofOf(messenger, body) }
  return { method: "POST" as const, path, headers, body }
}

/** The name of all customers, which their chats have already. */
export const customerName = "Ann"

function updateOf(id: number, number: number, text: string) {
  const person = { id, first_name: customerName }
  const from = { ...person, is_bot: false }
  return { update_id: number, message: { message_id: number, date: 1_750_000_000, chat: { ...person, type: "private" }, from, text } }
}

/** The header that proves who sent a body. */
function proofOf(messenger: HookMessenger, body: string): Record<string, string> {
  if (messenger === "widget") return {}
  if (messenger === "telegram-bot") return { "X-Telegram-Bot-Api-Secret-Token": hookSecret }
  return { "X-Signature": signatureOf(body) }
}

/** The signature of a body over the bridge. */
export const signatureOf = (body: string) => `sha256=${createHmac("sha256", hookSecret).update(body).digest("hex")}`
