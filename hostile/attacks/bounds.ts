import { randomUUID } from "node:crypto"
import { otherThan, type Told, tell, toldBy, withToken } from "../kit/answers.js"
import type { Attack } from "./attack.js"

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

/** Moments that PostgreSQL or JavaScript cannot read, and values that are none. */
const moments = [
  "0000-01-01 00:00:00+00",
  "-0001-01-01 00:00:00+00",
  "2026-01-01 00:00:00+19:00",
  "2026-01-01 00:00:00.1234567890+00",
  "2026-02-30 00:00:00+00",
  "294277-01-01 00:00:00+00",
  "infinity",
  "now",
  "epoch",
  "",
  null,
  -1,
  1e308,
  {},
  [],
]

/** Cursors of impossible dates and offsets, and filters of 30,000 conditions or 70,000 values. */
export const bounds: Attack = {
  title: "cursors of the year 0 and filters without end",
  async run({ server, attacker }, report) {
    const { endCursor } = (
      await tell(`${server.url}/graphql`, withToken(attacker), { query: "{ chats(first: 1) { pageInfo { endCursor } } }" })
    ).body.data.chats.pageInfo
    const [list, moment, id] = JSON.parse(Buffer.from(endCursor, "base64url").toString())
    const cursors = [
      ...moments.map((each) => [list, each, id]),
      ...["x", null, -1, "00000000-0000-0000-0000-000000000000"].map((each) => [list, moment, each]),
      [list],
      [list, moment, id, id],
      {},
      null,
    ]
    const answers: Told[] = []
    for (const cursor of cursors.map(encoded))
      for (const path of ["/api/chats?take=1", "/api/chats?take=1&sortOrder=ASC"])
        answers.push(await toldBy(await fetch(`${server.url}${path}&cursor=${cursor}`, { headers: withToken(attacker) })))
    report.promise("no cursor is a fault of the server", otherThan(["ok", "BAD_USER_INPUT"], answers))
    const search = (args: string, variables: object = {}) =>
      tell(`${server.url}/graphql`, withToken(attacker), {
        query: `query ($filter: String, $where: ChatWhere) { chats(${args}) { totalCount } }`,
        variables,
      })
    const filters = [
      await search("filter: $filter", { filter: "unread:eq:true;".repeat(30_000).slice(0, -1) }),
      await search("filter: $filter", { filter: `managerId:in:${"me,".repeat(70_000).slice(0, -1)}` }),
      await search("filter: $filter", { filter: `messenger:in:${"widget,".repeat(70_000).slice(0, -1)}` }),
      await search("where: $where", { where: { managerId: { in: Array.from({ length: 70_000 }, () => "me") } } }),
      await search("where: $where", { where: { tagIds: { in: Array.from({ length: 20_000 }, () => randomUUID()) } } }),
    ]
    report.promise("no filter is a fault of the server", otherThan(["ok", "BAD_USER_INPUT"], filters))
  },
}
