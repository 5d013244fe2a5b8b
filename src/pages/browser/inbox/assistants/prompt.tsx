import type { FormEvent, RefObject } from "react"
import { Field } from "../kit/forms.js"
import { useMutate, useNotice } from "../kit/notices.js"
import { t } from "../kit/words.js"
import { type Assistant, updateAssistant } from "./operations.js"

/** What the form of the prompt says, as the server takes it. */
export function settingsIn(form: HTMLFormElement) {
  const data = new FormData(form)
  const text = (name: string) => String(data.get(name) ?? "")
  const temperature = text("temperature")
  return {
    name: text("name"),
    prompt: text("prompt"),
    greeting: text("greeting"),
    language: text("language"),
    textModelId: text("textModelId"),
    temperature: temperature ? Number(temperature) : null,
  }
}

interface Props {
  assistant: Assistant
  textModels: { id: string; name: string }[]
  form: RefObject<HTMLFormElement>
}

/** What an assistant is told, and the model that it tells it to. */
export function Prompt({ assistant, textModels, form }: Props) {
  const mutate = useMutate()
  const notice = useNotice()
  async function save(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (await mutate(updateAssistant, { id: assistant.id, input: settingsIn(event.currentTarget) })) notice(t("Saved."))
  }
  // A model that this server no longer has stays chosen until another one is.
  const isKnown = textModels.some(({ id }) => id === assistant.textModelId)
  return (
    <section aria-label={t("Prompt")}>
      <h2>{t("Prompt")}</h2>
      <form className="fields" onSubmit={save} ref={form}>
        <Field label={t("Name")}>
          <input name="name" defaultValue={assistant.name} required />
        </Field>
        <Field label={t("Prompt")}>
          <textarea name="prompt" rows={10} defaultValue={assistant.prompt} dir="auto" />
        </Field>
        <Field label={t("Greeting")}>
          <textarea name="greeting" rows={2} defaultValue={assistant.greeting ?? ""} dir="auto" />
        </Field>
        <div className="line">
          <Field label={t("Text model")}>
            <select name="textModelId" defaultValue={assistant.textModelId}>
              {!isKnown && <option value={assistant.textModelId}>{t("A model that is not configured")}</option>}
              {textModels.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </Field>
          <Field label={t("Temperature")}>
            <input name="temperature" type="number" min="0" max="2" step="0.1" defaultValue={assistant.temperature ?? ""} />
          </Field>
          <Field label={t("Language")}>
            <input name="language" defaultValue={assistant.language} required />
          </Field>
        </div>
        <button type="submit" className="primary">
          {t("Save")}
        </button>
      </form>
    </section>
  )
}
