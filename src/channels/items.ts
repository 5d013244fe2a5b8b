import { LockMode } from "@mikro-orm/postgresql"
import { type RequestContext, systemContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import { ChannelItem } from "../entities/channel-item.js"
import { Chat } from "../entities/chat.js"
import { Conflict } from "../errors/errors.js"
import type { Incoming } from "../ports/channel.js"
import { applyChange } from "./changes.js"
import { addIdentities, idsOf, lockedChat, type Stored } from "./customer-chat.js"
import type { HookConnection } from "./hook-connection.js"
import { itemRow, waitingRow } from "./item-row.js"
import { receiveMessage } from "./message.js"
import { applyReceipt, chatOfReceipt, type Receipt } from "./receipts.js"

/** Stores one item; null when it is no message, or one that is not stored. */
export async function receiveItem(services: Services, connection: HookConnection, item: Incoming, raw: unknown): Promise<Stored | null> {
  const context = systemContext(services, connection.companyId)
  const store = () => storeItem(context, connection, item, raw)
  // A unique index refused the second of two concurrent items: it finds what the first one stored now.
  return store().catch((error) => {
    if (error instanceof Conflict) return store()
    throw error
  })
}

async function storeItem(context: RequestContext, connection: HookConnection, item: Incoming, raw: unknown): Promise<Stored | null> {
  if (item.kind === "message") return receiveMessage(context, connection, item, raw)
  await context.transaction(async (tx) => {
    if (item.kind === "receipt") return storeReceipt(tx, connection, item)
    if (item.kind === "moved") return moveChat(tx, connection, item)
    if (item.kind === "reference") return keepReference(tx, connection, item)
    const chat = item.chat ? await lockedChat(tx, connection, idsOf(item.chat)) : await chatOfMessage(tx, connection, item.externalId)
    if (!chat || !(await applyChange(tx, chat, item)))
      tx.em.persist(itemRow(connection, "early", { externalId: item.externalId, item, chatId: chat?.id ?? null }))
  })
  return null
}

async function storeReceipt(tx: RequestContext, connection: HookConnection, receipt: Receipt) {
  const { customer } = receipt
  const chat = customer
    ? await lockedChat(tx, connection, [customer])
    : await lockedById(tx, connection, await chatOfReceipt(tx, connection, receipt))
  if (chat && (await applyReceipt(tx, chat, receipt))) return
  const id = receipt.externalId ?? receipt.messageId
  if (id) tx.em.persist(itemRow(connection, "early", { externalId: id, item: receipt, chatId: chat?.id ?? null }))
}

/** A chat of a connection by its ID; locked. Null for a chat of another connection, of whose messages this one reports nothing. */
const lockedById = ({ em }: RequestContext, { messenger, externalId: fromId }: HookConnection, id: string | null) =>
  id ? em.findOne(Chat, { id, messenger, fromId }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null

/** The chat of a message whose ID is unique on the connection; locked. */
const chatOfMessage = async (tx: RequestContext, connection: HookConnection, externalId: string) =>
  lockedById(tx, connection, await chatOfReceipt(tx, connection, { kind: "receipt", status: "sent", externalId }))

/** A customer's ID has changed; both IDs find the chat from now on. */
async function moveChat(tx: RequestContext, connection: HookConnection, { from, to, phoneNumber }: Extract<Incoming, { kind: "moved" }>) {
  const [chat, other] = [await lockedChat(tx, connection, [from]), await lockedChat(tx, connection, [to])]
  if (!chat || other) return
  chat.externalId = to
  if (phoneNumber) chat.phoneNumber = phoneNumber
  chat.changed()
  await addIdentities(tx, chat, [from])
}

/** Keeps an item whose content is asked for by a job; one that is known already is not kept again. */
async function keepReference({ em }: RequestContext, connection: HookConnection, item: Extract<Incoming, { kind: "reference" }>) {
  const { externalId } = item
  if (await em.findOne(ChannelItem, { channelId: connection.id, externalId, state: { $in: ["waiting", "done"] } })) return
  em.persist(waitingRow(connection, { externalId, item }))
}
