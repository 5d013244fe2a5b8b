import { type FormEvent, useState } from "react"
import { useChoices } from "../kit/company.js"
import { Field, textsOf, useRead } from "../kit/forms.js"
import { useMutate, useNotice } from "../kit/notices.js"
import { type Text, t } from "../kit/words.js"
import { type Assistant, toolsQuery, updateAssistant, updateTool } from "./operations.js"

/** The built-in tools that can be turned off, and what an assistant does with each. */
const builtIn: Readonly<Record<string, Text>> = {
  turnOffAiMode: "Hand a chat to a person when the customer asks for one or it cannot help",
  searchKnowledge: "Search its knowledge",
  setChatTags: "Label chats",
}

/** When an assistant hands over to a person, and what else it may do by itself. */
export function HandOff({ assistant, changed }: { assistant: Assistant; changed(): void }) {
  const mutate = useMutate()
  const notice = useNotice()
  const { chatTags } = useChoices()
  const { data, again } = useRead(toolsQuery, { assistantId: assistant.id })
  const tools = data?.assistantTools.nodes.filter(({ isSystem, name }) => isSystem && Object.hasOwn(builtIn, name)) ?? []
  async function turn(id: string, isOn: boolean) {
    if (!(await mutate(updateTool, { id, input: { disabled: !isOn } }))) return
    again()
    changed()
  }
  // The list is replaced as a whole, so a second choice must know of the first one, which may not be stored yet.
  const [excluded, setExcluded] = useState(assistant.excludedTags)
  async function exclude(name: string, isAllowed: boolean) {
    const others = excluded.filter((each) => each !== name)
    const excludedTags = isAllowed ? others : [...others, name]
    setExcluded(excludedTags)
    if (await mutate(updateAssistant, { id: assistant.id, input: { excludedTags } })) changed()
    else setExcluded(assistant.excludedTags)
  }
  async function saveMessage(event: FormEvent<HTMLFormElement>) {
    const { handOffMessage = "" } = textsOf(event)
    if (!(await mutate(updateAssistant, { id: assistant.id, input: { handOffMessage: handOffMessage.trim() || null } }))) return
    notice(t("Saved."))
    changed()
  }
  return (
    <section aria-label={t("Hand-off")}>
      <h2>{t("Hand-off")}</h2>
      <form className="fields" onSubmit={saveMessage}>
        <Field label={t("What it tells the customer when it hands a chat over without a word; empty for nothing")}>
          <textarea name="handOffMessage" rows={2} defaultValue={assistant.handOffMessage ?? ""} dir="auto" />
        </Field>
        <p className="line buttons">
          <button type="submit">{t("Save message")}</button>
        </p>
      </form>
      <fieldset>
        <legend>{t("The assistant may")}</legend>
        {tools.map(({ id, name, disabled }) => (
          <label key={id} className="check">
            <input type="checkbox" checked={!disabled} onChange={({ target }) => void turn(id, target.checked)} /> {t(builtIn[name]!)}
          </label>
        ))}
      </fieldset>
      {chatTags.length > 0 && (
        <fieldset>
          <legend>{t("Labels that it may set")}</legend>
          {chatTags.map(({ id, name }) => (
            <label key={id} className="check">
              <input type="checkbox" checked={!excluded.includes(name)} onChange={({ target }) => void exclude(name, target.checked)} />{" "}
              <bdi>{name}</bdi>
            </label>
          ))}
        </fieldset>
      )}
    </section>
  )
}
