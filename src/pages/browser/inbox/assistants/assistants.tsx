import type { FormEvent } from "react"
import { Link, Route, Switch } from "wouter"
import { useAddress, usePlace } from "../kit/company.js"
import { textsOf, useRead } from "../kit/forms.js"
import { useMutate } from "../kit/notices.js"
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
  async function create(event: FormEvent<HTMLFormElement>) {
    const { name } = textsOf(event)
    const created = await mutate(createAssistant, { input: { companyId, name: name! } })
    if (created) go(`/assistants/${created.createAssistant.id}`)
  }
  return (
    <main className="page">
      <h1>Assistants</h1>
      {instead}
      {data && (
        <ul className="rows" aria-label="Assistants">
          {data.assistants.nodes.map(({ id, name, isDraft }) => (
            <li key={id}>
              <Link href={to(`/assistants/${id}`)}>
                <bdi>{name}</bdi>
              </Link>
              {isDraft && <span className="hint">Draft</span>}
            </li>
          ))}
        </ul>
      )}
      <form className="line" onSubmit={create}>
        <input name="name" aria-label="Name of a new assistant" required />
        <button type="submit">Create assistant</button>
      </form>
    </main>
  )
}
