import { type FormEvent, useState } from "react"
import { Field, textsOf } from "../kit/forms.js"
import { useMutate, useNotice } from "../kit/notices.js"
import { upload } from "../kit/upload.js"
import { t } from "../kit/words.js"
import { type Assistant, createKnowledge, type Knowledge } from "./operations.js"

interface Props {
  assistant: Pick<Assistant, "id" | "companyId">
  /** What customers asked, and the new item is to answer. */
  question?: string
  added(): void
}

/** The form of a new item: a text, a page or a file. */
export function KnowledgeForm({ assistant, question, added }: Props) {
  const mutate = useMutate()
  const notice = useNotice()
  const [kind, setKind] = useState<Knowledge["kind"]>("TEXT")
  async function add(event: FormEvent<HTMLFormElement>) {
    const form = event.currentTarget
    const { name, resourceContent, resourceUrl, use } = textsOf(event)
    const file = new FormData(form).get("file")
    try {
      const fileId = file instanceof File ? await upload(assistant.companyId, file, crypto.randomUUID()) : undefined
      const content = kind === "TEXT" ? { resourceContent } : kind === "URL" ? { resourceUrl: resourceUrl! } : { fileId: fileId! }
      const isVector = kind !== "TEXT" || use !== "whole"
      const input = { assistantId: assistant.id, name: name || (file as File).name, kind, isVector, ...content }
      if (!(await mutate(createKnowledge, { input }))) return
      form.reset()
      notice(t("Added: {name}", { name: input.name }))
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
          <input name="name" defaultValue={question} required={kind !== "FILE"} />
        </Field>
        {kind === "TEXT" && (
          <>
            <Field label={t("Text")}>
              <textarea
                name="resourceContent"
                rows={6}
                dir="auto"
                placeholder={question && t("The answer, as the assistant should give it")}
                required
              />
            </Field>
            <Field label={t("Use")}>
              <select name="use">
                <option value="whole">{t("Given as a whole with each question, for a short text")}</option>
                <option value="indexed">{t("Indexed and searched, for a long text")}</option>
              </select>
            </Field>
          </>
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
