import { type FormEvent, useState } from "react"
import { usePlace } from "../kit/company.js"
import { Confirmed } from "../kit/confirmed.js"
import { Field, Table, textsOf, useRead } from "../kit/forms.js"
import { useMutate } from "../kit/notices.js"
import { exactTime } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { createToken, revokeToken, tokensQuery } from "./operations.js"
import { Secret } from "./secret.js"

/** The access tokens of the company; the value of a new one is shown once. */
export function Tokens() {
  const { companyId } = usePlace()
  const mutate = useMutate()
  const [created, setCreated] = useState("")
  const { data, instead, again } = useRead(tokensQuery, { companyId })
  async function create(event: FormEvent<HTMLFormElement>) {
    const form = event.currentTarget
    const { name, readOnly, expires } = textsOf(event)
    const expiresAt = expires ? new Date(`${expires}T00:00:00`).toISOString() : null
    const made = await mutate(createToken, { companyId, name: name!, readOnly: readOnly === "on", expiresAt })
    if (!made) return
    setCreated(made.createAccessToken.token ?? "")
    form.reset()
    again()
  }
  async function revoke(id: string) {
    if (await mutate(revokeToken, { companyId, id })) again()
  }
  return (
    <>
      {instead}
      {created && <Secret key={created} label={t("The new access token.")} value={created} />}
      {data && (
        <Table columns={[t("Name"), t("Begins with"), t("Created"), t("Last used"), t("Expires"), t("Action")]}>
          {data.accessTokens.map((token) => (
            <tr key={token.id}>
              <th scope="row">
                <bdi>{token.name}</bdi> {token.readOnly && <span className="hint">{t("reads only")}</span>}
              </th>
              <td>
                <code>{token.tokenPrefix}</code>
              </td>
              <td>{exactTime(token.createdAt)}</td>
              <td>{token.lastUsedAt ? exactTime(token.lastUsedAt) : t("Never")}</td>
              <td>{token.expiresAt ? exactTime(token.expiresAt) : t("Never")}</td>
              <td>
                <Confirmed label={t("Revoke")} name={t("Revoke {name}", { name: token.name })} act={() => void revoke(token.id)} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <form className="fields narrow" onSubmit={create}>
        <h3>{t("New access token")}</h3>
        <Field label={t("Name")}>
          <input name="name" required />
        </Field>
        <Field label={t("Expires on")}>
          <input name="expires" type="date" />
        </Field>
        <label className="check">
          <input type="checkbox" name="readOnly" /> {t("May only read")}
        </label>
        <button type="submit" className="primary">
          {t("Create token")}
        </button>
      </form>
    </>
  )
}
