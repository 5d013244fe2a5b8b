import { usePlace } from "../kit/company.js"
import { Table, useRead } from "../kit/forms.js"
import { exactTime, wordOf } from "../kit/texts.js"
import { parts, t } from "../kit/words.js"
import { membersQuery } from "./operations.js"

/** The people of the company. */
export function Members() {
  const { companyId } = usePlace()
  const { data, instead } = useRead(membersQuery, { companyId })
  return (
    <>
      {instead}
      {data?.company && (
        <Table columns={[t("Name"), t("Email"), t("Role"), t("Since")]}>
          {data.company.members.map(({ id, name, email, role, createdAt }) => (
            <tr key={id}>
              <th scope="row">
                <bdi>{name}</bdi>
              </th>
              <td>{email}</td>
              <td>{wordOf(role)}</td>
              <td>{exactTime(createdAt)}</td>
            </tr>
          ))}
        </Table>
      )}
      <p className="hint">
        {parts("An operator adds people with {command}.", { command: <code key="command">npm run admin -- member:add</code> })}
      </p>
    </>
  )
}
