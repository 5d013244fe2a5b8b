import { setTimeout as sleep } from "node:timers/promises"
import { type Server, startProgram } from "./contestants.js"
import type { BenchDatabase } from "./database.js"
import { residentMb } from "./processes.js"

/** One reading of a long history. */
export interface HistoryReading {
  reader: string
  messages: number
  seconds: number
  megabytes: number
  /** Resident memory of the server before the reading, and its maximum during it. */
  before: number
  most: number
}

const messages = 100_000
const readers: [string, number][] = [
  ["full speed", Number.POSITIVE_INFINITY],
  ["5 MB/s", 5],
]
const pauseMs = 20
const sampleMs = 20

/**
 * Streams the history of a chat of 100,000 messages to a fast and to a slow reader. The server is new: in a server that has been busy, the heap is
 * large already, and growth would not show.
 */
export async function measureHistory(database: BenchDatabase): Promise<HistoryReading[]> {
  const chatId = await longChat(database)
  const server = await startProgram("ours", database)
  try {
    const address = `${server.url}/api/messages?chatId=${chatId}`
    const headers = { "X-Access-Token": database.token }
    // Warms up: connections, compiled code.
    for (let page = 0; page < 50; page++) await (await fetch(`${address}&take=100&skip=${page * 100}`, { headers })).arrayBuffer()
    await sleep(1_000)
    const readings: HistoryReading[] = []
    for (const [reader, megabytesPerSecond] of readers) {
      readings.push({ reader, ...(await read(server, () => fetch(address, { headers }), megabytesPerSecond)) })
    }
    return readings
  } finally {
    await server.stop()
  }
}

async function read(server: Server, open: () => Promise<Response>, megabytesPerSecond: number) {
  const before = residentMb(server.pid)
  let most = before
  const sampler = setInterval(() => {
    most = Math.max(most, residentMb(server.pid))
  }, sampleMs)
  try {
    const begin = performance.now()
    const response = await open()
    if (!response.ok) throw new Error(`The history answered ${response.status}`)
    const parts: Uint8Array[] = []
    let bytes = 0
    for await (const part of response.body!) {
      parts.push(part)
      bytes += part.length
      // The slow reader pauses when it is ahead of its rate, so that the server has to wait.
      while (bytes / 1e6 > (megabytesPerSecond * (performance.now() - begin)) / 1000) await sleep(pauseMs)
    }
    const seconds = (performance.now() - begin) / 1000
    mustBeWhole(JSON.parse(Buffer.concat(parts).toString()))
    return { messages, seconds, megabytes: bytes / 1e6, before, most }
  } finally {
    clearInterval(sampler)
  }
}

/** Checks that the messages run from the newest to the first without a gap. */
function mustBeWhole({ data, totalCount }: { data: { sequence: number; text: string }[]; totalCount: number }) {
  if (data.length !== messages || totalCount !== messages)
    throw new Error(`The history has ${data.length} messages and counts ${totalCount}`)
  const wrong = data.findIndex(({ sequence, text }, index) => sequence !== messages - index || !text)
  if (wrong >= 0) throw new Error(`The history has ${JSON.stringify(data[wrong])} at place ${wrong}`)
}

/** Creates the chat, with texts as long as in other chats; every eighth message quotes another one. */
async function longChat({ client, companyId }: BenchDatabase): Promise<string> {
  const [chat] = (
    await client.query(
      `insert into chat (id, created_at, updated_at, company_id, messenger, from_id, external_id, name, last_message_at, last_sequence)
       values (uuidv7(), now(), now(), $1, 'widget', 'account-3', 'the-long-one-' || gen_random_uuid(), 'The long one', now(), $2) returning id`,
      [companyId, messages],
    )
  ).rows
  await client.query(
    `insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, text, from_id, status)
     select uuidv7(), at, at, $1, $2, place, case place % 2 when 1 then 'Customer' else 'Assistant' end, 'Text',
       'Message ' || place || ': ' || repeat('the parcel left our warehouse this morning. ', 2 + place % 3), 'customer', 'stored'
     from generate_series(1, $3::int) place, lateral (select now() - ($3 - place) * interval '1 minute' as at) timing order by place`,
    [companyId, chat.id, messages],
  )
  await client.query(
    `update message m set reply_to_message_id = q.id from message q
     where m.chat_id = $1 and q.chat_id = $1 and m.sequence % 8 = 0 and q.sequence = m.sequence - 2`,
    [chat.id],
  )
  await client.query("update chat set last_message_id = (select id from message where chat_id = $1 and sequence = $2) where id = $1", [
    chat.id,
    messages,
  ])
  await client.query("analyze message")
  return chat.id
}
