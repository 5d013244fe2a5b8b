import type { MikroORM } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import { columnsOf, type PlannedRow } from "../database/read-model.js"
import type { Statement } from "../database/unit-of-work.js"
import { AssistantTool } from "../entities/assistant-tool.js"
import { clock } from "../entities/kit/clock.js"
import { storableJson } from "../entities/kit/storable.js"
import { outputFrame } from "../entities/kit/tool-frames.js"
import { ToolCall, type ToolOutcome } from "../entities/tool-call.js"
import { appendSql, appendValues } from "../messages/append.js"
import { isAnswered } from "../messages/inbound.js"
import { oncePer } from "../once-per.js"
import type { ModelToolCall } from "../ports/text-model.js"
import { type CallingTurn, outcomeStatus, storable } from "./tool-log.js"
import type { OfferedTool } from "./tools.js"

/** A call that is logged, and its tool as it is now. */
export interface LoggedCall {
  row: AssistantTool
  call: ToolCall
}

/** Locks the chat first, in the order of everything else that locks it: its deletion, too, changes its tool calls after it. */
const locked = `locked as (
      select id from chat where id = $3 and company_id = any($6::uuid[]) for no key update
    )`

/** `holdsTurn()`, `stillOffered()`, `open()` and `Chat.openToolCall()` in one statement; a test compares what both ways store. */
const openStatement = oncePer((orm: MikroORM): Statement<{ tool: PlannedRow<"AssistantTool"> }> => {
  const columns = [...columnsOf(orm, "AssistantTool").of].map(([property, column]) => `'${property}', offered.${column}`).join(", ")
  return {
    name: "open-tool-call",
    text: appendSql(orm, {
      before: `${locked}, offered as (
      select * from assistant_tool
      where id = $21::uuid and company_id = any($6::uuid[]) and not disabled and exists (select from locked) for share
    ), `,
      set: `,
        turn_is_final = true, turn_rounds = $23, open_calls = open_calls || to_jsonb($22::text)`,
      where: ` and turn_id = $20 and ${isAnswered} and exists (select from offered)`,
      result: { name: "tool", sql: `(select jsonb_build_object(${columns}) from offered)` },
      also: `logged as (
      insert into tool_call (id, company_id, chat_id, tool_id, turn_id, params, created_at)
      select $22::uuid, company_id, id, $21::uuid, $20::uuid, $24::jsonb, $1 from numbered
    )`,
    }),
  }
})

/** Logs a call with its frame by one statement; null, and nothing is stored, when the turn was lost or the tool is gone or switched off. */
export async function openAtOnce(
  context: RequestContext,
  turn: CallingTurn,
  tool: OfferedTool,
  asked: ModelToolCall,
): Promise<LoggedCall | null> {
  const { id: turnId, chatId, round } = turn
  const params = storable(asked.arguments)
  const call = Object.assign(new ToolCall(), { chatId, toolId: tool.id, turnId, params })
  const functionCall = { callId: call.id, name: asked.name, arguments: params }
  const [opened] = await context.statement(openStatement(context.services.database.orm), [
    ...appendValues({ chatId, role: "Assistant", type: "FunctionCall", functionCall }, context.companyIds, call.createdAt),
    ...[turnId, tool.id, call.id, round, JSON.stringify(params)],
  ])
  if (!opened) return null
  const row: AssistantTool = Object.assign(Object.create(AssistantTool.prototype), opened.tool)
  call.companyId = row.companyId
  return { row, call }
}

/** `ToolCall.complete()`, `Chat.closeToolCall()` and `record()` in one statement, where both have something to do. */
const recordStatement = oncePer(
  (orm: MikroORM): Statement<{ holds: boolean }> => ({
    name: "record-tool-call",
    text: appendSql(orm, {
      before: `${locked}, completed as (
      update tool_call set success = $22, response_status = $23, latency_ms = $24, response = $25::jsonb, error = $26, status = $27,
        found = $28::boolean
      where id = $21::uuid and company_id = any($6::uuid[]) and status = 'pending' and exists (select from locked)
      returning id
    ), `,
      set: `,
        open_calls = open_calls - $21::text`,
      where: ` and open_calls ? $21::text and exists (select from completed)`,
      result: { name: "holds", sql: `coalesce(turn_id = $20::uuid, false) and ${isAnswered}` },
    }),
  }),
)

/**
 * Stores the outcome of a call and its frame by one statement; returns whether the turn still holds its chat. Null when the call had an outcome
 * already, or when its turn has ended: then a transaction decides about the frame.
 */
export async function recordAtOnce(
  context: RequestContext,
  turn: CallingTurn,
  call: ToolCall,
  outcome: ToolOutcome,
  output: unknown,
): Promise<{ holds: boolean } | null> {
  const { success, status, latencyMs, body, error, found = null } = outcome
  const frame = outputFrame(turn.chatId, call.id, outcomeStatus(outcome), output)
  const [recorded] = await context.statement(recordStatement(context.services.database.orm), [
    ...appendValues(frame, context.companyIds, clock.now()),
    ...[turn.id, call.id, success, status, latencyMs],
    ...[body == null ? null : JSON.stringify(storableJson(body)), error, outcomeStatus(outcome), found],
  ])
  return recorded ? { holds: recorded.holds } : null
}
