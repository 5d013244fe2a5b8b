import type { ComponentType } from "react"
import { Link, Redirect, Route, Switch } from "wouter"
import { useAddress, usePlace } from "../kit/company.js"
import { useTitle } from "../kit/title.js"
import { type Text, t } from "../kit/words.js"
import { inAddress } from "./filters.js"
import { Hits } from "./hits.js"
import { Overview } from "./overview.js"
import { PeriodBar } from "./period-bar.js"
import { Questions } from "./questions.js"
import { StretchList } from "./stretch-list.js"

interface Tab {
  path: string
  title: Text
  View: ComponentType
  /** What a program calls in place of the view. */
  graphql: string
  rest: string
}

/** Each tab has an address and a file of its own; all are about the period above them. */
const tabs: Tab[] = [
  { path: "/outcomes", title: "Overview", View: Overview, graphql: "outcomes", rest: "GET /api/outcomes" },
  {
    ...{ path: "/outcomes/questions", title: "Unanswered questions", View: Questions },
    ...{ graphql: "unansweredQuestions", rest: "GET /api/unanswered-questions" },
  },
  { path: "/outcomes/hits", title: "Guardrails", View: Hits, graphql: "guardrailHits", rest: "GET /api/guardrail-hits" },
  { path: "/outcomes/chats", title: "Conversations", View: StretchList, graphql: "stretches", rest: "GET /api/stretches" },
]

/** What the assistants achieved in a period, and the conversations behind each number. */
export default function Outcomes() {
  const { companyId } = usePlace()
  const { to, path: current } = useAddress()
  useTitle(t("Outcomes"))
  return (
    <main className="page outcomes">
      <h1>{t("Outcomes")}</h1>
      <nav aria-label={t("Outcomes")} className="sections-nav">
        {tabs.map(({ path, title }) => (
          <Link key={path} href={to(path, inAddress({}))} aria-current={path === current ? "page" : undefined}>
            {t(title)}
          </Link>
        ))}
      </nav>
      <PeriodBar />
      <Switch>
        {tabs.map(({ path, title, View, graphql, rest }) => (
          <Route key={path} path={path}>
            <section aria-label={t(title)} key={companyId}>
              <View />
              <p className="hint" lang="en">
                GraphQL: <code>{graphql}</code>; REST: <code>{rest}</code>
              </p>
            </section>
          </Route>
        ))}
        <Route>
          <Redirect to={to("/outcomes")} replace />
        </Route>
      </Switch>
    </main>
  )
}
