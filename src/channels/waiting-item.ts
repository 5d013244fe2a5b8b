import { LockMode } from "@mikro-orm/postgresql"
import type { Lease } from "../context/lease.js"
import type { RequestContext } from "../context/request-context.js"
import type { ChannelItem } from "../entities/channel-item.js"
import { Chat } from "../entities/chat.js"
import type { Failure } from "../entities/kit/work-state.js"
import { ChannelFailure, type Incoming } from "../ports/channel.js"
import { type HookConnection, hookConnectionOf } from "./hook-connection.js"
import type { ProfileItem } from "./message.js"
import { receive } from "./receive.js"
import { storableName } from "./text.js"

/** An item whose content is asked for, or that has waited. */
export interface WaitingItem {
  item: Incoming | ProfileItem
  chatId: string | null
  connection: HookConnection
}

/** Reads an item, in the transaction that claims it; null when its connection is gone. */
export async function beginItem({ services }: RequestContext, row: ChannelItem): Promise<WaitingItem | null> {
  const connection = await hookConnectionOf(services, row.channelId)
  if (connection) return { item: row.item as WaitingItem["item"], chatId: row.chatId, connection }
  row.state = "done"
  return null
}

/** Asks the channel for the content of an item, and stores it. */
export async function handleItem(lease: Lease<ChannelItem>, { item, chatId, connection }: WaitingItem): Promise<void> {
  const { services } = lease.context
  const adapter = services.channels.adapter(connection.messenger)!
  if (item.kind === "profile") {
    const profile = await adapter.profile!(item.customer, connection.account, lease.signal)
    await lease.store((row, tx) => storeProfile(tx, row, chatId!, profile))
    return
  }
  const events =
    item.kind === "reference" ? await adapter.complete!(item.reference, connection.account, lease.signal) : [{ account: null, item }]
  await receive(services, connection, events)
  await lease.store((row) => {
    row.state = "done"
  })
}

/** Gives a chat the names that the channel knows; those that it has by now are kept. */
async function storeProfile(
  tx: RequestContext,
  row: ChannelItem,
  chatId: string,
  { name, username }: { name?: string | null; username?: string | null },
) {
  row.state = "done"
  const chat = await tx.em.findOne(Chat, { id: chatId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (!chat) return
  const before = [chat.name, chat.username].join("\n")
  chat.name ??= storableName(name)
  chat.username ??= storableName(username)
  if (before !== [chat.name, chat.username].join("\n")) chat.changed()
}

/** How a failed try is repeated. */
export function itemFailure({ request: { log } }: RequestContext, error: unknown): Failure {
  if (error instanceof ChannelFailure) return { reason: error.message, ...(error.options.kind === "permanent" && { tries: 1 }) }
  log.error({ err: error }, "an item of a channel could not be handled")
  return { reason: "It could not be handled" }
}
