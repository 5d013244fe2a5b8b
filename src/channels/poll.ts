import type { Lease } from "../context/lease.js"
import type { RequestContext } from "../context/request-context.js"
import type { Channel } from "../entities/channel.js"
import { clock } from "../entities/kit/clock.js"
import type { Failure } from "../entities/kit/work-state.js"
import { type ChannelAdapter, ChannelFailure } from "../ports/channel.js"
import { type HookConnection, hookConnectionOf } from "./hook-connection.js"
import { receive } from "./receive.js"

/** A poll of a connection, from the state that the last one left. */
export interface Poll {
  connection: HookConnection
  state: unknown
}

/** Whether a connection is polled: its vendor calls no hook, or cannot, because the server has no public address. */
export const isPolled = ({ poll }: ChannelAdapter, publicUrl: string | null) =>
  poll?.when === "always" || (poll?.when === "without hook" && !publicUrl)

/** Reads what a poll needs, in the transaction that claims it; null when the connection is not polled any more. */
export async function beginPoll({ services }: RequestContext, channel: Channel): Promise<Poll | null> {
  const adapter = services.channels.adapter(channel.messenger)
  if (!channel.isActive || !adapter || !isPolled(adapter, services.config.publicUrl)) return null
  const connection = await hookConnectionOf(services, channel.id)
  return connection && { connection, state: channel.pollState }
}

/** Reads new events from the vendor, stores them, and then from where the next poll continues. */
export async function pollChannel(lease: Lease<Channel>, { connection, state }: Poll): Promise<void> {
  const { services } = lease.context
  const { run, everyMs } = services.channels.adapter(connection.messenger)!.poll!
  const read = await run(connection.account, state, lease.signal)
  await receive(services, connection, read.events)
  await lease.store((channel) => {
    channel.keepUpdatedAt()
    channel.pollState = read.state
    channel.setProblem(null)
    channel.expectWork(channel.polling, new Date(clock.now().getTime() + everyMs))
  })
}

/** A failed poll is repeated; refused credentials are shown on the connection. */
export function pollFailure({ request: { log } }: RequestContext, error: unknown): Failure & { isRefused: boolean } {
  const isRefused = error instanceof ChannelFailure && error.options.kind === "credentials"
  if (!(error instanceof ChannelFailure)) log.error({ err: error }, "a connection could not be polled")
  const retryAfterMs = error instanceof ChannelFailure ? error.options.retryAfterMs : undefined
  return {
    reason: error instanceof Error ? error.message : "It could not be polled",
    isRefused,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}
