import { timingSafeEqual } from "node:crypto"
import { LockMode } from "@mikro-orm/postgresql"
import { voiceToolSecret } from "../assistant/voice-tools.js"
import { systemContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { AssistantTool } from "../entities/assistant-tool.js"
import { Call } from "../entities/call.js"
import { isUuid } from "../entities/kit/scalars.js"
import { NotFound, Unauthenticated } from "../errors/errors.js"
import { runToolOnCall } from "./tool-call.js"

const find: Statement<RowOf<"AssistantTool", "id" | "company_id" | "assistant_id">> = {
  name: "voice-tool",
  text: "select id, company_id, assistant_id from assistant_tool where id = $1",
}

/** Executes a tool that a provider's agent calls, on a live call of the tool's assistant; returns its output. */
export async function callFromAgent(
  services: Services,
  toolId: string,
  secret: string,
  { call_id: callId, ...given }: Record<string, unknown>,
): Promise<unknown> {
  const [tool] = isUuid(toolId) ? await unscoped(services.database, find, [toolId]) : []
  if (!tool || !mayCall(services, tool.assistant_id, secret)) throw new Unauthenticated("The secret of the tool is missing or wrong")
  const context = systemContext(services, tool.company_id)
  const found = await context.transaction(async (tx) => {
    const id = typeof callId === "string" && isUuid(callId) ? callId.toLowerCase() : null
    const where = { id, assistantId: tool.assistant_id }
    const call = id ? await tx.em.findOne(Call, where as { id: string }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null
    if (!call?.isOnLine || !call.dialedAt) return null
    // The agent speaks, although no look-up has seen the answer yet.
    call.answered()
    const row = await tx.em.findOne(AssistantTool, { id: tool.id })
    return row && { id: call.id, tool: { id: row.id, type: row.type, isSystem: row.isSystem, name: row.name, row } }
  })
  if (!found) throw new NotFound("Call")
  const { name, row } = found.tool
  const declaration = { name, description: row.description, parameters: row.params }
  const result = await runToolOnCall(context, found.id, { ...found.tool, declaration }, { callId: found.id, name, arguments: given })
  if (!result) throw new NotFound("Call")
  return result.output
}

function mayCall({ secrets }: Services, assistantId: string, given: string): boolean {
  const bytes = Buffer.from(given, "hex")
  const keys = [secrets.encryptionKey, secrets.encryptionKeyPrevious].filter((key) => key != null)
  return keys.some((key) => {
    const expected = voiceToolSecret(key, assistantId)
    return bytes.length === expected.length && timingSafeEqual(bytes, expected)
  })
}
