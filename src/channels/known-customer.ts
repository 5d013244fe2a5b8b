import type { MikroORM } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import { appendSql } from "../messages/append.js"
import { type Draft, type Inbound, inboundParts, repliesTo, tryInbound } from "../messages/inbound.js"
import { oncePer } from "../once-per.js"
import type { IncomingMessage } from "../ports/channel.js"
import type { Stored } from "./customer-chat.js"
import { wholeText } from "./files.js"
import type { HookConnection } from "./hook-connection.js"

/**
 * Appends a message that needs nothing but to be appended to the chat of a known customer, by one statement. Null, and nothing is stored, in
 * any other case, also when the message is stored already.
 */
export async function appendToKnownChat(
  context: RequestContext,
  connection: HookConnection,
  item: IncomingMessage,
  draft: Omit<Draft, "chatId">,
): Promise<Stored | null> {
  if (!isPlain(item)) return null
  const { services } = context
  const { messenger, externalId: fromId, id, companyId } = connection
  const { externalId, name = null, phoneNumber = null, username = null } = item.chat
  const { inChat, onConnection } = statementsOf(services.database.orm)
  const statement = services.channels.adapter(messenger)?.hasOwnIds ? onConnection : inChat
  const values = [messenger, fromId, externalId, name, phoneNumber, username, id, companyId]
  const [row] = await tryInbound(context, statement, { ...draft, chatId: null }, services.config, values)
  return row ? { chatId: row.message.chatId!, messageId: row.message.id } : null
}

const isPlain = (item: IncomingMessage) =>
  item.files.length === 0 &&
  !item.quoted &&
  !item.isEcho &&
  !item.isAutomatic &&
  !item.isUnsupported &&
  item.data === undefined &&
  !item.chat.alsoKnownAs?.length &&
  !wholeText(item)

/** One statement for each scope of the channel's IDs: with a parameter for it PostgreSQL would plan the statement again for each message. */
const statementsOf = oncePer((orm: MikroORM): Record<"inChat" | "onConnection", Inbound> => {
  const text = (more: string) => appendSql(orm, { ...inboundParts, chatId: ofCustomer, where: inboundParts.where + isUnchanged + more })
  return {
    inChat: { name: "append-from-channel", text: text(""), jobs: repliesTo },
    onConnection: { name: "append-from-channel-with-own-ids", text: text(isNewOnConnection), jobs: repliesTo },
  }
})

/**
 * The customer's chat on the connection. Its company is a value and not an array: for an array PostgreSQL expects ten companies, and plans
 * the statement again for each message, because that seems cheaper.
 */
const ofCustomer = `coalesce($3::uuid, (
        select known.id from chat known
        where known.company_id = $29::uuid and known.messenger = $22 and known.from_id = $23 and known.external_id = $24
      ))`

/** Limits the statement to a customer of whom nothing new is said, and a message of which nothing came before. */
const isUnchanged = ` and (name is not null or $25::text is null) and (phone_number is not null or $26::text is null)
        and (username = $27 or coalesce($27::text, '') = '')
        and not exists (
          select from channel_item early
          where early.channel_id = $28::uuid and early.company_id = chat.company_id and early.external_id = $11 and early.state = 'early'
        )`

/** Limits the statement to a message whose ID no message of the connection has. */
const isNewOnConnection = ` and not exists (
          select from message stored join chat other on other.id = stored.chat_id and other.company_id = stored.company_id
          where stored.company_id = chat.company_id and stored.external_id = $11 and other.messenger = $22 and other.from_id = $23
        )`
