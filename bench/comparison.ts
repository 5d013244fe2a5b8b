import { isDeepStrictEqual } from "node:util"
import { type Answer, pageOf, wholePageOf } from "./answers.js"
import type { Server } from "./contestants.js"
import { type BenchDatabase, type BenchDatabases, databaseOf } from "./database.js"
import type { Size } from "./fill.js"
import type { Options, Workload } from "./options.js"
import {
  type Contestant,
  earlierVersion,
  type Interface,
  interfaceOf,
  pageSize,
  type Request,
  type RequestParameters,
  requestFor,
} from "./requests.js"
import { type Samples, sampleOf } from "./samples.js"
import { messageFields } from "./statements.js"

/** What requests outside of the load need. */
export interface ComparisonContext<C extends Contestant = Contestant> extends BenchDatabases {
  servers: Record<C, Server>
  samples: Samples
  cursors: Record<C, string>
}

const samplesCompared = 6

/** Checks contestants before they are measured: they store messages with their events, and their pages are equal in every field. */
export async function compareAnswers<C extends Contestant>(context: ComparisonContext<C>, workloads: Workload[], compared: readonly C[]) {
  for (const workload of workloads) {
    for (let number = 0; number < samplesCompared; number++) {
      if (workload === "W5") await mustStore(context, compared, number)
      else await mustAgree(context, compared, workload, number)
    }
  }
}

/** The parameters of a contestant's request with this number. */
export const parametersOf = <C extends Contestant>(
  context: ComparisonContext<C>,
  contestant: C,
  workload: Workload,
  number: number,
): RequestParameters => ({
  token: databaseOf(context, contestant).token,
  companyId: context.database.companyId,
  text: `Here is number ${number}, of ${contestant}.`,
  cursor: workload === "W6" ? context.cursors[contestant] : null,
  ...sampleOf(context.samples, workload, number),
})

/** Sends a request and returns its JSON; throws when it was refused. */
export async function send(server: Server, { path, ...request }: Request): Promise<Answer> {
  const response = await fetch(`${server.url}${path}`, request)
  const text = await response.text()
  if (!response.ok || text.includes('"errors":['))
    throw new Error(`${request.method} ${path} answered ${response.status}: ${text.slice(0, 500)}`)
  return JSON.parse(text)
}

async function mustAgree<C extends Contestant>(context: ComparisonContext<C>, compared: readonly C[], workload: Workload, number: number) {
  const answers = new Map<Contestant, Answer>()
  for (const contestant of compared) {
    const request = requestFor(contestant, workload, parametersOf(context, contestant, workload, number))
    answers.set(contestant, await send(context.servers[contestant], request))
  }
  const pageBy = (contestant: Contestant) => pageOf(contestant, workload, answers.get(contestant))
  const [first, ...others] = compared as readonly [C, ...C[]]
  const expected = pageBy(first)
  // A filter or a search may match less than a page.
  const isWhole = ["W3", "W4"].includes(workload) ? expected.rows.length > 0 : expected.rows.length === pageSize(workload)
  if (!isWhole) throw new Error(`${first} answers ${expected.rows.length} rows under ${workload}`)
  for (const contestant of others) {
    const page = pageBy(contestant)
    if (page.totalCount !== expected.totalCount)
      throw new Error(`Under ${workload} ${contestant} counts ${page.totalCount}, ${first} ${expected.totalCount}`)
    mustEqual(page.rows, expected.rows, `${contestant} and ${first} under ${workload}`)
  }
  const both = (["ours, REST's fields", "ours, REST"] as const).filter((each) => answers.has(each))
  const [overGraphql, overRest] = both.map((each) => wholePageOf(each, answers.get(each)))
  if (overGraphql && overRest) mustEqual(overRest, overGraphql, `REST and the same operation over GraphQL under ${workload}`)
}

function mustEqual(rows: Answer[], expected: Answer[], who: string) {
  const index = rows.findIndex((row, place) => !isDeepStrictEqual(row, expected[place]))
  if (index < 0 && rows.length === expected.length) return
  const [one, other] = [rows, expected].map((page) => JSON.stringify(page[Math.max(index, 0)]))
  throw new Error(`${who} differ: ${rows.length} and ${expected.length} rows; row ${index + 1} is\n${one}\nand\n${other}`)
}

const storedOf: Record<Interface, (answer: Answer) => Answer> = {
  ours: ({ data }) => data.createMessage,
  "ours, REST's fields": ({ data }) => data.createMessage,
  "ours, REST": (answer) => answer,
  "LIMIT-rows": (answer) => answer,
  LIMIT: (answer) => answer,
  PostGraphile: ({ data: { benchPostMessage } }) => ({ ...benchPostMessage.result, id: benchPostMessage.result.rowId }),
}

async function mustStore<C extends Contestant>(context: ComparisonContext<C>, compared: readonly C[], number: number) {
  for (const contestant of compared) {
    const parameters = parametersOf(context, contestant, "W5", number)
    const answer = storedOf[interfaceOf(contestant)](await send(context.servers[contestant], requestFor(contestant, "W5", parameters)))
    const missing = messageFields.filter((name) => answer[name] === undefined)
    if (missing.length > 0) throw new Error(`${contestant} does not answer ${missing.join(", ")} under W5`)
    const { rows } = await databaseOf(context, contestant).client.query(
      `select 1 from message m join chat c on c.id = m.chat_id
       where m.id = $1 and m.chat_id = $2 and m.text = $3 and m.sequence = $4 and c.last_sequence = m.sequence and c.last_message_id = m.id
         and exists (select 1 from event e where e.chat_id = c.id and e.type = 'MESSAGE_CREATED' and e.payload -> 'message' ->> 'id' = m.id::text)`,
      [answer.id, parameters.chatId, parameters.text, answer.sequence],
    )
    if (rows.length !== 1)
      throw new Error(`${contestant} under W5: its message, event or chat is not as it should be, after ${JSON.stringify(answer)}`)
  }
}

/** The far page of W6: page 1,000 of the chats, or the middle page when there are fewer. */
export const farPage = ({ chats, others }: Size) => Math.min(1_000, Math.floor((others === 0 ? chats : chats / 2) / 50 / 2))

/** The number of chats before the one at whose cursor a page begins. */
const chatsBefore = (page: number) => (page - 1) * 50 - 1

/** The cursor of a page by our server. */
export async function cursorOfOurs(server: Server, { token }: BenchDatabase, page: number): Promise<string> {
  const { data } = await queried(server, token, `{ chats(first: 1, skip: ${chatsBefore(page)}) { edges { cursor } } }`)
  return data.chats.edges[0].cursor
}

/** The cursor of a page as the hand-written servers take it. */
export async function cursorAtLimit({ client, companyId }: BenchDatabase, page: number): Promise<string> {
  const { rows } = await client.query(
    `select recency || ' ' || id as cursor from chat where company_id = $1 order by recency desc, id desc offset ${chatsBefore(page)} limit 1`,
    [companyId],
  )
  return rows[0].cursor
}

const queried = (server: Server, token: string, query: string): Promise<Answer> =>
  send(server, {
    method: "POST",
    path: "/graphql",
    headers: { "Content-Type": "application/json", "X-Access-Token": token },
    body: JSON.stringify({ query }),
  })

/** Each contestant's cursor of the far page. */
export async function findCursors(servers: Record<Contestant, Server>, databases: BenchDatabases, { size }: Options) {
  const page = farPage(size)
  const { database, earlier } = databases
  const theirs = await queried(
    servers.PostGraphile,
    database.token,
    `{ allChats(first: 1, offset: ${chatsBefore(page)}, condition: { companyId: "${database.companyId}" }, orderBy: [RECENCY_DESC, ROW_ID_DESC])
      { edges { cursor } } }`,
  )
  const ours = await cursorOfOurs(servers.ours, database, page)
  const before = earlierVersion ? await cursorOfOurs(servers.before, earlier, page) : ""
  const atLimit = await cursorAtLimit(database, page)
  const cursors: Record<Contestant, string> = {
    ours,
    "ours, REST's fields": ours,
    "ours, REST": ours,
    before,
    "before, REST": before,
    "LIMIT-rows": atLimit,
    LIMIT: atLimit,
    PostGraphile: theirs.data.allChats.edges[0].cursor,
  }
  return { page, cursors }
}
