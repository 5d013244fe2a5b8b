import { usePlace } from "../kit/company.js"
import { Table, useRead } from "../kit/forms.js"
import { exactTime, wordOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { Connect } from "./connect.js"
import { channelsQuery } from "./operations.js"
import { RatingQuestion } from "./rating-question.js"

/** The connected accounts of the company, and whether they work. */
export function Channels() {
  const { companyId } = usePlace()
  const { data, instead, again } = useRead(channelsQuery, { companyId })
  return (
    <>
      {instead}
      {data && (
        <Table columns={[t("Name"), t("Channel"), t("Account"), t("State"), t("Waiting"), t("Last message"), t("Rating")]}>
          {data.channels.map(({ id, name, messenger, isActive, ratingQuestion, problem, queued, lastInboundAt, config }) => (
            <tr key={id}>
              <th scope="row">
                <bdi>{name}</bdi>
                {messenger === "WIDGET" && (
                  <>
                    {" "}
                    <a href={`/widget/${id}`} target="_blank" rel="noreferrer">
                      {t("Open the chat")}
                    </a>
                  </>
                )}
              </th>
              <td>{wordOf(messenger)}</td>
              <td>
                <bdi>{config.externalId}</bdi>
              </td>
              <td className={problem ? "refused" : undefined}>{problem ?? (isActive ? t("Connected") : t("Disconnected"))}</td>
              <td>{queued}</td>
              <td>{lastInboundAt ? exactTime(lastInboundAt) : messenger === "WIDGET" ? "" : t("None")}</td>
              <td>
                <RatingQuestion channel={{ id, ratingQuestion }} changed={again} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <Connect />
    </>
  )
}
