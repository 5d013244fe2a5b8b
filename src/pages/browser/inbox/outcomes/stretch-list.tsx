import type { ResultOf } from "gql.tada"
import { useMemo } from "react"
import { Link } from "wouter"
import { useBusy } from "../kit/busy.js"
import { useAddress, usePlace } from "../kit/company.js"
import { Table } from "../kit/forms.js"
import { inboxLimits } from "../kit/limits.js"
import { usePages } from "../kit/live.js"
import { Failure, useNotice } from "../kit/notices.js"
import { titleOf, wordOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { saveCsv } from "./csv.js"
import { filterOf, inAddress, serverFilter } from "./filters.js"
import { type StretchRow, stretchesQuery } from "./operations.js"
import { usePeriod, variablesOf } from "./place.js"
import { channelText, missing, numberText, outcomeText, reasonText, timeIn, timeText } from "./texts.js"

/** The stretches that the filter of the address shows, those that began last first. */
function useStretches() {
  const { companyId } = usePlace()
  const { query } = useAddress()
  const { period } = usePeriod()
  const filter = filterOf(query)
  const key = JSON.stringify({ companyId, ...variablesOf(period), filter: serverFilter(filter) })
  const source = useMemo(
    () => ({
      document: stretchesQuery,
      variables: { ...(JSON.parse(key) as { companyId: string; from: string; to: string; filter: string }), first: inboxLimits.pageSize },
      connection: ({ stretches }: ResultOf<typeof stretchesQuery>) => stretches,
    }),
    [key],
  )
  return { ...usePages(source), source, filter, period }
}

/** The conversations behind a number; each opens its chat where it began. */
export function StretchList() {
  const { nodes, isLoading, hasMore, error, more, source, filter, period } = useStretches()
  const { to } = useAddress()
  const notice = useNotice()
  const { isBusy, once } = useBusy()
  const isFiltered = Object.keys(filter).length > 0
  async function save() {
    await saveCsv(source.variables, `conversations-${period.first}-${period.last}.csv`).catch((refused) =>
      notice(refused instanceof TypeError ? t("The server does not answer. Try again.") : (refused as Error).message),
    )
  }
  return (
    <>
      <p className="line buttons">
        <span>{t("Shown: {what}", { what: shownText(filter) })}</span>
        {isFiltered && <Link href={to("/outcomes/chats", inAddress({}))}>{t("Show all of the period")}</Link>}
        <button type="button" aria-disabled={isBusy} onClick={() => void once(save)}>
          {t("Save as CSV")}
        </button>
      </p>
      <Failure error={error} again={more} />
      {nodes.length > 0 && (
        <Table
          isBusy={isLoading}
          columns={[t("Began"), t("Customer"), t("Who answered"), t("Hand-off"), t("Who"), t("First answer"), t("Rating")]}
        >
          {nodes.map((stretch) => (
            <Row key={stretch.id} stretch={stretch} zone={period.zone} />
          ))}
        </Table>
      )}
      {isLoading && <p className="hint">{t("Reading …")}</p>}
      {!isLoading && !error && nodes.length === 0 && <p className="nothing">{t("No conversation of this period is like this.")}</p>}
      {hasMore && (
        <button type="button" onClick={more}>
          {t("Earlier conversations")}
        </button>
      )}
    </>
  )
}

/** What the list shows, in words. */
function shownText({ outcome, handed, reopened, rated, assistant, person, messenger, reason }: ReturnType<typeof filterOf>): string {
  const parts = [
    outcome && t("who answered: {what}", { what: outcome.split(",").map(outcomeText).join(" / ") }),
    handed && (handed === "true" ? t("with a hand-off") : t("without a hand-off")),
    reopened && (reopened === "true" ? t("the customer wrote again") : t("the customer did not write again")),
    rated && t("with a rating"),
    reason && reasonText(reason === "none" ? null : reason),
    messenger && channelText(messenger),
    assistant && (assistant === "none" ? t("no assistant") : t("of one assistant")),
    person && (person === "none" ? t("no person") : t("of one person")),
  ]
  return parts.filter(Boolean).join("; ") || t("all conversations")
}

function Row({ stretch, zone }: { stretch: StretchRow; zone: string }) {
  const { id, startedAt, messenger, outcome, reopened, handOffReason, rating, firstAnswerMs, person, assistant, chat } = stretch
  const { to } = useAddress()
  const began = timeIn(zone, startedAt)
  return (
    <tr>
      <td>{chat ? <Link href={to(`/chats/${chat.id}/${id}`)}>{began}</Link> : began}</td>
      <td>
        {chat ? (
          <Link href={to(`/chats/${chat.id}/${id}`)}>
            <bdi>{titleOf(chat)}</bdi>
          </Link>
        ) : (
          <span className="hint">{t("Deleted chat")}</span>
        )}
        <br />
        <span className="hint">{wordOf(messenger)}</span>
      </td>
      <td>
        {outcome === null ? missing : outcomeText(outcome)}
        {reopened && (
          <>
            <br />
            <span className="hint">{t("Wrote again")}</span>
          </>
        )}
      </td>
      <td>{handOffReason === null ? missing : reasonText(handOffReason)}</td>
      <td>
        <bdi>{person?.name ?? missing}</bdi>
        <br />
        <span className="hint">
          <bdi>{assistant?.name}</bdi>
        </span>
      </td>
      <td>
        {t("AI: {time}", { time: timeText(firstAnswerMs.ai) })}
        <br />
        {t("People: {time}", { time: timeText(firstAnswerMs.people) })}
      </td>
      <td>{numberText(rating)}</td>
    </tr>
  )
}
