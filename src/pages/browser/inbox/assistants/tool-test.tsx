import type { ResultOf } from "gql.tada"
import { type FormEvent, useState } from "react"
import { textsOf } from "../kit/forms.js"
import { useMutate } from "../kit/notices.js"
import { t } from "../kit/words.js"
import { JsonField, readJson } from "./json-field.js"
import { type Tool, testTool } from "./operations.js"

interface Schema {
  type?: unknown
  default?: unknown
  examples?: unknown[]
  enum?: unknown[]
  properties?: Record<string, Schema>
}

const examples: Readonly<Record<string, unknown>> = { string: "", number: 0, integer: 0, boolean: false, array: [], null: null }

/** Arguments to begin with, by the schema of a tool. */
function exampleOf(schema: unknown): unknown {
  const { type, default: usual, examples: given, enum: words, properties } = (schema ?? {}) as Schema
  if (usual !== undefined) return usual
  if (Array.isArray(given) && given.length > 0) return given[0]
  if (Array.isArray(words) && words.length > 0) return words[0]
  if (properties) return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, exampleOf(each)]))
  return examples[String(type)] ?? {}
}

/** Calls the endpoint of a tool as the assistant does, and shows what it answered. */
export function ToolTest({ tool, called }: { tool: Tool; called(): void }) {
  const mutate = useMutate()
  const [result, setResult] = useState<ResultOf<typeof testTool>["testAssistantTool"] | null>(null)
  async function call(event: FormEvent<HTMLFormElement>) {
    const params = readJson(textsOf(event)["params"]!)
    if ("reason" in params) return
    const answered = await mutate(testTool, { id: tool.id, params: params.value })
    if (!answered) return
    setResult(answered.testAssistantTool)
    called()
  }
  return (
    <form className="fields" onSubmit={call}>
      <h3>{t("Test call")}</h3>
      <JsonField name="params" label={t("Arguments of the call")} value={exampleOf(tool.params)} rows={3} />
      <button type="submit">{t("Call {name}", { name: tool.name })}</button>
      <div aria-live="polite">
        {result && (
          <>
            <p className={result.success ? undefined : "refused"}>
              {result.success ? t("Answered") : t("Failed")}
              {result.status && ` ${t("with status {status}", { status: result.status })}`}, {result.latencyMs} ms. {result.error}
            </p>
            <pre dir="ltr">{JSON.stringify(result.body, null, 2)}</pre>
          </>
        )}
      </div>
    </form>
  )
}
