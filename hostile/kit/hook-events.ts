import type { Hook, SigningMessenger } from "./messengers.js"

/** A customer's text message as a messenger's vendor sends it. */
export function textEvent(messenger: SigningMessenger, { accountId }: Hook, customer: number, message: number, text: string): object {
  if (messenger === "telegram-bot") return telegram(customer, message, { text })
  if (messenger === "whatsapp-business") return whatsapp(accountId, customer, message, { type: "text", text: { body: text } })
  if (messenger === "custom-messenger")
    return { messageId: `hostile-${message}`, chat: { externalId: `hostile-${customer}`, name: "Ann" }, text }
  return messaging(messenger, accountId, customer, { mid: `hostile-${message}`, text })
}

/** A message of a kind that no adapter knows; null for the bridge, which has none. */
export function unknownEvent(messenger: SigningMessenger, { accountId }: Hook, customer: number, message: number): object | null {
  if (messenger === "telegram-bot") return telegram(customer, message, { hologram: { id: 1 } })
  if (messenger === "whatsapp-business") return whatsapp(accountId, customer, message, { type: "hologram", hologram: {} })
  if (messenger === "custom-messenger") return null
  return messaging(messenger, accountId, customer, { mid: `hostile-${message}`, attachments: [{ type: "hologram", payload: {} }] })
}

function telegram(customer: number, message_id: number, content: object) {
  const person = { id: customer, first_name: "Ann" }
  return { update_id: message_id, message: { message_id, date: 1, chat: { ...person, type: "private" }, from: person, ...content } }
}

function whatsapp(phone_number_id: string, customer: number, message: number, content: object) {
  const from = String(380_440_000_000 + customer)
  const contacts = [{ wa_id: from, profile: { name: "Ann" } }]
  return whatsappEvent(phone_number_id, { contacts, messages: [{ id: `hostile-${message}`, from, ...content }] })
}

/** A request of WhatsApp about one number. */
export const whatsappEvent = (phone_number_id: string, about: object) => ({
  object: "whatsapp_business_account",
  entry: [{ id: "1", changes: [{ field: "messages", value: { metadata: { phone_number_id }, ...about } }] }],
})

const messaging = (messenger: "messenger" | "instagram", id: string, customer: number, message: object) => ({
  object: messenger === "messenger" ? "page" : "instagram",
  entry: [{ id, messaging: [{ sender: { id: `hostile-${customer}` }, recipient: { id }, message }] }],
})
