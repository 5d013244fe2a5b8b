import { systemContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import type { Statement } from "../database/unit-of-work.js"
import { clock } from "../entities/kit/clock.js"
import { storableJson } from "../entities/kit/storable.js"
import { entityLimits } from "../entities/limits.js"
import type { Event, Incoming } from "../ports/channel.js"
import type { Stored } from "./customer-chat.js"
import { type HookConnection, sibling } from "./hook-connection.js"
import { receiveItem } from "./items.js"
import { channelLimits } from "./limits.js"

/** Names what concerns the same chat, so that its order is kept. */
const laneOf = (item: Incoming) => ("chat" in item ? (item.chat?.externalId ?? "") : "")

/**
 * Stores what a channel reports, in its order, each item in a transaction of its own. After an item that cannot be stored, those of the same
 * chat are left out and the error is thrown at the end, so that the channel sends again; what was stored is recognized then. `raw` is the request, which
 * is kept with its first item that is not understood.
 */
export async function receive(
  services: Services,
  connection: HookConnection,
  events: Event[],
  raw: unknown = null,
): Promise<Stored | null> {
  let stored: Stored | null = null
  const failed = new Map<string, unknown>()
  const siblings = new Map<string, HookConnection | null>()
  const wrote = new Set<HookConnection>()
  // Once: a request of 3 MB may have thousands of items that are not understood.
  let unkept = raw
  for (const [index, { account, item: given }] of events.entries()) {
    const item = storableItem(given)
    if (!item) {
      services.log.info({ connectionId: connection.id, kind: given.kind }, "an event that cannot be stored was dropped")
      continue
    }
    if (account !== null && !siblings.has(account)) siblings.set(account, await sibling(services, connection, account))
    const target = account === null ? connection : siblings.get(account)
    if (!target) {
      services.log.info({ connectionId: connection.id, account }, "an event of an account that is not connected was dropped")
      continue
    }
    const lane = `${target.id} ${laneOf(item)}`
    if (failed.has(lane)) continue
    try {
      const kept = item.kind === "message" && item.isUnsupported ? unkept : null
      const store = () => receiveItem(services, target, item, kept)
      const isMany = index >= channelLimits.itemsWithoutTurn
      stored = (await (isMany ? services.turns.run(target.companyId, "work", store) : store())) ?? stored
      if (kept) unkept = null
      services.metrics.inbound.inc({ messenger: target.messenger, kind: item.kind })
      if (item.kind !== "message") continue
      wrote.add(target)
      if (item.acknowledge !== undefined) void services.running.add(acknowledge(services, target, item.acknowledge))
    } catch (error) {
      failed.set(lane, error)
    }
  }
  for (const target of wrote) await noteInbound(services, target)
  for (const error of failed.values()) throw error
  return stored
}

/** Tells the vendor that an event was handled, where it waits for that; best effort. */
async function acknowledge({ channels, log, stopping }: Services, { messenger, account }: HookConnection, reference: unknown) {
  await channels
    .adapter(messenger)
    ?.acknowledge?.(reference, account, stopping)
    .catch((error) => log.info({ err: error }, "an event could not be acknowledged"))
}

/** An item without what PostgreSQL refuses; null when it is nested too deeply, or an ID is empty or too long for an index. */
function storableItem(given: Incoming): Incoming | null {
  const item = storableJson(given) as Incoming | null
  if (!item) return null
  const chat = "chat" in item ? item.chat : null
  const { externalId, customer, from, to } = item as Record<string, unknown>
  const ids = [externalId, customer, from, to, chat?.externalId, ...(chat?.alsoKnownAs ?? [])]
  if (ids.some((id) => typeof id === "string" && !isUsable(id))) return null
  // A message is stored also when it quotes what cannot be found.
  return item.kind === "message" && item.quoted && !isUsable(item.quoted) ? { ...item, quoted: null } : item
}

const isUsable = (id: string) => id !== "" && id.length <= entityLimits.chatText

const noteStatement: Statement = {
  name: "note-inbound",
  text: `
    update channel set last_inbound_at = $3 where company_id = any($2::uuid[]) and id = (
      select id from channel where id = $1 and company_id = any($2::uuid[]) and (last_inbound_at is null or last_inbound_at < $3)
      for no key update skip locked
    )`,
}

/** Writes `lastInboundAt`, at most once a minute; while the row is locked a later request does, so that no customer's message waits for it. */
async function noteInbound(services: Services, { id, companyId, lastInboundAt }: HookConnection) {
  const now = clock.now()
  if (lastInboundAt && now.getTime() - lastInboundAt.getTime() < channelLimits.lastInboundEveryMs) return
  const context = systemContext(services, companyId)
  await context.statement(noteStatement, [id, context.companyIds, now])
}
