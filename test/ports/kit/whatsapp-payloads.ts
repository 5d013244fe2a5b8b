import { whatsappBusiness } from "../../../src/ports/channel/whatsapp-business.js"

export const account = {
  companyId: "0199bbbb-0000-7000-8000-000000000000",
  connectionId: "c",
  externalId: "+1 555 078 3881",
  name: "Shop",
  credentials: { accessToken: "EAAtoken", phoneNumberId: "106540352242922", appSecret: "app-secret", verifyToken: "verify" },
}
const adapter = whatsappBusiness({ baseUrl: "http://127.0.0.1:9" })

export const ID = "wamid.HBgLMTY1MDM4Nzk0MzkVAgASGBQzQUFERjg0NDEzNDdFODU3MUMxMAA="
/** A contact, and the chat with it. */
export const sheena = { profile: { name: "Sheena Nelson" }, wa_id: "16505551234" }
export const chat = { externalId: "16505551234", alsoKnownAs: [], name: "Sheena Nelson", phoneNumber: "+16505551234" }

/** A file in a message, and what is read of it. */
export const media = { mime_type: "image/jpeg", sha256: "SfInY0gGKTsJlUWbwxC1k+FAD0FZHvzwfpvO0zX0GUI=", id: "1908647269898587" }
export const file = (kind: string, filename: string | null = null) => ({ reference: { id: media.id }, filename, kind })

/** A change of a field in a request to the hook. */
export function change(value: object, field = "messages", phone_number_id = "106540352242922") {
  const metadata = { display_phone_number: "15550783881", phone_number_id }
  return { field, value: { messaging_product: "whatsapp", metadata, ...value } }
}
export const body = (...changes: unknown[]) => ({ object: "whatsapp_business_account", entry: [{ id: "102290129340398", changes }] })

/** A request with a message of a customer. */
export const inbound = (message: object, contact: object = sheena) =>
  body(change({ contacts: [contact], messages: [{ from: "16505551234", id: ID, timestamp: "1739321024", ...message }] }))

export const parsed = (payload: unknown) => adapter.parse(payload, account)
export const itemsOf = (payload: unknown) => parsed(payload).map(({ item }) => item)

/** The one item of a message. */
export function itemOf(message: object) {
  const [item, ...more] = itemsOf(inbound(message))
  expect(more).toEqual([])
  return item
}
