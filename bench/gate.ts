import { setTimeout as sleep } from "node:timers/promises"
import type { Server } from "./contestants.js"
import type { BenchDatabase } from "./database.js"
import type { Options, Workload } from "./options.js"
import { type Contestant, contestants, type Matter, requestFor } from "./requests.js"
import { messageFields } from "./statements.js"

// biome-ignore lint/suspicious/noExplicitAny: an answer, in the shape of each contestant.
type Answer = any

/** Where a page's rows stand in a contestant's answer. */
const rowsOf: Record<Contestant, (answer: Answer) => Answer[]> = {
  ours: ({ data }) => (data.chats ?? data.messages).nodes,
  "ours REST": ({ data }) => data,
  LIMIT: ({ nodes }) => nodes,
  PostGraphile: ({ data }) => (data.allChats ?? data.allMessages).nodes,
}

const storedOf: Record<Contestant, (answer: Answer) => Answer> = {
  ours: ({ data }) => data.createMessage,
  "ours REST": (answer) => answer,
  LIMIT: (answer) => answer,
  PostGraphile: ({ data }) => data.benchPostMessage.result,
}

const idOf = (row: Answer): string => row.rowId ?? row.id

interface Gate {
  servers: Record<Contestant, Server>
  database: BenchDatabase
  chatIds: Record<"any" | "long", string[]>
  cursors: Record<Contestant, string>
}

/** Every contestant does the work before it is measured: messages with their events appear, and pages are the same ones. */
export async function pass(gate: Gate, workloads: Workload[]) {
  for (const workload of workloads) {
    const pages: string[] = []
    for (const contestant of contestants) {
      const answer = await ask(gate, contestant, workload)
      try {
        if (workload === "W5") await mustHaveStored(gate.database, storedOf[contestant](answer))
        else pages.push(rowsOf[contestant](answer).map(idOf).join())
      } catch (error) {
        throw new Error(`${contestant} under ${workload}: ${error}, after ${JSON.stringify(answer).slice(0, 500)}`)
      }
    }
    const wrong = pages.findIndex((page) => page === "" || page !== pages[0])
    if (wrong >= 0) throw new Error(`${contestants[wrong]} answers another page under ${workload} than ${contestants[0]}`)
  }
}

async function ask({ servers, database, chatIds, cursors }: Gate, contestant: Contestant, workload: Workload): Promise<Answer> {
  const chatId = (workload === "W2" ? chatIds.long : chatIds.any)[0]!
  const matter: Matter = { ...database, chatId, text: `Here is the first one, of ${contestant}.`, cursor: cursors[contestant] }
  return send(servers[contestant], requestFor(contestant, workload, matter))
}

async function send(server: Server, { path, ...request }: ReturnType<typeof requestFor>): Promise<Answer> {
  return (await fetch(`${server.url}${path}`, request)).json()
}

async function mustHaveStored({ client }: BenchDatabase, answer: Answer) {
  const missing = messageFields.filter((name) => answer[name === "id" && "rowId" in answer ? "rowId" : name] === undefined)
  if (missing.length > 0) throw new Error(`it does not answer ${missing.join(", ")}`)
  const { rows } = await client.query(
    `select 1 from message m join chat c on c.id = m.chat_id
     where m.id = $1 and m.chat_id = $2 and m.text = $3 and m.sequence = $4 and c.last_sequence = m.sequence and c.last_message_id = m.id
       and exists (select 1 from event e where e.chat_id = c.id and e.type = 'MESSAGE_CREATED' and e.payload -> 'message' ->> 'id' = m.id::text)`,
    [idOf(answer), answer.chatId, answer.text, answer.sequence],
  )
  if (rows.length !== 1) throw new Error("its message, event or chat is not as it should be")
}

/** Where page 1,000 of the chats begins (or the page in the middle, when there are fewer), as each contestant says it. */
export async function findCursors(servers: Record<Contestant, Server>, database: BenchDatabase, options: Options) {
  const page = Math.min(1_000, options.chats / 50 / 2)
  const before = (page - 1) * 50 - 1
  const headers = { "Content-Type": "application/json", "X-Access-Token": database.token }
  const query = async (server: Server, text: string): Promise<Answer> =>
    send(server, { method: "POST", path: "/graphql", headers, body: JSON.stringify({ query: text }) })
  const ours = await query(servers.ours, `{ chats(first: 1, skip: ${before}) { edges { cursor } } }`)
  const theirs = await query(
    servers.PostGraphile,
    `{ allChats(first: 1, offset: ${before}, condition: { companyId: "${database.companyId}" }, orderBy: [RECENCY_DESC, ROW_ID_DESC])
      { edges { cursor } } }`,
  )
  const row = await database.client.query(
    `select recency || ' ' || id as cursor from chat where company_id = $1 order by recency desc, id desc offset ${before} limit 1`,
    [database.companyId],
  )
  const cursor = ours.data.chats.edges[0].cursor
  return {
    page,
    cursors: {
      ours: cursor,
      "ours REST": cursor,
      LIMIT: row.rows[0].cursor,
      PostGraphile: theirs.data.allChats.edges[0].cursor,
    } as Record<Contestant, string>,
  }
}

/** Lets what the start and the gate left behind come to rest. */
export const settle = () => sleep(1_500)
