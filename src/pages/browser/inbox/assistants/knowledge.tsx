import { Confirmed } from "../kit/confirmed.js"
import { useRead, useReadWhile } from "../kit/forms.js"
import { useMutate } from "../kit/notices.js"
import { t } from "../kit/words.js"
import { KnowledgeForm } from "./knowledge-form.js"
import { KnowledgeItem } from "./knowledge-item.js"
import { KnowledgeSearch } from "./knowledge-search.js"
import { type Assistant, deleteKnowledge, knowledgeQuery } from "./operations.js"

/** What an assistant knows: its items with the state of their index, new ones, and a search to try. */
export function KnowledgeSection({ assistant, changed }: { assistant: Assistant; changed(): void }) {
  const mutate = useMutate()
  const { data, instead, again } = useRead(knowledgeQuery, { assistantId: assistant.id })
  const items = data?.knowledgeItems.nodes ?? []
  const isPending = items.some(({ indexStatus }) => indexStatus === "PENDING")
  useReadWhile(isPending, again)
  function readAgain() {
    again()
    changed()
  }
  async function remove(id: string) {
    if (await mutate(deleteKnowledge, { id })) readAgain()
  }
  return (
    <section aria-label={t("Knowledge")}>
      <h2>{t("Knowledge")}</h2>
      {instead}
      <ul className="rows" aria-label={t("Knowledge items")}>
        {items.map((item) => (
          <li key={item.id}>
            <KnowledgeItem item={item} changed={readAgain} />
            <Confirmed label={t("Remove")} name={t("Remove {name}", { name: item.name })} act={() => void remove(item.id)} />
          </li>
        ))}
      </ul>
      <KnowledgeForm assistant={assistant} added={readAgain} />
      <KnowledgeSearch assistantId={assistant.id} />
    </section>
  )
}
