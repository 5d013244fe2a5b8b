import { createHash } from "node:crypto"
import { z } from "zod"
import { sign, verify } from "../context/json-web-token.js"
import { refuseUnstorable } from "../context/refuse-nul.js"
import type { Services } from "../context/services.js"
import { clock } from "../entities/kit/clock.js"
import { codePoints, isUuid } from "../entities/kit/scalars.js"
import { entityLimits } from "../entities/limits.js"
import { BadUserInput, Unauthenticated } from "../errors/errors.js"
import { messageLimits } from "../messages/limits.js"
import { connectionOf } from "./connection.js"
import { channelLimits } from "./limits.js"
import { appendToVisitorsChat, type Sender, type Stored, storeOnConnection, type Visit } from "./visit.js"

const upTo = (max: number) =>
  z.string({ error: "must be a string" }).refine((text) => codePoints(text) <= max, `must be at most ${max} characters`)

/** The body of a visitor's message (contract, section 8). */
const widgetMessage = z.object({
  text: upTo(entityLimits.messageText).refine((text) => text.trim() !== "", "must not be empty"),
  name: upTo(entityLimits.chatText).nullish(),
  messageId: upTo(entityLimits.chatText)
    .refine((text) => text !== "", "must not be empty")
    .nullish(),
  visitorToken: z.string({ error: "must be a string" }).nullish(),
  mediaIds: z.array(z.never(), { error: "must be a list" }).nullish(),
})

const fileId = z.string({ error: "must be a string" }).refine(isUuid, "must be the ID of a file")

/** One with files that the visitor has uploaded, which may have no text. */
const messageWithFiles = widgetMessage.extend({
  text: upTo(entityLimits.messageText).nullish(),
  visitorToken: z.string({ error: "must be the token with which the files were uploaded" }),
  mediaIds: z
    .array(fileId.transform((id) => id.toLowerCase()))
    .max(messageLimits.attachments, `must be at most ${messageLimits.attachments} files`)
    .transform((ids) => [...new Set(ids)]),
})

type WidgetMessage = z.infer<typeof widgetMessage> | z.infer<typeof messageWithFiles>

const hasFiles = (body: unknown) => {
  const { mediaIds } = Object(body) as { mediaIds?: unknown }
  return Array.isArray(mediaIds) && mediaIds.length > 0
}

/** Stores a visitor's message once per message id, in the visitor's chat or in a new one for a visitor without a token. */
export async function receiveFromWidget(services: Services, connectionId: string, sender: Sender, body: unknown) {
  const message = readMessage(body)
  if (message instanceof BadUserInput) {
    // An unknown connection is reported before a bad body.
    await connectionOf(services.database, "widget", connectionId)
    throw message
  }
  const { text, name, messageId, visitorToken, mediaIds } = message
  const claims = visitorToken ? verify(visitorToken, services.secrets, "visitor", clock.now()) : null
  const visitor = typeof claims === "string" ? null : claims
  const visit: Visit = {
    connectionId,
    chatId: visitor?.sub ?? null,
    // This key lets a repeated first message, whose response was lost, find its chat. It includes the client address and the text: another
    // visitor with the same message id must not get into the chat.
    key: messageId ? `visitor:${digest([messageId, sender.address, text])}` : null,
    name: name?.trim() || null,
    draft: { type: "Text", text: text?.trim() ? text : null, externalId: messageId ?? null },
    mediaIds: mediaIds ?? [],
    sender,
  }
  const stored = visitor && visit.mediaIds.length === 0 && (await appendToVisitorsChat(services, visitor, visit))
  if (stored) return withToken(services, stored)
  const connection = await connectionOf(services.database, "widget", connectionId, visit.key)
  if (claims === "expired") throw new Unauthenticated("The visitor's token has expired: write without it")
  if (claims && visitor?.cid !== connection.companyId) throw new Unauthenticated("The visitor's token is not valid here")
  return withToken(services, await storeOnConnection(services, connection, visit))
}

const digest = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("hex")

/** The message in a body, or the error to answer with. */
function readMessage(body: unknown): WidgetMessage | BadUserInput {
  try {
    refuseUnstorable(body)
  } catch (error) {
    if (error instanceof BadUserInput) return error
    throw error
  }
  const read = (hasFiles(body) ? messageWithFiles : widgetMessage).safeParse(body)
  if (read.success) return read.data
  const details = read.error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message }))
  return new BadUserInput(details.map(({ path, message }) => `${path} ${message}`).join("; "), details)
}

function withToken({ secrets }: Pick<Services, "secrets">, { companyId, chatId, messageId }: Stored) {
  const claims = { typ: "visitor" as const, sub: chatId, cid: companyId }
  const visitorToken = sign(claims, secrets.jwtSecret, channelLimits.visitorTokenSeconds, clock.now())
  return { chatId, messageId, visitorToken }
}
