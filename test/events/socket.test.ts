import { connect } from "node:net"
import { setImmediate } from "node:timers/promises"
import { createClient } from "graphql-ws"
import { v7 } from "uuid"
import { WebSocket } from "ws"
import { sign } from "../../src/context/json-web-token.js"
import { eventLimits } from "../../src/events/limits.js"
import { scraped } from "../kit/metrics.js"
import { duration, pace } from "../kit/pace.js"
import { promised } from "../kit/promise.js"
import { endOfLog, type HeardEvent, parametersOf, rawSocket, subscribe } from "../kit/sockets.js"
import { happens, until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, rest, gql } = w

type Socket = Awaited<ReturnType<typeof rawSocket>>

async function opened(credential: string, path: "/graphql" | "/ws" = "/graphql", url = w.url) {
  const socket = await rawSocket({ ...w, url }, path)
  expect(await socket.open(credential)).toBe("acknowledged")
  return socket
}

/** A new access token with its id, which the company's owner can revoke. */
async function makeToken() {
  const { body } = await rest.as(acme.owner.jwt).post(`/api/companies/${acme.id}/access-tokens`, { name: "Short-lived" }).expect(201)
  const revoke = () => rest.as(acme.owner.jwt).delete(`/api/companies/${acme.id}/access-tokens/${body.id}`).expect(200)
  return { value: body.token as string, id: body.id as string, revoke }
}

/** The session that a JWT belongs to. */
const sessionOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split(".")[1]!, "base64url").toString()).sid

/** Signs the company's owner in, with a new session. */
async function signIn(url = w.url): Promise<string> {
  const query = `mutation { signIn(email: "${acme.owner.email}", password: "correct horse battery") { accessToken } }`
  const answer = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query }),
  })
  return ((await answer.json()) as { data: { signIn: { accessToken: string } } }).data.signIn.accessToken
}

describe("opening", () => {
  it.each(["/graphql", "/ws"] as const)("%s delivers events and answers queries", async (path) => {
    for (const credential of [acme.token, acme.member.jwt]) {
      const heard = await subscribe(w, credential, { path })
      const chat = await acme.chat()
      expect((await heard.next()).payload).toEqual(chat)
      await heard.stop()
      const socket = await opened(credential, path)
      expect((await socket.ask("{ chatFolders { id } }"))[0].payload).toEqual({ data: { chatFolders: [] } })
      socket.socket.terminate()
    }
  })

  it("no, mistyped, unknown or revoked credentials: 4401", async () => {
    const { value, revoke } = await makeToken()
    await revoke()
    for (const credential of [null, "amp_mistyped", value, "no.such.jwt", `${acme.owner.jwt}x`, acme.owner.refreshToken]) {
      const socket = await rawSocket(w)
      expect(await socket.open(credential)).toBe(4401)
    }
  })

  it.each<[string, () => object]>([
    ["accessToken", () => ({ accessToken: acme.token })],
    ["X-Access-Token", () => ({ "X-Access-Token": acme.token })],
    ["x-access-token", () => ({ "x-access-token": acme.token })],
    ["authorization with an access token", () => ({ authorization: `Bearer ${acme.token}` })],
    ["Authorization with a JWT", () => ({ Authorization: `Bearer ${acme.owner.jwt}` })],
    ["AUTHORIZATION, and AUTH with a company", () => ({ AUTHORIZATION: `Bearer ${acme.owner.jwt}`, AUTH: { companyId: acme.id } })],
  ])("takes the parameter %s", async (_name, parameters) => {
    const socket = await rawSocket(w)
    expect(await socket.open(parameters())).toBe("acknowledged")
    expect((await socket.ask("{ chatFolders { id } }"))[0].type).toBe("next")
    socket.socket.terminate()
  })

  it("an expired JWT: 4403, so that the standard client reconnects with a new one", async () => {
    const claims = { typ: "access" as const, sub: acme.owner.id, sid: acme.owner.sessionId, jti: v7() }
    const expired = sign(claims, w.services.secrets.jwtSecret, 60, new Date(Date.now() - 61_000))
    expect(await (await rawSocket(w)).open(expired)).toBe(4403)
    const fresh = sign(claims, w.services.secrets.jwtSecret, 60, new Date())
    expect(await (await rawSocket(w)).open(fresh)).toBe("acknowledged")
  })

  it("a company out of reach: 4403", async () => {
    for (const companyId of [globex.id, v7(), "malformed"]) {
      for (const credential of [acme.token, acme.owner.jwt]) expect(await (await rawSocket(w)).open(credential, companyId)).toBe(4403)
    }
    expect(await (await rawSocket(w)).open(acme.token, acme.id.toUpperCase())).toBe("acknowledged")
  })

  it("nothing is answered before the session is opened, nor a message outside of the protocol", async () => {
    const early = await rawSocket(w)
    early.send({ id: "1", type: "subscribe", payload: { query: "{ chatFolders { id } }" } })
    expect((await early.closed()).code).toBe(4401)
    const twice = await opened(acme.token)
    twice.send({ type: "connection_init" })
    expect((await twice.closed()).code).toBe(4429)
    const noise = await opened(acme.token)
    noise.send("{ noise")
    expect((await noise.closed()).code).toBe(4400)
    const large = await opened(acme.token)
    large.send({ type: "ping", payload: { text: "x".repeat(1024 * 1024) } })
    expect((await large.closed()).code).toBe(1009)
  })

  it.each(["/nothing", "//", "/api/chats", "http://[", "%"])("an upgrade at %s is refused, and does no harm", async (path) => {
    const socket = connect(Number(new URL(w.url).port), "127.0.0.1")
    socket.setEncoding("utf8")
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
    let answer = ""
    for await (const part of socket) answer += part
    expect(answer).toMatch(/^HTTP\/1.1 40[04] /)
    await rest.as(acme.token).get("/api/chats?take=1").expect(200)
  })
})

describe("a request that asks for another protocol", () => {
  // The option of Node's HTTP server that this needs.
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  const skipped = major > 24 || minor >= 9 ? "" : ` (skipped: Node.js ${process.version} has no shouldUpgradeCallback)`
  const itOnNode249 = skipped ? it.skip : it
  itOnNode249(`is answered over HTTP/1.1: Java's HttpClient sends Upgrade: h2c with each request${skipped}`, async () => {
    const body = JSON.stringify({ messenger: "playground", fromId: "java", externalId: "h2c" })
    const socket = connect(Number(new URL(w.url).port), "127.0.0.1")
    socket.setEncoding("utf8")
    socket.write(
      `POST /api/chats HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n` +
        `X-Access-Token: ${acme.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    let answer = ""
    for await (const part of socket) {
      answer += part
      if (answer.includes('"externalId"')) socket.end()
    }
    expect(answer).toMatch(/^HTTP\/1.1 201 /)
  })
})

describe("closing", () => {
  promised(
    "a revoked token and an ended session close their sockets with 4401 within a second, on every instance, and no others",
    async () => {
      const other = await w.another()
      const everywhere = (credential: string) => Promise.all([w.url, other.url].map((url) => opened(credential, "/ws", url)))
      const untouched = await everywhere(acme.owner.jwt)
      const closing = async (sockets: Socket[]) => {
        const closes = Promise.all(sockets.map(({ closed }) => closed()))
        return duration(async () => expect(await closes).toMatchObject([{ code: 4401 }, { code: 4401 }]))
      }
      await pace("the end of a credential closes its sockets", 1_000, "ms", async () => {
        const { value, revoke } = await makeToken()
        const jwt = await signIn()
        const [revoked, ended] = [await everywhere(value), await everywhere(jwt)]
        await revoke()
        const first = await closing(revoked)
        expect((await gql(jwt, "mutation { signOut }")).data).toEqual({ signOut: true })
        return Math.max(first, await closing(ended))
      })
      for (const socket of untouched) {
        expect((await socket.ask("{ chatFolders { id } }"))[0].payload.data).toEqual({ chatFolders: [] })
        socket.socket.terminate()
      }
      await other.stop()
    },
  )

  // As when an instance dies between its commit and its notification: only the row has changed.
  promised("a credential that ended without a notification closes its sockets too, on every instance, and no others", async () => {
    const other = await w.another()
    const everywhere = (credential: string) => Promise.all([w.url, other.url].map((url) => opened(credential, "/graphql", url)))
    const [{ value, id }, jwt] = [await makeToken(), await signIn()]
    const lost = await acme.person("member", await globex.person())
    const [gained, promoted] = [await acme.person(), await acme.person()]
    const [revoked, ended, left, joined, changed, untouched] = await Promise.all(
      [value, jwt, lost.jwt, gained.jwt, promoted.jwt, acme.owner.jwt].map(everywhere),
    )
    const elsewhere = await rawSocket(w)
    expect(await elsewhere.open(lost.jwt, globex.id)).toBe("acknowledged")

    await w.sql("update access_token set revoked_at = now() where id = $1", [id])
    await w.sql("update session set ended_at = now() where id = $1", [sessionOf(jwt)])
    await w.sql("delete from member where user_id = $1 and company_id = $2", [lost.id, acme.id])
    await globex.person("member", gained)
    await w.sql("update member set role = 'admin' where user_id = $1", [promoted.id])
    const codes = (sockets: Socket[]) => Promise.all(sockets.map(async ({ closed }) => (await closed()).code))
    expect(await Promise.all([revoked!, ended!, left!, joined!, changed!, [elsewhere]].map(codes))).toEqual([
      [4401, 4401],
      [4401, 4401],
      [4403, 4403],
      [1012, 1012],
      [1012, 1012],
      [1012],
    ])
    for (const socket of untouched!) {
      expect((await socket.ask("{ chatFolders { id } }"))[0].payload.data).toEqual({ chatFolders: [] })
      socket.socket.terminate()
    }
    await other.stop()
  })

  it("one statement a second checks all open sockets, and none while none is open", async () => {
    const everySecond: (() => void)[] = []
    const { setInterval: real } = globalThis
    // The test calls what the server calls each second.
    const intervals = jest.spyOn(globalThis, "setInterval").mockImplementation(((run: () => void, ms: number) => {
      if (ms !== eventLimits.revokedSocketMs) return real(run, ms)
      everySecond.push(run)
      return real(() => {}, ms)
    }) as typeof setInterval)
    const lonely = await w.another().finally(() => intervals.mockRestore())
    const { pool } = lonely.services.database
    const query = pool.query.bind(pool)
    let asked = 0
    let answer: Promise<unknown> = Promise.resolve()
    pool.query = ((...args: Parameters<typeof query>) => {
      const answered = query(...args)
      if ((args[0] as { name?: string }).name === "sockets-changed") {
        asked++
        answer = answered as unknown as Promise<unknown>
      }
      return answered
    }) as typeof query
    /** How many statements a second costs. */
    const ofASecond = async () => {
      const before = asked
      for (const run of everySecond) run()
      // A check that is due while another one waits for its answer is made after it: the next second begins when this one's is over.
      await answer
      await setImmediate()
      return asked - before
    }
    const openSockets = async () => /^platform_open_sockets (\d+)$/m.exec(await (await fetch(`${lonely.url}/metrics`)).text())![1]
    const sockets = await Promise.all([acme.token, acme.token, acme.member.jwt].map((one) => opened(one, "/ws", lonely.url)))
    expect([await ofASecond(), await ofASecond()]).toEqual([1, 1])
    for (const socket of sockets) socket.socket.terminate()
    await until("no socket is open", async () => (await openSockets()) === "0", openSockets)
    expect([await ofASecond(), await ofASecond()]).toEqual([0, 0])
    await lonely.stop()
  })

  it("the end of a JWT closes its sockets with 4403", async () => {
    // While the clock stands still, the JWT is valid until the server's timer ends it, however long the opening takes.
    w.clock.stop()
    try {
      const jwt = await signIn()
      const { exp } = JSON.parse(Buffer.from(jwt.split(".")[1]!, "base64url").toString())
      const leftMs = 1_000
      w.clock.advance(exp * 1_000 - w.clock.now().getTime() - leftMs)
      await pace("the end of a JWT closes its sockets", leftMs + 500, "ms", async () => {
        const socket = await opened(jwt)
        return duration(async () => expect((await socket.closed()).code).toBe(4403))
      })
    } finally {
      w.clock.reset()
    }
  })

  it("a shutdown closes all with 1012, and the standard client reconnects and resumes with after", async () => {
    const first = await w.another()
    const socket = await opened(acme.token, "/ws", first.url)
    const texts: string[] = []
    const variables = { after: await endOfLog(w) }
    const client = createClient({
      url: `${first.url.replace("http", "ws")}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: parametersOf(acme.token),
      retryAttempts: 1_000,
      shouldRetry: () => true,
      // Not a wait: the pause of the client between two attempts.
      retryWait: () => new Promise((resolve) => setTimeout(resolve, 20)),
    })
    let noticed = () => {}
    const complete = new Promise<void>((resolve, reject) => {
      const query = "subscription ($after: String) { events(after: $after) { id payload } }"
      client.subscribe<{ events: HeardEvent }>(
        { query, variables },
        {
          next({ data }) {
            variables.after = data!.events.id
            texts.push(data!.events.payload.text)
            noticed()
            if (texts.length === 3) resolve()
          },
          error: reject,
          complete: () => reject(new Error("It has ended")),
        },
      )
    })
    const chat = await acme.chat()
    const begun = new Promise<void>((resolve) => {
      noticed = () => texts.length === 2 && resolve()
    })
    await acme.message({ chatId: chat.id, text: "before" })
    await happens("the client has two events", begun, () => texts)
    await first.stop()
    expect((await socket.closed()).code).toBe(1012)
    await acme.message({ chatId: chat.id, text: "meanwhile" })
    const second = await w.another({ PORT: new URL(first.url).port })
    await happens("the client has three events", complete, () => texts)
    expect(texts).toEqual([undefined, "before", "meanwhile"])
    await client.dispose()
    await second.stop()
  })

  promised("a subscriber that reads too slowly is closed with 1013 and resumes; others continue meanwhile", async () => {
    const chat = await acme.chat()
    const after = await endOfLog(w)
    const slow = await opened(acme.token)
    const query = "subscription ($after: String) { events(after: $after) { id payload message { text } } }"
    slow.send({ id: "1", type: "subscribe", payload: { query, variables: { after } } })
    slow.socket.pause()
    const count = 1_600
    const brisk = await subscribe(w, acme.token, { after })
    const read = brisk.take(count)
    const large = `input: { chatId: "${chat.id}", text: "${"x".repeat(16_000)}" }`
    const many = `mutation { ${Array.from({ length: 20 }, (_, index) => `m${index}: createMessage(${large}) { id }`).join(" ")} }`
    for (let sent = 0; sent < count; sent += 20) expect((await gql(acme.token, many)).errors).toBeUndefined()
    expect((await read).map(({ payload }) => payload.sequence)).toEqual(Array.from({ length: count }, (_, index) => index + 1))
    slow.socket.resume()
    expect((await slow.closed()).code).toBe(1013)
    expect((await scraped(w, "platform_sockets_cut_total")).get('{transport="graphql-ws"}')).toBe(1)

    const got = slow.heard.slice(1) as { payload: { data: { events: HeardEvent } } }[]
    expect(got.length).toBeLessThan(count)
    const resumed = await subscribe(w, acme.token, { after: got.at(-1)!.payload.data.events.id })
    expect((await resumed.next()).payload.sequence).toBe(got.length + 1)
    for (const heard of [brisk, resumed]) await heard.stop()
  })
})

describe("operations", () => {
  it("queries and mutations are answered as over HTTP", async () => {
    const socket = await opened(acme.token)
    const create = "mutation ($input: CreateChatFolderInput!) { createChatFolder(input: $input) { id name } }"
    const [made, done] = await socket.ask(create, { input: { name: "Over the socket" } })
    expect(made.payload.data.createChatFolder.name).toBe("Over the socket")
    expect(done.type).toBe("complete")
    const query = "{ chatFolders { id name } }"
    expect((await socket.ask(query))[0].payload.data).toEqual((await gql(acme.token, query)).data)
    socket.socket.terminate()
  })

  const costly = `{ ${[..."abcdefghij"].map((a) => `${a}: chats(first: 100) { nodes { tags { id } also: tags { id } } }`)} }`
  const refused: [string, string, "next" | "error", string?, number?][] = [
    ["another's company", "{ chatFolders(companyId: $id) { id } }", "next", "FORBIDDEN", 403],
    ["what is missing", "{ chat(id: $id) { id } }", "next", "NOT_FOUND", 404],
    ["a syntax error", "{ chat(", "error", "GRAPHQL_PARSE_FAILED", 400],
    ["an unknown field", "{ nothing }", "error", "GRAPHQL_VALIDATION_FAILED", 400],
    ["more than 5,000 tokens", `{ chatFolders { ${"id ".repeat(5_000)} } }`, "error"],
    ["depth over 12", `{ messages(chatId: $id) { nodes { ${"chat { lastMessage { ".repeat(6)} id ${"} }".repeat(6)} } } }`, "error"],
    ["over 30 root fields", `{ ${Array.from({ length: 31 }, (_, index) => `f${index}: chatFolders { id }`).join(" ")} }`, "error"],
    ["a cost over 20,000", costly, "error"],
    ["NUL", '{ chatTags: chat(id: "\\u0000") { id } }', "error"],
  ]

  it.each(refused)("%s is an error with code, status and request id", async (_name, text, type, code = "BAD_USER_INPUT", status = 400) => {
    const socket = await opened(acme.token)
    const [answer] = await socket.ask(text.replace(/\$id/g, `"${globex.id}"`))
    expect(answer.type).toBe(type)
    const [error] = type === "error" ? answer.payload : answer.payload.errors
    expect(error.extensions).toEqual({
      code,
      statusCode: status,
      details: expect.any(Array),
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    expect((await socket.ask("{ chatFolders { id } }"))[0].payload.errors).toBeUndefined()
    socket.socket.terminate()
  })
})
