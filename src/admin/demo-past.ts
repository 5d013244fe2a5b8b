import { v7 } from "uuid"
import type { Statement, UnitOfWork } from "../database/unit-of-work.js"
import type { Actor } from "../entities/control-change.js"
import type { MessageRole } from "../entities/message.js"
import { customers, handbookTalks } from "./demo-chats.js"
import { nth, type Talk, talks } from "./demo-talks.js"

/** The rows that the past of the demo company refers to. */
export interface DemoRows {
  companyId: string
  assistantId: string
  ownerId: string
  knowledge: { id: string; name: string }
  /** The ID of the widget's site. */
  siteId: string
}

/** The columns of each table that are written, with their types. */
const columns = {
  chat: `id uuid, created_at timestamptz, updated_at timestamptz, external_id text, from_id text, name text, assistant_id uuid,
    last_read_at timestamptz, last_message_at timestamptz, last_message_id uuid, last_sequence integer, last_read_sequence integer,
    unread_count integer, is_under_ai_control boolean, ai_disable_reason text`,
  message: `id uuid, created_at timestamptz, updated_at timestamptz, chat_id uuid, sequence integer, role text, type text, text text, from_id text,
    status text, sent_at timestamptz, author_id uuid, sources jsonb, function_call jsonb, function_call_output jsonb`,
  change: `id uuid, created_at timestamptz, chat_id uuid, is_under_ai_control boolean, ai_disable_reason text, hand_off_reason text,
    actor_kind text, actor_id uuid`,
  call: "id uuid, created_at timestamptz, chat_id uuid, assistant_id uuid, tool text, params jsonb, response jsonb, latency_ms integer",
}

const namesOf = (table: keyof typeof columns) => [...columns[table].matchAll(/(\w+) \w+(?:,|$)/g)].map(([, name]) => name).join(", ")
const given = (table: keyof typeof columns) => `jsonb_to_recordset($3::jsonb) as given (${columns[table]}) where $1::uuid = any($2::uuid[])`

const insert: Record<keyof typeof columns, Statement> = {
  chat: {
    name: "insert-demo-chats",
    text: `insert into chat (company_id, messenger, ${namesOf("chat")}) select $1, 'widget', ${namesOf("chat")} from ${given("chat")}`,
  },
  message: {
    name: "insert-demo-messages",
    text: `insert into message (company_id, ${namesOf("message")}) select $1, ${namesOf("message")} from ${given("message")}`,
  },
  change: {
    name: "insert-demo-control-changes",
    text: `insert into control_change (company_id, ${namesOf("change")}) select $1, ${namesOf("change")} from ${given("change")}`,
  },
  call: {
    name: "insert-demo-tool-calls",
    text: `
      insert into tool_call (id, company_id, tool_id, created_at, chat_id, params, response, latency_ms, success, status)
      select given.id, $1, (select t.id from assistant_tool t where t.company_id = $1 and t.assistant_id = given.assistant_id and t.name = given.tool),
        given.created_at, given.chat_id, given.params, given.response, given.latency_ms, true, 'success' from ${given("call")}`,
  },
}

/** Triggers made stretches of each table as it was written; this makes them of all tables in the order of time. */
const makeStretches: Statement = {
  name: "make-demo-stretches",
  text: "select rebuild_stretches(id, $3) from chat where company_id = $1 and company_id = any($2::uuid[])",
}

/** Nobody is told of what ended before there was anybody to tell. */
const withoutEvents: Statement = {
  name: "without-stretch-events",
  text: "select set_config('platform.rebuilds_stretches', 'on', true) where $1::uuid = any($2::uuid[])",
}

/**
 * Writes the chats that the demo company had before its first start: five weeks of them, read and answered, and two that wait for a person. In the
 * last week customers began to ask for gift wrapping, about which the assistant knows nothing, so that AI answered fewer chats alone.
 */
export async function writePast(unit: UnitOfWork, rows: DemoRows, now: Date): Promise<void> {
  const past: Record<keyof typeof columns, object[]> = { chat: [], message: [], change: [], call: [] }
  for (const talk of talks(now.getTime())) {
    const written = writtenOf(rows, nth(customers, talk.n * 7), talk)
    for (const table of Object.keys(past) as (keyof typeof columns)[]) past[table].push(...written[table])
  }
  const scope = [rows.companyId, unit.scope.companyIds]
  await unit.run(withoutEvents, scope)
  for (const table of Object.keys(past) as (keyof typeof columns)[]) await unit.run(insert[table], [...scope, JSON.stringify(past[table])])
  await unit.run(makeStretches, [...scope, now])
}

/** The rows of a chat, by table. */
function writtenOf({ assistantId, ownerId, knowledge, siteId }: DemoRows, name: string, { at: startedAt, steps, isOpen }: Talk) {
  const idAt = (at: number) => v7({ msecs: at })
  const chatId = idAt(startedAt)
  const visitor = `visitor:${idAt(startedAt)}`
  const rows = { message: [] as object[], change: [] as object[], call: [] as object[] }
  const actors: Record<Actor["kind"], string | null> = { user: ownerId, assistant: assistantId, token: null, system: null }
  let [at, sequence] = [startedAt, 0]
  let last = { id: "", at: "" }
  const add = (role: MessageRole, fields: object) => {
    const id = idAt(at)
    const time = new Date(at).toISOString()
    const isCustomer = role === "Customer"
    const sending = isCustomer || "type" in fields ? { status: "stored" } : { status: "sent", sent_at: time }
    const common = {
      id,
      created_at: time,
      updated_at: time,
      chat_id: chatId,
      sequence: ++sequence,
      role,
      from_id: isCustomer ? visitor : siteId,
    }
    rows.message.push({ type: "Text", sources: [], ...common, ...sending, author_id: role === "User" ? ownerId : null, ...fields })
    return { id, at: time }
  }
  for (const step of steps) {
    at += step.after * 1000
    const [id, created_at] = [idAt(at), new Date(at).toISOString()]
    if (step.kind === "message") {
      const isFromHandbook = handbookTalks.some(({ answer }) => answer === step.text) && step.role === "Assistant"
      const sources = isFromHandbook ? [{ knowledgeId: knowledge.id, knowledgeName: knowledge.name, chunkId: null }] : []
      last = add(step.role, { text: step.text, sources })
    } else if (step.kind === "call") {
      const { tool, params, response } = step
      rows.call.push({ id, created_at, chat_id: chatId, assistant_id: assistantId, tool, params, response, latency_ms: 40 })
      add("Assistant", { type: "FunctionCall", function_call: { callId: id, name: tool, arguments: params } })
      add("Assistant", { type: "FunctionCallOutput", function_call_output: { callId: id, output: response, status: "success" } })
    } else {
      const { on, by, reason, why } = step
      const control = { is_under_ai_control: on, ai_disable_reason: reason, hand_off_reason: why, actor_kind: by, actor_id: actors[by] }
      rows.change.push({ id, created_at, chat_id: chatId, ...control })
    }
  }
  const questions = steps.filter((step) => step.kind === "message" && step.role === "Customer").length
  // Without `quiet_since`, the assistant does not return to open chats when they were quiet for a while.
  const state = isOpen
    ? { unread_count: questions, last_read_sequence: 0, is_under_ai_control: false, ai_disable_reason: "auto" }
    : { unread_count: 0, is_under_ai_control: true, last_read_at: last.at, last_read_sequence: sequence }
  const lastMessage = { last_message_at: last.at, last_message_id: last.id, last_sequence: sequence }
  const ids = { id: chatId, external_id: visitor, from_id: siteId, assistant_id: assistantId }
  return { ...rows, chat: [{ ...ids, name, created_at: new Date(startedAt).toISOString(), updated_at: last.at, ...lastMessage, ...state }] }
}
