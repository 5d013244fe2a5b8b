import jsonwebtoken from "jsonwebtoken"
import { v7 } from "uuid"
import { type Person, password } from "../kit/company-fixture.js"
import { pace } from "../kit/pace.js"
import { promised } from "../kit/promise.js"
import { world } from "../kit/world.js"

// The specification's 15 minutes, since these tests move the clock; each test signs in itself.
const w = world({ JWT_TTL_SECONDS: "900" })
const { acme, globex, rest, gql, clock } = w

const minutes = 60_000
const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/)

const signIn = async ({ email }: Pick<Person, "email">) =>
  (await rest.anonymous.post("/api/auth/sign-in", { email, password }).expect(200)).body as { accessToken: string; refreshToken: string }
const refresh = (refreshToken: unknown) => rest.anonymous.post("/api/auth/refresh", { refreshToken })
const me = (jwt: string) => rest.as(jwt).get("/api/auth/me")
const claimsOf = (token: string) => jsonwebtoken.decode(token, { complete: true })!
const signed = (claims: object, options: jsonwebtoken.SignOptions = {}) =>
  jsonwebtoken.sign({ iat: Math.floor(clock.now().getTime() / 1000), ...claims }, w.services.secrets.jwtSecret, {
    expiresIn: 60,
    ...options,
  })

describe("signing in", () => {
  it("returns a JWT with the user and the session for 15 minutes, and a refresh token for 7 days", async () => {
    const { body } = await rest.anonymous.post("/api/auth/sign-in", { email: acme.owner.email, password }).expect(200)
    expect(body).toEqual({ accessToken: expect.any(String), refreshToken: expect.any(String), tokenType: "Bearer", expiresIn: 900 })

    const access = claimsOf(body.accessToken)
    const { iat, exp, sid } = access.payload as jsonwebtoken.JwtPayload
    expect(access.header.alg).toBe("HS256")
    expect(access.payload).toEqual({ sub: acme.owner.id, iat, exp, jti: uuid, typ: "access", sid: uuid })
    expect(exp! - iat!).toBe(15 * 60)
    expect(Math.abs(iat! * 1000 - clock.now().getTime())).toBeLessThan(60_000)

    const { payload } = claimsOf(body.refreshToken)
    expect(payload).toEqual({ sub: acme.owner.id, iat, exp: iat! + 7 * 24 * 60 * 60, jti: uuid, typ: "refresh", sid })
  })

  it("ignores case and surrounding blanks of the email", async () => {
    await signIn({ email: `  ${acme.owner.email.toUpperCase()} ` })
  })

  it.each([
    ["no body", {}],
    ["no email", { password }],
    ["a malformed email", { email: "owner at acme", password }],
    ["an empty email", { email: "", password }],
    ["an empty password", { email: "owner@acme.example", password: "" }],
    ["no password", { email: "owner@acme.example" }],
    ["null", { email: null, password: null }],
  ])("with %s is 400", async (_name, body) => {
    const { body: error } = await rest.anonymous.post("/api/auth/sign-in", body).expect(400)
    expect(error).toMatchObject({ code: "BAD_USER_INPUT", message: "Invalid email or password" })
    expect(error.details).not.toEqual([])
  })

  it("treats an unknown email like a wrong password, and takes as long", async () => {
    const timed = async (email: string) => {
      const begin = performance.now()
      const { body } = await rest.anonymous.post("/api/auth/sign-in", { email, password: "a wrong password" }).expect(401)
      const ms = performance.now() - begin
      return { body: { ...body, requestId: "" }, ms }
    }
    const [wrong, unknown] = [[await timed(acme.owner.email)], [await timed("nobody@acme.example")]]
    expect(unknown[0]!.body).toEqual(wrong[0]!.body)
    // In turn, so that what slows the machine down strikes both; the fastest of each.
    for (let round = 0; round < 5; round += 1) {
      wrong.push(await timed(acme.owner.email))
      unknown.push(await timed("nobody@acme.example"))
    }
    const fastest = (times: { ms: number }[]) => Math.min(...times.map(({ ms }) => ms))
    await pace("a wrong password takes as long as an unknown email", 1, "times", () => fastest(wrong) / fastest(unknown))
  })

  it("shows the profile with the companies and the role in each", async () => {
    const person = await acme.person("admin")
    await globex.person("member", person)
    const { accessToken } = await signIn(person)
    const { body } = await me(accessToken).expect(200)
    expect(body).toEqual({
      id: person.id,
      email: person.email,
      name: person.name,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      companies: [
        { id: acme.id, name: "Acme", role: "admin" },
        { id: globex.id, name: "Globex", role: "member" },
      ],
    })
  })
})

describe("a JWT", () => {
  it("ends after 15 minutes", async () => {
    const { accessToken } = await signIn(acme.owner)
    clock.advance(14 * minutes)
    await me(accessToken).expect(200)
    clock.advance(2 * minutes)
    const { body } = await me(accessToken).expect(401)
    expect(body.message).toMatch(/expired/)
  })

  it("of another secret, algorithm or kind is 401", async () => {
    const { accessToken, refreshToken } = await signIn(acme.owner)
    const claims = claimsOf(accessToken).payload as jsonwebtoken.JwtPayload
    const { iat: _iat, exp: _exp, ...lasting } = claims
    await me(signed(lasting)).expect(200)
    await me(signed(lasting, { algorithm: "HS512" })).expect(401)
    await me(jsonwebtoken.sign(claims, "another secret, also long enough to sign")).expect(401)
    await me(jsonwebtoken.sign(claims, "", { algorithm: "none" })).expect(401)
    await me(signed({ ...lasting, sid: v7() })).expect(401)
    await me(signed({ ...lasting, sub: globex.owner.id })).expect(401)
    await me(refreshToken).expect(401)
    for (const Authorization of ["Basic b3duZXI6cGFzc3dvcmQ=", accessToken, "Bearer", `Bearer ${accessToken} more`])
      await rest.as({ Authorization }).get("/api/auth/me").expect(401)
  })

  it("of a former member has no access to the company", async () => {
    const person = await acme.person()
    const { accessToken } = await signIn(person)
    const chat = await acme.chat()
    await rest.as(accessToken).get(`/api/chats/${chat.id}`).expect(200)
    await w.sql("delete from member where user_id = $1", [person.id])
    await rest.as(accessToken).get(`/api/chats/${chat.id}`).expect(404)
  })
})

describe("refreshing", () => {
  it("returns a new pair of the same session, and both JWTs work", async () => {
    const first = await signIn(acme.owner)
    const { body: second } = await refresh(first.refreshToken).expect(200)
    expect(second).toEqual({ accessToken: expect.any(String), refreshToken: expect.any(String), tokenType: "Bearer", expiresIn: 900 })
    expect(second.refreshToken).not.toBe(first.refreshToken)
    expect(claimsOf(second.accessToken).payload).toMatchObject({
      sid: (claimsOf(first.accessToken).payload as jsonwebtoken.JwtPayload)["sid"],
    })
    await me(first.accessToken).expect(200)
    await me(second.accessToken).expect(200)
    await refresh(second.refreshToken).expect(200)
  })

  it("works together with the expired JWT that it replaces", async () => {
    const { accessToken, refreshToken } = await signIn(acme.owner)
    clock.advance(16 * minutes)
    await rest.as(accessToken).post("/api/auth/refresh", { refreshToken }).expect(200)
  })

  it("with a rotated token within 10 s is refused without consequences: two tabs", async () => {
    const first = await signIn(acme.owner)
    const { body: second } = await refresh(first.refreshToken).expect(200)
    clock.advance(9_000)
    await refresh(first.refreshToken).expect(401)
    await me(second.accessToken).expect(200)
    await refresh(second.refreshToken).expect(200)
  })

  it("with a rotated token after 10 s ends the session and all its tokens: a theft", async () => {
    const first = await signIn(acme.owner)
    const other = await signIn(acme.owner)
    const { body: second } = await refresh(first.refreshToken).expect(200)
    clock.advance(10_001)
    await refresh(first.refreshToken).expect(401)
    for (const { accessToken } of [first, second]) await me(accessToken).expect(401)
    await refresh(second.refreshToken).expect(401)
    await me(other.accessToken).expect(200)
  })

  promised("twice at once succeeds once, and the session continues", async () => {
    const { accessToken, refreshToken } = await signIn(acme.owner)
    const answers = await Promise.all([0, 1, 2, 3].map(() => refresh(refreshToken)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401])
    await me(accessToken).expect(200)
    await refresh(answers.find(({ status }) => status === 200)!.body.refreshToken).expect(200)
  })

  it("is 400 with a token that is missing, malformed, wrongly signed, of another kind or expired", async () => {
    const { accessToken, refreshToken } = await signIn(acme.owner)
    const { payload } = claimsOf(refreshToken)
    for (const bad of [undefined, null, "", "nonsense", jsonwebtoken.sign(payload as object, "another secret"), accessToken])
      await refresh(bad).expect(400)
    clock.advance(7 * 24 * 60 * minutes + 1_000)
    await refresh(refreshToken).expect(400)
  })

  it("is 401 with a token that is genuine but unknown, or of an ended session", async () => {
    const { refreshToken } = await signIn(acme.owner)
    const { sub, sid } = claimsOf(refreshToken).payload as jsonwebtoken.JwtPayload
    await refresh(signed({ sub, sid, typ: "refresh", jti: v7() })).expect(401)
    await refresh(signed({ sub, sid: v7(), typ: "refresh", jti: v7() })).expect(401)
    await w.sql("update session set ended_at = now() where id = $1", [sid])
    await refresh(refreshToken).expect(401)
  })
})

describe("signing out", () => {
  it("ends the session with all its tokens, and no other", async () => {
    const here = await signIn(acme.owner)
    const there = await signIn(acme.owner)
    const { data } = await gql(here.accessToken, "mutation { signOut }")
    expect(data).toEqual({ signOut: true })
    await me(here.accessToken).expect(401)
    await refresh(here.refreshToken).expect(401)
    expect(await gql(here.accessToken, "{ me { id } }")).toMatchObject({
      status: 401,
      errors: [{ extensions: { code: "UNAUTHENTICATED" } }],
    })
    await me(there.accessToken).expect(200)
  })

  it("needs a user", async () => {
    for (const credential of [null, acme.token]) {
      const { data, errors } = await gql(credential, "mutation { signOut }")
      expect(data).toBeNull()
      expect(errors![0]!.extensions).toMatchObject({ code: "UNAUTHENTICATED", statusCode: 401 })
    }
  })
})
