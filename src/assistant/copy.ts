import { v7 } from "uuid"
import { copyRows } from "../database/copy-rows.js"
import type { Statement, UnitOfWork } from "../database/unit-of-work.js"
import type { Assistant } from "../entities/assistant.js"
import { AssistantTool } from "../entities/assistant-tool.js"
import { clock } from "../entities/kit/clock.js"
import { codePoints } from "../entities/kit/scalars.js"
import { entityLimits } from "../entities/limits.js"
import { copyKnowledge } from "../knowledge/copy.js"

const toolsOf: Statement<{ id: string }> = {
  name: "tools-to-copy",
  text: "select id from assistant_tool where assistant_id = $1 and company_id = any($2::uuid[]) order by created_at, id for share",
}

/** Copies an assistant in one transaction: settings, tools with secrets, and knowledge. The copy gets its own voice agent. */
export async function copyAssistant(unit: UnitOfWork, source: Assistant, name: string | null): Promise<Assistant> {
  const copy = source.copied(name ?? copyName(source.name))
  unit.em.persist(copy)
  await unit.flush()
  await copyTools(unit, source.id, copy.id)
  await copyKnowledge(unit, source.id, copy.id)
  return copy
}

/** Secrets are copied encrypted; the log of calls is not copied. */
async function copyTools(unit: UnitOfWork, sourceId: string, copyId: string) {
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
  const room = entityLimits.assistantName - codePoints(ending)
  return Array.from(name).slice(0, room).join("").trimEnd() + ending
}
