import { type FormEvent, type RefObject, useState } from "react"
import { Field } from "../kit/forms.js"
import { keep, kept } from "../kit/kept.js"
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
  textModels: { id: string; name: string; provider: string }[]
  form: RefObject<HTMLFormElement>
}

type Settings = ReturnType<typeof settingsIn>

/** Whether an assistant is stored with these settings. */
export const isStored = (assistant: Assistant, settings: Settings) =>
  Object.entries(settings).every(([name, value]) => (assistant[name as keyof Assistant] ?? "") === (value ?? ""))

const keyOf = (id: string) => `prompt:${id}`

/** What an assistant is told, and the model that it tells it to. */
export function Prompt({ assistant, textModels, form }: Props) {
  const mutate = useMutate()
  const notice = useNotice()
  /** What the fields begin with; each generation has fields of its own. */
  const [begun, setBegun] = useState(() => ({ generation: 0, typed: kept<Settings>(keyOf(assistant.id)) }))
  const [isUnsaved, setUnsaved] = useState(begun.typed !== null)
  const shown = { ...assistant, ...begun.typed }
  async function save(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const fields = event.currentTarget
    const saved = await mutate(updateAssistant, { id: assistant.id, input: settingsIn(fields) })
    if (!saved) return
    notice(t("Saved."))
    // What was typed while it was being saved is not.
    note(saved.updateAssistant, settingsIn(fields))
  }
  function note(stored: Assistant, typed: Settings) {
    const isSaved = isStored(stored, typed)
    keep(keyOf(assistant.id), isSaved ? null : typed)
    setUnsaved(!isSaved)
  }
  function discard() {
    keep(keyOf(assistant.id), null)
    setUnsaved(false)
    setBegun({ generation: begun.generation + 1, typed: null })
  }
  // A model that this server no longer has stays chosen until another one is.
  const isKnown = textModels.some(({ id }) => id === shown.textModelId)
  return (
    <section aria-label={t("Prompt")}>
      <h2>{t("Prompt")}</h2>
      <form
        className="fields"
        key={begun.generation}
        onSubmit={save}
        onInput={({ currentTarget }) => note(assistant, settingsIn(currentTarget))}
        ref={form}
      >
        <Field label={t("Name")}>
          <input name="name" defaultValue={shown.name} required />
        </Field>
        <Field label={t("Prompt")}>
          <textarea name="prompt" rows={10} defaultValue={shown.prompt} dir="auto" />
        </Field>
        <Field label={t("Greeting")}>
          <textarea name="greeting" rows={2} defaultValue={shown.greeting ?? ""} dir="auto" />
        </Field>
        <div className="line">
          <Field label={t("Text model")}>
            <select name="textModelId" defaultValue={shown.textModelId}>
              {!isKnown && <option value={shown.textModelId}>{t("A model that is not configured")}</option>}
              {textModels.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </Field>
          <Field label={t("Temperature")}>
            <input name="temperature" type="number" min="0" max="2" step="0.1" defaultValue={shown.temperature ?? ""} />
          </Field>
          <Field label={t("Language")}>
            <input name="language" defaultValue={shown.language} required />
          </Field>
        </div>
        {textModels.find(({ id }) => id === shown.textModelId)?.provider === "offline" && (
          <p className="hint">
            {t(
              "The offline model only quotes the knowledge: it does not follow the prompt. A server with a key of a model service has others.",
            )}
          </p>
        )}
        <p className="line buttons">
          <button type="submit" className="primary">
            {t("Save")}
          </button>
          {isUnsaved && (
            <>
              <button type="button" onClick={discard}>
                {t("Discard changes")}
              </button>
              <span role="status">{t("Not saved yet.")}</span>
            </>
          )}
        </p>
      </form>
    </section>
  )
}
