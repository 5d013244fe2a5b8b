import type { ResultOf } from "gql.tada"
import { type FormEvent, useState } from "react"
import { textsOf } from "../kit/forms.js"
import { useMutate } from "../kit/notices.js"
import { t } from "../kit/words.js"
import { queryKnowledge } from "./operations.js"

type Match = ResultOf<typeof queryKnowledge>["queryKnowledge"]["data"][number]

/** Searches the indexed items as the assistant does, and shows what it would be given. */
export function KnowledgeSearch({ assistantId }: { assistantId: string }) {
  const mutate = useMutate()
  const [matches, setMatches] = useState<Match[] | null>(null)
  async function search(event: FormEvent<HTMLFormElement>) {
    const { query } = textsOf(event)
    const found = await mutate(queryKnowledge, { input: { assistantId, query: query! } })
    if (found) setMatches(found.queryKnowledge.data)
  }
  return (
    <details>
      <summary>{t("Try a search")}</summary>
      <p className="hint">{t("Indexed items are searched. Items that are given as a whole are always read, and not searched.")}</p>
      <form className="line" onSubmit={search}>
        <input name="query" aria-label={t("Question")} dir="auto" required />
        <button type="submit">{t("Search")}</button>
      </form>
      <div aria-live="polite">
        {matches?.length === 0 && <p className="hint">{t("Nothing found.")}</p>}
        <ol aria-label={t("Parts found")} className="matches">
          {matches?.map(({ chunkId, knowledgeName, content, score }) => (
            <li key={chunkId}>
              <p className="byline">
                <bdi>{knowledgeName}</bdi>, {t("score {score}", { score: score.toFixed(3) })}
              </p>
              <p dir="auto">{content}</p>
            </li>
          ))}
        </ol>
      </div>
    </details>
  )
}
