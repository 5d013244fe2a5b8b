import type { ResultOf } from "gql.tada"
import { useMemo } from "react"
import { Link } from "wouter"
import { useAddress, usePlace } from "../kit/company.js"
import { Table } from "../kit/forms.js"
import { inboxLimits } from "../kit/limits.js"
import { usePages } from "../kit/live.js"
import { Failure } from "../kit/notices.js"
import { titleOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { type Hit, hitsQuery } from "./operations.js"
import { usePeriod, variablesOf } from "./place.js"
import { actionText, missing, ruleText, timeIn } from "./texts.js"

/** What the guardrails of the assistants found, newest first; each opens its chat at the message. */
export function Hits() {
  const { companyId } = usePlace()
  const { period } = usePeriod()
  const key = JSON.stringify({ companyId, ...variablesOf(period) })
  const source = useMemo(
    () => ({
      document: hitsQuery,
      variables: { ...(JSON.parse(key) as { companyId: string; from: string; to: string }), first: inboxLimits.pageSize },
      connection: ({ guardrailHits }: ResultOf<typeof hitsQuery>) => guardrailHits,
    }),
    [key],
  )
  const { nodes, isLoading, hasMore, error, more } = usePages(source)
  return (
    <>
      <Failure error={error} again={more} />
      {nodes.length > 0 && (
        <Table isBusy={isLoading} columns={[t("Time"), t("Rule"), t("Whose text"), t("What happened"), t("Text"), t("Chat")]}>
          {nodes.map((hit) => (
            <Row key={hit.id} hit={hit} zone={period.zone} />
          ))}
        </Table>
      )}
      {isLoading && <p className="hint">{t("Reading …")}</p>}
      {!isLoading && !error && nodes.length === 0 && <p className="nothing">{t("No guardrail was hit in this period.")}</p>}
      {hasMore && (
        <button type="button" onClick={more}>
          {t("Earlier hits")}
        </button>
      )}
    </>
  )
}

function Row({ hit, zone }: { hit: Hit; zone: string }) {
  const { createdAt, rule, direction, action, excerpt, messageId, chat, assistant } = hit
  const { to } = useAddress()
  return (
    <tr>
      <td>{timeIn(zone, createdAt)}</td>
      <td>{ruleText(rule)}</td>
      <td>
        {direction === "CUSTOMER" ? t("Customer") : t("Assistant")}
        <br />
        <span className="hint">
          <bdi>{assistant?.name}</bdi>
        </span>
      </td>
      <td>{actionText(action)}</td>
      <td dir="auto">{excerpt ?? missing}</td>
      <td>
        {chat ? (
          <Link href={to(messageId ? `/chats/${chat.id}/${messageId}` : `/chats/${chat.id}`)}>
            <bdi>{titleOf(chat)}</bdi>
          </Link>
        ) : (
          t("A call")
        )}
      </td>
    </tr>
  )
}
