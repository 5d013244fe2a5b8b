import type { FormEvent } from "react"
import { Field, textsOf, WordOptions } from "../kit/forms.js"
import { useMutate, useNotice } from "../kit/notices.js"
import { t } from "../kit/words.js"
import { JsonField, readJson } from "./json-field.js"
import { createTool, type Tool, updateTool } from "./operations.js"

const types = ["WEBHOOK_ACTION", "WEBHOOK_CLIENT", "WEBHOOK_INIT", "WEBHOOK_POSTCALL"] as const
const methods = ["POST", "GET", "PUT", "PATCH", "DELETE"] as const
const noArguments = { type: "object", properties: {} }

type Props = { saved(): void } & ({ tool: Tool; assistantId?: undefined } | { tool?: undefined; assistantId: string })

/** The form of a tool, new or stored. The server checks the schema of its arguments, and says what is wrong with it. */
export function ToolForm({ tool, assistantId, saved }: Props) {
  const mutate = useMutate()
  const notice = useNotice()
  async function save(event: FormEvent<HTMLFormElement>) {
    const { name, description, type, apiCallUrl, httpMethod, timeoutSeconds, webhookSecret, params, disabled } = textsOf(event)
    const schema = readJson(params!)
    if ("reason" in schema) return
    const input = {
      name: name!,
      description: description!,
      type: type as Tool["type"],
      params: schema.value,
      timeoutSeconds: Number(timeoutSeconds),
      disabled: disabled === "on",
      ...(type !== "WEBHOOK_CLIENT" && { apiCallUrl, httpMethod: httpMethod as (typeof methods)[number] }),
      ...(webhookSecret && { webhookSecret }),
    }
    const isSaved = tool ? await mutate(updateTool, { id: tool.id, input }) : await mutate(createTool, { input: { ...input, assistantId } })
    if (!isSaved) return
    notice(t("Saved."))
    saved()
  }
  return (
    <form className="fields" onSubmit={save}>
      <Field label={t("Name of the tool")}>
        <input name="name" defaultValue={tool?.name} pattern="[A-Za-z0-9_\-]{1,64}" title={t("Letters, digits, _ and -")} required />
      </Field>
      <Field label={t("Description, for the assistant")}>
        <textarea name="description" rows={2} defaultValue={tool?.description} required />
      </Field>
      <div className="line">
        <Field label={t("Type")}>
          <select name="type" defaultValue={tool?.type ?? "WEBHOOK_ACTION"}>
            <WordOptions words={types} />
          </select>
        </Field>
        <Field label={t("Method")}>
          <select name="httpMethod" defaultValue={tool?.httpMethod ?? "POST"}>
            {methods.map((method) => (
              <option key={method}>{method}</option>
            ))}
          </select>
        </Field>
        <Field label={t("Time limit in seconds")}>
          <input name="timeoutSeconds" type="number" min="1" defaultValue={tool?.timeoutSeconds ?? 10} required />
        </Field>
      </div>
      <Field label={t("Address")}>
        <input name="apiCallUrl" type="url" defaultValue={tool?.apiCallUrl ?? ""} />
      </Field>
      <Field label={tool?.hasWebhookSecret ? t("Secret (one is stored; write a new one to replace it)") : t("Secret")}>
        <input name="webhookSecret" type="password" autoComplete="off" />
      </Field>
      <JsonField name="params" label={t("Arguments, as JSON Schema")} value={tool?.params ?? noArguments} rows={8} />
      <label className="check">
        <input type="checkbox" name="disabled" defaultChecked={tool?.disabled} /> {t("Disabled")}
      </label>
      <button type="submit" className="primary">
        {tool ? t("Save tool") : t("Create tool")}
      </button>
    </form>
  )
}
