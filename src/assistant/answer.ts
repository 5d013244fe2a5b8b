import type { MikroORM } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import { clock } from "../entities/kit/clock.js"
import { appendSql, appendValues, deliveryOf } from "../messages/append.js"
import { dueReply, type Inbound, isAnswered, repliesTo } from "../messages/inbound.js"
import { oncePer } from "../once-per.js"
import type { ClaimedTurn } from "./claim.js"
import type { Guarded } from "./guarded.js"
import { answerOf } from "./tool-loop.js"

/**
 * Appends the answer of a turn and ends it: `ChatTurn.holdsTurn()` and `endTurn()` in SQL, for a turn without open calls. A test compares the
 * statement with them.
 */
const statementOf = oncePer(
  (orm: MikroORM): Inbound => ({
    name: "append-answer",
    text: appendSql(orm, {
      set: `,
        turn_id = null, turn_lease_until = null, turn_first_at = null, turn_failures = 0, turn_rounds = 0, turn_is_final = false`,
      where: ` and turn_id = $20 and open_calls = '[]' and ${isAnswered}`,
      result: dueReply,
      also: `ended as (
      update assistant_turn set rounds = $21, input_tokens = $22, output_tokens = $23, latency_ms = $24, outcome = 'answered', ended_at = $1
      from numbered where assistant_turn.id = $20 and assistant_turn.chat_id = numbered.id and assistant_turn.company_id = numbered.company_id
    )`,
    }),
    jobs: (row) => [...repliesTo(row), ...deliveryOf(row)],
  }),
)

/** Stores the answer and ends the turn by one statement; false, and nothing is stored, when the turn was lost or its end has other effects. */
export async function storeAnswerAtOnce(context: RequestContext, turn: ClaimedTurn, conclusion: Guarded): Promise<boolean> {
  const { text, handOver, isStopped, sources, findings } = conclusion
  const answer = answerOf(text)
  if (handOver || isStopped || findings.length > 0 || !answer) return false
  const { rounds, inputTokens, outputTokens, latencyMs } = turn.usage.counts
  const draft = { chatId: turn.chatId, role: "Assistant", type: "Text", text: answer, sources } as const
  const values = appendValues(draft, context.companyIds, clock.now())
  const stored = await context.statement(statementOf(context.services.database.orm), [
    ...values,
    turn.id,
    rounds,
    inputTokens,
    outputTokens,
    latencyMs,
  ])
  return stored.length > 0
}
