import type { Statement } from "../database/unit-of-work.js"
import { unscoped } from "../database/unscoped.js"
import { groupQuestions as group, type UngroupedQuestion } from "../knowledge/question-groups.js"
import { EmbeddingFailure } from "../ports/embedding.js"
import type { Sweep } from "./kit/scheduler.js"
import { jobLimits } from "./limits.js"

const ungrouped: Statement<UngroupedQuestion> = {
  name: "ungrouped-questions",
  text: "select id, company_id, assistant_id, question from asked_question where group_id is null order by asked_at, id limit $1",
}

function byAssistant(questions: UngroupedQuestion[]): UngroupedQuestion[][] {
  const groups = new Map<string, UngroupedQuestion[]>()
  for (const question of questions) groups.set(question.assistant_id, [...(groups.get(question.assistant_id) ?? []), question])
  return [...groups.values()]
}

/** Groups questions that ask for the same. Those of one assistant are grouped in one transaction; a failure leaves them to the next run. */
export const groupQuestions: Sweep = {
  name: "group-questions",
  everySeconds: jobLimits.groupQuestionsSeconds,
  async run(services) {
    const { database, stopping, log } = services
    const ends = AbortSignal.any([stopping, AbortSignal.timeout(jobLimits.sweepWorkMs)])
    for (;;) {
      const found = await unscoped(database, ungrouped, [jobLimits.groupQuestionsBatch])
      for (const questions of byAssistant(found)) {
        if (ends.aborted) return
        try {
          await group(services, questions)
        } catch (error) {
          if (!(error instanceof EmbeddingFailure)) throw error
          log.warn({ reason: error.message }, "questions without an answer could not be grouped; the next run tries again")
          return
        }
      }
      if (found.length < jobLimits.groupQuestionsBatch) return
    }
  },
}
