import { useRef } from "react"
import { useRead, useReadWhile } from "../kit/forms.js"
import { useTitle } from "../kit/title.js"
import { t } from "../kit/words.js"
import { HandOff } from "./hand-off.js"
import { KnowledgeSection } from "./knowledge.js"
import { assistantQuery } from "./operations.js"
import { Playground } from "./playground.js"
import { Prompt } from "./prompt.js"
import { ToolsSection } from "./tools.js"
import { useTrial } from "./trial.js"
import { Voice } from "./voice.js"

/** An assistant: what it is told, what it knows, what it can do, and a chat to try it. */
export function AssistantPage({ id }: { id: string }) {
  const { data, instead, again } = useRead(assistantQuery, { id })
  const form = useRef<HTMLFormElement>(null)
  useTitle(data?.assistant?.name ?? "")
  useReadWhile(["PROVISIONING", "TERMINATING"].includes(data?.assistant?.voiceAgentStatus ?? ""), again)
  const trial = useTrial(data?.assistant ?? null, form)
  if (!data) return <main className="page">{instead}</main>
  const { assistant, textModels } = data
  if (!assistant) return <main className="page">{t("This assistant does not exist.")}</main>
  return (
    <main className="page with-side">
      <div className="sections">
        <h1>
          <bdi>{assistant.name}</bdi>
        </h1>
        <Prompt assistant={assistant} textModels={textModels} form={form} />
        <KnowledgeSection assistant={assistant} changed={trial.forget} />
        <ToolsSection assistant={assistant} changed={trial.forget} />
        <HandOff assistant={assistant} changed={trial.forget} />
        <Voice assistant={assistant} />
      </div>
      <Playground assistant={assistant} trial={trial} />
    </main>
  )
}
