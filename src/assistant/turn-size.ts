import type { RequestContext } from "../context/request-context.js"
import type { Statement } from "../database/unit-of-work.js"
import { BadUserInput } from "../errors.js"
import { assistantLimits } from "./limits.js"

const lockAssistant: Statement = {
  name: "lock-assistant",
  text: "select id from assistant where id = $1 and company_id = any($2::uuid[]) for no key update",
}

interface TurnSize {
  tools: number
  params: number
  items: number
  characters: number
}

const turnSize: Statement<TurnSize> = {
  name: "turn-size",
  text: `
    select tools, params::float8, items, characters::float8 from (
      select count(*)::integer as tools, coalesce(sum(octet_length(params::text)), 0) as params
      from assistant_tool where assistant_id = $1 and company_id = any($2::uuid[])
    ) tool, (
      select count(*)::integer as items, coalesce(sum(char_length(resource_content)), 0) as characters
      from knowledge where assistant_id = $1 and company_id = any($2::uuid[]) and not is_vector
    ) item`,
}

/**
 * Throws when the tools of an assistant, or its knowledge that is not searchable, are more than a turn may carry: each turn reads all of them.
 * Called after a change that adds some; further ones wait until this transaction ends.
 */
export async function mustFitTurns(tx: RequestContext, assistantId: string): Promise<void> {
  await tx.unit.flush()
  await tx.run(lockAssistant, [assistantId, tx.companyIds])
  const [size] = await tx.run(turnSize, [assistantId, tx.companyIds])
  const { assistantTools, assistantParamsBytes, wholeItems, wholeCharacters } = assistantLimits
  if (size!.tools > assistantTools) throw new BadUserInput(`An assistant has at most ${assistantTools} tools`)
  if (size!.params > assistantParamsBytes)
    throw new BadUserInput(`The params of an assistant's tools have at most ${assistantParamsBytes} bytes together`)
  const advice = "make some searchable, isVector: true"
  if (size!.items > wholeItems)
    throw new BadUserInput(`An assistant has at most ${wholeItems} knowledge items that are not searchable: ${advice}`)
  if (size!.characters > wholeCharacters)
    throw new BadUserInput(`Knowledge that is not searchable has at most ${wholeCharacters} characters in an assistant: ${advice}`)
}
