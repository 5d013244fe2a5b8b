import { createHash } from "node:crypto"
import { z } from "zod"
import { sign, verify } from "../context/json-web-token.js"
import { refuseUnstorable } from "../context/refuse-nul.js"
import type { Services } from "../context/services.js"
import { clock } from "../entities/kit/clock.js"
import { codePoints } from "../entities/kit/scalars.js"
import { entityLimits } from "../entities/limits.js"
import { BadUserInput, Unauthenticated } from "../errors.js"
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
})

type WidgetMessage = z.infer<typeof widgetMessage>

/** Stores a visitor's message once per message id, in the visitor's chat or in a new one for a visitor without a token. */
export async function receiveFromWidget(services: Services, connectionId: string, sender: Sender, body: unknown) {
  const message = readMessage(body)
  if (message instanceof BadUserInput) {
    // An unknown connection is reported before a bad body.
    await connectionOf(services.database, "widget", connectionId)
    throw message
  }
  const { text, name, messageId, visitorToken } = message
  const claims = visitorToken ? verify(visitorToken, services.secrets, "visitor", clock.now()) : null
  const visitor = typeof claims === "string" ? null : claims
  const visit: Visit = {
    connectionId,
    chatId: visitor?.sub ?? null,
    // This key lets a repeated first message, whose response was lost, find its chat. It includes the client address and the text: another
    // visitor with the same message id must not get into the chat.
    key: messageId ? `visitor:${digest([messageId, sender.address, text])}` : null,
    name: name?.trim() || null,
    draft: { type: "Text", text, externalId: messageId ?? null },
    sender,
  }
  const stored = visitor && (await appendToVisitorsChat(services, visitor, visit))
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
  const read = widgetMessage.safeParse(body)
  if (read.success) return read.data
  const details = read.error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message }))
  return new BadUserInput(details.map(({ path, message }) => `${path} ${message}`).join("; "), details)
}

function withToken({ secrets }: Pick<Services, "secrets">, { companyId, chatId, messageId }: Stored) {
  const claims = { typ: "visitor" as const, sub: chatId, cid: companyId }
  const visitorToken = sign(claims, secrets.jwtSecret, channelLimits.visitorTokenSeconds, clock.now())
  return { chatId, messageId, visitorToken }
}
