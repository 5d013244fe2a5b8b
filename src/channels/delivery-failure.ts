import type { RequestContext } from "../context/request-context.js"
import { Channel } from "../entities/channel.js"
import { ChannelMessage } from "../entities/channel-message.js"
import { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import type { DeliveryErrorCode } from "../entities/kit/delivery-error.js"
import { doubling } from "../entities/kit/work-state.js"
import { Message } from "../entities/message.js"
import type { Capabilities, ChannelFailure } from "../ports/channel.js"
import { type Delivery, goOn } from "./delivery.js"
import { channelLimits } from "./limits.js"

const { deliveryRetryBaseMs, deliveryRetryMaxMs, deliveryExpiryMs, doubtWaitMs, hourMs } = channelLimits
const pauseMs = doubling(deliveryRetryBaseMs, deliveryRetryMaxMs)

/** Stores that an attempt failed: the message is tried again, or it has failed and the next one is due. */
export async function afterFailure(tx: RequestContext, chat: Chat, delivery: Delivery, failure: ChannelFailure) {
  const { em, services } = tx
  const { messageId, messenger, account, state } = delivery
  const message = await em.findOneOrFail(Message, { id: messageId })
  const stored = await em.findOneOrFail(ChannelMessage, { messageId })
  // A receipt has shown meanwhile that the channel took the part.
  if (stored.accepted.length > state.accepted.length) return void chat.expectWork(chat.delivery, clock.now())
  const { kind, code, movedTo } = failure.options
  const isDoubtful = kind === "doubt" && state.sendingSince !== null
  Object.assign(stored, { accepted: state.accepted, mayBeTwice: state.mayBeTwice, failures: stored.failures + 1 })
  stored.sendingSince = isDoubtful ? state.sendingSince : null
  if (kind === "credentials") (await em.findOne(Channel, { id: account.connectionId }))?.setProblem(failure.message)
  const isMoved = movedTo !== undefined && (await move(tx, chat, movedTo))
  const capabilities = services.channels.capabilities(messenger)
  const end = isMoved ? null : endOf(delivery, stored, failure, capabilities)
  services.metrics.deliveries.inc({ messenger, outcome: end ? code : "retried" })
  // A receipt may have come before the channel's response.
  if (message.status !== "queued") return goOn(tx, chat)
  if (stored.isWithdrawn) message.cancel()
  else if (end) message.fail(end.code, end.reason)
  else {
    const wait = isMoved ? 0 : waitMs(stored, failure, isDoubtful && capabilities.doubt === "wait")
    return void chat.expectWork(chat.delivery, new Date(clock.now().getTime() + wait))
  }
  return goOn(tx, chat)
}

/** The chat has another ID on its channel from now on; false when there is a chat with that ID already. */
async function move({ em }: RequestContext, chat: Chat, externalId: string): Promise<boolean> {
  const { companyId, messenger, fromId } = chat
  if (await em.findOne(Chat, { companyId, messenger, fromId, externalId })) return false
  chat.externalId = externalId
  return true
}

/** Why the message is not tried again; null when it is. */
function endOf(
  delivery: Delivery,
  { queuedAt, failures }: ChannelMessage,
  failure: ChannelFailure,
  capabilities: Capabilities,
): { code: DeliveryErrorCode; reason: string } | null {
  const { kind, code, retryAfterMs = 0, movedTo } = failure.options
  if (kind === "permanent" || movedTo) return { code, reason: failure.message }
  const next = clock.now().getTime() + Math.max(pauseMs(failures), retryAfterMs)
  if (next > queuedAt.getTime() + deliveryExpiryMs) return { code: code === "REFUSED" ? "EXPIRED" : code, reason: failure.message }
  const { customerWroteAt, isByPerson } = delivery.address
  const hours = (isByPerson && capabilities.personWindowHours) || capabilities.windowHours
  if (hours && customerWroteAt && next > customerWroteAt.getTime() + hours * hourMs)
    return { code: "WINDOW_CLOSED", reason: `The channel's window of ${hours} hours has closed; before: ${failure.message}` }
  return null
}

function waitMs({ failures }: ChannelMessage, { options }: ChannelFailure, waitsForStatus: boolean): number {
  const wait = Math.max(pauseMs(failures), Math.min(options.retryAfterMs ?? 0, deliveryExpiryMs))
  return waitsForStatus ? Math.max(wait, doubtWaitMs) : wait
}
