import { v7 } from "uuid"
import { makeRest } from "../kit/clients.js"
import { password } from "../kit/company-fixture.js"
import { promised } from "../kit/promise.js"
import { rawSocket } from "../kit/sockets.js"
import { world } from "../kit/world.js"

describe("sign-in attempts", () => {
  // The address is that of the proxy's header, so that each test has its own.
  const w = world({ SIGN_IN_ATTEMPTS_PER_MINUTE: "10", TRUST_PROXY: "1" })
  const { acme, rest, gql } = w
  let addresses = 0
  const somewhere = () => ({ "X-Forwarded-For": `10.0.${Math.floor(++addresses / 250)}.${addresses % 250}` })
  const somebody = () => `${v7()}@acme.example`
  // Malformed, and refused after it was counted: no password is hashed, so the tests are fast.
  const nonsense = () => `nobody ${v7()}`
  const attempt = (from: Record<string, string>, email = nonsense()) =>
    rest.as(from).post("/api/auth/sign-in", { email, password: "a wrong password" })

  it("are 10 a minute per address, and every response has the remaining number", async () => {
    const here = somewhere()
    for (let left = 9; left >= 0; left--) {
      const { headers } = await attempt(here).expect(400)
      expect(headers).toMatchObject({ "x-ratelimit-limit": "10", "x-ratelimit-remaining": String(left) })
      expect(Number(headers["x-ratelimit-reset"])).toBeGreaterThan(0)
      expect(Number(headers["x-ratelimit-reset"])).toBeLessThanOrEqual(60)
    }
    const { headers, body } = await attempt(here).expect(429)
    expect(body.code).toBe("RATE_LIMITED")
    expect(headers).toMatchObject({ "x-ratelimit-limit": "10", "x-ratelimit-remaining": "0" })
    expect(Number(headers["retry-after"])).toBeGreaterThan(0)
    expect(Number(headers["retry-after"])).toBeLessThanOrEqual(60)
    await attempt(somewhere()).expect(400)
  })

  it("are 10 a minute per email, from any address and ignoring case", async () => {
    const email = somebody()
    for (let count = 1; count <= 10; count++) await attempt(somewhere(), count % 2 ? email : email.toUpperCase()).expect(401)
    const { headers } = await attempt(somewhere(), email).expect(429)
    expect(headers).toMatchObject({ "x-ratelimit-remaining": "0", "retry-after": expect.stringMatching(/^\d+$/) })
    await attempt(somewhere(), somebody()).expect(401)
  })

  it("count when they are malformed, and when they succeed", async () => {
    const here = rest.as(somewhere())
    const again = () => here.post("/api/auth/sign-in")
    for (let count = 0; count < 3; count++) await again().type("json").send("{ malformed").expect(400)
    for (let count = 0; count < 3; count++) await again().type("text").send("email").expect(415)
    for (let count = 0; count < 2; count++) await again().send({ email: nonsense() }).expect(400)
    for (let count = 0; count < 2; count++) await again().send({ email: acme.owner.email, password }).expect(200)
    await again().send({ email: acme.owner.email, password }).expect(429)
    await again().type("json").send("{ malformed").expect(429)
  })

  it("count each when one GraphQL request has many, and together with REST's", async () => {
    const here = somewhere()
    const { email } = await acme.person()
    const aliases = Array.from({ length: 11 }, (_, index) => `a${index}: signIn(email: "${email}", password: "${password}") { tokenType }`)
    const { errors, headers } = await gql(here, `mutation { ${aliases.join("\n")} }`)
    expect(errors).toMatchObject([{ path: ["a10"], extensions: { code: "RATE_LIMITED", statusCode: 429 } }])
    expect(headers).toMatchObject({ "x-ratelimit-limit": "10", "x-ratelimit-remaining": "0" })
    await attempt(here).expect(429)
    await attempt(somewhere(), email).expect(429)
  })

  it("count each when one GraphQL request has many wrong ones", async () => {
    const here = somewhere()
    const before = Number((await attempt(here).expect(400)).headers["x-ratelimit-remaining"])
    const aliases = Array.from({ length: 5 }, (_, index) => `a${index}: signIn(email: "${nonsense()}", password: "wrong") { tokenType }`)
    const { headers } = await gql(here, `mutation { ${aliases.join("\n")} }`)
    const left = Number((await attempt(here).expect(400)).headers["x-ratelimit-remaining"])
    // The executor decides how many of them run (the first error ends the operation); each that ran was counted.
    expect(left).toBe(Number(headers["x-ratelimit-remaining"]) - 1)
    expect(left).toBeLessThan(before - 1)
  })

  it("on a socket count for the client, and not for the proxy", async () => {
    const here = somewhere()
    const socket = await rawSocket(w, "/graphql", "graphql-transport-ws", here)
    expect(await socket.open(acme.token)).toBe("acknowledged")
    const signIn = async () => {
      const [{ payload }] = await socket.ask(`mutation { signIn(email: "${somebody()}", password: "wrong password") { tokenType } }`)
      return (payload.errors ?? payload)[0].extensions.code
    }
    for (let count = 1; count <= 10; count++) expect(await signIn()).toBe("UNAUTHENTICATED")
    expect(await signIn()).toBe("RATE_LIMITED")
    await attempt(here).expect(429)
    await attempt(somewhere()).expect(400)
    socket.socket.terminate()
  })

  promised("are counted exactly when they are concurrent", async () => {
    const here = somewhere()
    const answers = await Promise.all(Array.from({ length: 20 }, () => attempt(here)))
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10)
  })

  it("are one count for all instances", async () => {
    const here = somewhere()
    const other = makeRest(
      () => elsewhere.url,
      () => {},
    )
    const elsewhere = await w.another()
    for (let count = 0; count < 5; count++) {
      await attempt(here).expect(400)
      await other.as(here).post("/api/auth/sign-in", { email: nonsense(), password }).expect(400)
    }
    await other.as(here).post("/api/auth/sign-in", { email: somebody(), password }).expect(429)
  })
})

describe("requests", () => {
  const { acme, globex, rest, gql } = world({ RATE_LIMIT_PER_MINUTE: "5" })

  it("are limited per credential, and every response has the remaining number", async () => {
    for (let left = 4; left >= 0; left--) {
      const { headers } = await rest.as(acme.token).get("/api/chats").expect(200)
      expect(headers).toMatchObject({ "x-ratelimit-limit": "5", "x-ratelimit-remaining": String(left) })
    }
    const { headers, body } = await rest.as(acme.token).get("/api/chats").expect(429)
    expect(body.code).toBe("RATE_LIMITED")
    expect(headers).toMatchObject({ "x-ratelimit-remaining": "0", "retry-after": expect.stringMatching(/^[1-9]\d?$/) })
    expect(await gql(acme.token, "{ myCompanies { id } }")).toMatchObject({
      status: 429,
      errors: [{ extensions: { code: "RATE_LIMITED" } }],
    })
    await rest.as(acme.owner.jwt).get("/api/chats").expect(200)
    await rest.as(globex.token).get("/api/chats").expect(200)
  })
})

describe("operations on a socket", () => {
  const w = world({ RATE_LIMIT_PER_MINUTE: "5" })
  const { acme, rest } = w

  it("count like requests: those beyond the limit are refused, and the socket stays open", async () => {
    await rest.as(acme.token).get("/api/chats").expect(200)
    const [first, second] = [await rawSocket(w), await rawSocket(w)]
    for (const socket of [first, second]) expect(await socket.open(acme.token)).toBe("acknowledged")
    const query = "{ chatFolders { id } }"
    for (const socket of [first, second, first]) expect((await socket.ask(query))[0].payload).toEqual({ data: { chatFolders: [] } })
    const subscription = { id: "events", type: "subscribe", payload: { query: "subscription { events { id } }" } }
    second.send(subscription)
    // The one that sent the subscription asks first: a socket's messages are counted in their order.
    for (const [socket, document] of [
      [second, query],
      [first, query],
      [first, "{ nothing"],
      [second, subscription.payload.query],
    ] as const) {
      const [refused] = await socket.ask(document)
      expect(refused).toMatchObject({ type: "error", payload: [{ extensions: { code: "RATE_LIMITED", statusCode: 429 } }] })
    }
    await rest.as(acme.token).get("/api/chats").expect(429)
    await rest.as(acme.owner.jwt).get("/api/chats").expect(200)
    for (const { socket } of [first, second]) socket.terminate()
  })
})

describe("requests without credentials", () => {
  const { acme, rest, gql } = world({ RATE_LIMIT_ANONYMOUS_PER_MINUTE: "5", TRUST_PROXY: "1" })
  const from = (address: string, credential: Record<string, string> = {}) => ({ "X-Forwarded-For": address, ...credential })
  const query = "{ __typename }"

  it("are limited per address, whatever they ask for, and every response has the remaining number", async () => {
    const here = from("198.51.100.1")
    const answers = [
      await gql(here, query),
      await rest.as(here).get("/api/chats").expect(401),
      await rest.as(here).post("/api/auth/refresh", { refreshToken: "x" }).expect(400),
      await rest
        .as(from("198.51.100.1", { "X-Access-Token": "amp_mistyped" }))
        .get("/api/chats")
        .expect(401),
      await rest.as(here).post(`/hooks/widget/${acme.widget.id}`, { text: "Hello" }).expect(201),
    ]
    answers.forEach(({ headers }, index) => {
      expect(headers).toMatchObject({ "x-ratelimit-limit": "5", "x-ratelimit-remaining": String(4 - index) })
      expect(Number(headers["x-ratelimit-reset"])).toBeGreaterThan(0)
    })
    const limited = { "x-ratelimit-limit": "5", "x-ratelimit-remaining": "0", "retry-after": expect.stringMatching(/^[1-9]\d?$/) }
    expect((await rest.as(here).get("/api/chats").expect(429)).headers).toMatchObject(limited)
    expect(await gql(here, query)).toMatchObject({ status: 429, headers: limited, errors: [{ extensions: { code: "RATE_LIMITED" } }] })
    const hook = await rest.as(here).post(`/hooks/widget/${acme.widget.id}`, { text: "Hello" }).expect(429)
    expect([hook.body.code, hook.headers]).toEqual(["RATE_LIMITED", expect.objectContaining(limited)])
    await rest
      .as(from("198.51.100.1", { "X-Access-Token": "amp_mistyped" }))
      .get("/api/chats")
      .expect(429)
  })

  it.each([
    ["a question whether a hook is ours", "/hooks/whatsapp-business", 404],
    ["what a channel reports", "/hooks/whatsapp-business", 401],
  ])("%s, of a connection that does not exist, are counted", async (what, path, status) => {
    const url = `${path}/0190a0b0-0000-7000-8000-000000000000`
    const here = from(what.startsWith("a question") ? "198.51.100.6" : "198.51.100.7")
    const ask = () => (status === 404 ? rest.as(here).get(`${url}?hub.mode=subscribe`) : rest.as(here).post(url, {}))
    for (let count = 0; count < 5; count += 1) await ask().expect(status)
    await ask().expect(429)
  })

  it("do not limit those with credentials, nor another address", async () => {
    const here = from("198.51.100.2")
    for (let count = 0; count < 6; count += 1) await gql(here, query)
    expect((await gql(here, query)).status).toBe(429)
    await rest
      .as(from("198.51.100.2", { "X-Access-Token": acme.token }))
      .get("/api/chats")
      .expect(200)
    await rest.as(here).get("/health/live").expect(200)
    expect((await gql(from("198.51.100.3"), query)).status).toBe(200)
  })

  it("of IPv6 are limited per network of 64 bits", async () => {
    for (const address of ["2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8::1:0:0:0:3", "2001:0db8:0:1::4", "2001:db8:0:1:ffff::"])
      expect((await gql(from(address), query)).status).toBe(200)
    expect((await gql(from("2001:db8:0:1::6"), query)).status).toBe(429)
    expect((await gql(from("2001:db8:0:2::1"), query)).status).toBe(200)
  })

  it("of an IPv4 address are one count, also when it is written as IPv6", async () => {
    for (const address of ["198.51.100.4", "::ffff:198.51.100.4", "198.51.100.4", "::ffff:198.51.100.4", "198.51.100.4"])
      expect((await gql(from(address), query)).status).toBe(200)
    expect((await gql(from("::ffff:198.51.100.4"), query)).status).toBe(429)
    expect((await gql(from("::ffff:198.51.100.5"), query)).status).toBe(200)
  })
})

describe("new chats of the widget", () => {
  const w = world({ TRUST_PROXY: "1" })
  const { acme, globex, rest } = w
  const visit = (address: string, more: object = {}, connectionId = acme.widget.id) =>
    rest.as({ "X-Forwarded-For": address }).post(`/hooks/widget/${connectionId}`, { text: "Hello", ...more })
  const chats = async () => Number((await w.sql("select count(*) from chat"))[0].count)

  it("are 60 a minute per address; a visitor with a chat still writes there", async () => {
    const { body: first } = await visit("203.0.113.1", { messageId: "first" }).expect(201)
    const counted = w.services.limits.newChatsOfAddress
    await Promise.all(Array.from({ length: 54 }, () => counted.count("address:203.0.113.1", {})))
    const others = await Promise.all(Array.from({ length: 10 }, (_, index) => visit("203.0.113.1", { messageId: `next ${index}` })))
    expect(others.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 201, 429, 429, 429, 429, 429])
    const { body, headers } = await visit("203.0.113.1").expect(429)
    expect([body.code, headers["retry-after"]]).toEqual(["RATE_LIMITED", expect.stringMatching(/^[1-9]\d?$/)])
    expect(await chats()).toBe(6)

    const { body: again } = await visit("203.0.113.1", { messageId: "first" }).expect(201)
    expect(again.messageId).toBe(first.messageId)
    await visit("203.0.113.1", { visitorToken: first.visitorToken }).expect(201)
    await visit("203.0.113.1", {}, globex.widget.id).expect(429)
    await visit("203.0.113.2").expect(201)
  })

  it("are 600 a minute per connection, from any address", async () => {
    const before = await chats()
    const counted = w.services.limits.newChatsOfConnection
    await Promise.all(Array.from({ length: 599 }, () => counted.count(globex.widget.id, {})))
    await visit("203.0.113.3", {}, globex.widget.id).expect(201)
    const { body } = await visit("203.0.113.4", {}, globex.widget.id).expect(429)
    expect([body.code, await chats()]).toEqual(["RATE_LIMITED", before + 1])
    await visit("203.0.113.4").expect(201)
  })
})
