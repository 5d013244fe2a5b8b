import { useState } from "react"
import { useBusy } from "../kit/busy.js"
import { useIsManager, usePlace } from "../kit/company.js"
import { Confirmed } from "../kit/confirmed.js"
import { useRead } from "../kit/forms.js"
import { useMutate } from "../kit/notices.js"
import { exactTime, plainly, wordOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { deleteToolServer, refreshToolServer, type ToolServer, toolServersQuery } from "./operations.js"
import { ToolServerForm } from "./tool-server-form.js"

/** The MCP servers of the company; owners and administrators change them. */
export function ToolServers() {
  const { companyId } = usePlace()
  const isManager = useIsManager()
  const [created, setCreated] = useState(0)
  const { data, instead, again } = useRead(toolServersQuery, { companyId })
  function added() {
    // A form of its own for the next server.
    setCreated(created + 1)
    again()
  }
  return (
    <>
      <p>
        {t(
          "Servers of the Model Context Protocol (MCP). No assistant uses their tools until somebody enables them, one by one, on the page of the assistant.",
        )}
      </p>
      {!isManager && <p className="hint">{t("Only owners and administrators change tool servers.")}</p>}
      {instead}
      {data?.mcpServers.length === 0 && <p className="hint">{t("No tool server yet.")}</p>}
      <ul aria-label={t("Tool servers")}>
        {data?.mcpServers.map((server) => (
          <li key={server.id} className="card">
            <ServerItem server={server} isManager={isManager} deleted={again} />
          </li>
        ))}
      </ul>
      {isManager && (
        <div className="narrow">
          <h3>{t("New tool server")}</h3>
          <ToolServerForm key={created} companyId={companyId} saved={added} />
        </div>
      )}
    </>
  )
}

function ServerItem({ server, isManager, deleted }: { server: ToolServer; isManager: boolean; deleted(): void }) {
  const { id, name, url, hasCredentials, status, reason, refreshedAt, tools } = server
  const mutate = useMutate()
  const { isBusy, once } = useBusy()
  const [saves, setSaves] = useState(0)
  async function remove() {
    if (await mutate(deleteToolServer, { id })) deleted()
  }
  return (
    <>
      <h3>
        <bdi>{name}</bdi>
      </h3>
      <p>
        <bdi>{url}</bdi>
      </p>
      <p className={status === "READY" ? undefined : "refused"}>
        {wordOf(status)}
        {reason && (
          <>
            {". "}
            <bdi>{plainly(reason)}</bdi>
          </>
        )}
      </p>
      <p className="hint">
        {refreshedAt ? t("Listed {time}", { time: exactTime(refreshedAt) }) : t("Never listed")},{" "}
        {t("tools: {count}", { count: tools.filter(({ isGone }) => !isGone).length })}
        {hasCredentials && `, ${t("credentials are set")}`}
      </p>
      {isManager && (
        <>
          <p className="line buttons">
            <button
              type="button"
              aria-label={`${t("Refresh now")}: ${name}`}
              aria-disabled={isBusy}
              onClick={() => void once(() => mutate(refreshToolServer, { id }))}
            >
              {isBusy ? t("Reading …") : t("Refresh now")}
            </button>
            <Confirmed label={t("Delete")} name={t("Delete {name}", { name })} act={() => void remove()} />
            <span className="hint">{t("Deletes its tools of all assistants and the log of their calls, too.")}</span>
          </p>
          <details key={saves}>
            <summary>{t("Change {name}", { name })}</summary>
            <ToolServerForm server={server} saved={() => setSaves(saves + 1)} />
          </details>
        </>
      )}
    </>
  )
}
