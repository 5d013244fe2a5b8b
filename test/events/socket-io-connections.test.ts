import { EventEmitter, once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { io } from "socket.io-client"
import { SocketIoConnection } from "../../src/events/transports/socket-io-connection.js"
import { scraped } from "../kit/metrics.js"
import { duration, pace } from "../kit/pace.js"
import { promised } from "../kit/promise.js"
import { type SocketIoOptions, socketIo } from "../kit/socket-io.js"
import { emitted, numbers, refused, socketIoStories, texts } from "../kit/socket-io-stories.js"
import { endOfLog, rawSocket } from "../kit/sockets.js"
import { happens, until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, gql } = w
const { connected, refusal, makeToken, jwtOf, writeLong, writeShort, rawEngine } = socketIoStories(w)

describe("the end of a connection", () => {
  /** A client that comes back, with fresh credentials and its last event each time. */
  async function returning(url: string, token: () => string | Promise<string>, options: SocketIoOptions = {}) {
    let asked = 0
    const after = await endOfLog(w)
    const client = await socketIo(w, null, {
      url,
      returns: true,
      ...options,
      auth: async (send) => {
        asked += 1
        send({ token: await token(), companyId: acme.id, lastEventId: client?.heard.at(-1)?.id ?? after })
      },
    })
    await client.outcome()
    return { ...client, asked: () => asked }
  }

  it.each(["polling", "websocket"] as const)(
    "follows a revoked token and an ended session within a second, on every instance, and the clients stay away: %s",
    async (transport) => {
      const other = await w.another()
      const everywhere = (credential: string) =>
        Promise.all([w.url, other.url].map((url) => connected(credential, { url, transport, returns: true })))
      const untouched = await everywhere(acme.owner.jwt)
      const gone: typeof untouched = []
      const ending = async (clients: typeof untouched) => {
        gone.push(...clients)
        const reasons = Promise.all(clients.map(({ disconnected }) => disconnected()))
        return duration(async () => expect(await reasons).toEqual(Array(2).fill("io server disconnect")))
      }
      await pace(`the end of a credential closes its connections (${transport})`, 1_000, "ms", async () => {
        const { value, revoke } = await makeToken()
        const jwt = jwtOf(await acme.person())
        const [revoked, ended] = [await everywhere(value), await everywhere(jwt)]
        await revoke()
        const first = await ending(revoked)
        expect((await gql(jwt, "mutation { signOut }")).data).toEqual({ signOut: true })
        return Math.max(first, await ending(ended))
      })
      expect(gone.map(({ socket }) => socket.active)).toEqual(gone.map(() => false))
      await acme.chat()
      for (const client of untouched) {
        await client.take(1)
        client.stop()
      }
      expect(gone.flatMap(({ heard }) => heard)).toEqual([])
      await other.stop()
    },
  )

  it("follows a lost company, and a changed membership only for a moment", async () => {
    const [lost, promoted] = [await acme.person(), await acme.person()]
    const gone = await connected(lost.jwt, { companyId: acme.id, returns: true })
    const back = await returning(w.url, () => promoted.jwt)
    await w.sql("delete from member where user_id = $1 and company_id = $2", [lost.id, acme.id])
    await w.sql("update member set role = 'admin' where user_id = $1", [promoted.id])
    expect(await gone.disconnected()).toBe("io server disconnect")
    expect(gone.socket.active).toBe(false)
    await back.disconnected()
    await acme.chat()
    await back.take(1)
    expect(back.asked()).toBe(2)
    back.stop()
  })

  it("leaves the other namespace of the connection alone, whose credentials did not end", async () => {
    await pace("a revoked token closes one namespace of a connection", 1_000, "ms", async () => {
      const { value, revoke } = await makeToken()
      const client = await connected(acme.token)
      const socket = client.socket.io.socket("/ws", { auth: { token: value } })
      await emitted(socket, "connect")
      const ended = emitted(socket, "disconnect")
      await revoke()
      const ms = await duration(async () => expect(await ended).toBe("io server disconnect"))
      await acme.chat()
      await client.take(1)
      client.stop()
      return ms
    })
  })

  it.each(["polling", "websocket"] as const)(
    "follows the end of a JWT, and the client returns with a new one and resumes: %s",
    async (transport) => {
      const chat = await acme.chat()
      // While the clock stands still, the first token is valid until the server's timer ends the connection, however long a request takes.
      w.clock.stop()
      try {
        const tokens = [jwtOf(acme.owner, w.clock.now(), 2), jwtOf(acme.owner, w.clock.now())]
        const client = await returning(w.url, () => tokens.shift()!, { transport })
        await acme.message({ chatId: chat.id, text: "before" })
        await client.disconnected()
        await acme.message({ chatId: chat.id, text: "meanwhile" })
        expect(texts(await client.take(2))).toEqual(["before", "meanwhile"])
        expect(client.asked()).toBe(2)
        client.stop()
      } finally {
        w.clock.reset()
      }
    },
  )

  it.each(["polling", "websocket"] as const)("follows a stop, and the client resumes with another instance: %s", async (transport) => {
    const first = await w.another()
    const chat = await acme.chat()
    const client = await returning(first.url, () => acme.token, { transport })
    await acme.message({ chatId: chat.id, text: "before" })
    await client.take(1)
    await first.stop()
    await acme.message({ chatId: chat.id, text: "meanwhile" })
    const second = await w.another({ PORT: new URL(first.url).port })
    await acme.message({ chatId: chat.id, text: "after" })
    expect(texts(await client.take(2))).toEqual(["meanwhile", "after"])
    client.stop()
    await second.stop()
  })

  it("is spread over time at a stop, whatever the clients do", async () => {
    const server = await w.another()
    const count = 40
    const clients = await Promise.all(numbers(count).map(() => connected(acme.token, { url: server.url, transport: "websocket" })))
    let atFirst = 0
    const isConnected = () => clients.filter(({ socket }) => socket.connected).length
    for (const { socket } of clients)
      socket.once("disconnect", () => {
        atFirst ||= isConnected()
      })
    // It neither reads nor closes.
    const stuck = clients[0]!.socket.io.engine.transport as unknown as { ws: { _socket: { pause(): void } } }
    stuck.ws._socket.pause()
    await server.stop()
    await Promise.all(clients.slice(1).map(({ disconnected }) => disconnected()))
    // When the first one was disconnected, nearly all others still were connected: they are closed one after the other.
    expect(atFirst).toBeGreaterThan(count / 2)
    for (const client of clients) client.stop()
  })
})

describe("a client that reads too slowly", () => {
  promised("is cut off over a WebSocket and resumes; others continue meanwhile", async () => {
    const chat = await acme.chat()
    const lastEventId = await endOfLog(w)
    const slow = await connected(acme.token, { transport: "websocket", lastEventId })
    const { ws } = slow.socket.io.engine.transport as unknown as { ws: { pause(): void; resume(): void } }
    ws.pause()
    const brisk = await connected(acme.token, { lastEventId })
    const count = 1_600
    const read = brisk.take(count)
    await writeLong(chat.id, count)
    expect((await read).map(({ payload }) => payload.sequence)).toEqual(numbers(count))
    ws.resume()
    await slow.disconnected()
    expect(slow.heard.length).toBeLessThan(count)
    const resumed = await connected(acme.token, { lastEventId: slow.heard.at(-1)?.id ?? lastEventId })
    const left = count - slow.heard.length
    expect((await resumed.take(left)).map(({ payload }) => payload.sequence)).toEqual(numbers(count).slice(-left))
    for (const client of [brisk, resumed]) client.stop()
  })

  it("is cut off when it does not poll, which the metrics count", async () => {
    const cut = async () => (await scraped(w, "platform_sockets_cut_total")).get('{transport="socket.io"}') ?? 0
    const before = await cut()
    const chat = await acme.chat()
    const address = `${w.url}/socket.io/?EIO=4&transport=polling`
    const { sid } = JSON.parse((await (await fetch(address)).text()).slice(1))
    const session = `${address}&sid=${sid}`
    const send = (body: string) => fetch(session, { method: "POST", body, headers: { "Content-Type": "text/plain" } })
    await send(`40${JSON.stringify({ token: acme.token })}`)
    expect(await (await fetch(session)).text()).toMatch(/^40\{"sid"/)
    await acme.chat()
    expect(await (await fetch(session)).text()).toMatch(/^42\["CHAT_CREATED"/)
    const brisk = await connected(acme.token)
    await writeShort(chat.id, 1_300)
    await brisk.take(1_300)
    const answer = await fetch(session)
    expect({ status: answer.status, body: await answer.json() }).toEqual({ status: 400, body: { code: 1, message: "Session ID unknown" } })
    expect(await cut()).toBe(before + 1)
    brisk.stop()
  })

  it("is cut off when the events that it does not poll are larger than 4 MB", async () => {
    const chat = await acme.chat()
    const slow = await connected(acme.token, { transport: "polling" })
    const polling = slow.socket.io.engine.transport as unknown as { pause(done: () => void): void }
    polling.pause(() => {})
    await writeLong(chat.id, 400)
    const brisk = await connected(acme.token)
    await acme.message({ chatId: chat.id, text: "Last" })
    await brisk.take(1)
    const answer = await fetch(`${w.url}/socket.io/?EIO=4&transport=polling&sid=${slow.socket.io.engine.id}`)
    expect(await answer.json()).toEqual({ code: 1, message: "Session ID unknown" })
    for (const client of [slow, brisk]) client.stop()
  })

  it("may leave 1,000 packets or 4 MB unsent", () => {
    const leave = (packets: number, data: string) => {
      const terminate = jest.fn()
      const transport = { writable: false, socket: { bufferedAmount: 0, terminate } }
      const engine = Object.assign(new EventEmitter(), { readyState: "open", transport, close: () => (engine.readyState = "closed") })
      const cut = jest.fn()
      new SocketIoConnection(engine as never, "address", cut)
      for (let sent = 0; sent < packets; sent += 1) engine.emit("packetCreate", { data })
      expect(cut.mock.calls.length).toBe(terminate.mock.calls.length)
      return cut.mock.calls.length > 0
    }
    expect([leave(1_000, "x"), leave(1_001, "x")]).toEqual([false, true])
    const megabyte = "x".repeat(1024 * 1024)
    expect([leave(4, megabyte), leave(5, megabyte)]).toEqual([false, true])
    expect(leave(2, "€".repeat(1024 * 1024))).toBe(true)
  })
})

describe("limits", () => {
  it("a message has at most 64 KB, over polling and a WebSocket", async () => {
    for (const transport of ["polling", "websocket"] as const) {
      const client = await connected(acme.token, { transport })
      client.socket.emit("join", "x".repeat(70_000))
      expect(await client.disconnected()).toMatch(/^transport (close|error)$/)
      client.stop()
    }
  })

  it("a client that sends more than 100 messages in a second is cut off", async () => {
    const client = await connected(acme.token, { transport: "websocket" })
    for (const _ of numbers(200)) client.socket.emit("join", acme.id)
    expect(await client.disconnected()).toMatch(/^transport/)
    const slower = await connected(acme.token, { transport: "websocket" })
    for (const _ of numbers(50)) expect(await slower.socket.emitWithAck("join")).toEqual({ ok: true })
    for (const each of [client, slower]) each.stop()
  })

  it("a namespace is entered once at a time", async () => {
    const socket = await rawEngine()
    const heard: string[] = []
    socket.on("message", (data) => heard.push(String(data)))
    const connect = `40${JSON.stringify({ token: acme.token })}`
    for (const _ of numbers(3)) socket.send(connect)
    await until(
      "three packets are answered",
      () => heard.length >= 3,
      () => heard,
    )
    expect(heard.filter((packet) => packet.startsWith("40"))).toHaveLength(1)
    expect(heard.filter((packet) => packet.includes('{"statusCode":400,"code":"BAD_USER_INPUT"}'))).toHaveLength(2)
    socket.terminate()
  })

  it("malformed packets close their connection, and do no harm", async () => {
    for (const packet of [
      "9",
      "4",
      "49",
      "40/ws,{",
      "42[",
      '42["connect"]',
      "451-[]",
      "40/ws,[]",
      "4nonsense",
      "3",
      "2",
      "1",
      "5",
      "\u0000",
    ]) {
      const socket = await rawEngine()
      socket.send(packet)
      // Answered after the packet, unless that closed the connection.
      const answered = Promise.race([once(socket, "pong"), once(socket, "close")])
      socket.ping()
      await happens("the packet is handled", answered, () => packet)
      socket.terminate()
    }
    const client = await connected(acme.token)
    client.stop()
  })

  it("an address has 1,000 connections without a namespace at once", async () => {
    const server = await w.another()
    const address = `${server.url}/socket.io/?EIO=4&transport=polling`
    const responses: Response[] = []
    for (let sent = 0; sent < 1_000; sent += 50) responses.push(...(await Promise.all(numbers(50).map(() => fetch(address)))))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    const beyond = await fetch(address)
    expect({ status: beyond.status, retryAfter: beyond.headers.get("Retry-After"), body: await beyond.json() }).toMatchObject({
      status: 429,
      retryAfter: "1",
      body: { statusCode: 429, code: "RATE_LIMITED" },
    })
    const refusedUpgrade = io(server.url, { transports: ["websocket"], reconnection: false, forceNew: true })
    const error = await emitted(refusedUpgrade, "connect_error")
    expect(error.message).toBe("websocket error")
    // Room again when one is closed.
    const { sid } = JSON.parse((await responses[0]!.text()).slice(1))
    await fetch(`${address}&sid=${sid}`, { method: "POST", body: "1" })
    const client = await connected(acme.token, { url: server.url })
    client.stop()
    await server.stop()
  })
})

describe("the rate limit", () => {
  it("counts handshakes: those of a credential, and those without one by address", async () => {
    const server = await w.another({ RATE_LIMIT_PER_MINUTE: "3", RATE_LIMIT_ANONYMOUS_PER_MINUTE: "2" })
    const { url } = server
    for (const transport of ["polling", "websocket", "polling"] as const) (await connected(acme.token, { url, transport })).stop()
    expect(await refusal(acme.token, { url })).toEqual(refused(429, "RATE_LIMITED"))
    expect((await fetch(`${url}/api/chats`, { headers: { "X-Access-Token": acme.token } })).status).toBe(429)
    const other = await connected(acme.owner.jwt, { url })
    expect(await other.socket.emitWithAck("join")).toEqual({ ok: true })
    expect(await other.socket.emitWithAck("join")).toEqual({ ok: true })
    expect(await other.socket.emitWithAck("join")).toEqual({ statusCode: 429, code: "RATE_LIMITED" })
    other.stop()
    for (const credential of [null, "amp_mistyped"]) expect(await refusal(credential, { url })).toEqual(refused(401, "UNAUTHENTICATED"))
    for (const credential of [null, "amp_mistyped"]) expect(await refusal(credential, { url })).toEqual(refused(429, "RATE_LIMITED"))
    await server.stop()
  })
})

describe("beside the rest of the server", () => {
  const path = "/socket.io/?EIO=4&transport=polling"

  it("allows the configured origins alone, and the header of the token", async () => {
    const origin = "https://shop.example"
    const server = await w.another({ CORS_ORIGINS: origin })
    const answerTo = async (url: string, from: string, method = "GET") => {
      const asked = { Origin: from, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-access-token" }
      const { headers } = await fetch(url + path, { method, headers: asked })
      return [headers.get("access-control-allow-origin"), headers.get("access-control-allow-headers")]
    }
    expect(await answerTo(server.url, origin)).toEqual([origin, null])
    expect(await answerTo(server.url, origin, "OPTIONS")).toEqual([origin, "x-access-token"])
    expect((await answerTo(server.url, "https://other.example"))[0]).toBeNull()
    expect((await answerTo(w.url, origin))[0]).toBeNull()
    await server.stop()
  })

  it("answers other methods, paths and sessions with an error", async () => {
    for (const method of ["PUT", "DELETE", "HEAD"]) {
      const answer = await fetch(w.url + path, { method })
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, POST, OPTIONS"])
    }
    expect((await fetch(`${w.url + path}&sid=unknown`)).status).toBe(400)
    expect((await fetch(w.url + path, { method: "POST" })).status).toBe(400)
    expect((await fetch(`${w.url}/socket.io/`)).status).toBe(400)
    expect((await fetch(`${w.url}/socket.io/?EIO=3&transport=polling`)).status).toBe(400)
    for (const unknown of ["/socket.io", "/socket.io/socket.io.js", "/socket.io/more"])
      expect((await fetch(w.url + unknown)).status).toBe(404)
    const first = await fetch(w.url + path)
    expect([first.headers.get("cache-control"), first.headers.get("set-cookie")]).toEqual(["no-store", null])
    expect(first.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/)
  })

  it("graphql-ws takes its time on both of its paths, which Engine.IO would cut off after a second", async () => {
    const sockets = [await rawSocket(w, "/graphql"), await rawSocket(w, "/ws")]
    // In real time, since Engine.IO's timer is what is tested: a slower machine only waits longer.
    await sleep(1_300)
    for (const socket of sockets) {
      expect(await socket.open(acme.token)).toBe("acknowledged")
      expect((await socket.ask("{ chatFolders { id } }"))[0].payload.data).toEqual({ chatFolders: [] })
      socket.socket.terminate()
    }
  })

  it("counts the open sockets, and forgets those that are closed in any way", async () => {
    const server = await w.another()
    const open = async () => /^platform_open_sockets (\d+)$/m.exec(await (await fetch(`${server.url}/metrics`)).text())![1]
    const clients = await Promise.all([
      connected(acme.token, { url: server.url }),
      connected(acme.token, { url: server.url, transport: "polling" }),
      connected(acme.token, { url: server.url, transport: "websocket" }),
    ])
    await socketIo(w, "amp_mistyped", { url: server.url }).then(({ outcome }) => outcome())
    expect(await open()).toBe("3")
    clients[0]!.stop()
    clients[1]!.socket.io.engine.close()
    const { ws } = clients[2]!.socket.io.engine.transport as unknown as { ws: { terminate(): void } }
    ws.terminate()
    await until("no socket is counted", async () => (await open()) === "0", open)
    await server.stop()
  })
})
