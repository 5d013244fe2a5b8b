import type { ResultOf } from "gql.tada"
import { type FormEvent, useState } from "react"
import { textsOf } from "../kit/forms.js"
import { useMutate } from "../kit/notices.js"
import { t } from "../kit/words.js"
import { JsonField, readJson } from "./json-field.js"
import { type Tool, testTool } from "./operations.js"

/** Calls the endpoint of a tool as the assistant does, and shows what it answered. */
export function ToolTest({ tool }: { tool: Tool }) {
  const mutate = useMutate()
  const [result, setResult] = useState<ResultOf<typeof testTool>["testAssistantTool"] | null>(null)
  async function call(event: FormEvent<HTMLFormElement>) {
    const params = readJson(textsOf(event)["params"]!)
    if ("reason" in params) return
    const answered = await mutate(testTool, { id: tool.id, params: params.value })
    if (answered) setResult(answered.testAssistantTool)
  }
  return (
    <form className="fields" onSubmit={call}>
      <h3>{t("Test call")}</h3>
      <JsonField name="params" label={t("Arguments of the call")} value={{}} rows={3} />
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
