import type { ResultOf } from "gql.tada"
import { useMemo } from "react"
import { usePlace } from "../kit/company.js"
import { Table } from "../kit/forms.js"
import { inboxLimits } from "../kit/limits.js"
import { usePages } from "../kit/live.js"
import { Failure } from "../kit/notices.js"
import { exactTime, wordOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { auditQuery } from "./operations.js"

/** Who changed what, newest first; for owners and administrators. */
export function Audit() {
  const { me, companyId } = usePlace()
  const source = useMemo(
    () => ({
      document: auditQuery,
      variables: { companyId, first: inboxLimits.pageSize },
      connection: ({ auditEntries }: ResultOf<typeof auditQuery>) => auditEntries,
    }),
    [companyId],
  )
  const { nodes, error, hasMore, isLoading, more } = usePages(source)
  return (
    <>
      <Failure error={error} again={more} />
      <Table isBusy={isLoading} columns={[t("Time"), t("Who"), t("Action"), t("What"), t("Fields"), t("Address")]}>
        {nodes.map(({ id, createdAt, actorKind, actorId, action, subjectType, subjectId, changed, address }) => (
          <tr key={id}>
            <td>{exactTime(createdAt)}</td>
            <td title={actorId ?? undefined}>{actorId === me.id ? me.name : wordOf(actorKind)}</td>
            <td>{action}</td>
            <td title={subjectId}>{subjectType}</td>
            <td>{changed.join(", ")}</td>
            <td>{address}</td>
          </tr>
        ))}
      </Table>
      {hasMore && (
        <button type="button" onClick={more}>
          {t("Earlier entries")}
        </button>
      )}
    </>
  )
}
