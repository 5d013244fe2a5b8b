import type { FormEvent } from "react"
import { Field, textsOf, useRead } from "../kit/forms.js"
import { useMutate, useNotice } from "../kit/notices.js"
import { KnowledgeSection } from "./knowledge.js"
import { type Assistant, assistantQuery, updateAssistant } from "./operations.js"
import { Playground } from "./playground.js"
import { ToolsSection } from "./tools.js"

/** An assistant: what it is told, what it knows, what it can do, and a chat to try it. */
export function AssistantPage({ id }: { id: string }) {
  const { data, instead } = useRead(assistantQuery, { id })
  if (!data) return <main className="page">{instead}</main>
  const { assistant, textModels } = data
  if (!assistant) return <main className="page">This assistant does not exist.</main>
  return (
    <main className="page with-side">
      <div className="sections">
        <h1>
          <bdi>{assistant.name}</bdi>
        </h1>
        <Prompt assistant={assistant} textModels={textModels} />
        <KnowledgeSection assistant={assistant} />
        <ToolsSection assistantId={id} />
      </div>
      <Playground assistant={assistant} />
    </main>
  )
}

function Prompt({ assistant, textModels }: { assistant: Assistant; textModels: { id: string; name: string }[] }) {
  const mutate = useMutate()
  const notice = useNotice()
  async function save(event: FormEvent<HTMLFormElement>) {
    const { name, prompt, greeting, language, textModelId, temperature } = textsOf(event)
    const input = { name, prompt, greeting, language, textModelId: textModelId!, temperature: temperature ? Number(temperature) : null }
    if (await mutate(updateAssistant, { id: assistant.id, input })) notice("Saved.")
  }
  // A model that this server no longer has stays chosen until another one is.
  const isKnown = textModels.some(({ id }) => id === assistant.textModelId)
  return (
    <section aria-label="Prompt">
      <h2>Prompt</h2>
      <form className="fields" onSubmit={save}>
        <Field label="Name">
          <input name="name" defaultValue={assistant.name} required />
        </Field>
        <Field label="Prompt">
          <textarea name="prompt" rows={10} defaultValue={assistant.prompt} dir="auto" />
        </Field>
        <Field label="Greeting">
          <textarea name="greeting" rows={2} defaultValue={assistant.greeting ?? ""} dir="auto" />
        </Field>
        <div className="line">
          <Field label="Text model">
            <select name="textModelId" defaultValue={assistant.textModelId}>
              {!isKnown && <option value={assistant.textModelId}>A model that is not configured</option>}
              {textModels.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </Field>
          <Field label="Temperature">
            <input name="temperature" type="number" min="0" max="2" step="0.1" defaultValue={assistant.temperature ?? ""} />
          </Field>
          <Field label="Language">
            <input name="language" defaultValue={assistant.language} required />
          </Field>
        </div>
        <button type="submit" className="primary">
          Save
        </button>
      </form>
    </section>
  )
}
