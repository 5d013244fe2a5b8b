import { guardrailLimits } from "./limits.js"

const question = /[?？؟]/

/** Whether an answer to a customer's texts needs a source: not the answer to small talk, and not one that only asks back. */
export function needsSource(asked: readonly string[], answer: string): boolean {
  const text = asked.join(" ").trim()
  const isSmallTalk = !question.test(text) && text.split(/\s+/).length <= guardrailLimits.smallTalkWords
  const asksBack = question.test(answer.at(-1) ?? "") && !/[.!。](?:\s|$)/.test(answer)
  return !isSmallTalk && !asksBack
}
