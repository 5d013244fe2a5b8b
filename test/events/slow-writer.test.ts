import pg from "pg"
import type { Services } from "../../src/context/services.js"
import { appendStatement, appendValues } from "../../src/messages/append.js"
import { eventWebhooks } from "../kit/event-webhooks.js"
import { promised } from "../kit/promise.js"
import { receiver } from "../kit/receiver.js"
import { socketIo } from "../kit/socket-io.js"
import { texts } from "../kit/socket-io-stories.js"
import { endOfLog, type HeardEvent, subscribe } from "../kit/sockets.js"
import { happens, until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme } = w

/**
 * How often an instance looks while the transaction is open: sequencer, hub, fan-out and the check of sockets each do once a second without
 * being notified, so that each of them has looked after the last of them has looked twice.
 */
const looks = 2

/** Messages that are written meanwhile at least, also on a machine that needs longer for them. */
const least = 10

/** Between two messages of the fast writers: enough messages in the time, and few enough for a slow machine. */
const paceMs = 50

/** A message that is written as the server writes it, in a transaction of its own that is not committed yet. */
async function heldMessage(chatId: string, text: string) {
  const client = new pg.Client({ connectionString: w.databaseUrl })
  await client.connect()
  await client.query("begin")
  const { text: sql } = appendStatement(w.services.database.orm)
  const { rowCount } = await client.query(sql, appendValues({ chatId, role: "User", type: "Text", text }, [acme.id], new Date()))
  expect(rowCount).toBe(1)
  return async () => {
    await client.query("commit")
    await client.end()
  }
}

/** Counts the statements with which an instance checks its sockets, once a second. */
function countLooks({ database: { pool } }: Services): () => number {
  const query = pool.query.bind(pool)
  let count = 0
  pool.query = ((...args: Parameters<typeof query>) => {
    if ((args[0] as { name?: string }).name === "sockets-changed") count += 1
    return query(...args)
  }) as typeof query
  return () => count
}

/** Reads up to the event of the message `end`, so that an event that arrives twice is among those that are read. */
async function upToEnd(take: () => Promise<HeardEvent>) {
  const heard: HeardEvent[] = []
  while (heard.at(-1)?.payload.text !== "end") heard.push(await take())
  return heard
}

promised("a transaction that stays open while others commit loses no event for anyone, and each is heard once", async () => {
  const other = await w.another()
  const [here, there] = [w, { ...w, url: other.url }]
  const endpoint = await receiver()
  const hooks = eventWebhooks(w)
  const hook = await hooks.create(endpoint)
  const [slowChat, ...chats] = await Promise.all([1, 2, 3].map(() => acme.chat()))
  const after = await endOfLog(w)
  const live = await Promise.all([here, there].map((at) => subscribe(at, acme.token, { after })))
  const sockets = await Promise.all([here, there].map((at) => socketIo(at, acme.token, { lastEventId: after })))

  const looksOf = [w, other].map(({ services }) => countLooks(services))
  const haveLooked = () => looksOf.every((count) => count() >= looks)
  const commit = await heldMessage(slowChat.id, "slow")
  let written = 0
  const write = async (chatId: string) => {
    while (!haveLooked() || written < least) {
      await acme.message({ chatId, text: `fast ${written++}` })
      // Not a wait: the pause between two messages of a writer.
      await new Promise((resolve) => setTimeout(resolve, paceMs))
    }
  }
  const writing = Promise.all(chats.map(({ id }) => write(id)))
  // It leaves when it has heard events that were written after the slow one, and before that is committed.
  const leaving = await subscribe(here, acme.token, { after })
  const beforeItLeft = await leaving.take(5)
  await leaving.stop()
  const heardBySocketIo = await sockets[0]!.take(5)
  await happens("each instance has looked at the log and at the sockets meanwhile", writing, () => looksOf.map((count) => count()))
  await commit()
  for (const { id } of chats) await acme.message({ chatId: id, text: "later" })
  await acme.message({ chatId: slowChat.id, text: "end" })

  const all = await upToEnd(live[0]!.next)
  expect(texts(all).toSorted()).toEqual(
    ["slow", "later", "later", "end", ...Array.from({ length: written }, (_, index) => `fast ${index}`)].toSorted(),
  )
  // The slow one comes after everything that was heard while its transaction was open.
  expect(texts(all.slice(0, 5))).not.toContain("slow")
  expect(texts(all).indexOf("slow")).toBeGreaterThanOrEqual(5)
  const ids = (events: HeardEvent[]) => events.map(({ id }) => id)
  expect(ids(await upToEnd(live[1]!.next))).toEqual(ids(all))

  // Who comes back, over either protocol and on either instance, has a cursor behind events that were written later.
  expect(ids(beforeItLeft)).toEqual(ids(all).slice(0, 5))
  for (const at of [here, there]) {
    const back = await subscribe(at, acme.token, { after: beforeItLeft.at(-1)!.id })
    expect(ids(await upToEnd(back.next))).toEqual(ids(all).slice(5))
    await back.stop()
    const returned = await socketIo(at, acme.token, { lastEventId: beforeItLeft.at(-1)!.id })
    expect(ids(await upToEnd(async () => (await returned.take(1))[0]!))).toEqual(ids(all).slice(5))
    returned.stop()
  }
  const [first, second] = sockets.map(
    ({ take }) =>
      async () =>
        (await take(1))[0]!,
  )
  expect(ids([...heardBySocketIo, ...(await upToEnd(first!))])).toEqual(ids(all))
  expect(ids(await upToEnd(second!))).toEqual(ids(all))

  await until("all deliveries have succeeded", async () => (await hooks.deliveries(hook, "&status=succeeded")).length === all.length)
  expect(endpoint.requests.map(({ headers }) => String(headers["webhook-id"])).toSorted()).toEqual(ids(all).toSorted())

  for (const each of live) await each.stop()
  for (const each of sockets) each.stop()
  await endpoint.close()
  await other.stop()
})
