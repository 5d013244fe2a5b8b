import { useState } from "react"
import { useRead } from "../kit/forms.js"
import { useMutate } from "../kit/notices.js"
import { wordOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { deleteTool, type Tool, toolsQuery } from "./operations.js"
import { ToolCalls } from "./tool-calls.js"
import { ToolForm } from "./tool-form.js"
import { ToolTest } from "./tool-test.js"

/** What an assistant can do: its tools, with their form, a test call and the log of their calls. */
export function ToolsSection({ assistantId, changed }: { assistantId: string; changed(): void }) {
  const { data, instead, again } = useRead(toolsQuery, { assistantId })
  function readAgain() {
    again()
    changed()
  }
  return (
    <section aria-label={t("Tools")}>
      <h2>{t("Tools")}</h2>
      {instead}
      <ul aria-label={t("Tools")}>
        {data?.assistantTools.nodes.map((tool) => (
          <li key={tool.id}>
            <ToolItem tool={tool} changed={readAgain} />
          </li>
        ))}
      </ul>
      <details>
        <summary>{t("Add a tool")}</summary>
        <ToolForm assistantId={assistantId} saved={readAgain} />
      </details>
    </section>
  )
}

function ToolItem({ tool, changed }: { tool: Tool; changed(): void }) {
  const mutate = useMutate()
  const [isOpen, setOpen] = useState(false)
  async function remove() {
    if (await mutate(deleteTool, { id: tool.id })) changed()
  }
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <bdi>{tool.name}</bdi>{" "}
        <span className="hint">
          {wordOf(tool.type)}
          {tool.disabled && `, ${t("disabled")}`}
        </span>
      </summary>
      {isOpen && (
        <>
          {!tool.isSystem && <ToolForm tool={tool} saved={changed} />}
          {tool.apiCallUrl && <ToolTest tool={tool} />}
          <ToolCalls toolId={tool.id} />
          {!tool.isSystem && (
            <button type="button" onClick={() => void remove()}>
              {t("Delete {name}", { name: tool.name })}
            </button>
          )}
        </>
      )}
    </details>
  )
}
