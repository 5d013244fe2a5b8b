import { LockMode } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import { together } from "../database/together.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { ChannelItem } from "../entities/channel-item.js"
import { Chat } from "../entities/chat.js"
import { oncePer } from "../once-per.js"
import type { Incoming } from "../ports/channel.js"
import { applyChange, type Change } from "./changes.js"
import { applyReceipt } from "./receipts.js"

/** Applies what came before these messages of a chat, which must be locked. */
export async function applyEarly(tx: RequestContext, chat: Chat, channelId: string, externalIds: (string | null)[]) {
  const known = externalIds.filter((id) => id !== null)
  if (known.length === 0) return
  const { em } = tx
  const early = await em.find(ChannelItem, { channelId, state: "early", externalId: { $in: known } }, { orderBy: { id: "asc" } })
  if (early.length === 0) return
  await tx.unit.flush()
  for (const row of early) {
    const item = row.item as Incoming
    const isApplied = item.kind === "receipt" ? await applyReceipt(tx, chat, item) : await applyChange(tx, chat, item as Change)
    if (isApplied) em.remove(row)
  }
}

type EarlyKey = Pick<ChannelItem, "channelId" | "externalId">

const earlyItems: Statement<{ position: number }> = {
  name: "early-items",
  text: `
    select each.position::int from unnest($1::uuid[], $2::text[]) with ordinality as each (channel_id, external_id, position)
    where exists (
      select from channel_item i where i.channel_id = each.channel_id and i.external_id = each.external_id and i.state = 'early'
    )`,
}

/** Whether something came before a message; the questions of concurrent messages are one statement. */
const earlyOf = oncePer((services: Services) => {
  const find = async (keys: readonly EarlyKey[]) => {
    const rows = await unscoped(services.database, earlyItems, [
      keys.map(({ channelId }) => channelId),
      keys.map(({ externalId }) => externalId),
    ])
    const found = new Set(rows.map(({ position }) => position - 1))
    return keys.map((_key, index) => found.has(index))
  }
  return together(find)
})

/**
 * Applies what came before a message that one statement has stored: such a statement does not see what was committed while it waited for the
 * lock of the chat. What comes later finds the message.
 */
export async function applyMissed(context: RequestContext, chatId: string, channelId: string, externalIds: (string | null)[]) {
  const known = externalIds.filter((id) => id !== null)
  const found = await Promise.all(known.map((externalId) => earlyOf(context.services)({ channelId, externalId })))
  if (!found.includes(true)) return
  await context.transaction(async (tx) => {
    const chat = await tx.em.findOne(Chat, { id: chatId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    if (chat) await applyEarly(tx, chat, channelId, known)
  })
}
