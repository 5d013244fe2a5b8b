import { ChannelItem } from "../entities/channel-item.js"
import { clock } from "../entities/kit/clock.js"
import type { HookConnection } from "./hook-connection.js"
import { channelLimits } from "./limits.js"

type Kept = Pick<ChannelItem, "item"> & Partial<Pick<ChannelItem, "externalId" | "chatId">>
type Owner = Pick<HookConnection, "id" | "companyId">

/** A row for an item of a connection, which is deleted after some time. */
export function itemRow(
  { id: channelId, companyId }: Owner,
  state: ChannelItem["state"],
  kept: Kept,
  lifeMs: number = channelLimits.earlyItemMs,
): ChannelItem {
  const expiresAt = new Date(clock.now().getTime() + lifeMs)
  return Object.assign(new ChannelItem(), { companyId, channelId, state, expiresAt, ...kept })
}

/** A row for an item that a job handles, after a pause if one is given. */
export function waitingRow(owner: Owner, kept: Kept, pauseMs = 0): ChannelItem {
  const row = itemRow(owner, "waiting", kept)
  row.expectWork(row.handling, new Date(clock.now().getTime() + pauseMs))
  return row
}
