import type { Account, ChannelChat, Event, Incoming, IncomingFile } from "../channel.js"
import { idOf, type JsonObject, numberOf, objectOf, objectsOf, stringOf } from "../kit/untrusted-json.js"
import { type Content, locationText, partIdOf, unsupported } from "./meta.js"

/** Words for the files of each type, where a file cannot be fetched. */
const fileWords: Readonly<Record<string, string>> = { image: "photo", video: "video", audio: "audio", file: "document", sticker: "sticker" }

/** Something that a customer passed on, of which there is only the address. */
const isShared = (type: string) => /^(fallback|share|reel|post|story_mention|ig_\w+)$/.test(type)

/** The three sizes of Messenger's thumb, the one sticker with a sign. */
const thumbs = new Set(["369239263222822", "369239343222814", "369239383222810"])

/** What a request of Messenger (`page`) or Instagram (`instagram`) reports, in its order; malformed items are left out. */
export function messagingEvents(object: "page" | "instagram", body: unknown, { credentials, externalId }: Account): Event[] {
  const root = objectOf(body)
  if (root["object"] !== object) return []
  const own = [externalId, credentials["accountId"]]
  return objectsOf(root["entry"]).flatMap((entry) => {
    const id = idOf(entry["id"])
    if (!id) return []
    const account = own.includes(id) ? null : id
    return objectsOf(entry["messaging"])
      .flatMap((item) => itemOf(item, id))
      .map((item) => ({ account, item }))
  })
}

const idIn = (value: unknown) => idOf(objectOf(value)["id"])

function itemOf(item: JsonObject, ownId: string): Incoming[] {
  const message = objectOf(item["message"])
  const isEcho = message["is_echo"] === true
  const customer = idIn(isEcho ? item["recipient"] : item["sender"])
  if (!customer || customer === ownId) return []
  const chat: ChannelChat = { externalId: customer }
  if (item["message"] !== undefined) return messageOf(message, chat, isEcho)
  if (item["postback"] !== undefined) return postbackOf(objectOf(item["postback"]), chat)
  if (item["message_edit"] !== undefined) return editOf(objectOf(item["message_edit"]), chat)
  return [...receiptsOf("delivered", objectOf(item["delivery"]), customer), ...receiptsOf("read", objectOf(item["read"]), customer)]
}

function messageOf(message: JsonObject, chat: ChannelChat, isEcho: boolean): Incoming[] {
  const externalId = stringOf(message["mid"])
  if (!externalId) return []
  if (message["is_deleted"] === true) return isEcho ? [] : [{ kind: "deletion", chat, externalId }]
  const quoted = stringOf(objectOf(message["reply_to"])["mid"])
  const partId = isEcho ? partIdOf(message["metadata"]) : undefined
  const echo = isEcho ? { isEcho, ...(partId && { partId }) } : {}
  return [{ kind: "message", chat, externalId, ...contentOf(message), quoted, ...echo }]
}

function postbackOf(postback: JsonObject, chat: ChannelChat): Incoming[] {
  const [externalId, text] = [stringOf(postback["mid"]), stringOf(postback["title"])]
  return externalId && text ? [{ kind: "message", chat, externalId, text, files: [] }] : []
}

function editOf(edit: JsonObject, chat: ChannelChat): Incoming[] {
  const [externalId, text, version] = [stringOf(edit["mid"]), stringOf(edit["text"]), numberOf(edit["num_edit"])]
  return externalId && text ? [{ kind: "edit", chat, externalId, text, ...(version !== null && { version }) }] : []
}

/** Messenger names a time up to which all messages were delivered or read, Instagram one message. */
function receiptsOf(status: "delivered" | "read", receipt: JsonObject, customer: string): Incoming[] {
  const mids = [...(Array.isArray(receipt["mids"]) ? receipt["mids"] : []), receipt["mid"]].flatMap((mid) => stringOf(mid) ?? [])
  const upTo = numberOf(receipt["watermark"])
  return [
    ...mids.map((externalId): Incoming => ({ kind: "receipt", status, externalId, customer })),
    ...(upTo === null ? [] : [{ kind: "receipt", status, customer, upTo } as const]),
  ]
}

/** Text and files of a message: its own text first, then a line for everything that is neither text nor a file. */
function contentOf(message: JsonObject): Content {
  const text = stringOf(message["text"])
  const attachments = withoutCopies(objectsOf(message["attachments"])).map((attachment) => attachmentOf(attachment, text ?? ""))
  const contents = [storyOf(message), { text, files: [] }, ...attachments]
  const lines = contents.flatMap((content) => content.text ?? [])
  const files = contents.flatMap((content) => content.files)
  if (message["is_unsupported"] === true || (lines.length === 0 && files.length === 0)) return unsupported("message")
  const isUnsupported = contents.some((content) => content.isUnsupported)
  return { text: lines.length > 0 ? lines.join("\n") : null, files, ...(isUnsupported && { isUnsupported }) }
}

/** The story of the company that an Instagram message replies to. */
function storyOf(message: JsonObject): Content {
  const story = objectOf(message["reply_to"])["story"]
  const url = stringOf(objectOf(story)["url"])
  return { text: story === undefined ? null : `[reply to story] ${url ?? ""}`.trimEnd(), files: [] }
}

const stickerIdOf = (attachment: JsonObject) => idOf(objectOf(attachment["payload"])["sticker_id"])

/** Until all of Messenger has the type `sticker`, a sticker arrives as a picture too. */
function withoutCopies(attachments: JsonObject[]): JsonObject[] {
  const stickers = attachments.filter(({ type }) => type === "sticker")
  const urlOf = (attachment: JsonObject) => objectOf(attachment["payload"])["url"]
  const isCopy = (attachment: JsonObject) =>
    attachment["type"] === "image" && (stickerIdOf(attachment) !== null || stickers.some((sticker) => urlOf(sticker) === urlOf(attachment)))
  return stickers.length > 0 ? attachments.filter((attachment) => !isCopy(attachment)) : attachments
}

function attachmentOf(attachment: JsonObject, words: string): Content {
  const payload = objectOf(attachment["payload"])
  const url = stringOf(payload["url"]) ?? stringOf(attachment["url"])
  const named = stringOf(attachment["type"]) ?? "attachment"
  const sticker = stickerIdOf(attachment)
  const type = sticker === null ? named : "sticker"
  if (isShared(type)) return { text: url && words.includes(url) ? null : `[shared post] ${url ?? ""}`.trimEnd(), files: [] }
  if (type === "location") return locationOf(payload, attachment)
  if (!Object.hasOwn(fileWords, type)) return unsupported(type)
  const sign = type !== "sticker" ? null : sticker && thumbs.has(sticker) ? "[sticker 👍]" : "[sticker]"
  if (!url) return sign ? { text: sign, files: [] } : unsupported(type)
  const file: IncomingFile = { reference: { url }, filename: type === "file" ? filenameIn(url) : null, kind: fileWords[type]! }
  return { text: sign, files: [file] }
}

function locationOf(payload: JsonObject, attachment: JsonObject): Content {
  const { lat, long } = objectOf(payload["coordinates"])
  const [latitude, longitude] = [numberOf(lat), numberOf(long)]
  if (latitude === null || longitude === null) return unsupported("location")
  return { text: locationText(latitude, longitude, [stringOf(attachment["title"])]), files: [] }
}

/** The name of a document, which is only in the path of its URL. */
function filenameIn(url: string): string | null {
  const name = URL.canParse(url) ? new URL(url).pathname.split("/").at(-1)! : ""
  if (!/\.\w{1,8}$/.test(name)) return null
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
