import type { FormEvent } from "react"
import { Link, Route, Switch } from "wouter"
import { useAddress, usePlace } from "../kit/company.js"
import { textsOf, useRead } from "../kit/forms.js"
import { useMutate } from "../kit/notices.js"
import { useTitle } from "../kit/title.js"
import { t } from "../kit/words.js"
import { AssistantPage } from "./assistant.js"
import { assistantsQuery, createAssistant } from "./operations.js"

/** The assistants of the company. */
export default function Assistants() {
  return (
    <Switch>
      <Route path="/assistants/:id">{({ id }) => <AssistantPage key={id} id={id} />}</Route>
      <Route>
        <List />
      </Route>
    </Switch>
  )
}

function List() {
  const { companyId } = usePlace()
  const { go, to } = useAddress()
  const mutate = useMutate()
  const { data, instead } = useRead(assistantsQuery, { companyId })
  useTitle(t("Assistants"))
  async function create(event: FormEvent<HTMLFormElement>) {
    const { name } = textsOf(event)
    const created = await mutate(createAssistant, { input: { companyId, name: name! } })
    if (created) go(`/assistants/${created.createAssistant.id}`)
  }
  return (
    <main className="page">
      <h1>{t("Assistants")}</h1>
      {instead}
      {data && (
        <ul className="rows" aria-label={t("Assistants")}>
          {data.assistants.nodes.map(({ id, name, isDraft }) => (
            <li key={id}>
              <Link href={to(`/assistants/${id}`)}>
                <bdi>{name}</bdi>
              </Link>
              {isDraft && <span className="hint">{t("Draft")}</span>}
            </li>
          ))}
        </ul>
      )}
      <form className="line" onSubmit={create}>
        <input name="name" aria-label={t("Name of a new assistant")} placeholder={t("Name of a new assistant")} required />
        <button type="submit">{t("Create assistant")}</button>
      </form>
    </main>
  )
}
