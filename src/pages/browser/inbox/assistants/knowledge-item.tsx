import { type FormEvent, useState } from "react"
import { Field, textsOf, useRead } from "../kit/forms.js"
import { useMutate, useNotice } from "../kit/notices.js"
import { wordOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { type Knowledge, knowledgeItemQuery, updateKnowledge } from "./operations.js"

/** An item of the knowledge; opened, its text can be read, and that of a text changed. */
export function KnowledgeItem({ item, changed }: { item: Knowledge; changed(): void }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="item" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <bdi>{item.name}</bdi> <State item={item} />
      </summary>
      {isOpen && <Content item={item} changed={changed} />}
    </details>
  )
}

function State({ item: { kind, indexStatus, indexError, chunkCount } }: { item: Knowledge }) {
  if (indexStatus === "FAILED") return <span className="refused">{t("Not indexed: {reason}", { reason: indexError ?? "" })}</span>
  const state =
    indexStatus === "PENDING"
      ? t("being indexed")
      : indexStatus === "INDEXED"
        ? t("indexed, parts: {count}", { count: chunkCount })
        : t("given as a whole")
  return (
    <span className="hint">
      {wordOf(kind)}, {state}
    </span>
  )
}

function Content({ item: { id, kind, resourceUrl }, changed }: { item: Knowledge; changed(): void }) {
  const mutate = useMutate()
  const notice = useNotice()
  const { data, instead, again } = useRead(knowledgeItemQuery, { id })
  async function save(event: FormEvent<HTMLFormElement>) {
    const { name, resourceContent } = textsOf(event)
    if (!(await mutate(updateKnowledge, { id, input: { name: name!, resourceContent: resourceContent! } }))) return
    notice(t("Saved."))
    again()
    changed()
  }
  const stored = data?.knowledgeItem
  if (!stored) return instead
  if (kind !== "TEXT")
    return (
      <>
        {resourceUrl && (
          <p>
            <bdi>{resourceUrl}</bdi>
          </p>
        )}
        {stored.resourceContent && (
          <p className="text" dir="auto">
            {stored.resourceContent}
          </p>
        )}
      </>
    )
  return (
    <form className="fields" onSubmit={save}>
      <Field label={t("Name")}>
        <input name="name" defaultValue={stored.name} required />
      </Field>
      <Field label={t("Text")}>
        <textarea name="resourceContent" rows={16} dir="auto" defaultValue={stored.resourceContent ?? ""} required />
      </Field>
      <button type="submit">{t("Save item")}</button>
    </form>
  )
}
