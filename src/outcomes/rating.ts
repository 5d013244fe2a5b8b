import { mustManageIntegrations } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import type { Statement } from "../database/unit-of-work.js"
import { Channel } from "../entities/channel.js"
import { ChannelMessage } from "../entities/channel-message.js"
import { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import { Message } from "../entities/message.js"
import { Stretch } from "../entities/stretch.js"
import { BadUserInput, Conflict, Forbidden, NotFound } from "../errors/errors.js"
import { append } from "../messages/append.js"
import { channelReadModel } from "../schema/channel.js"
import { chatReadModel } from "../schema/chat.js"
import type { RatingRequest, StretchRating } from "../schema/rating.js"
import { stretchReadModel } from "../schema/stretch.js"
import { outcomeLimits } from "./limits.js"

const hourMs = 60 * 60 * 1000

/** The answers to the question for a rating, as buttons of a channel show them. */
const choices = ["1", "2", "3", "4", "5"]

/** Which end of the scale is the good one, in no language. */
const scale = "1 = 😞 … 5 = 😀"

const noteRequest: Statement = {
  name: "note-rating-request",
  text: `
    update stretch set rating_due_at = null, rating_asked_at = case when id = $3 then $4 else rating_asked_at end, updated_at = $4
    where chat_id = $1 and company_id = any($2::uuid[]) and rating_due_at is not null`,
}

/**
 * Asks the customer of a chat for a rating by a message of its channel, if that is due and nobody has written since: the request is stored in the
 * transaction that notes that it was made. The chat must be locked.
 */
export async function askForRating(tx: RequestContext, chat: Chat): Promise<void> {
  const { companyId, messenger, fromId } = chat
  const last = await tx.em.findOne(Stretch, { chatId: chat.id }, { orderBy: { startedAt: "desc" } })
  const channel = await tx.em.findOne(Channel, { companyId, messenger, externalId: fromId, isActive: true })
  const isDue = last?.ratingDueAt && channel?.ratingQuestion && (await isWindowOpen(tx, chat))
  if (isDue) {
    const text = `${channel.ratingQuestion}\n\n${scale}`
    const { id } = await append(tx.unit, { chatId: chat.id, role: "User", type: "Text", text })
    tx.em.persist(ChannelMessage.of({ id, companyId, chatId: chat.id }, { choices, queuedAt: clock.now() }))
  }
  await tx.run(noteRequest, [chat.id, tx.companyIds, isDue ? last.id : null, clock.now()])
}

/** Whether the company may still write to the customer on this channel. */
async function isWindowOpen({ em, services }: RequestContext, chat: Chat): Promise<boolean> {
  const { windowHours } = services.channels.capabilities(chat.messenger)
  if (windowHours === null) return true
  const written = await em.findOne(Message, { chatId: chat.id, role: "Customer" }, { orderBy: { sequence: "desc" } })
  return written !== null && written.createdAt.getTime() + windowHours * hourMs > clock.now().getTime()
}

/** The request for a rating that a chat shows now: of its last stretch, for 72 hours; null when there is none. */
export async function ratingRequest(context: RequestContext, chatId: string): Promise<RatingRequest | null> {
  const { reader } = context
  mustBeInChat(context, chatId)
  const chat = await reader.byId(chatReadModel, chatId, { companyId: {}, messenger: {}, fromId: {} })
  if (!chat) throw new NotFound("Chat")
  const asked = { rating: {}, ratingText: {}, ratingAskedAt: {} }
  const [last] = await reader.list(stretchReadModel, asked, (query) =>
    query.where("t.chat_id", "=", chatId).orderBy("t.started_at", "desc").limit(1),
  )
  if (!last?.ratingAskedAt || isOver(last.ratingAskedAt)) return null
  const [channel] = await reader.list(channelReadModel, { ratingQuestion: {} }, (query) =>
    query
      .where("t.company_id", "=", chat.companyId!)
      .where("t.messenger", "=", chat.messenger!)
      .where("t.external_id", "=", chat.fromId!)
      .where("t.is_active", "=", true),
  )
  const { id: stretchId, ratingAskedAt: askedAt, rating, ratingText: text } = last
  return channel?.ratingQuestion ? { stretchId, question: channel.ratingQuestion, askedAt, rating: rating!, text: text! } : null
}

const isOver = (askedAt: string) => new Date(askedAt).getTime() + outcomeLimits.ratingHours * hourMs <= clock.now().getTime()

function mustBeInChat({ identity }: RequestContext, chatId: string | null) {
  if (identity.kind === "visitor" && identity.chatId !== chatId) throw new Forbidden("You have no access to this chat")
}

const rate: Statement = {
  name: "rate-stretch",
  text: "update stretch set rating = $3, rating_text = $4, updated_at = $5 where id = $1 and company_id = any($2::uuid[])",
}

/** A customer's rating: 1 to 5, and what they wrote with it. */
export interface Rating {
  rating: number
  text?: string | null
}

/** Stores the rating of an ended stretch in place of an earlier one; a visitor can rate while the request is shown. */
export async function rateStretch(context: RequestContext, id: string, { rating, text }: Rating): Promise<StretchRating> {
  if (rating < 1 || rating > 5) throw new BadUserInput("rating must be 1 to 5", [{ path: "rating", message: "must be 1 to 5" }])
  const stretch = await context.em.findOne(Stretch, { id })
  if (!stretch?.chatId) throw new NotFound("Stretch")
  mustBeInChat(context, stretch.chatId)
  await context.find(Chat, stretch.chatId)
  await context.em.refresh(stretch)
  if (!stretch.endedAt) throw new Conflict("The stretch has not ended")
  if (context.identity.kind === "visitor" && (await ratingRequest(context, stretch.chatId))?.stretchId !== id)
    throw new Conflict("The time for a rating is over")
  await context.run(rate, [id, context.companyIds, rating, text || null, clock.now()])
  context.unit.wroteEvents()
  return { stretchId: id, rating, text: text || null }
}

/** Sets what customers of a connection are asked after a stretch; null turns that off. */
export async function setRatingQuestion(context: RequestContext, channelId: string, question: string | null): Promise<Channel> {
  const channel = await context.find(Channel, channelId, "Channel")
  mustManageIntegrations(context, channel.companyId, "its channels")
  if (channel.ratingQuestion === question) return channel
  channel.ratingQuestion = question
  channel.changed()
  return channel
}
