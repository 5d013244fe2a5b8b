import { LockMode } from "@mikro-orm/postgresql"
import { publicUrl } from "../config.js"
import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { AccessToken } from "../entities/access-token.js"
import { Assistant } from "../entities/assistant.js"
import { Channel, type Messenger, messengers } from "../entities/channel.js"
import { isUuid } from "../entities/kit/scalars.js"
import { seal } from "../entities/kit/sealed.js"
import { entityLimits } from "../entities/limits.js"
import { type Command, type CommandContext, change, oneOf, Refusal, time, UsageError } from "./kit.js"
import { companyOf } from "./people.js"

/** The credentials that each native channel needs (contract, section 8); `?` may be left out. All others run over the bridge. */
const nativeCredentials: Partial<Record<Messenger, string[]>> = {
  "telegram-bot": ["botToken", "secretToken?"],
  "whatsapp-business": ["accessToken", "phoneNumberId", "appSecret", "verifyToken"],
  messenger: ["pageAccessToken", "appSecret", "verifyToken"],
  instagram: ["pageAccessToken", "appSecret", "verifyToken"],
  resend: ["apiKey", "from", "webhookSecret"],
  gmail: ["clientId", "clientSecret", "refreshToken"],
  widget: [],
  playground: [],
}
const bridgeCredentials = ["deliveryUrl", "secret"]

const companyOfChannel: Statement<RowOf<"Channel", "company_id">> = {
  name: "company-of-channel",
  text: "select company_id from channel where id = $1",
}
const companyOfToken: Statement<RowOf<"AccessToken", "company_id">> = {
  name: "company-of-token",
  text: "select company_id from access_token where id = $1",
}

async function companyOfRow(desk: CommandContext, statement: Statement<{ company_id: string }>, id: string, noun: string): Promise<string> {
  const [row] = isUuid(id) ? await unscoped(desk.database, statement, [id]) : []
  if (!row) throw new Refusal(`No ${noun} has the id ${id}`)
  return row.company_id
}

function readCredentials(messenger: Messenger, text: string | undefined): Record<string, string> {
  let given: Record<string, unknown>
  try {
    given = JSON.parse(text ?? "{}")
  } catch {
    throw new UsageError("--credentials must be a JSON object")
  }
  if (!given || typeof given !== "object" || Array.isArray(given)) throw new UsageError("--credentials must be a JSON object")
  const expected = nativeCredentials[messenger] ?? bridgeCredentials
  const read: Record<string, string> = {}
  for (const name of expected) {
    const [key = "", optional] = [name.replace("?", ""), name.endsWith("?")]
    const value = given[key]
    if (value === undefined && optional) continue
    if (typeof value !== "string" || value === "") throw new Refusal(`${messenger} needs the credential ${key}, a text`)
    read[key] = value
  }
  return read
}

const shownChannel = (desk: CommandContext, channel: Channel) => {
  const { id, companyId, messenger, name, isActive, assistantId, externalId, createdAt, updatedAt } = channel
  const hookUrl = `${publicUrl(desk.config)}/hooks/${messenger}/${id}`
  return { id, companyId, messenger, name, isActive, assistantId, config: { externalId }, hookUrl, createdAt, updatedAt }
}

const shownToken = ({
  id,
  companyId,
  name,
  tokenPrefix,
  createdAt,
  updatedAt,
  expiresAt,
  readOnly,
  lastUsedAt,
  createdBy,
}: AccessToken) => ({
  id,
  companyId,
  name,
  tokenPrefix,
  createdAt,
  updatedAt,
  expiresAt,
  readOnly,
  lastUsedAt,
  createdBy,
})

const company = { company: { required: true, description: "the company's id" } }
const id = { id: { required: true, description: "the id" } }

/** Channels and access tokens. */
export const connectionCommands: Record<string, Command> = {
  "channel:connect": {
    does: "Connects an account of a channel; one that was disconnected before comes back under its id.",
    options: {
      ...company,
      messenger: { required: true, description: "the channel" },
      "external-id": { required: true, description: "id of the account on the channel" },
      name: { required: true, description: "what people call it" },
      assistant: { description: "id of the assistant of new chats" },
      credentials: { description: "JSON" },
    },
    async run(desk, options) {
      const companyId = await companyOf(desk, options["company"]!)
      const messenger = oneOf("messenger", options["messenger"], messengers)
      const credentials = readCredentials(messenger, options["credentials"])
      return change(desk, [companyId], async (unit) => {
        const externalId = options["external-id"]!
        const assistant = options["assistant"] || null
        const kept = { lockMode: LockMode.PESSIMISTIC_READ } as const
        const answers = isUuid(assistant) ? await unit.em.findOne(Assistant, { id: assistant.toLowerCase(), companyId }, kept) : null
        if (assistant && !answers?.isAssignable) throw new Refusal(`No assistant of the company has the id ${assistant}`)
        const known = await unit.em.findOne(Channel, { companyId, messenger, externalId })
        if (known?.isActive) throw new Refusal("This account is connected already")
        const channel = known ?? Object.assign(new Channel(), { companyId, messenger, externalId })
        Object.assign(channel, { name: options["name"], assistantId: answers?.id ?? null, isActive: true })
        channel.credentials = Object.keys(credentials).length > 0 ? seal(JSON.stringify(credentials), desk.encryptionKey) : null
        unit.em.persist(channel)
        return shownChannel(desk, channel)
      })
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
      const disconnected = await change(desk, [companyId], async (unit) => {
        const channel = await unit.em.findOneOrFail(Channel, { id: options["id"]! })
        channel.isActive = false
        return shownChannel(desk, channel)
      })
      // The tokens of its visitors have ended, and so must their open sockets.
      await desk.wakeUp.publish("credentials", disconnected.id)
      return disconnected
    },
  },
  "token:create": {
    does: "Creates an access token; its value is printed this once.",
    options: {
      ...company,
      name: { required: true, max: entityLimits.accessTokenName, description: "what people call it" },
      "expires-at": { description: "ISO 8601; without it the token does not expire" },
      "read-only": { flag: true, description: "the token can only read" },
    },
    async run(desk, options) {
      const companyId = await companyOf(desk, options["company"]!)
      const limits = { expiresAt: time("expires-at", options["expires-at"]), readOnly: options["read-only"] !== undefined }
      return change(desk, [companyId], async (unit) => {
        const token = AccessToken.issue(companyId, options["name"]!, null, limits)
        unit.em.persist(token)
        return { ...shownToken(token), token: token.token }
      })
    },
  },
  "token:revoke": {
    does: "Revokes an access token, for good and at once.",
    options: id,
    async run(desk, options) {
      const companyId = await companyOfRow(desk, companyOfToken, options["id"]!, "access token")
      const revoked = await change(desk, [companyId], async (unit) => {
        const token = await unit.em.findOneOrFail(AccessToken, { id: options["id"]! })
        token.revoke()
        return { ...shownToken(token), revokedAt: token.revokedAt }
      })
      await desk.wakeUp.publish("credentials", revoked.id)
      return revoked
    },
  },
}
