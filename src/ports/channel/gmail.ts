import { z } from "zod"
import { type Account, type ChannelAdapter, ChannelFailure, type Event, type Part } from "../channel.js"
import { portLimits } from "../limits.js"
import { GmailApi, type GmailOptions, isMissing } from "./gmail-api.js"
import { idsOfNewMails, pollState } from "./gmail-history.js"
import { Mail, type MailContent } from "./mail.js"
import { domainOf, sentPartId } from "./mail-incoming.js"
import { writeMime } from "./mail-mime.js"
import type { MailReader } from "./mail-reader.js"
import { type Outgoing, outgoingOf } from "./mail-thread.js"

const mailFields = z.object({ id: z.string(), threadId: z.string(), labelIds: z.array(z.string()).catch([]), raw: z.string() })
const sentFields = z.object({ id: z.string(), threadId: z.string().optional() })
const listFields = z.object({ messages: z.array(z.object({ id: z.string() })).catch([]) })
const metadataFields = z.object({
  threadId: z.string().optional(),
  payload: z.object({ headers: z.array(z.object({ name: z.string(), value: z.string() })).catch([]) }),
})
const fileReference = z.object({ id: z.string(), index: z.int() })

/** The adapter of mailboxes of Gmail, whose mails are read by `mails`. */
export function gmail(options: GmailOptions, mails: MailReader): ChannelAdapter {
  const api = new GmailApi(options)

  /** A mail as it was transferred; null when it is gone. */
  async function rawOf(id: string, account: Account, signal: AbortSignal) {
    const found = await api.read(mailFields, `messages/${encodeURIComponent(id)}?format=raw`, account, signal)
    return found && { ...found, bytes: Buffer.from(found.raw, "base64url") }
  }

  async function eventsOf(id: string, account: Account, signal: AbortSignal): Promise<Event[]> {
    const found = await rawOf(id, account, signal)
    const labels = new Set(found?.labelIds)
    const isSent = labels.has("SENT")
    if (!found || ["SPAM", "TRASH", "DRAFT"].some((label) => labels.has(label)) || !(isSent || labels.has("INBOX"))) return []
    const source = { id, threadId: found.threadId, own: addressOf(account), isSent }
    return (await mails.items(found.bytes, source, account, signal)).map((item) => ({ account: null, item }))
  }

  /** Headers of a mail; null when it is gone. */
  async function headersOf(id: string, account: Account, signal: AbortSignal) {
    const names = ["Message-ID", "X-Part-Id", "References"].map((name) => `&metadataHeaders=${name}`).join("")
    const path = `messages/${encodeURIComponent(id)}?format=metadata${names}`
    const found = await api.read(metadataFields, path, account, signal)
    const headers = found?.payload.headers.map(({ name, value }) => ({ key: name.toLowerCase(), value }))
    return headers ? { mail: new Mail({ ...nothing, headers }), threadId: found?.threadId ?? null } : null
  }

  async function post(raw: Buffer, threadId: string | null, account: Account, signal: AbortSignal) {
    const request = raw.length > portLimits.gmailUploadBytes ? uploadOf(raw, threadId) : simpleOf(raw, threadId)
    return sentFields.safeParse(await api.call(request.path, account, { ...request, timeoutMs: portLimits.vendorUploadMs, signal })).data
  }

  /** Gmail replaces the Message-ID, by which customers answer. */
  async function acceptedOf(id: string, outgoing: Outgoing, account: Account, signal: AbortSignal) {
    const { thread } = outgoing
    const found = await headersOf(id, account, signal).catch((error) => {
      // The mail was sent; its reference names it too.
      if (error instanceof ChannelFailure) return null
      throw error
    })
    const messageId = found?.mail.messageId ?? thread.messageId
    const references = messageId === thread.messageId ? thread.references : outgoing.references
    return { externalId: messageId, data: { ...thread, messageId, references, ...(found?.threadId && { threadId: found.threadId }) } }
  }

  return {
    capabilities: {
      replies: "any",
      mediaBytes: {
        image: portLimits.gmailFileBytes,
        video: portLimits.gmailFileBytes,
        audio: portLimits.gmailFileBytes,
        document: portLimits.gmailFileBytes,
      },
      together: true,
      captionLength: portLimits.mailText,
      textLength: portLimits.mailText,
      textUnit: "code points",
      windowHours: null,
      typing: false,
      receipts: [],
      perSecond: portLimits.gmailPerSecond,
      doubt: "find",
    },
    credentials: ["clientId", "clientSecret", "refreshToken"],
    signatureHeader: null,
    verify: () => false,
    hookStatus: 200,
    parse: () => [],

    async download(reference, account, signal) {
      const { data } = fileReference.safeParse(reference)
      const found = data && (await rawOf(data.id, account, signal))
      const file = found && (await mails.file(found.bytes, data.index, account, signal))
      if (!file) throw new ChannelFailure("Gmail no longer has the mail", { kind: "permanent", code: "REFUSED" })
      return file
    },

    async send(part, account, signal) {
      const outgoing = outgoingFor(part, account)
      const { threadId = null } = outgoing.thread
      const raw = await writeMime(part, { name: account.name, address: addressOf(account) }, outgoing)
      const sent = await post(raw, threadId, account, signal).catch((error) => {
        // Somebody has deleted the thread.
        if (threadId && isMissing(error)) return post(raw, null, account, signal)
        throw error
      })
      if (!sent) throw new ChannelFailure("Gmail sent a response that cannot be read", { kind: "doubt", code: "CHANNEL_UNAVAILABLE" })
      return await acceptedOf(sent.id, outgoing, account, signal)
    },

    async find(part, account, signal) {
      const path = `messages?labelIds=SENT&maxResults=${portLimits.gmailSentMails}`
      for (const { id } of (await api.read(listFields, path, account, signal))?.messages ?? []) {
        const found = await headersOf(id, account, signal)
        if (found && sentPartId(found.mail, domainOf(addressOf(account))) === part.id)
          return await acceptedOf(id, outgoingFor(part, account), account, signal)
      }
      return null
    },

    async check(account, signal) {
      await api.renew(account, signal)
      return await api.profile(account, signal)
    },
    // Mail is polled.
    register: async () => ({}),
    unregister: async () => {},

    poll: {
      when: "always",
      everyMs: portLimits.gmailPollMs,
      async run(account, state, signal) {
        const known = pollState.parse(state)
        const historyId = known?.historyId ?? account.credentials["historyId"] ?? (await api.profile(account, signal)).historyId
        const { waiting = [], since = null } = known ?? {}
        const polled =
          waiting.length > 0 ? { historyId, since, ids: waiting } : await idsOfNewMails(api, account, { historyId, since }, signal)
        const events: Event[] = []
        for (const id of polled.ids.slice(0, portLimits.gmailPollMails)) events.push(...(await eventsOf(id, account, signal)))
        const next = { historyId: polled.historyId, since: polled.since, waiting: polled.ids.slice(portLimits.gmailPollMails) }
        return { state: next, events }
      },
    },
  }
}

const nothing: MailContent = { headers: [], text: null, html: null, files: [], reports: [] }

/** The address of the mailbox, which Gmail tells when it is connected. */
const addressOf = ({ credentials, externalId }: Account) => (credentials["emailAddress"] ?? externalId).toLowerCase()

const outgoingFor = (part: Part, account: Account) => outgoingOf(part, account, domainOf(addressOf(account)))

const simpleOf = (raw: Buffer, threadId: string | null) => ({
  path: "/gmail/v1/users/me/messages/send",
  json: { raw: raw.toString("base64url"), ...(threadId && { threadId }) },
})

/** A mail of any size, as multipart/related. */
function uploadOf(raw: Buffer, threadId: string | null) {
  const boundary = "part-of-the-upload"
  const metadata = JSON.stringify(threadId ? { threadId } : {})
  const body = [
    ...[`--${boundary}`, "Content-Type: application/json; charset=UTF-8", "", metadata],
    ...[`--${boundary}`, "Content-Type: message/rfc822", "", raw.toString("latin1")],
    `--${boundary}--`,
  ].join("\r\n")
  const headers = { "content-type": `multipart/related; boundary=${boundary}` }
  return { path: "/upload/gmail/v1/users/me/messages/send?uploadType=multipart", headers, body }
}
