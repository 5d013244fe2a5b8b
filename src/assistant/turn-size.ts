import type { RequestContext } from "../context/request-context.js"
import type { Statement } from "../database/unit-of-work.js"
import { BadUserInput } from "../errors/errors.js"
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

const advice = "make some searchable, isVector: true"
const { assistantTools, assistantParamsBytes, wholeItems, wholeCharacters } = assistantLimits
const limits: { of: keyof TurnSize; most: number; message: string }[] = [
  { of: "tools", most: assistantTools, message: `An assistant has at most ${assistantTools} tools` },
  {
    of: "params",
    most: assistantParamsBytes,
    message: `The params of an assistant's tools have at most ${assistantParamsBytes} bytes together`,
  },
  {
    of: "items",
    most: wholeItems,
    message: `An assistant has at most ${wholeItems} knowledge items that are not searchable: ${advice}`,
  },
  {
    of: "characters",
    most: wholeCharacters,
    message: `Knowledge that is not searchable has at most ${wholeCharacters} characters in an assistant: ${advice}`,
  },
]

/** Called before a tool or an item is added: further ones wait until this transaction ends. */
export const lockTurnSize = (tx: RequestContext, assistantId: string) => tx.run(lockAssistant, [assistantId, tx.companyIds])

/**
 * Writes the changes of an assistant's tools or knowledge; throws when they add to what is then more than a turn may carry: each turn reads
 * all tools, and all knowledge that is not searchable. Rows that change at the same moment may exceed it by a little: to lock the assistant
 * after a row of it could deadlock with its deletion.
 */
export async function flushWithinTurnSize(tx: RequestContext, assistantId: string): Promise<void> {
  const size = async () => (await tx.run(turnSize, [assistantId, tx.companyIds]))[0]!
  const before = await size()
  await tx.unit.flush()
  const after = await size()
  const exceeded = limits.find(({ of, most }) => after[of] > most && after[of] > before[of])
  if (exceeded) throw new BadUserInput(exceeded.message)
}
