import { usePlace } from "../kit/company.js"
import { Table, useRead } from "../kit/forms.js"
import { exactTime, wordOf } from "../kit/texts.js"
import { channelsQuery } from "./operations.js"

/** The connected accounts of the company, and whether they work. */
export function Channels() {
  const { companyId } = usePlace()
  const { data, instead } = useRead(channelsQuery, { companyId })
  return (
    <>
      {instead}
      {data && (
        <Table columns={["Name", "Channel", "Account", "State", "Waiting", "Last message"]}>
          {data.channels.map(({ id, name, messenger, isActive, problem, queued, lastInboundAt, config }) => (
            <tr key={id}>
              <th scope="row">
                <bdi>{name}</bdi>
                {messenger === "WIDGET" && (
                  <>
                    {" "}
                    <a href={`/widget/${id}`} target="_blank" rel="noreferrer">
                      Open the chat
                    </a>
                  </>
                )}
              </th>
              <td>{wordOf(messenger)}</td>
              <td>
                <bdi>{config.externalId}</bdi>
              </td>
              <td className={problem ? "refused" : undefined}>{problem ?? (isActive ? "Connected" : "Disconnected")}</td>
              <td>{queued}</td>
              <td>{lastInboundAt ? exactTime(lastInboundAt) : "None"}</td>
            </tr>
          ))}
        </Table>
      )}
      <p className="hint">
        An operator connects a channel with <code>npm run admin -- channel:connect</code>, which keeps its credentials out of browsers.
      </p>
    </>
  )
}
