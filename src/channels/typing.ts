import { setTimeout as pause } from "node:timers/promises"
import type { RequestContext } from "../context/request-context.js"
import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { accountOf } from "./account.js"
import { channelLimits } from "./limits.js"

type Target = RowOf<"Channel", "id" | "company_id" | "external_id" | "name" | "credentials"> & {
  customer: string
  last_external_id: string | null
}

const typingTarget: Statement<Target> = {
  name: "typing-target",
  text: `
    select h.id, h.company_id, h.external_id, h.name, h.credentials, c.external_id as customer, (
      select m.external_id from message m where m.chat_id = c.id and m.role = 'Customer' and m.external_id is not null order by m.sequence desc limit 1
    ) as last_external_id
    from chat c join channel h on h.company_id = c.company_id and h.messenger = c.messenger and h.external_id = c.from_id and h.is_active
    where c.id = $1 and c.company_id = any($2::uuid[]) and c.external_id is not null`,
}

/**
 * Shows the customer that an answer is being written, until the returned object is disposed. Best effort: a channel that refuses is not
 * asked again in this turn.
 */
export function showTyping(context: RequestContext, chatId: string, messenger: string): Disposable {
  const adapter = context.services.channels.adapter(messenger)
  const over = new AbortController()
  const show = async () => {
    const [target] = await context.statement(typingTarget, [chatId, context.companyIds])
    if (!target) return
    const { id, company_id: companyId, external_id: externalId, name, credentials, customer, last_external_id: lastExternalId } = target
    const account = accountOf({ id, companyId, externalId, name, credentials }, context.services.secrets)
    const signal = AbortSignal.any([over.signal, context.services.stopping])
    while (!signal.aborted) {
      await adapter!.typing!({ externalId: customer, lastExternalId }, account, signal)
      await pause(channelLimits.typingEveryMs, undefined, { signal, ref: false })
    }
  }
  if (adapter?.typing && adapter.capabilities.typing)
    void show().catch(
      (error) =>
        over.signal.aborted || context.request.log.info({ err: error }, "the customer could not be shown that an answer is coming"),
    )
  return { [Symbol.dispose]: () => over.abort() }
}
