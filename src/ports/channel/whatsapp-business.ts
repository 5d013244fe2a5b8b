import type { Account, ChannelAdapter, OutgoingFile, Part } from "../channel.js"
import { objectOf, objectsOf, stringOf } from "../kit/untrusted-json.js"
import { portLimits } from "../limits.js"
import { challenge, faultOf, graphOf, isOwn, type MetaOptions, signatureHeader, unreadable, verify } from "./meta.js"
import { whatsappEvents } from "./whatsapp-events.js"

const { whatsappImageBytes, whatsappVideoBytes, whatsappDocumentBytes, whatsappText, whatsappCaption } = portLimits

const office = (kind: string) => `application/vnd.openxmlformats-officedocument.${kind}`

/** Files that WhatsApp takes. */
const mediaTypes = [
  ...["image/jpeg", "image/png", "video/mp4", "video/3gpp"],
  ...["audio/aac", "audio/amr", "audio/mpeg", "audio/mp4", "audio/x-m4a", "audio/ogg"],
  ...["text/plain", "text/csv", "application/pdf", "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"],
  ...[office("wordprocessingml.document"), office("spreadsheetml.sheet"), office("presentationml.presentation")],
]

/** Types that WhatsApp takes by another name. */
const typeForUpload: Readonly<Record<string, string>> = { "text/csv": "text/plain", "audio/x-m4a": "audio/mp4" }

/** The ID of a person whose phone number is hidden: a country and letters or digits. */
const isScopedId = (id: string) => /^[A-Z]{2}\.\w/.test(id)

/** WhatsApp through Meta's Cloud API: the chats of one phone number. */
export function whatsappBusiness(options: MetaOptions): ChannelAdapter {
  const graph = graphOf(options)
  const numberOf = ({ credentials }: Account) => encodeURIComponent(credentials["phoneNumberId"] ?? "")

  async function upload(file: OutgoingFile, account: Account, signal: AbortSignal): Promise<string> {
    const type = typeForUpload[file.mimeType] ?? file.mimeType
    const form = new FormData()
    form.set("messaging_product", "whatsapp")
    form.set("type", type)
    form.set("file", new Blob([await file.bytes()], { type }), file.filename)
    const id = stringOf((await graph(account, `${numberOf(account)}/media`, { form, signal }))["id"])
    if (!id) throw unreadable("retry")
    return id
  }

  async function contentOf({ text, files, template, choices }: Part, account: Account, signal: AbortSignal) {
    if (template) {
      const { name, language, components } = template
      return { type: "template", template: { name, language: { code: language }, ...(components && { components }) } }
    }
    if (choices) return { type: "interactive", interactive: listOf(text ?? "", choices) }
    const [file] = files
    if (!file) return { type: "text", text: { body: text ?? "" } }
    const id = await upload(file, account, signal)
    const caption = text && file.kind !== "audio" ? { caption: text } : {}
    const filename = file.kind === "document" ? { filename: file.filename } : {}
    return { type: file.kind, [file.kind]: { id, ...caption, ...filename } }
  }

  async function configureHook(account: Account, configuration: Record<string, string>, signal: AbortSignal) {
    await graph(account, numberOf(account), { json: { webhook_configuration: configuration }, signal })
  }

  return {
    capabilities: {
      replies: "any",
      mediaBytes: { image: whatsappImageBytes, video: whatsappVideoBytes, audio: whatsappVideoBytes, document: whatsappDocumentBytes },
      mediaTypes,
      captionLength: whatsappCaption,
      withoutCaption: ["audio"],
      textLength: whatsappText,
      textUnit: "utf16",
      windowHours: portLimits.metaWindowHours,
      templates: true,
      typing: true,
      receipts: ["delivered", "read"],
      perSecond: portLimits.whatsappPerSecond,
      doubt: "wait",
    },
    credentials: ["accessToken", "phoneNumberId", "appSecret", "verifyToken"],
    faultOf: (credentials) =>
      faultOf(credentials) ?? (/^\d+$/.test(credentials["phoneNumberId"] ?? "") ? null : "phoneNumberId must be digits"),
    signatureHeader,
    verify,
    challenge,
    hookStatus: 200,
    parse: whatsappEvents,
    async download(reference, account, signal) {
      const id = encodeURIComponent(stringOf(objectOf(reference)["id"]) ?? "")
      const url = stringOf((await graph(account, id, { method: "GET", signal }))["url"])
      if (!url) throw unreadable("retry")
      return { url, headers: { authorization: `Bearer ${account.credentials["accessToken"]}` }, isOwn: isOwn(url, options) }
    },
    async send(part, account, signal) {
      const content = await contentOf(part, account, signal)
      const json = {
        messaging_product: "whatsapp",
        ...addressOf(part.chat),
        ...content,
        ...(part.quoted && { context: { message_id: part.quoted.externalId } }),
        biz_opaque_callback_data: part.id,
      }
      const taken = await graph(account, `${numberOf(account)}/messages`, { json, isMessage: true, signal })
      const externalId = stringOf(objectsOf(taken["messages"])[0]?.["id"])
      if (!externalId) throw unreadable("doubt")
      return { externalId }
    },
    async typing({ lastExternalId }, account, signal) {
      if (!lastExternalId) return
      const read = { messaging_product: "whatsapp", status: "read", message_id: lastExternalId }
      await graph(account, `${numberOf(account)}/messages`, { json: { ...read, typing_indicator: { type: "text" } }, signal })
    },
    async check(account, signal) {
      await graph(account, numberOf(account), { method: "GET", query: { fields: "id,display_phone_number,verified_name" }, signal })
      return {}
    },
    async register(account, hookUrl, signal) {
      if (hookUrl === null) return {}
      const verifyToken = account.credentials["verifyToken"] ?? ""
      await configureHook(account, { override_callback_uri: hookUrl, verify_token: verifyToken }, signal)
      return {}
    },
    async unregister(account, signal) {
      await configureHook(account, { override_callback_uri: "" }, signal)
    },
  }
}

/** A list to choose from: buttons would be three at most. The choice arrives as a message with its title. */
const listOf = (text: string, choices: string[]) => ({
  type: "list",
  body: { text },
  action: { button: `${choices[0]} – ${choices.at(-1)}`, sections: [{ rows: choices.map((title) => ({ id: title, title })) }] },
})

function addressOf({ externalId, isGroup }: Part["chat"]): Record<string, string> {
  if (isGroup) return { recipient_type: "group", to: externalId }
  return isScopedId(externalId) ? { recipient: externalId } : { to: externalId }
}
