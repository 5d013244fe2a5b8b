import type { PlainStretch, StoredChat } from "./plain-stretches.js"

// biome-ignore lint/suspicious/noExplicitAny: rows of any shape.
type Sql = (text: string, values?: unknown[]) => Promise<any[]>

const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`

/** Reads what is stored about chats, beside their stretches; the ends by people are not stored there. */
export async function storedChats(sql: Sql, ids: string[]): Promise<Map<string, Omit<StoredChat, "ends">>> {
  const [chats, messages, controls, calls, turns] = await Promise.all([
    sql("select id, assistant_id, is_under_ai_control from chat where id = any($1)", [ids]),
    sql(
      `select chat_id, id, ${ms("created_at")} as at, sequence, role, author_id as "authorId" from message where chat_id = any($1)
       and role <> 'System' and type not in ('FunctionCall', 'FunctionCallOutput') order by sequence`,
      [ids],
    ),
    sql(
      `select chat_id, ${ms("created_at")} as at, is_under_ai_control as "isOn", hand_off_reason as why,
       case when actor_kind = 'user' then actor_id end as "userId", actor_kind = 'system' as "bySystem" from control_change where chat_id = any($1) order by created_at, id`,
      [ids],
    ),
    sql(
      `select c.chat_id, ${ms("c.created_at")} as at, c.status = 'error' as failed, t.name = 'searchKnowledge' and c.status = 'success' as searched,
       coalesce(c.found, c.response -> 'data' <> '[]') as found from tool_call c join assistant_tool t on t.id = c.tool_id where c.chat_id = any($1)`,
      [ids],
    ),
    sql(
      `select chat_id, ${ms("started_at")} as at, coalesce(input_tokens, 0) as input, coalesce(output_tokens, 0) as output
       from assistant_turn where chat_id = any($1)`,
      [ids],
    ),
  ])
  const of = <T extends { chat_id: string }>(rows: T[], id: string) => rows.filter(({ chat_id }) => chat_id === id)
  return new Map(
    chats.map(({ id, assistant_id: assistantId, is_under_ai_control: isOn }) => {
      const changes = of(controls, id)
      const beganWithAi = changes.length === 0 ? isOn : !changes[0].isOn
      return [id, { assistantId, beganWithAi, messages: of(messages, id), controls: changes, calls: of(calls, id), turns: of(turns, id) }]
    }),
  )
}

/** The stretches as the triggers have stored them, oldest first, by the ID of the chat; those of deleted chats by their own ID. */
export async function storedStretches(sql: Sql, where: string, values: unknown[]): Promise<(PlainStretch & { chatId: string | null })[]> {
  return sql(
    `select id, chat_id as "chatId", assistant_id as "assistantId", ${ms("started_at")} as "startedAt", ${ms("ended_at")} as "endedAt",
     end_reason as "endReason", outcome, reopened, array[customer_messages, assistant_messages, user_messages] as messages,
     ai_answer_ms as "aiAnswers", people_answer_ms as "peopleAnswers", ${ms("handed_off_at")} as "handedOffAt",
     hand_off_reason as "handOffReason", person_id as "personId", ${ms("returned_at")} as "returnedAt", tool_calls as "toolCalls",
     tool_failures as "toolFailures", knowledge_searches as searches, knowledge_misses as misses,
     array[input_tokens, output_tokens] as tokens from stretch where ${where} order by started_at, id`,
    values,
  )
}
