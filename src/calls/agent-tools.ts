import { createHmac, timingSafeEqual } from "node:crypto"
import { LockMode } from "@mikro-orm/postgresql"
import { toolsOf } from "../assistant/tools.js"
import { type RequestContext, systemContext } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import type { RowOf } from "../database/tables.js"
import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import type { Assistant } from "../entities/assistant.js"
import { AssistantTool } from "../entities/assistant-tool.js"
import { Call } from "../entities/call.js"
import { isUuid } from "../entities/kit/scalars.js"
import { NotFound, Unauthenticated } from "../errors.js"
import type { VoiceTool } from "../ports/voice.js"
import { isOnCalls } from "./conversation.js"
import { callLimits } from "./limits.js"
import { runToolOnCall } from "./tool-call.js"

/** The tools that an agent at a provider calls at this server; none without a public address. */
export async function agentTools(tx: RequestContext, assistant: Assistant): Promise<VoiceTool[]> {
  const { config, secrets } = tx.services
  if (!config.publicUrl) return []
  const offered = (await toolsOf(tx.unit, assistant)).filter(isOnCalls)
  const rows = await tx.em.find(AssistantTool, { id: { $in: offered.map(({ id }) => id) } }, { fields: ["id", "timeoutSeconds"] })
  const timeouts = new Map(rows.map(({ id, timeoutSeconds }) => [id, timeoutSeconds]))
  return offered.map(({ id, declaration }) => ({
    id,
    name: declaration.name,
    description: declaration.description,
    parameters: declaration.parameters as Record<string, unknown>,
    timeoutSeconds: (timeouts.get(id) ?? 0) + callLimits.toolTimeoutMarginSeconds,
    url: `${config.publicUrl}/hooks/voice/elevenlabs/tools/${id}`,
    secret: secretOf(secrets.encryptionKey, assistant.id).toString("hex"),
  }))
}

/** The secret of an assistant's tools at a provider; it is derived, so that it is stored nowhere. */
const secretOf = (key: Buffer, assistantId: string) => createHmac("sha256", key).update(`voice-tools:${assistantId}`).digest()

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
    const expected = secretOf(key, assistantId)
    return bytes.length === expected.length && timingSafeEqual(bytes, expected)
  })
}
