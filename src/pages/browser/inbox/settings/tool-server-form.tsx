import { type FormEvent, type ReactNode, useState } from "react"
import { useBusy } from "../kit/busy.js"
import { Field, textsOf } from "../kit/forms.js"
import { useMutate, useNotice } from "../kit/notices.js"
import { t } from "../kit/words.js"
import { createToolServer, type ToolServer, updateToolServer } from "./operations.js"

/** What a person chose for credentials that are never shown. */
type Choice = "KEEP" | "SET" | "REMOVE"

/** What a form says about one kind of credentials: nothing, null to delete them, or new ones. */
const chosen = <Value,>(form: FormData, name: string, read: () => Value): Value | null | undefined =>
  ({ KEEP: () => undefined, SET: read, REMOVE: () => null })[(form.get(name) as Choice | null) ?? "KEEP"]()

/** The headers of a form; rows without a name and a value are left out. */
function headersIn(form: FormData): Record<string, string> {
  const values = form.getAll("headerValue").map(String)
  const rows = form.getAll("headerName").map((name, at) => [String(name).trim(), values[at]!] as const)
  return Object.fromEntries(rows.filter(([name, value]) => name || value))
}

function credentialsIn(form: FormData) {
  const textOf = (name: string) => String(form.get(name)).trim()
  const headers = chosen(form, "headers", () => headersIn(form))
  const clientCredentials = chosen(form, "client", () => ({
    clientId: textOf("clientId"),
    clientSecret: textOf("clientSecret"),
    scope: textOf("scope") || null,
    issuer: textOf("issuer"),
  }))
  return { ...(headers !== undefined && { headers }), ...(clientCredentials !== undefined && { clientCredentials }) }
}

type Props = { saved(): void } & ({ server: ToolServer; companyId?: undefined } | { server?: undefined; companyId: string })

/** The form of an MCP server, new or stored. Credentials are only written: what is set stays, is replaced or is removed. */
export function ToolServerForm({ server, companyId, saved }: Props) {
  const mutate = useMutate()
  const notice = useNotice()
  const { isBusy, once } = useBusy()
  function submit(event: FormEvent<HTMLFormElement>) {
    const credentials = credentialsIn(new FormData(event.currentTarget))
    const { name, url } = textsOf(event)
    void once(() => save({ name: name!, ...credentials }, url!))
  }
  async function save(input: { name: string } & ReturnType<typeof credentialsIn>, url: string) {
    const isSaved = server
      ? await mutate(updateToolServer, { id: server.id, input: { ...input, ...(url !== server.url && { url }) } })
      : await mutate(createToolServer, { input: { ...input, companyId, url } })
    if (!isSaved) return
    notice(t("Saved."))
    saved()
  }
  return (
    <form className="fields" onSubmit={submit}>
      <Field label={t("Name")}>
        <input name="name" defaultValue={server?.name} required />
      </Field>
      <Field label={t("Address")}>
        <input name="url" type="url" defaultValue={server?.url} dir="ltr" required />
      </Field>
      {server ? <StoredCredentials isSet={server.hasCredentials} /> : <NewCredentials />}
      <button type="submit" className="primary" aria-disabled={isBusy}>
        {isBusy ? t("Reading …") : server ? t("Save server") : t("Create tool server")}
      </button>
    </form>
  )
}

function NewCredentials() {
  const [hasClient, setHasClient] = useState(false)
  return (
    <>
      <fieldset>
        <legend>{t("Headers, for example Authorization")}</legend>
        <input type="hidden" name="headers" value="SET" />
        <Headers />
      </fieldset>
      <label className="check">
        <input type="checkbox" name="client" value="SET" checked={hasClient} onChange={({ target }) => setHasClient(target.checked)} />{" "}
        {t("Client credentials (OAuth)")}
      </label>
      {hasClient && <Client />}
    </>
  )
}

function StoredCredentials({ isSet }: { isSet: boolean }) {
  return (
    <>
      <p className="hint">
        {isSet
          ? t("Credentials are set. They are never shown, and are deleted when the address moves to another server.")
          : t("No credentials are set.")}
      </p>
      <Chosen name="headers" label={t("Headers")} isSet={isSet}>
        <Headers isRequired />
      </Chosen>
      <Chosen name="client" label={t("Client credentials (OAuth)")} isSet={isSet}>
        <Client />
      </Chosen>
    </>
  )
}

function Chosen({ name, label, isSet, children }: { name: string; label: string; isSet: boolean; children: ReactNode }) {
  const [choice, setChoice] = useState<Choice>("KEEP")
  return (
    <>
      <Field label={label}>
        <select name={name} value={choice} onChange={({ target }) => setChoice(target.value as Choice)}>
          <option value="KEEP">{t("Leave as they are")}</option>
          <option value="SET">{t("Set new ones")}</option>
          {isSet && <option value="REMOVE">{t("Remove")}</option>}
        </select>
      </Field>
      {choice === "SET" && children}
    </>
  )
}

function Headers({ isRequired = false }: { isRequired?: boolean }) {
  const [rows, setRows] = useState([0])
  return (
    <>
      {rows.map((row, at) => (
        <div key={row} className="line">
          <Field label={t("Header")}>
            <input name="headerName" dir="ltr" autoComplete="off" spellCheck={false} required={isRequired} />
          </Field>
          <Field label={t("Value")}>
            <input name="headerValue" type="password" autoComplete="off" required={isRequired} />
          </Field>
          {rows.length > 1 && (
            <button
              type="button"
              aria-label={t("Remove header {number}", { number: at + 1 })}
              onClick={() => setRows(rows.filter((each) => each !== row))}
            >
              ×
            </button>
          )}
        </div>
      ))}
      <button type="button" onClick={() => setRows([...rows, rows.at(-1)! + 1])}>
        {t("Another header")}
      </button>
    </>
  )
}

function Client() {
  return (
    <>
      <Field label={t("Client ID")}>
        <input name="clientId" dir="ltr" autoComplete="off" required />
      </Field>
      <Field label={t("Client secret")}>
        <input name="clientSecret" type="password" autoComplete="off" required />
      </Field>
      <Field label={t("Issuer: the address of the authorization server, which alone gets the secret")}>
        <input name="issuer" type="url" dir="ltr" required />
      </Field>
      <Field label={t("Scopes, separated by spaces; empty for those that the server names")}>
        <input name="scope" dir="ltr" autoComplete="off" />
      </Field>
    </>
  )
}
