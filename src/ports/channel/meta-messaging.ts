import { type Accepted, type Account, type Capabilities, type ChannelAdapter, type OutgoingFile, type Part } from "../channel.js"
import { objectOf, stringOf } from "../kit/untrusted-json.js"
import { portLimits } from "../limits.js"
import { challenge, faultOf, graphOf, isOwn, type MetaOptions, signatureHeader, unreadable, verify } from "./meta.js"
import { messagingEvents } from "./meta-messaging-events.js"

/** In what Messenger and Instagram differ. */
export interface MessagingDifferences {
  object: "page" | "instagram"
  capabilities: Capabilities
  /** Fields of a customer's profile. */
  profileFields: string
  /** Fields of an upload beside the file. */
  uploadFields: Readonly<Record<string, string>>
  /** Whether a message can carry our part ID, which the vendor repeats in the echo. */
  hasMetadata: boolean
  /** Further fields that the check asks for, and the ID in its response that hook requests name the account by. */
  accountFields: string
  accountIdIn(page: Readonly<Record<string, unknown>>): string | null
}

/** What pages are asked to report. */
const subscribedFields = "messages,messaging_postbacks,message_echoes,message_deliveries,message_reads,message_edits"

const HOUR = 60 * 60 * 1000

/** Adapter of a messenger with the Send API of pages. */
export function metaMessaging(options: MetaOptions, differences: MessagingDifferences): ChannelAdapter {
  const graph = graphOf(options)
  const { object, capabilities, uploadFields, hasMetadata } = differences
  const pageOf = ({ credentials }: Account) => encodeURIComponent(credentials["pageId"] ?? "me")

  async function attachment(file: OutgoingFile, account: Account, signal: AbortSignal) {
    const type = file.kind === "document" ? "file" : file.kind
    const form = new FormData()
    for (const [name, value] of Object.entries(uploadFields)) form.set(name, value)
    form.set("message", JSON.stringify({ attachment: { type, payload: { is_reusable: true } } }))
    form.set("filedata", new Blob([await file.bytes()], { type: file.mimeType }), file.filename)
    const id = stringOf((await graph(account, "me/message_attachments", { form, signal }))["attachment_id"])
    if (!id) throw unreadable("retry")
    return { attachment: { type, payload: { attachment_id: id } } }
  }

  return {
    capabilities,
    credentials: ["pageAccessToken", "appSecret", "verifyToken"],
    faultOf,
    signatureHeader,
    verify,
    challenge,
    hookStatus: 200,
    parse: (body, account) => messagingEvents(object, body, account),
    async download(reference) {
      const url = stringOf(objectOf(reference)["url"]) ?? ""
      return { url, isOwn: isOwn(url, options) }
    },
    async send(part, account, signal): Promise<Accepted> {
      const [file] = part.files
      const content = file ? await attachment(file, account, signal) : { text: part.text ?? "" }
      const json = {
        recipient: { id: part.chat.externalId },
        ...occasionOf(part),
        message: { ...content, ...(hasMetadata && { metadata: part.id }), ...repliesOf(part) },
        ...(part.quoted && { reply_to: { mid: part.quoted.externalId } }),
      }
      const externalId = stringOf((await graph(account, "me/messages", { json, isMessage: true, signal }))["message_id"])
      if (!externalId) throw unreadable("doubt")
      return { externalId }
    },
    async typing({ externalId }, account, signal) {
      await graph(account, "me/messages", { json: { recipient: { id: externalId }, sender_action: "typing_on" }, signal })
    },
    async profile(customer, account, signal) {
      const query = { fields: differences.profileFields }
      const found = await graph(account, encodeURIComponent(customer), { method: "GET", query, signal })
      const username = stringOf(found["username"])
      return { name: stringOf(found["name"]), ...(username && { username }) }
    },
    async check(account, signal) {
      const query = { fields: `id,name${differences.accountFields}` }
      const page = await graph(account, "me", { method: "GET", query, signal })
      const [pageId, accountId] = [stringOf(page["id"]), differences.accountIdIn(page)]
      return { ...(pageId && { pageId }), ...(accountId && { accountId }) }
    },
    async register(account, _hookUrl, signal) {
      await graph(account, `${pageOf(account)}/subscribed_apps`, { query: { subscribed_fields: subscribedFields }, signal })
      return {}
    },
    async unregister(account, signal) {
      await graph(account, `${pageOf(account)}/subscribed_apps`, { method: "DELETE", signal })
    },
  }
}

/** Buttons, whose taps arrive as messages with their texts. */
const repliesOf = ({ choices }: Part) =>
  choices && { quick_replies: choices.map((title) => ({ content_type: "text", title, payload: title })) }

/** A person may write for longer than the assistant, with a tag that says so. */
function occasionOf({ isByPerson, customerWroteAt }: Part) {
  const hours = customerWroteAt ? (Date.now() - customerWroteAt.getTime()) / HOUR : 0
  const isTagged = isByPerson && hours > portLimits.metaWindowHours
  return isTagged ? { messaging_type: "MESSAGE_TAG", tag: "HUMAN_AGENT" } : { messaging_type: "RESPONSE" }
}
