import { useEffect, useRef } from "react"
import { Link } from "wouter"
import { useAddress } from "../kit/company.js"
import { useRead } from "../kit/forms.js"
import { exactTime, wordOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { toolCallsQuery } from "./operations.js"

/** The latest calls of a tool; they are read again when `calls`, the number of test calls, changes. */
export function ToolCalls({ toolId, calls }: { toolId: string; calls: number }) {
  const { data, instead, again } = useRead(toolCallsQuery, { toolId })
  const seen = useRef(calls)
  useEffect(() => {
    if (seen.current === calls) return
    seen.current = calls
    again()
  })
  const { to } = useAddress()
  return (
    <>
      <div className="line">
        <h3>{t("Calls")}</h3>
        <button type="button" onClick={again}>
          {t("Read again")}
        </button>
      </div>
      {instead}
      {data?.toolCalls.nodes.length === 0 && <p className="hint">{t("No call yet.")}</p>}
      <ul className="rows" aria-label={t("Calls")}>
        {data?.toolCalls.nodes.map((call) => (
          <li key={call.id}>
            <details>
              <summary>
                {exactTime(call.createdAt)}: <span className={call.status === "ERROR" ? "refused" : undefined}>{wordOf(call.status)}</span>
                {call.latencyMs !== null && `, ${call.latencyMs} ms`} {call.error}
              </summary>
              <pre dir="ltr">
                {JSON.stringify({ params: call.params, responseStatus: call.responseStatus, response: call.response }, null, 2)}
              </pre>
            </details>
            {call.chatId && <Link href={to(`/chats/${call.chatId}`)}>{t("Chat")}</Link>}
          </li>
        ))}
      </ul>
    </>
  )
}
