import { Link } from "wouter"
import { useAddress } from "../kit/company.js"
import { plainly, wordOf } from "../kit/texts.js"
import { parts, t } from "../kit/words.js"
import { useMcpTools } from "./mcp-choice.js"
import { McpToolItem } from "./mcp-tool.js"
import type { Assistant } from "./operations.js"

/** The tools of all MCP servers of the company, by server, to switch on and off for an assistant. */
export function McpTools({ assistant, changed }: { assistant: Assistant; changed(): void }) {
  const { data, instead, choose } = useMcpTools(assistant, changed)
  const { to } = useAddress()
  const view = (
    <Link key="view" href={to("/settings/tool-servers")}>
      {t("Tool servers")}
    </Link>
  )
  const toolsOf = (serverId: string) => data?.assistant?.mcpTools.filter(({ server }) => server.id === serverId) ?? []
  return (
    <>
      <h3>{t("Tools of tool servers")}</h3>
      {instead}
      {data?.mcpServers.length === 0 && (
        <p className="hint">{parts("There is no tool server yet. Owners and administrators add one here: {view}.", { view })}</p>
      )}
      {data?.mcpServers.map(({ id, name, status, reason }) => (
        <details key={id} open>
          <summary>
            <h4>
              <bdi>{name}</bdi>
            </h4>
          </summary>
          {status !== "READY" && (
            <p className="refused">
              {wordOf(status)}. <bdi>{plainly(reason ?? "")}</bdi>
            </p>
          )}
          {status === "READY" && toolsOf(id).length === 0 && <p className="hint">{t("It lists no tool.")}</p>}
          <ul aria-label={t("Tools of {name}", { name })}>
            {toolsOf(id).map((tool) => (
              <McpToolItem key={tool.name} tool={tool} choose={choose} changed={changed} />
            ))}
          </ul>
        </details>
      ))}
    </>
  )
}
