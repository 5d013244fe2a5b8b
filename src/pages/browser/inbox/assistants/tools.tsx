import { useState } from "react"
import { Confirmed } from "../kit/confirmed.js"
import { useRead } from "../kit/forms.js"
import { useMutate } from "../kit/notices.js"
import { wordOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { McpTools } from "./mcp-tools.js"
import { type Assistant, deleteTool, type Tool, toolsQuery } from "./operations.js"
import { ToolForm } from "./tool-form.js"
import { ToolUse } from "./tool-use.js"

/** What an assistant can do: its tools, with their form, a test call and the log of their calls. */
export function ToolsSection({ assistant, changed }: { assistant: Assistant; changed(): void }) {
  const { id: assistantId } = assistant
  const { data, instead, again } = useRead(toolsQuery, { assistantId })
  const [created, setCreated] = useState(0)
  function readAgain() {
    again()
    changed()
  }
  function added() {
    // A form of its own for the next tool.
    setCreated(created + 1)
    readAgain()
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
        <ToolForm key={created} assistantId={assistantId} saved={added} />
      </details>
      <McpTools assistant={assistant} changed={changed} />
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
          {tool.isSystem ? t("built in") : wordOf(tool.type)}
          {tool.disabled && `, ${t("disabled")}`}
        </span>
      </summary>
      {isOpen && (
        <>
          {!tool.isSystem && <ToolForm tool={tool} saved={changed} />}
          {tool.isSystem && <p className="hint">{tool.description}</p>}
          <ToolUse tool={tool} isTestable={tool.apiCallUrl !== null} />
          {!tool.isSystem && <Confirmed label={t("Delete {name}", { name: tool.name })} act={() => void remove()} />}
        </>
      )}
    </details>
  )
}
