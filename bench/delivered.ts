import type { ChildProcess } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"
import { parseEncryptionKey } from "../src/config/environment.js"
import { seal } from "../src/entities/kit/sealed.js"
import { type Program, secrets, startProgram } from "./contestants.js"
import { type BenchDatabase, type BenchDatabases, databaseOf } from "./database.js"
import { underLoad } from "./measure.js"
import type { Options } from "./options.js"
import { cpuMs, postgresCpuMs } from "./processes.js"
import { earlierVersion } from "./requests.js"
import type { Samples } from "./samples.js"
import { Helper } from "./turns/helper.js"

/** The outcome of a message: no channel has to be called, there is no connection, or a connector takes it. */
export const fates = ["sent by its event", "not connected", "delivered"] as const
export type Fate = (typeof fates)[number]

/** What a message costs until nothing is left to do about it. */
export interface DeliveredReading {
  program: Program
  fate: Fate
  perSecond: number
  /** CPU milliseconds of a message, in the server and in PostgreSQL. */
  serverCpu: number
  databaseCpu: number
}

const fromId = "delivered"
const chatsOfEach = 500
const messagesOfRound = { quick: 1_500, full: 6_000 }
/** Chats of each fate: the connector of the bridge is connected for one account. */
const placeOf: Record<Fate, { messenger: string; fromId: string; status: string }> = {
  "sent by its event": { messenger: "playground", fromId: "playground", status: "sent" },
  "not connected": { messenger: "custom-messenger", fromId: "nobody", status: "failed" },
  delivered: { messenger: "custom-messenger", fromId, status: "sent" },
}

/** Stores messages of each fate in turn, over GraphQL, and waits each time until all have their final status and their events. */
export async function measureDelivered(
  databases: BenchDatabases,
  load: ChildProcess,
  samples: Samples,
  postmaster: number | null,
  { rounds, size, connections }: Options,
  say: (line: string) => void,
): Promise<DeliveredReading[]> {
  await using stack = new AsyncDisposableStack()
  const connector = Helper.start("stand-ins.ts")
  stack.defer(() => connector.stop())
  const { url } = await connector.ask<{ url: string }>("address")
  const readings: DeliveredReading[] = []
  for (const program of earlierVersion ? (["before", "ours"] as const) : (["ours"] as const)) {
    const database = databaseOf(databases, program)
    await connectTo(database, `${url}/deliver`)
    const server = await startProgram(program, database)
    const stored = async (fate: Fate, writes: number) => {
      const ids = await openChats(database, fate)
      const order = { contestant: "ours", workload: "W5", url: server.url, connections, writes, cursor: null } as const
      const { token, companyId } = database
      const [begin, before] = [performance.now(), [cpuMs(server.pid), postgresCpuMs(postmaster)]]
      const { bad } = await underLoad(load, { ...order, token, companyId, samples: { ...samples, chats: ids } })
      if (bad > 0) throw new Error(`${bad} messages were refused`)
      await ended(database, ids, placeOf[fate].status, writes)
      const seconds = (performance.now() - begin) / 1_000
      const [serverCpu, databaseCpu] = [cpuMs(server.pid) - before[0]!, postgresCpuMs(postmaster) - before[1]!]
      return { program, fate, perSecond: writes / seconds, serverCpu: serverCpu / writes, databaseCpu: databaseCpu / writes }
    }
    try {
      for (const fate of fates) await stored(fate, 1_000)
      const writes = size.chats > 10_000 ? messagesOfRound.full : messagesOfRound.quick
      for (let round = 0; round < rounds; round++)
        for (const fate of fates) {
          const reading = await stored(fate, writes)
          readings.push(reading)
          say(`D1 round ${round + 1} ${program}, ${fate}: ${reading.perSecond.toFixed(0)}/s, ${reading.serverCpu.toFixed(3)} ms CPU`)
        }
    } finally {
      await server.stop()
    }
  }
  return readings
}

/** Connects the company's account on the bridge to the stand-in of a connector. */
async function connectTo({ client, companyId }: BenchDatabase, deliveryUrl: string) {
  const credentials = JSON.stringify({ deliveryUrl, secret: "a-secret-of-the-benchmark" })
  await client.query(
    `insert into channel (id, created_at, updated_at, company_id, messenger, external_id, name, is_active, credentials)
     values (uuidv7(), now(), now(), $1, 'custom-messenger', $2, 'Bench', true, $3)
     on conflict (company_id, messenger, external_id) do update set credentials = excluded.credentials`,
    [companyId, fromId, seal(credentials, parseEncryptionKey(secrets.ENCRYPTION_KEY)!)],
  )
}

async function openChats({ client, companyId }: BenchDatabase, fate: Fate): Promise<string[]> {
  const { messenger, fromId } = placeOf[fate]
  const { rows } = await client.query(
    `insert into chat (id, created_at, updated_at, company_id, messenger, from_id, external_id, name, last_message_at)
     select uuidv7(), now(), now(), $1, $2, $3, gen_random_uuid(), 'Delivered', now() from generate_series(1, $4::int) returning id`,
    [companyId, messenger, fromId, chatsOfEach],
  )
  return rows.map(({ id }) => id)
}

/** Waits until every message of the chats has its final status, and every event its position; throws for another status. */
async function ended({ client }: BenchDatabase, chatIds: string[], status: string, messages: number) {
  const deadline = performance.now() + 120_000
  for (;;) {
    const { rows } = await client.query(
      `select count(*) filter (where status = $2)::int as ended, count(*) filter (where status not in ($2, 'queued'))::int as other
       from message where chat_id = any($1::uuid[])`,
      [chatIds, status],
    )
    if (rows[0].other > 0) throw new Error(`${rows[0].other} messages are not ${status}`)
    const { rowCount } = await client.query("select 1 from event where position is null limit 1")
    if (rows[0].ended >= messages && rowCount === 0) return
    if (performance.now() > deadline) throw new Error(`Only ${rows[0].ended} of ${messages} messages are ${status}`)
    await sleep(50)
  }
}
