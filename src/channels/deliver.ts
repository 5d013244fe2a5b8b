import type { Lease } from "../context/lease.js"
import { LeaseLost } from "../context/lease.js"
import type { RequestContext } from "../context/request-context.js"
import type { Statement } from "../database/unit-of-work.js"
import { Channel } from "../entities/channel.js"
import { ChannelMessage } from "../entities/channel-message.js"
import type { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import { Message } from "../entities/message.js"
import { MessagePart } from "../entities/message-part.js"
import { type Accepted, type ChannelAdapter, ChannelFailure, type Part } from "../ports/channel.js"
import { type Delivery, goOn } from "./delivery.js"
import { afterFailure } from "./delivery-failure.js"
import { storeSentAtOnce } from "./delivery-statements.js"
import { applyEarly, applyMissed } from "./early.js"
import { channelLimits } from "./limits.js"
import { paceOf } from "./pace.js"
import { partsOf } from "./parts.js"

/** The sentence on a message that may have arrived twice (channels sheet, section 1). */
const maybeTwice = "It may have been delivered twice: the channel did not say whether it took the first attempt"

/** Sends a message, part by part, and stores the result; then the next message of the chat is due. */
export async function deliver(lease: Lease<Chat>, delivery: Delivery): Promise<void> {
  const { services } = lease.context
  const adapter = services.channels.adapter(delivery.messenger)
  try {
    if (!adapter) throw new ChannelFailure("The channel delivers by events alone", { kind: "permanent", code: "REFUSED" })
    await sendAll(lease, delivery, adapter)
    await storeResult(lease, delivery, adapter)
    const { messenger, state } = delivery
    services.metrics.deliveries.inc({ messenger, outcome: "sent" })
    services.metrics.deliverySeconds.observe({ messenger }, (clock.now().getTime() - state.queuedAt.getTime()) / 1000)
  } catch (error) {
    if (error instanceof Withdrawn) return void (await lease.store((chat, tx) => storeWithdrawn(tx, chat, delivery)))
    if (services.stopping.aborted || !(error instanceof ChannelFailure || isExpired(delivery))) throw error
    const failure = error instanceof ChannelFailure ? error : faultOf(lease, error)
    await lease.store((chat, tx) => afterFailure(tx, chat, delivery, failure))
  }
}

async function storeResult(lease: Lease<Chat>, delivery: Delivery, { capabilities }: ChannelAdapter) {
  const { chatId, messageId, account, state } = delivery
  if (!(await storeSentAtOnce(lease.context, delivery))) await lease.store((chat, tx) => storeSent(tx, chat, delivery))
  else if (capabilities.receipts.length > 0) await applyMissed(lease.context, chatId, account.connectionId, [...state.accepted, messageId])
}

const isExpired = ({ state }: Delivery) => clock.now().getTime() > state.queuedAt.getTime() + channelLimits.deliveryExpiryMs

/** A fault of this server that lasted until the message expired: the messages after it are sent. */
function faultOf({ context }: Lease<Chat>, error: unknown): ChannelFailure {
  context.request.log.error({ err: error }, "a delivery was given up after a fault that lasted")
  return new ChannelFailure("The server could not send the message", { kind: "permanent", code: "EXPIRED" })
}

/** Thrown when the message must not be sent any more, because AI was turned off. */
class Withdrawn extends Error {}

async function sendAll(lease: Lease<Chat>, delivery: Delivery, adapter: ChannelAdapter): Promise<void> {
  const { state, content, account, messageId } = delivery
  const contents = partsOf(content, adapter.capabilities)
  const partOf = (index: number): Part => ({
    ...delivery.address,
    ...contents[index]!,
    id: `${messageId}-${index + 1}`,
    messageId,
    quoted: index === 0 ? delivery.address.quoted : null,
  })
  let isMarked = delivery.isMarked
  if (state.sendingSince && !isMarked && state.accepted.length < contents.length)
    await endDoubt(lease, delivery, adapter, partOf(state.accepted.length))
  while (state.accepted.length < contents.length) {
    const part = partOf(state.accepted.length)
    if (!isMarked) {
      await paceOf(lease.context, account.connectionId, adapter.capabilities.perSecond, lease.signal)
      await markSending(lease, delivery)
    }
    isMarked = false
    keep(delivery, await adapter.send(part, account, lease.signal))
    if (state.accepted.length < contents.length) await storeProgress(lease, delivery)
  }
}

/** A request of an earlier attempt left, and its outcome is not known. */
async function endDoubt(lease: Lease<Chat>, delivery: Delivery, adapter: ChannelAdapter, part: Part): Promise<void> {
  const { doubt } = adapter.capabilities
  if (doubt === "same") return
  const waited = clock.now().getTime() - delivery.state.sendingSince!.getTime()
  if (doubt === "wait" && waited < channelLimits.doubtWaitMs)
    throw new ChannelFailure("The server stopped while it sent the message", { kind: "doubt", code: "CHANNEL_UNAVAILABLE" })
  const found = await adapter.find?.(part, delivery.account, lease.signal)
  if (!found) {
    if (doubt !== "find") delivery.state.mayBeTwice = true
    return
  }
  keep(delivery, found)
  await storeProgress(lease, delivery)
}

function keep(delivery: Delivery, { externalId, data }: Accepted) {
  delivery.state.accepted = [...delivery.state.accepted, externalId]
  delivery.state.sendingSince = null
  if (data !== undefined) delivery.data = data
}

/**
 * Records that a request leaves now, under the lock of the chat, which a take-over takes too: what it has cancelled does not leave. The
 * message is locked as well, since a statement that has waited sees the newest version only of the rows that it locks.
 */
const markSendingStatement: Statement<{ id: string }> = {
  name: "mark-sending",
  text: `
    with lane as (
      select id from chat where id = $1 and company_id = any($2::uuid[]) and delivery_id = $3 for no key update
    ), waiting as (
      select m.id from message m, lane where m.id = $4 and m.company_id = any($2::uuid[]) and m.status = 'queued' for no key update of m
    )
    update channel_message s set sending_since = $5, accepted = $6::jsonb, may_be_twice = $7, updated_at = $5 from waiting
    where s.message_id = waiting.id and not s.is_withdrawn returning s.id`,
}

async function markSending({ context, signal }: Lease<Chat>, delivery: Delivery): Promise<void> {
  const { chatId, runId, messageId, state } = delivery
  signal.throwIfAborted()
  const now = clock.now()
  const accepted = JSON.stringify(state.accepted)
  const rows = await context.statement(markSendingStatement, [
    chatId,
    context.companyIds,
    runId,
    messageId,
    now,
    accepted,
    state.mayBeTwice,
  ])
  if (rows.length === 0) throw new Withdrawn()
  state.sendingSince = now
}

const storeProgressStatement: Statement<{ id: string }> = {
  name: "store-delivery-progress",
  text: `
    update channel_message s set sending_since = null, accepted = $5::jsonb, updated_at = $6 from chat c
    where s.message_id = $4 and c.id = $1 and c.company_id = any($2::uuid[]) and c.delivery_id = $3 returning s.id`,
}

/** Stores which parts the channel took, so that a later attempt begins after them. */
async function storeProgress({ context }: Lease<Chat>, { chatId, runId, messageId, state }: Delivery): Promise<void> {
  const values = [chatId, context.companyIds, runId, messageId, JSON.stringify(state.accepted), clock.now()]
  if ((await context.statement(storeProgressStatement, values)).length === 0) throw new LeaseLost()
}

async function storeSent(tx: RequestContext, chat: Chat, delivery: Delivery) {
  const { em } = tx
  const { messageId, state } = delivery
  const [message, stored] = [await em.findOneOrFail(Message, { id: messageId }), await em.findOneOrFail(ChannelMessage, { messageId })]
  Object.assign(stored, { accepted: state.accepted, sendingSince: null, mayBeTwice: state.mayBeTwice })
  if (delivery.data !== undefined) stored.data = delivery.data
  if (delivery.hasProblem) (await em.findOne(Channel, { id: delivery.account.connectionId }))?.setProblem(null)
  const ids = await newIds(tx, message, state.accepted)
  message.sent(ids[0] ?? null, state.mayBeTwice ? maybeTwice : null)
  if (ids.length > 1) storeParts(tx, message, ids)
  await applyEarly(tx, chat, delivery.account.connectionId, [...state.accepted, messageId])
  await goOn(tx, chat)
}

/** AI was turned off: a message that an earlier worker began to send is not sent again. */
async function storeWithdrawn(tx: RequestContext, chat: Chat, { messageId }: Delivery) {
  const message = await tx.em.findOne(Message, { id: messageId, status: "queued" })
  const state = await tx.em.findOne(ChannelMessage, { messageId })
  if (message && state?.isWithdrawn) message.cancel()
  await goOn(tx, chat)
}

/** The IDs that the channel gave, without those that other messages of the chat have: a connector may give one ID twice. */
async function newIds({ em }: RequestContext, { id, chatId }: Message, accepted: (string | null)[]): Promise<(string | null)[]> {
  const given = accepted.filter((externalId) => externalId !== null)
  if (given.length === 0) return accepted
  const known = { chatId, externalId: { $in: given } }
  const others = [
    ...(await em.find(Message, { ...known, id: { $ne: id } })),
    ...(await em.find(MessagePart, { ...known, messageId: { $ne: id } })),
  ]
  const taken = new Set(others.map(({ externalId }) => externalId))
  return accepted.map((externalId, index) => (taken.has(externalId) || accepted.indexOf(externalId) < index ? null : externalId))
}

/** Stores the IDs of parts, by which receipts and quotes name them. */
function storeParts({ em }: RequestContext, { id: messageId, companyId, chatId }: Message, accepted: (string | null)[]) {
  for (const [index, externalId] of accepted.entries()) {
    if (externalId) em.persist(Object.assign(new MessagePart(), { companyId, chatId, messageId, position: index + 1, externalId }))
  }
}
