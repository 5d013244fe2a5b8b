import type { ComponentType } from "react"
import { Link, Redirect, Route, Switch } from "wouter"
import { useAddress } from "../kit/company.js"
import { Audit } from "./audit.js"
import { Channels } from "./channels.js"
import { Members } from "./members.js"
import { Tokens } from "./tokens.js"
import { Webhooks } from "./webhooks.js"

const sections: [path: string, title: string, view: ComponentType][] = [
  ["/settings/tokens", "Access tokens", Tokens],
  ["/settings/webhooks", "Event webhooks", Webhooks],
  ["/settings/channels", "Channels", Channels],
  ["/settings/members", "Members", Members],
  ["/settings/audit", "Audit trail", Audit],
]

/** What owners and administrators of a company set and look up. */
export default function Settings() {
  const { to, path: current } = useAddress()
  return (
    <main className="page">
      <h1>Settings</h1>
      <nav aria-label="Settings" className="sections-nav">
        {sections.map(([path, title]) => (
          <Link key={path} href={to(path)} aria-current={path === current ? "page" : undefined}>
            {title}
          </Link>
        ))}
      </nav>
      <Switch>
        {sections.map(([path, title, View]) => (
          <Route key={path} path={path}>
            <section aria-label={title}>
              <h2>{title}</h2>
              <View />
            </section>
          </Route>
        ))}
        <Route>
          <Redirect to={to("/settings/tokens")} replace />
        </Route>
      </Switch>
    </main>
  )
}
