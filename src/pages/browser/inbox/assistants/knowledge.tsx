import type { ResultOf } from "gql.tada"
import { type FormEvent, useState } from "react"
import { Field, textsOf, useRead, useReadWhile } from "../kit/forms.js"
import { useMutate, useNotice } from "../kit/notices.js"
import { wordOf } from "../kit/texts.js"
import { upload } from "../kit/upload.js"
import { t } from "../kit/words.js"
import { type Assistant, createKnowledge, deleteKnowledge, type Knowledge, knowledgeQuery, queryKnowledge } from "./operations.js"

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
            <span>
              <bdi>{item.name}</bdi> <State item={item} />
            </span>
            <button type="button" aria-label={t("Remove {name}", { name: item.name })} onClick={() => void remove(item.id)}>
              {t("Remove")}
            </button>
          </li>
        ))}
      </ul>
      <Add assistant={assistant} added={readAgain} />
      <Try assistantId={assistant.id} />
    </section>
  )
}

function State({ item: { kind, indexStatus, indexError, chunkCount } }: { item: Knowledge }) {
  if (indexStatus === "FAILED") return <span className="refused">{t("Not indexed: {reason}", { reason: indexError ?? "" })}</span>
  const state =
    indexStatus === "PENDING"
      ? t("being indexed")
      : indexStatus === "INDEXED"
        ? t("parts: {count}", { count: chunkCount })
        : t("given as a whole")
  return (
    <span className="hint">
      {wordOf(kind)}, {state}
    </span>
  )
}

function Add({ assistant, added }: { assistant: Assistant; added(): void }) {
  const mutate = useMutate()
  const notice = useNotice()
  const [kind, setKind] = useState<Knowledge["kind"]>("TEXT")
  async function add(event: FormEvent<HTMLFormElement>) {
    const form = event.currentTarget
    const { name, resourceContent, resourceUrl } = textsOf(event)
    const file = new FormData(form).get("file")
    try {
      const fileId = file instanceof File ? await upload(assistant.companyId, file, crypto.randomUUID()) : undefined
      const content = kind === "TEXT" ? { resourceContent } : kind === "URL" ? { resourceUrl: resourceUrl! } : { fileId: fileId! }
      const input = { assistantId: assistant.id, name: name || (file as File | null)?.name, kind, isVector: true, ...content }
      if (!(await mutate(createKnowledge, { input }))) return
      form.reset()
      added()
    } catch (error) {
      notice((error as Error).message)
    }
  }
  return (
    <details>
      <summary>{t("Add knowledge")}</summary>
      <form className="fields" onSubmit={add}>
        <Field label={t("Source")}>
          <select value={kind} onChange={({ target }) => setKind(target.value as typeof kind)}>
            <option value="TEXT">{t("Text")}</option>
            <option value="URL">{t("Web page")}</option>
            <option value="FILE">{t("File")}</option>
          </select>
        </Field>
        <Field label={t("Name of the item")}>
          <input name="name" required={kind !== "FILE"} />
        </Field>
        {kind === "TEXT" && (
          <Field label={t("Text")}>
            <textarea name="resourceContent" rows={6} dir="auto" required />
          </Field>
        )}
        {kind === "URL" && (
          <Field label={t("Address")}>
            <input name="resourceUrl" type="url" required />
          </Field>
        )}
        {kind === "FILE" && (
          <Field label={t("File")}>
            <input name="file" type="file" accept=".pdf,.docx,.xlsx,.pptx,.txt,.csv,.md,.html" required />
          </Field>
        )}
        <button type="submit">{t("Add")}</button>
      </form>
    </details>
  )
}

type Match = ResultOf<typeof queryKnowledge>["queryKnowledge"]["data"][number]

function Try({ assistantId }: { assistantId: string }) {
  const mutate = useMutate()
  const [matches, setMatches] = useState<Match[] | null>(null)
  async function search(event: FormEvent<HTMLFormElement>) {
    const { query } = textsOf(event)
    const found = await mutate(queryKnowledge, { input: { assistantId, query } })
    if (found) setMatches(found.queryKnowledge.data)
  }
  return (
    <details>
      <summary>{t("Try a search")}</summary>
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
