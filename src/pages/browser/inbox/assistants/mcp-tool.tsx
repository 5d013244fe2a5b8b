import { type FormEvent, useRef, useState } from "react"
import { Field, textsOf } from "../kit/forms.js"
import { inboxLimits } from "../kit/limits.js"
import { useMutate, useNotice } from "../kit/notices.js"
import { plainly } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { standingOf } from "./mcp-choice.js"
import { type McpTool, type Tool, updateTool } from "./operations.js"
import { ToolUse } from "./tool-use.js"

interface Props {
  tool: McpTool
  choose(tool: McpTool, isOn: boolean): Promise<boolean>
  changed(): void
}

/** A tool of an MCP server. All of its words are foreign, and are shown as text. */
export function McpToolItem({ tool, choose, changed }: Props) {
  const { name, title, description, inputSchema, fault, tool: own } = tool
  const standing = standingOf(tool)
  const hasOtherSchema = standing === "changed" && JSON.stringify(own?.params) !== JSON.stringify(inputSchema)
  const item = useRef<HTMLLIElement>(null)
  /** What was chosen and is not stored yet. */
  const [chosen, setChosen] = useState<boolean | null>(null)
  async function turn(isOn: boolean) {
    setChosen(isOn)
    await choose(tool, isOn)
    setChosen(null)
  }
  async function decide(isOn: boolean) {
    // The button that had the focus is gone.
    if (await choose(tool, isOn)) item.current?.focus()
  }
  const label = plainly(title || name)
  const names = (
    <>
      <bdi>{label}</bdi>{" "}
      <span className="hint">
        <bdi>{plainly(name)}</bdi>
      </span>
    </>
  )
  return (
    <li ref={item} tabIndex={-1} className="card">
      {standing === "on" || standing === "off" ? (
        <label className="check">
          <input
            type="checkbox"
            checked={chosen ?? standing === "on"}
            disabled={standing === "off" && fault !== null}
            onChange={({ target }) => void turn(target.checked)}
          />{" "}
          {names}
        </label>
      ) : (
        <p>{names}</p>
      )}
      {standing === "gone" && <p className="refused">{t("The server no longer lists this tool.")}</p>}
      {standing === "changed" && (
        <p className="refused">
          {t("Its server has changed it since it was accepted. The assistant does not use it until the change is accepted.")}
        </p>
      )}
      {fault && (
        <p className="refused">
          {t("It cannot be enabled:")} <bdi>{plainly(fault)}</bdi>
        </p>
      )}
      {standing === "changed" ? (
        <div className="compared">
          <Definition title={t("Accepted")} description={own?.description ?? ""} schema={hasOtherSchema && own?.params} />
          <Definition title={t("What the server says now")} description={description} schema={hasOtherSchema && inputSchema} />
        </div>
      ) : (
        <Description text={description} />
      )}
      {!hasOtherSchema && (
        <details>
          <summary>{t("Arguments, as JSON Schema")}</summary>
          <Schema schema={inputSchema} />
        </details>
      )}
      {standing === "changed" && fault === null && (
        <button type="button" className="primary" aria-label={`${t("Accept the change")}: ${label}`} onClick={() => void decide(true)}>
          {t("Accept the change")}
        </button>
      )}{" "}
      {(own?.mcpState === "CHANGED" || own?.mcpState === "GONE") && (
        <button type="button" aria-label={`${t("Switch off")}: ${label}`} onClick={() => void decide(false)}>
          {t("Switch off")}
        </button>
      )}
      {own && <Use tool={own} isGone={standing === "gone"} changed={changed} />}
    </li>
  )
}

/** A description; a long one is folded. */
function Description({ text }: { text: string }) {
  const { characters, lines } = inboxLimits.unfolded
  const shown = plainly(text)
  const whole = (
    <p className="text" dir="auto">
      {shown}
    </p>
  )
  const begin = [...shown].slice(0, characters).join("")
  if (begin === shown && shown.split("\n").length <= lines) return whole
  return (
    <details>
      <summary>
        <bdi>{begin} …</bdi>
      </summary>
      {whole}
    </details>
  )
}

const Schema = ({ schema }: { schema: unknown }) => <pre dir="ltr">{plainly(JSON.stringify(schema, null, 2) ?? "")}</pre>

/** What a person accepts, without anything folded; the arguments where they have changed. */
const Definition = ({ title, description, schema }: { title: string; description: string; schema: unknown }) => (
  <div>
    <h5>{title}</h5>
    <p className="text" dir="auto">
      {plainly(description)}
    </p>
    {schema !== false && <Schema schema={schema} />}
  </div>
)

/** What can be done with a tool that was enabled: its time limit, a test call, the log of its calls. */
function Use({ tool, isGone, changed }: { tool: Tool; isGone: boolean; changed(): void }) {
  const mutate = useMutate()
  const notice = useNotice()
  const [isOpen, setOpen] = useState(false)
  async function save(event: FormEvent<HTMLFormElement>) {
    const { timeoutSeconds } = textsOf(event)
    if (!(await mutate(updateTool, { id: tool.id, input: { timeoutSeconds: Number(timeoutSeconds) } }))) return
    notice(t("Saved."))
    changed()
  }
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t("Test call, log, time limit")}</summary>
      {isOpen && (
        <>
          <ToolUse tool={tool} isTestable={!isGone} />
          <form className="fields" onSubmit={save}>
            <Field label={t("Time limit in seconds")}>
              <input name="timeoutSeconds" type="number" min="1" defaultValue={tool.timeoutSeconds} required />
            </Field>
            <button type="submit">{t("Save time limit")}</button>
          </form>
        </>
      )}
    </details>
  )
}
