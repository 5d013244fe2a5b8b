import type { ComponentType } from "react"
import { Link, Redirect, Route, Switch } from "wouter"
import { useAddress } from "../kit/company.js"
import { useTitle } from "../kit/title.js"
import { type Text, t } from "../kit/words.js"
import { Audit } from "./audit.js"
import { Channels } from "./channels.js"
import { Members } from "./members.js"
import { Tokens } from "./tokens.js"
import { ToolServers } from "./tool-servers.js"
import { Webhooks } from "./webhooks.js"

interface Section {
  path: string
  title: Text
  View: ComponentType
  /** What a program calls in place of the view. */
  graphql: string
  rest?: string
}

const sections: Section[] = [
  {
    path: "/settings/tokens",
    title: "Access tokens",
    View: Tokens,
    graphql: "accessTokens, createAccessToken, renameAccessToken, revokeAccessToken",
    rest: "GET, POST /api/companies/{companyId}/access-tokens",
  },
  {
    path: "/settings/webhooks",
    title: "Event webhooks",
    View: Webhooks,
    graphql: "eventWebhooks, createEventWebhook, updateEventWebhook, testEventWebhook, eventDeliveries, redeliverEvent",
    rest: "GET, POST /api/event-webhooks",
  },
  {
    path: "/settings/tool-servers",
    title: "Tool servers",
    View: ToolServers,
    graphql: "mcpServers, createMcpServer, updateMcpServer, refreshMcpServer, deleteMcpServer, setAssistantMcpTools",
    rest: "GET, POST /api/companies/{companyId}/mcp-servers",
  },
  { path: "/settings/channels", title: "Channels", View: Channels, graphql: "channels" },
  {
    path: "/settings/members",
    title: "Members",
    View: Members,
    graphql: "company { members }",
    rest: "GET /api/companies/{id}",
  },
  { path: "/settings/audit", title: "Audit trail", View: Audit, graphql: "auditEntries" },
]

/** What owners and administrators of a company set and look up. */
export default function Settings() {
  const { to, path: current } = useAddress()
  useTitle(t("Settings"))
  return (
    <main className="page">
      <h1>{t("Settings")}</h1>
      <nav aria-label={t("Settings")} className="sections-nav">
        {sections.map(({ path, title }) => (
          <Link key={path} href={to(path)} aria-current={path === current ? "page" : undefined}>
            {t(title)}
          </Link>
        ))}
      </nav>
      <Switch>
        {sections.map(({ path, title, View, graphql, rest }) => (
          <Route key={path} path={path}>
            <section aria-label={t(title)}>
              <h2>{t(title)}</h2>
              <View />
              <p className="hint" lang="en">
                GraphQL: <code>{graphql}</code>
                {rest && (
                  <>
                    ; REST: <code>{rest}</code>
                  </>
                )}
              </p>
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
