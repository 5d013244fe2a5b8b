import { v7 } from "uuid"
import { contextLimits } from "../../src/context/limits.js"
import { databaseLimits } from "../../src/database/limits.js"
import type { startSequencer } from "../../src/events/sequencer.js"
import { makeRest } from "../kit/clients.js"
import { promised } from "../kit/promise.js"
import { endOfLog, subscribe } from "../kit/sockets.js"
import { debianPrograms, StreamingCluster } from "../kit/streaming.js"
import { type TcpProxy, tcpProxy } from "../kit/tcp-proxy.js"
import { openTransaction } from "../kit/transaction.js"
import { until } from "../kit/wait.js"
import { type World, world } from "../kit/world.js"

/** Reads of each of the 8 clients that read what they have just written. */
const readsOfClient = Number(process.env["READS_OF_CLIENT"] ?? 40)

const skipped = debianPrograms ? "" : " (skipped: Debian's PostgreSQL is not installed)"
const cluster = debianPrograms ? await StreamingCluster.start() : (null as unknown as StreamingCluster)

;(debianPrograms ? describe : describe.skip)(`lists on a replica${skipped}`, () => {
  // Before the end of the world, which drops its database there.
  afterAll(() => cluster.startPrimary())
  const w = world()
  const { acme, logged } = w
  afterAll(() => cluster.remove())
  afterAll(() => void Object.assign(databaseLimits, usual))
  let proxy: TcpProxy
  afterAll(() => proxy.close())
  /** Two instances, whose primary is behind a proxy as behind an address that leads to the primary of the day. */
  let [one, two] = [] as unknown as [World, World]
  let slow: World
  let other: string
  const usual = { ...databaseLimits }
  // Nothing here depends on the speed of the machine: only the test of a replica that lags has the usual age.
  const patient = { ...usual, replicaOldestMs: 60 * 60_000, replicaAnswerMs: 60_000 }

  beforeAll(async () => {
    // It has no replica, so it notes nothing of the events that it places: it must place none of those that the instances below tell.
    await (w.services.sequencer as ReturnType<typeof startSequencer>).stop()
    proxy = await tcpProxy(w.databaseUrl)
    // This one does not hear of a new start of the primary before it is asked for a list.
    Object.assign(databaseLimits, patient, { replicaLookMs: 60 * 60_000 })
    slow = await instance()
    Object.assign(databaseLimits, patient)
    ;[one, two] = [await instance(), await instance()]
    other = await knownToken()
    await readsOld()
  })

  async function instance(replicaUrl = cluster.onStandby(w.databaseUrl)): Promise<World> {
    const { url, services } = await w.another({ DATABASE_URL: proxy.url, DATABASE_REPLICA_URL: replicaUrl })
    return {
      ...w,
      url,
      services,
      rest: makeRest(
        () => url,
        (...answer) => w.fits(...answer),
      ),
    }
  }

  const textsOf = async (at: World, token: string, chatId: string): Promise<string[]> => {
    const { body } = await at.rest.as(token).get(`/api/messages?chatId=${chatId}&take=100`).expect(200)
    return body.data.map(({ text }: { text: string }) => text)
  }
  const write = (at: World, token: string, chatId: string, text: string) =>
    at.rest.as(token).post("/api/messages", { chatId, text }).expect(201)
  const ages = () => [one, two].map(({ services }) => services.replica!.age)
  /** Waits until both instances read the replica. */
  const readsOld = () => until("the replica is read", async () => ages().every((age) => age !== null))
  /** A token that was made a while ago. */
  const knownToken = async () => {
    const token = await acme.anotherToken()
    w.clock.advance(contextLimits.newCredentialSeconds * 1_000)
    return token
  }
  const newChat = async () => {
    const chat = await acme.chat()
    await cluster.caughtUp()
    return chat.id
  }
  const placed = () => until("each event has its place", async () => (await w.sql("select from event where position is null")).length === 0)
  /** A chat whose message the replica has too. */
  const oldChat = async () => {
    const chatId = await newChat()
    await write(one, acme.token, chatId, "old")
    await placed()
    await cluster.caughtUp()
    return chatId
  }
  /** Changes the messages of a chat without an event, which no credential has done. */
  const change = (chatId: string) => w.sql("update message set text = 'changed' where chat_id = $1", [chatId])

  promised("a list has what its credential wrote before, on any instance, and is read on the replica else", async () => {
    const chatId = await oldChat()
    {
      await using _paused = await cluster.paused()
      await change(chatId)
      for (const at of [one, two])
        for (const token of [acme.token, acme.owner.jwt]) expect(await textsOf(at, token, chatId)).toEqual(["old"])
      await write(one, acme.token, chatId, "new")
      expect(await textsOf(two, acme.token, chatId)).toEqual(["new", "changed"])
      await write(two, acme.owner.jwt, chatId, "newer")
      expect(await textsOf(one, acme.owner.jwt, chatId)).toEqual(["newer", "new", "changed"])
      expect(await textsOf(one, acme.token, chatId)).toEqual(["newer", "new", "changed"])
    }
    await cluster.caughtUp()
    expect(await textsOf(one, other, chatId)).toEqual(["newer", "new", "changed"])
  })

  promised("a list has what an event has told its company before, and what was there when a subscription began", async () => {
    const chatId = await oldChat()
    await using _paused = await cluster.paused()
    const heard = await subscribe(one, other, { chatId, types: ["MESSAGE_CREATED"], after: await endOfLog(w) })
    await write(one, acme.token, chatId, "new")
    await heard.take(1)
    expect(await textsOf(two, other, chatId)).toEqual(["new", "old"])
    await heard.stop()
    await write(one, acme.token, chatId, "newer")
    await placed()
    const later = await subscribe(one, other, { chatId, types: ["MESSAGE_CREATED"] })
    expect(await textsOf(two, other, chatId)).toEqual(["newer", "new", "old"])
    await later.stop()
  })

  promised("reads after writes of the same credential, on two instances, are never older than the write", async () => {
    const tokens = await Promise.all(Array.from({ length: 8 }, knownToken))
    const chats = await Promise.all(tokens.map(newChat))
    let [isOver, written] = [false, 0]
    const stutter = async () => {
      while (!isOver) {
        {
          await using _paused = await cluster.paused()
          const enough = written + tokens.length
          await until("some have written, or all are done", async () => isOver || written >= enough)
        }
        await cluster.caughtUp()
      }
    }
    const places = [one, two].map(({ services }) => jest.spyOn(services.replica!, "has"))
    const client = async (token: string, chatId: string) => {
      for (let number = 1; number <= readsOfClient; number += 1) {
        const [here, there] = number % 2 ? [one, two] : [two, one]
        await write(here!, token, chatId, String(number))
        written += 1
        expect((await textsOf(there!, token, chatId))[0]).toBe(String(number))
      }
    }
    const stuttering = stutter()
    await Promise.all(tokens.map((token, index) => client(token, chats[index]!))).finally(() => (isOver = true))
    await stuttering
    const decisions = await Promise.all(places.flatMap(({ mock }) => mock.results.map(({ value }) => value)))
    expect(new Set(decisions)).toEqual(new Set([true, false]))
    for (const place of places) place.mockRestore()
  })

  promised("what was written before the primary ended and started again is in the lists of its credential", async () => {
    const chatId = await newChat()
    expect(await textsOf(slow, other, chatId)).toEqual([])
    {
      await using _paused = await cluster.paused()
      await write(one, acme.token, chatId, "new")
      await cluster.primary.kill()
      await cluster.primary.start()
      let isMissing = true
      await until("the list is read again", async () => {
        const { status, body } = await slow.rest.as(acme.token).get(`/api/messages?chatId=${chatId}`)
        if (status === 200) isMissing = body.data.length === 0
        return status === 200
      })
      expect(isMissing).toBe(false)
    }
    await readsOld()
  })

  it("a new token does not read the replica, which may not have what the token was made for", async () => {
    await readsOld()
    const chatId = await oldChat()
    await using _paused = await cluster.paused()
    await change(chatId)
    expect(await textsOf(two, await acme.anotherToken(), chatId)).toEqual(["changed"])
    expect(await textsOf(two, other, chatId)).toEqual(["old"])
  })

  it("a replica that lags too long is not read, until it has caught up", async () => {
    await readsOld()
    const chatId = await oldChat()
    {
      await using _paused = await cluster.paused()
      try {
        await change(chatId)
        expect(await textsOf(two, other, chatId)).toEqual(["old"])
        Object.assign(databaseLimits, { replicaOldestMs: usual.replicaOldestMs })
        await until("the list is read on the primary", async () => (await textsOf(two, other, chatId))[0] === "changed")
      } finally {
        Object.assign(databaseLimits, patient)
      }
    }
    await readsOld()
  })

  it("what is not on the replica yet is found on the primary", async () => {
    await readsOld()
    await using _paused = await cluster.paused()
    const read = jest.spyOn(two.services.replica!, "has")
    const { body } = await one.rest
      .as(acme.owner.jwt)
      .post("/api/event-webhooks", { url: "https://example.com/hook", types: ["MESSAGE_CREATED"] })
      .expect(201)
    await two.rest.as(other).get(`/api/event-webhooks/${body.id}/deliveries`).expect(200)
    expect(await read.mock.results[0]!.value).toBe(true)
    await two.rest.as(other).get(`/api/event-webhooks/${v7()}/deliveries`).expect(404)
    read.mockRestore()
  })

  it("an operation that does not only list reads on the primary", async () => {
    await readsOld()
    const chatId = await oldChat()
    await using _paused = await cluster.paused()
    await change(chatId)
    const query = `{ chat(id: "${chatId}") { id } messages(chatId: "${chatId}", first: 5) { nodes { text } } }`
    const { body } = await one.rest.as(other).post("/graphql", { query })
    expect(body.data?.messages.nodes ?? body.errors).toEqual([{ text: "changed" }])
  })

  promised("a replica that is killed costs no request", async () => {
    await readsOld()
    const chatId = await newChat()
    await write(one, acme.token, chatId, "new")
    await cluster.caughtUp()
    let asked = 0
    let isOver = false
    let problem: unknown = null
    const reader = async () => {
      while (!isOver && problem === null) {
        expect(await textsOf(one, other, chatId)).toEqual(["new"])
        asked += 1
      }
    }
    const readers = Promise.all([1, 2, 3, 4].map(reader)).catch((error) => {
      problem = error
    })
    await until("lists are read", async () => asked > 20 || problem !== null)
    await cluster.standby.kill()
    await until("the replica is not used", async () => ages().every((age) => age === null))
    isOver = true
    await readers
    // Otherwise each commit would wait for it.
    await cluster.standby.start()
    expect(problem).toBeNull()
    await readsOld()
    expect(logged.some(({ msg }) => String(msg).startsWith("the replica is not used"))).toBe(true)
  })

  promised("a statement that the replica ends costs no request", async () => {
    await readsOld()
    const chatId = await oldChat()
    expect(await textsOf(two, other, chatId)).toEqual(["old"])
    await using holder = await openTransaction(w.databaseUrl)
    await holder.query("lock table message in access exclusive mode")
    await cluster.caughtUp()
    // The lock stays on the replica when it has ended on the primary.
    await using _paused = await cluster.paused()
    await holder.commit()
    const answer = textsOf(two, other, chatId)
    const waiting =
      "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and backend_type = 'client backend'"
    await until("a statement that waits on the replica is ended", async () => (await cluster.standby.query(waiting)).length > 0)
    expect(await answer).toEqual(["old"])
  })

  promised("a replica that is silent costs no request", async () => {
    const before = await tcpProxy(cluster.onStandby(w.databaseUrl))
    Object.assign(databaseLimits, { replicaAnswerMs: usual.replicaAnswerMs })
    try {
      const third = await instance(before.url)
      const chatId = await oldChat()
      await until("the replica is read", async () => third.services.replica!.age !== null)
      // So the server knows that the replica has it, and does not ask again.
      expect(await textsOf(third, other, chatId)).toEqual(["old"])
      before.hang()
      expect(await textsOf(third, other, chatId)).toEqual(["old"])
      await until("the replica is not used", async () => third.services.replica!.age === null)
      before.pass()
      await until("the replica is read again", async () => third.services.replica!.age !== null)
    } finally {
      Object.assign(databaseLimits, patient)
      await before.close()
    }
  })

  it("a server does not start with a replica of another database", async () => {
    const starts = w.another({
      DATABASE_REPLICA_URL: Object.assign(new URL(cluster.onStandby(w.databaseUrl)), { pathname: "/postgres" }).href,
    })
    await expect(starts).rejects.toThrow("DATABASE_REPLICA_URL: that is no standby of the database in DATABASE_URL")
  })

  // The last one: the primary is gone afterwards.
  promised("when the primary is killed and the replica promoted, no message is lost, and clients recover without a restart", async () => {
    const chatId = await newChat()
    const heard = await subscribe(one, acme.token, { chatId, types: ["MESSAGE_CREATED"], after: await endOfLog(w) })
    const stored: string[] = []
    let isOver = false
    const writer = async (place: number) => {
      for (let number = 0; !isOver; number += 1) {
        const text = `${place} ${number}`
        const key = v7()
        // As a client does: with the same key until it is answered.
        await until("the message is stored", async () => {
          const at = number % 2 ? one : two
          const { status } = await at.rest.as(acme.token).post("/api/messages", { chatId, text }).set("Idempotency-Key", key)
          return status === 201
        })
        stored.push(text)
      }
    }
    const writers = Promise.all([1, 2, 3].map(writer))
    await until("messages are stored", async () => stored.length > 20)
    await cluster.primary.kill()
    const before = stored.length
    await cluster.promote()
    proxy.lead(cluster.standby.url)
    await until("messages are stored again", async () => stored.length > before + 20)
    isOver = true
    await writers
    // What was the standby is the primary now.
    await until("there is no replica", async () => ages().every((age) => age === null))
    const rows = await cluster.standby.query(`select text from message where chat_id = '${chatId}'`, new URL(w.databaseUrl).pathname)
    expect(rows.map(({ text }) => text).sort()).toEqual([...stored].sort())
    const told = await heard.take(stored.length)
    expect(told.map(({ payload }) => (payload as { text: string }).text).sort()).toEqual([...stored].sort())
    await heard.stop()
  })
})
