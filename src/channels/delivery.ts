import { buffer } from "node:stream/consumers"
import type { RequestContext } from "../context/request-context.js"
import { Channel } from "../entities/channel.js"
import { ChannelMessage } from "../entities/channel-message.js"
import type { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import { Media } from "../entities/media.js"
import { Message } from "../entities/message.js"
import { MessageMedia } from "../entities/message-media.js"
import { undeliverable } from "../messages/undeliverable.js"
import { type Account, ChannelFailure, type OutgoingFile, type Part } from "../ports/channel.js"
import { accountOf } from "./account.js"
import { channelLimits } from "./limits.js"
import { kindOf } from "./parts.js"

/** A message that is being sent, as it was when its delivery was claimed. */
export interface Delivery {
  chatId: string
  runId: string
  messageId: string
  messenger: Chat["messenger"]
  account: Account
  /** Whether the connection is marked as refused by its vendor. */
  hasProblem: boolean
  content: Pick<Part, "text" | "files" | "template" | "choices">
  /** What all parts of the message have in common. */
  address: Omit<Part, "id" | "messageId" | "text" | "files" | "template" | "choices">
  /** Whether the claim has recorded already that the first request leaves. */
  isMarked: boolean
  /** What the adapter returned to be stored with the message. */
  data?: unknown
  state: Pick<ChannelMessage, "accepted" | "sendingSince" | "failures" | "mayBeTwice" | "queuedAt">
}

/** Reads the oldest queued message of a chat, in the transaction that claims its delivery; null when none waits. */
export async function beginDelivery(tx: RequestContext, chat: Chat, runId: string): Promise<Delivery | null> {
  const { em } = tx
  chat.keepUpdatedAt()
  const message = await nextOf(tx, chat.id)
  if (!message) return null
  const { companyId, messenger } = chat
  const channel = await em.findOne(Channel, { companyId, messenger, externalId: chat.fromId, isActive: true })
  if (!channel || !chat.externalId) {
    await failAll(tx, chat, channel ? undeliverable.noCustomer : undeliverable.noConnection(messenger, chat.fromId))
    return null
  }
  const state = (await em.findOne(ChannelMessage, { messageId: message.id })) ?? newState(tx, message)
  const { accepted, sendingSince, failures, mayBeTwice, queuedAt } = state
  return {
    chatId: chat.id,
    runId,
    messageId: message.id,
    messenger,
    account: accountOf(channel, tx.services.secrets),
    hasProblem: channel.problem !== null,
    content: { text: message.text, files: await filesOf(tx, message), template: state.template, choices: state.choices },
    address: await addressOf(tx, chat, message, state),
    isMarked: false,
    state: { accepted, sendingSince, failures, mayBeTwice, queuedAt },
  }
}

/** The oldest queued message of a chat. */
export const nextOf = ({ em }: RequestContext, chatId: string) =>
  em.findOne(Message, { chatId, status: "queued" }, { orderBy: { sequence: "asc" } })

function newState({ em }: RequestContext, message: Message): ChannelMessage {
  const state = ChannelMessage.of(message, { queuedAt: new Date(message.createdAt) })
  em.persist(state)
  return state
}

/** Fails all queued messages of a chat that cannot be sent at all. */
async function failAll({ em }: RequestContext, chat: Chat, reason: string) {
  for (const message of await em.find(Message, { chatId: chat.id, status: "queued" })) message.fail("NOT_CONNECTED", reason)
}

async function addressOf(tx: RequestContext, chat: Chat, message: Message, state: ChannelMessage): Promise<Delivery["address"]> {
  const { em, services } = tx
  state.answers ??= await answersOf(tx, chat, message)
  const { windowHours } = services.channels.capabilities(chat.messenger)
  const written = windowHours ? await em.findOne(Message, { chatId: chat.id, role: "Customer" }, { orderBy: { sequence: "desc" } }) : null
  return {
    ...state.answers,
    chat: { externalId: chat.externalId!, isGroup: chat.isGroup },
    isByPerson: message.role === "User" && message.authorId !== null,
    isByAssistant: message.role === "Assistant",
    customerWroteAt: written?.createdAt ?? null,
  }
}

/** The quoted message, and the last one of which the adapter keeps something. */
async function answersOf({ em, services }: RequestContext, chat: Chat, message: Message): Promise<Pick<Part, "quoted" | "last">> {
  const quoted = message.replyToMessageId ? await em.findOne(Message, { id: message.replyToMessageId }) : null
  const data = quoted && (await em.findOne(ChannelMessage, { messageId: quoted.id }))?.data
  const last = await em.findOne(ChannelMessage, { chatId: chat.id, data: { $ne: null } }, { orderBy: { createdAt: "desc" } })
  const lastMessage = last && (await em.findOne(Message, { id: last.messageId }))
  // A connector knows our IDs too.
  const quotedId = quoted?.externalId ?? (services.channels.adapter(chat.messenger)?.hasOwnIds ? quoted?.id : null)
  return {
    quoted: quotedId ? { externalId: quotedId, data: data ?? null } : null,
    last: last && { externalId: lastMessage?.externalId ?? null, data: last.data },
  }
}

async function filesOf({ em, services }: RequestContext, { id, type }: Message): Promise<OutgoingFile[]> {
  if (type === "Text") return []
  const links = await em.find(MessageMedia, { messageId: id }, { orderBy: { position: "asc" } })
  const media = new Map((await em.find(Media, { id: { $in: links.map(({ mediaId }) => mediaId) } })).map((each) => [each.id, each]))
  return links.map(({ mediaId }) => fileOf(services, media.get(mediaId)!))
}

const fileOf = ({ storage, mediaUrls }: RequestContext["services"], { id, filename, mimeType, size, storageKey }: Media): OutgoingFile => ({
  filename,
  mimeType,
  size,
  kind: kindOf(mimeType),
  url: mediaUrls.of(id, channelLimits.bridgeUrlSeconds),
  async bytes() {
    const content = await storage.read(storageKey)
    if (!content) throw new ChannelFailure(`The file ${filename} is missing in the storage`, { kind: "permanent", code: "CONTENT_REFUSED" })
    return new Uint8Array(await buffer(content))
  },
})

/** The next queued message of the chat is due now. */
export async function goOn(tx: RequestContext, chat: Chat) {
  chat.keepUpdatedAt()
  await tx.unit.flush()
  if (await nextOf(tx, chat.id)) chat.expectWork(chat.delivery, clock.now())
}
