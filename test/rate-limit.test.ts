import { v7 } from "uuid"
import { makeRest } from "./kit/clients.js"
import { password } from "./kit/company-fixture.js"
import { world } from "./kit/world.js"

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

  it("are counted exactly when they are concurrent", async () => {
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
