import { v7 } from "uuid"
import { copyRows } from "../database/copy-rows.js"
import type { Unit } from "../database/unit-of-work.js"
import type { Assistant } from "../entities/assistant.js"
import { AssistantTool } from "../entities/assistant-tool.js"
import { clock } from "../entities/kit/clock.js"
import { codePoints } from "../entities/kit/scalars.js"
import { copyKnowledge } from "../knowledge/copy.js"
import { limits } from "../limits.js"

const toolsOf = {
  text: "select id from assistant_tool where assistant_id = $1 and company_id = any($2::uuid[]) order by created_at, id for share",
}

/** A second assistant like the first, in one unit: its settings, its tools with their secrets, what it knows. Its voice is its own. */
export async function copyAssistant(unit: Unit, source: Assistant, name: string | null): Promise<Assistant> {
  const copy = source.copied(name ?? copyName(source.name))
  unit.em.persist(copy)
  await unit.settle()
  await copyTools(unit, source.id, copy.id)
  await copyKnowledge(unit, source.id, copy.id)
  return copy
}

/** Secrets are copied as they are, sealed; the log of calls is not. */
async function copyTools(unit: Unit, sourceId: string, copyId: string) {
  const tools = await unit.run(toolsOf, [sourceId, unit.scope.companyIds])
  const now = "$2::timestamptz"
  await copyRows(
    unit,
    AssistantTool,
    tools.map(({ id }) => id),
    {
      each: { id: tools.map(() => v7()) },
      all: { assistantId: "$1::uuid", createdAt: now, updatedAt: now },
      values: [copyId, clock.now()],
    },
  )
}

const ending = " (copy)"

/** The name of a copy, within the limit of names. */
function copyName(name: string) {
  const room = limits.assistantName - codePoints(ending)
  return Array.from(name).slice(0, room).join("").trimEnd() + ending
}
