import { usePlace } from "../kit/company.js"
import { Table, useRead } from "../kit/forms.js"
import { exactTime, wordOf } from "../kit/texts.js"
import { t } from "../kit/words.js"
import { membersQuery } from "./operations.js"
import { Copyable } from "./secret.js"

/** The people of the company. */
export function Members() {
  const { companyId } = usePlace()
  const { data, instead } = useRead(membersQuery, { companyId })
  const commands = `npm run --silent admin -- user:create --email ann@example.com --name Ann --password '…'
npm run --silent admin -- member:add --company ${companyId} --user ann@example.com --role member`
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
      <p>{t("An operator adds people by commands on the server: the first creates the person, the second adds them.")}</p>
      <Copyable text={commands} />
    </>
  )
}
