import { isDeepStrictEqual } from "node:util"
import { type Answer, pageOf, wholePageOf } from "./answers.js"
import type { Server } from "./contestants.js"
import { type BenchDatabases, databaseOf } from "./database.js"
import type { Options, Workload } from "./options.js"
import {
  type Contestant,
  contestants,
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
export interface ComparisonContext extends BenchDatabases {
  servers: Record<Contestant, Server>
  samples: Samples
  cursors: Record<Contestant, string>
}

const samplesCompared = 6

/** Checks contestants before they are measured: they store messages with their events, and their pages are equal in every field. */
export async function compareAnswers(context: ComparisonContext, workloads: Workload[], compared: readonly Contestant[] = contestants) {
  for (const workload of workloads) {
    for (let number = 0; number < samplesCompared; number++) {
      if (workload === "W5") await mustStore(context, compared, number)
      else await mustAgree(context, compared, workload, number)
    }
  }
}

/** The parameters of a contestant's request with this number. */
export const parametersOf = (
  context: ComparisonContext,
  contestant: Contestant,
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

async function mustAgree(context: ComparisonContext, compared: readonly Contestant[], workload: Workload, number: number) {
  const answers = new Map<Contestant, Answer>()
  for (const contestant of compared) {
    const request = requestFor(contestant, workload, parametersOf(context, contestant, workload, number))
    answers.set(contestant, await send(context.servers[contestant], request))
  }
  const pageBy = (contestant: Contestant) => pageOf(contestant, workload, answers.get(contestant))
  const [first = "ours", ...others] = compared
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
  const [overGraphql, overRest] = (["ours, REST's fields", "ours, REST"] as const).map((each) => wholePageOf(each, answers.get(each)))
  mustEqual(overRest!, overGraphql!, `REST and the same operation over GraphQL under ${workload}`)
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

async function mustStore(context: ComparisonContext, compared: readonly Contestant[], number: number) {
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

/** Each contestant's cursor of page 1,000 of the chats, or of the middle page when there are fewer. */
export async function findCursors(servers: Record<Contestant, Server>, databases: BenchDatabases, options: Options) {
  const { chats, others } = options.size
  const page = Math.min(1_000, Math.floor((others === 0 ? chats : chats / 2) / 50 / 2))
  const before = (page - 1) * 50 - 1
  const query = async (contestant: Contestant, text: string): Promise<Answer> => {
    const headers = { "Content-Type": "application/json", "X-Access-Token": databaseOf(databases, contestant).token }
    return send(servers[contestant], { method: "POST", path: "/graphql", headers, body: JSON.stringify({ query: text }) })
  }
  const ofOurs = async (contestant: Contestant): Promise<string> => {
    const { data } = await query(contestant, `{ chats(first: 1, skip: ${before}) { edges { cursor } } }`)
    return data.chats.edges[0].cursor
  }
  const { client, companyId } = databases.database
  const theirs = await query(
    "PostGraphile",
    `{ allChats(first: 1, offset: ${before}, condition: { companyId: "${companyId}" }, orderBy: [RECENCY_DESC, ROW_ID_DESC])
      { edges { cursor } } }`,
  )
  const row = await client.query(
    `select recency || ' ' || id as cursor from chat where company_id = $1 order by recency desc, id desc offset ${before} limit 1`,
    [companyId],
  )
  const [ours, earlier, atLimit] = [await ofOurs("ours"), earlierVersion ? await ofOurs("before") : "", row.rows[0].cursor]
  const cursors: Record<Contestant, string> = {
    ours,
    "ours, REST's fields": ours,
    "ours, REST": ours,
    before: earlier,
    "before, REST": earlier,
    "LIMIT-rows": atLimit,
    LIMIT: atLimit,
    PostGraphile: theirs.data.allChats.edges[0].cursor,
  }
  return { page, cursors }
}
