import { mustManageIntegrations } from "../context/access.js"
import { cacheOwnerOf } from "../context/identity.js"
import type { RequestContext } from "../context/request-context.js"
import { mustHaveRoom } from "../context/room.js"
import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { EventWebhook } from "../entities/event-webhook.js"
import { type CreateEventWebhookInput, eventTypesOf, type UpdateEventWebhookInput } from "../schema/event-webhook.js"
import { patch } from "../schema/kit/input.js"
import { eventWebhookLimits } from "./limits.js"

const endOfLog: Statement<RowOf<"EventLog", "last_position">> = {
  name: "end-of-event-log",
  text: "select last_position from event_log where id = 1",
}

/** Checks what scalars cannot, before anything is read: the types, each once, and the selection. */
export function checkedInput<I extends UpdateEventWebhookInput>({ services, identity }: RequestContext, input: I): I {
  const { types, query } = input
  return {
    ...input,
    ...(types && { types: eventTypesOf(types) }),
    ...(query && { query: services.eventSelections.check(query, cacheOwnerOf(identity)) }),
  }
}

/** Creates an endpoint, which gets the events from now on. */
export async function createEndpoint(tx: RequestContext, input: CreateEventWebhookInput): Promise<EventWebhook> {
  const { companyId: named, ...fields } = checkedInput(tx, input)
  const companyId = tx.company(named)
  mustManageIntegrations(tx, companyId)
  await mustHaveRoom(tx, EventWebhook, companyId, "event webhooks", { most: eventWebhookLimits.perCompany })
  const { encryptionKey } = tx.services.secrets
  const webhook = EventWebhook.create(companyId, fields.url, fields.types, await positionOf(tx), encryptionKey)
  tx.em.persist(patch(tx, webhook, fields))
  return webhook
}

/** Changes an endpoint; enabled again, it gets what waited, and the events from now on. */
export async function changeEndpoint(tx: RequestContext, webhook: EventWebhook, { disabled, ...fields }: UpdateEventWebhookInput) {
  patch(tx, webhook, fields)
  if (disabled === true) webhook.disabled = true
  if (disabled === false) webhook.enable(await positionOf(tx))
  return webhook
}

async function positionOf(tx: RequestContext): Promise<string> {
  const [row] = await tx.run(endOfLog, [])
  return row!.last_position
}
