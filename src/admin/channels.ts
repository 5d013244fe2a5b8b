import { LockMode } from "@mikro-orm/postgresql"
import { accountOf } from "../channels/account.js"
import { isPolled } from "../channels/poll.js"
import { publicUrl } from "../config/config.js"
import type { RowOf } from "../database/tables.js"
import type { Statement, UnitOfWork } from "../database/unit-of-work.js"
import { Assistant } from "../entities/assistant.js"
import { Channel, messengers } from "../entities/channel.js"
import { clock } from "../entities/kit/clock.js"
import { isUuid } from "../entities/kit/scalars.js"
import { seal } from "../entities/kit/sealed.js"
import type { Account, Credentials } from "../ports/channel.js"
import { asked, channelsOf, type Messengers, readCredentials } from "./channel-vendor.js"
import { type Command, type CommandContext, change, companyOfRow, oneOf, Refusal } from "./kit.js"
import { companyOf } from "./people.js"

const companyOfChannel: Statement<RowOf<"Channel", "company_id">> = {
  name: "company-of-channel",
  text: "select company_id from channel where id = $1",
}

/** The deliveries of a connection that wait for a later attempt are due now. */
const retryDeliveries: Statement = {
  name: "retry-deliveries-of-channel",
  text: `
    update chat set delivery_due_at = $3 where company_id = any($2::uuid[]) and delivery_id is null and (company_id, messenger, from_id) in (
      select company_id, messenger, external_id from channel where id = $1
    ) and exists (select from message m where m.chat_id = chat.id and m.company_id = chat.company_id and m.status = 'queued')`,
}

const hookUrlOf = ({ config }: CommandContext, { messenger, id }: Channel) => `${publicUrl(config)}/hooks/${messenger}/${id}`

const shownChannel = (desk: CommandContext, channel: Channel) => {
  const { id, companyId, messenger, name, isActive, assistantId, externalId, problem, lastInboundAt, createdAt, updatedAt } = channel
  const shown = { id, companyId, messenger, name, isActive, assistantId, config: { externalId } }
  return { ...shown, hookUrl: hookUrlOf(desk, channel), problem, lastInboundAt, createdAt, updatedAt }
}

/** Stores the credentials of a connection, those that the vendor gave it included. */
function store({ secrets }: CommandContext, channel: Channel, credentials: Credentials) {
  channel.credentials = Object.keys(credentials).length > 0 ? seal(JSON.stringify(credentials), secrets.encryptionKey) : null
}

/** The assistant of new chats; refuses one that cannot be assigned. */
async function assistantOf({ em }: UnitOfWork, companyId: string, given: string | null): Promise<string | null> {
  if (!given) return null
  const kept = { lockMode: LockMode.PESSIMISTIC_READ } as const
  const found = isUuid(given) ? await em.findOne(Assistant, { id: given.toLowerCase(), companyId }, kept) : null
  if (!found?.isAssignable) throw new Refusal(`No assistant of the company has the id ${given}`)
  return found.id
}

/**
 * Registers a stored connection with its vendor, which may call the hook at once. When the vendor refuses, the connection is as it was before,
 * a new one is removed.
 */
async function register(
  desk: CommandContext,
  vendor: Messengers,
  channel: Channel,
  account: Account,
  before: Partial<Channel> | null,
): Promise<Channel> {
  const adapter = vendor.adapter(channel.messenger)
  const companyIds = [channel.companyId]
  if (!adapter) return channel
  const hookUrl = desk.config.publicUrl ? hookUrlOf(desk, channel) : null
  const given = await asked((signal) => adapter.register(account, hookUrl, signal)).catch(async (error) => {
    await change(desk, companyIds, async ({ em }) => {
      const stored = await em.findOneOrFail(Channel, { id: channel.id })
      if (before) Object.assign(stored, before)
      else em.remove(stored)
    })
    throw error
  })
  return change(desk, companyIds, async (unit) => {
    const stored = await unit.em.findOneOrFail(Channel, { id: channel.id })
    if (Object.keys(given).length > 0) store(desk, stored, { ...account.credentials, ...given })
    if (isPolled(adapter, desk.config.publicUrl)) stored.expectWork(stored.polling, clock.now())
    await unit.run(retryDeliveries, [stored.id, companyIds, clock.now()])
    return stored
  })
}

const company = { company: { required: true, description: "the company's id" } }
const id = { id: { required: true, description: "the id" } }

/** Channel connections. */
export const channelCommands: Record<string, Command> = {
  "channel:connect": {
    does: "Connects an account of a channel, whose credentials its vendor checks; one that was connected before keeps its id and gets the new values.",
    options: {
      ...company,
      messenger: { required: true, description: "the channel" },
      "external-id": { required: true, description: "id of the account on the channel" },
      name: { required: true, description: "what people call it" },
      assistant: { description: "id of the assistant of new chats" },
      credentials: { secret: true, description: "JSON" },
    },
    async run(desk, options) {
      const companyId = await companyOf(desk, options["company"]!)
      const messenger = oneOf("messenger", options["messenger"], messengers)
      const [externalId, name] = [options["external-id"]!, options["name"]!]
      await using vendor = channelsOf(desk)
      const given = readCredentials(vendor, messenger, options["credentials"])
      await change(desk, [companyId], (unit) => assistantOf(unit, companyId, options["assistant"] || null))
      const adapter = vendor.adapter(messenger)
      const unnamed = { companyId, connectionId: "", externalId, name, credentials: given }
      const credentials = { ...given, ...(adapter && (await asked((signal) => adapter.check(unnamed, signal)))) }
      const { channel, before } = await change(desk, [companyId], async (unit) => {
        const assistantId = await assistantOf(unit, companyId, options["assistant"] || null)
        const known = await unit.em.findOne(Channel, { companyId, messenger, externalId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
        const before = known && {
          name: known.name,
          assistantId: known.assistantId,
          isActive: known.isActive,
          credentials: known.credentials,
        }
        const channel = known ?? Object.assign(new Channel(), { companyId, messenger, externalId })
        Object.assign(channel, { name, assistantId, isActive: true })
        channel.setProblem(null)
        store(desk, channel, credentials)
        unit.em.persist(channel)
        return { channel, before }
      })
      const account = { companyId, connectionId: channel.id, externalId, name, credentials }
      return shownChannel(desk, await register(desk, vendor, channel, account, before))
    },
  },
  "channel:set-credentials": {
    does: "Replaces the credentials of a connected account, which stays connected.",
    options: { ...id, credentials: { required: true, secret: true, description: "JSON" } },
    async run(desk, options) {
      const companyId = await companyOfRow(desk, companyOfChannel, options["id"]!, "channel connection")
      await using vendor = channelsOf(desk)
      const known = await change(desk, [companyId], ({ em }) => em.findOneOrFail(Channel, { id: options["id"]! }))
      const given = readCredentials(vendor, known.messenger, options["credentials"])
      if (Object.keys(given).length === 0) throw new Refusal(`${known.messenger} has no credentials`)
      const adapter = vendor.adapter(known.messenger)!
      const { id: connectionId, externalId, name } = known
      const account = { companyId, connectionId, externalId, name, credentials: given }
      const credentials = { ...given, ...(await asked((signal) => adapter.check(account, signal))) }
      const channel = await change(desk, [companyId], async ({ em }) => {
        const channel = await em.findOneOrFail(Channel, { id: connectionId })
        store(desk, channel, credentials)
        channel.setProblem(null)
        return channel
      })
      return shownChannel(desk, await register(desk, vendor, channel, { ...account, credentials }, { credentials: known.credentials }))
    },
  },
  "channel:list": {
    does: "Lists the company's channel connections.",
    options: company,
    async run(desk, options) {
      const companyId = await companyOf(desk, options["company"]!)
      const channels = await change(desk, [companyId], (unit) =>
        unit.em.find(Channel, { companyId }, { orderBy: { createdAt: "asc", id: "asc" } }),
      )
      return channels.map((channel) => shownChannel(desk, channel))
    },
  },
  "channel:disconnect": {
    does: "Disconnects an account; its chats are kept.",
    options: id,
    async run(desk, options) {
      const companyId = await companyOfRow(desk, companyOfChannel, options["id"]!, "channel connection")
      const channel = await change(desk, [companyId], async (unit) => {
        const channel = await unit.em.findOneOrFail(Channel, { id: options["id"]! })
        channel.isActive = false
        channel.polling.cancel()
        return channel
      })
      // The tokens of its visitors have ended, and so must their open sockets.
      await desk.wakeUp.publish("credentials", channel.id)
      await using vendor = channelsOf(desk)
      const adapter = vendor.adapter(channel.messenger)
      const account = accountOf(channel, desk.secrets)
      if (adapter)
        await asked((signal) => adapter.unregister(account, signal)).catch((error: Error) =>
          desk.warn(`The account is disconnected; its vendor was not told: ${error.message}`),
        )
      return shownChannel(desk, channel)
    },
  },
}
