import type { FormEvent } from "react"
import { Field, textsOf } from "../kit/forms.js"
import { inboxLimits } from "../kit/limits.js"
import { useMutate } from "../kit/notices.js"
import { t } from "../kit/words.js"
import { setRatingQuestion } from "./operations.js"

interface Props {
  channel: { id: string; ratingQuestion: string | null }
  changed(): void
}

/** What the customers of a channel are asked when a conversation has ended; nothing until somebody writes a question. */
export function RatingQuestion({ channel: { id, ratingQuestion }, changed }: Props) {
  const mutate = useMutate()
  async function save(event: FormEvent<HTMLFormElement>) {
    const { question } = textsOf(event)
    if (await mutate(setRatingQuestion, { id, question: question?.trim() || null })) changed()
  }
  return (
    <details>
      <summary>{ratingQuestion ? <bdi>{ratingQuestion}</bdi> : t("Not asked")}</summary>
      <form className="fields" onSubmit={(event) => void save(event)}>
        <Field label={t("Question after a conversation, answered with 1 to 5; empty for none")}>
          <textarea name="question" rows={2} dir="auto" maxLength={inboxLimits.ratingQuestion} defaultValue={ratingQuestion ?? ""} />
        </Field>
        <button type="submit">{t("Save")}</button>
      </form>
    </details>
  )
}
