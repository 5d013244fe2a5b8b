import { accountOf } from "../channels/account.js"
import type { UnitOfWork } from "../database/unit-of-work.js"
import { AccessToken } from "../entities/access-token.js"
import { Assistant } from "../entities/assistant.js"
import { Call } from "../entities/call.js"
import { Channel } from "../entities/channel.js"
import { Company, Member, Subscription } from "../entities/company.js"
import { EventWebhook } from "../entities/event-webhook.js"
import { onLine } from "../entities/kit/call-words.js"
import { clock } from "../entities/kit/clock.js"
import { voiceProviders } from "../ports/index.js"
import { asked, channelsOf } from "./channel-vendor.js"
import { type CommandContext, change, Refusal } from "./kit.js"

/** Tells the vendors of connected channels that the connections end; a vendor that cannot be told does not stop the deletion. */
async function disconnect(desk: CommandContext, companyId: string): Promise<void> {
  const channels = await change(desk, [companyId], ({ em }) => em.find(Channel, { companyId, isActive: true }))
  await using vendor = channelsOf(desk)
  for (const channel of channels) {
    const adapter = vendor.adapter(channel.messenger)
    if (!adapter) continue
    await asked((signal) => adapter.unregister(accountOf(channel, desk.secrets), signal)).catch((error: Error) =>
      desk.warn(`The vendor of ${channel.messenger} ${channel.externalId} was not told: ${error.message}`),
    )
  }
}

/** Ends everything by which the company is reached or works, and returns the IDs of the credentials that this concerns. */
async function endAccess({ em }: UnitOfWork, companyId: string): Promise<string[]> {
  Object.assign(await em.findOneOrFail(Company, { id: companyId }), { closedAt: clock.now(), voiceLines: 0 })
  // The memberships are deleted with the company: without its chats, which refer to them, that is quick.
  const members = await em.find(Member, { companyId })
  const tokens = await em.find(AccessToken, { companyId, revokedAt: null })
  const channels = await em.find(Channel, { companyId })
  for (const token of tokens) token.revoke()
  for (const channel of channels) {
    channel.isActive = false
    channel.polling.cancel()
  }
  for (const webhook of await em.find(EventWebhook, { companyId })) webhook.disabled = true
  // Without a subscription AI does nothing. That the assistants are deleted would have to be noted on each of their chats.
  for (const subscription of await em.find(Subscription, { companyId })) subscription.status = "canceled"
  for (const assistant of await em.find(Assistant, { companyId })) assistant.voice.cancel()
  return [...members.map(({ userId }) => userId), ...[...tokens, ...channels].map(({ id }) => id)]
}

/** Removes the voice agents; one whose provider cannot be told stays there. */
async function removeAgents(desk: CommandContext, companyId: string): Promise<void> {
  const assistants = await change(desk, [companyId], ({ em }) => em.find(Assistant, { companyId, voiceAgentProvider: { $ne: null } }))
  const voices = await voiceProviders(desk.config)
  for (const { id: assistantId, voiceAgentId: agentId, voiceAgentProvider } of assistants) {
    const provider = voices.find(({ name }) => name === voiceAgentProvider)
    const removed = provider
      ? asked((signal) => provider.tearDown({ assistantId, agentId }, signal))
      : Promise.reject(new Error("it is not configured"))
    await removed.catch((error: Error) => desk.warn(`The agent ${agentId} stays at ${voiceAgentProvider}: ${error.message}`))
  }
}

/**
 * Ends the access to a company, its connections and its AI, so that nothing is added while it is deleted. Refused while calls are in progress:
 * the access has ended then, and no more calls are dialed.
 */
export async function closeCompany(desk: CommandContext, companyId: string): Promise<void> {
  await disconnect(desk, companyId)
  const credentials = await change(desk, [companyId], (unit) => endAccess(unit, companyId))
  for (const id of credentials) await desk.wakeUp.publish("credentials", id)
  const calls = await change(desk, [companyId], ({ em }) => em.count(Call, { companyId, status: { $in: [...onLine] } }))
  if (calls > 0)
    throw new Refusal(`Calls in progress: ${calls}. The company is closed, but not deleted: run the command again when they have ended`)
  await removeAgents(desk, companyId)
}
