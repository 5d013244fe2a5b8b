import type { Account, ChannelChat, Event, FailureCode, Incoming, IncomingFile } from "../channel.js"
import { idOf, type JsonObject, numberOf, objectOf, objectsOf, stringOf } from "../kit/untrusted-json.js"
import { type Content, locationText, partIdOf, unsupported } from "./meta.js"
import { readError } from "./meta-errors.js"

/** Words for the files of each type, where a file cannot be fetched. */
const fileWords: Readonly<Record<string, string>> = {
  image: "photo",
  video: "video",
  audio: "audio",
  document: "document",
  sticker: "sticker",
}

/** Types of messages that say nothing to the company: a reaction, and the opening of a chat. */
const ignored = new Set(["reaction", "request_welcome"])

/** What a request of WhatsApp reports, in its order; malformed items are left out. */
export function whatsappEvents(body: unknown, { credentials, externalId }: Account): Event[] {
  const root = objectOf(body)
  if (root["object"] !== "whatsapp_business_account") return []
  return objectsOf(root["entry"])
    .flatMap(({ changes }) => objectsOf(changes))
    .flatMap(({ field, value: raw }) => {
      const value = objectOf(raw)
      const number = idOf(objectOf(value["metadata"])["phone_number_id"])
      if (!number) return []
      const account = number === credentials["phoneNumberId"] || number === externalId ? null : number
      return itemsOf(field, value).map((item) => ({ account, item }))
    })
}

function itemsOf(field: unknown, value: JsonObject): Incoming[] {
  if (field === "smb_message_echoes") return objectsOf(value["message_echoes"]).flatMap(echoOf)
  if (field !== "messages") return []
  const contacts = objectsOf(value["contacts"])
  return [
    ...objectsOf(value["messages"]).flatMap((message) => messageOf(message, contacts)),
    ...objectsOf(value["statuses"]).flatMap(receiptOf),
  ]
}

/** A person's IDs: the phone number, without the plus sign, before the ID that stays when the number is hidden. */
function idsOf(...ids: unknown[]): string[] {
  const known = ids.flatMap((id) => idOf(id)?.replace(/^\+(?=\d)/, "") ?? [])
  return [...new Set(known)]
}

const typeOf = (content: JsonObject) => stringOf(content["type"]) ?? "message"

function messageOf(message: JsonObject, contacts: JsonObject[]): Incoming[] {
  if (message["type"] === "system") return movesOf(message)
  const id = stringOf(message["id"])
  const contact = contactOf(message, contacts)
  const ids = idsOf(message["from"], message["from_user_id"], contact["wa_id"], contact["user_id"])
  const [externalId, ...alsoKnownAs] = ids
  if (!id || !externalId || ignored.has(typeOf(message))) return []

  const group = stringOf(message["group_id"])
  const name = stringOf(objectOf(contact["profile"])["name"])
  const chat: ChannelChat = group
    ? { externalId: group, isGroup: true }
    : { externalId, alsoKnownAs, ...personOf(externalId, name, stringOf(objectOf(contact["profile"])["username"])) }

  const original = originalOf(message)
  if (message["type"] === "revoke") return original ? [{ kind: "deletion", chat, externalId: original }] : []
  if (message["type"] === "edit") return original ? editOf(message, chat, original) : []
  const sender = group ? { externalId, name } : null
  return [{ kind: "message", chat, externalId: id, ...contentOf(message), quoted: quotedBy(message), sender }]
}

/** The contact that a message is from; the only one when neither ID fits, since a number and its ID can differ. */
function contactOf(message: JsonObject, contacts: JsonObject[]): JsonObject {
  const isOf = (contact: JsonObject) =>
    (stringOf(message["from"]) !== null && contact["wa_id"] === message["from"]) ||
    (stringOf(message["from_user_id"]) !== null && contact["user_id"] === message["from_user_id"])
  return contacts.find(isOf) ?? (contacts.length === 1 ? contacts[0]! : {})
}

function personOf(externalId: string, name: string | null, username: string | null) {
  return {
    ...(name !== null && { name }),
    ...(username !== null && { username }),
    ...(/^\d{6,15}$/.test(externalId) && { phoneNumber: `+${externalId}` }),
  }
}

const quotedBy = (message: JsonObject) => stringOf(objectOf(message["context"])["id"])

/** The message that an edit or a deletion is about. */
const originalOf = (message: JsonObject) => stringOf(objectOf(message[typeOf(message)])["original_message_id"])

function editOf(message: JsonObject, chat: ChannelChat, externalId: string): Incoming[] {
  const { text, isUnsupported } = contentOf(objectOf(objectOf(message["edit"])["message"]))
  if (isUnsupported) return []
  const version = numberOf(message["timestamp"])
  return [{ kind: "edit", chat, externalId, text: text ?? "", ...(version !== null && { version }) }]
}

/** Text and files of a message, and of the new version that an edit brings. */
function contentOf(message: JsonObject): Content {
  const type = typeOf(message)
  const content = objectOf(message[type])
  const text = (value: unknown): Content => {
    const words = stringOf(value)
    return words === null ? unsupported(type) : { text: words, files: [] }
  }
  switch (type) {
    case "text":
      return text(content["body"])
    case "button":
      return text(content["text"])
    case "interactive":
      return text(objectOf(content[typeOf(content)])["title"])
    case "image":
    case "video":
    case "audio":
    case "document":
    case "sticker":
      return fileOf(type, content)
    case "location":
      return locationOf(content)
    case "contacts":
      return contactsOf(message["contacts"])
    case "unsupported":
      return unsupported(typeOf(content))
    default:
      return unsupported(type)
  }
}

function fileOf(type: string, content: JsonObject): Content {
  const text = stringOf(content["caption"]) ?? (type === "sticker" ? "[sticker]" : null)
  const id = stringOf(content["id"])
  // The message of an edit may name the caption alone.
  if (!id) return text === null ? unsupported(type) : { text, files: [] }
  const kind = content["voice"] === true ? "voice message" : fileWords[type]!
  const file: IncomingFile = { reference: { id }, filename: stringOf(content["filename"]), kind }
  return { text, files: [file] }
}

function locationOf(content: JsonObject): Content {
  const [latitude, longitude] = [numberOf(content["latitude"]), numberOf(content["longitude"])]
  if (latitude === null || longitude === null) return unsupported("location")
  return { text: locationText(latitude, longitude, [stringOf(content["name"]), stringOf(content["address"])]), files: [] }
}

function contactsOf(contacts: unknown): Content {
  const lines = objectsOf(contacts).flatMap((contact) => {
    const name = stringOf(objectOf(contact["name"])["formatted_name"])
    const phones = objectsOf(contact["phones"]).flatMap(({ phone, wa_id }) => stringOf(phone) ?? stringOf(wa_id) ?? [])
    const words = [name, ...phones].filter((part) => part !== null)
    return words.length > 0 ? `[contact] ${words.join(", ")}` : []
  })
  return lines.length > 0 ? { text: lines.join("\n"), files: [] } : unsupported("contacts")
}

/** A message that the company wrote in WhatsApp's own app. Its edits and deletions there are not followed. */
function echoOf(message: JsonObject): Incoming[] {
  const id = stringOf(message["id"])
  const group = stringOf(message["group_id"])
  const [externalId, ...alsoKnownAs] = group ? [group] : idsOf(message["to"], message["to_user_id"])
  const type = typeOf(message)
  if (!id || !externalId || ignored.has(type) || ["edit", "revoke", "system"].includes(type)) return []
  const chat: ChannelChat = group ? { externalId, isGroup: true } : { externalId, alsoKnownAs }
  return [{ kind: "message", chat, externalId: id, ...contentOf(message), quoted: quotedBy(message), isEcho: true }]
}

const statuses = { sent: "sent", delivered: "delivered", read: "read", played: "read", failed: "failed" } as const

function receiptOf(receipt: JsonObject): Incoming[] {
  const externalId = stringOf(receipt["id"])
  const word = stringOf(receipt["status"]) ?? ""
  if (!externalId || !Object.hasOwn(statuses, word)) return []
  const status = statuses[word as keyof typeof statuses]
  const partId = partIdOf(receipt["biz_opaque_callback_data"])
  const [customer] = idsOf(receipt["recipient_id"], receipt["recipient_user_id"])
  return [
    {
      kind: "receipt",
      status,
      externalId,
      ...(partId && { partId }),
      ...(customer && { customer }),
      ...(status === "failed" && failureIn(receipt)),
    },
  ]
}

function failureIn(receipt: JsonObject): { error: string; errorCode: FailureCode } {
  const { verdict, message } = readError(objectsOf(receipt["errors"])[0] ?? {}, [])
  return { error: message, errorCode: verdict?.[1] ?? "REFUSED" }
}

/** New IDs of a customer: the number changes, and with it the ID that stays when the number is hidden. */
function movesOf(message: JsonObject): Incoming[] {
  const system = objectOf(message["system"])
  const [oldNumber] = idsOf(message["from"] ?? system["customer"])
  const [newNumber] = idsOf(system["wa_id"] ?? system["new_wa_id"])
  const newId = stringOf(system["user_id"])
  if (system["type"] === "user_changed_user_id") {
    // The words begin with a name that the customer chose.
    const [, wordFrom, wordTo] = /changed from (\S+) to (\S+)$/.exec(stringOf(system["body"]) ?? "") ?? []
    const to = newId ?? wordTo
    const from = [stringOf(system["previous_user_id"]), wordFrom, stringOf(message["from_user_id"]), oldNumber].find(
      (id) => id && id !== to,
    )
    return move(from, to)
  }
  if (system["type"] !== "user_changed_number" && system["type"] !== "customer_changed_number") return []
  const byId = move(stringOf(message["from_user_id"]) ?? undefined, newId ?? undefined)
  return [...move(oldNumber, newNumber ?? newId), ...byId]
}

function move(from: string | undefined | null, to: string | undefined | null): Incoming[] {
  if (!from || !to || from === to) return []
  return [{ kind: "moved", from, to, ...(/^\d{6,15}$/.test(to) && { phoneNumber: `+${to}` }) }]
}
