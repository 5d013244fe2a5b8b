import { v7 } from "uuid"
import { looksLikeToken } from "../../src/entities/access-token.js"
import type { Method } from "../kit/clients.js"
import { everyRoute, isPublic } from "../kit/routes.js"
import { rawSocket, subscribe } from "../kit/sockets.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, rest, gql, sql, clock } = w

const path = () => `/api/companies/${acme.id}/access-tokens`
const create = async (name = "Shop", jwt = acme.owner.jwt) => (await rest.as(jwt).post(path(), { name }).expect(201)).body
const record = {
  id: expect.any(String),
  companyId: expect.any(String),
  name: "Shop",
  tokenPrefix: expect.stringMatching(/^amp_[0-9A-Za-z]{8}$/),
  createdAt: expect.any(String),
  updatedAt: expect.any(String),
  expiresAt: null,
  readOnly: false,
  lastUsedAt: null,
  createdBy: expect.any(String),
}

/** CRC-32 in six base62 digits, implemented independently from the contract. */
function checksum(text: string) {
  const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
  let crc = 0xffffffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  let rest = (crc ^ 0xffffffff) >>> 0
  let digits = ""
  for (let place = 0; place < 6; place++, rest = Math.floor(rest / 62)) digits = alphabet[rest % 62] + digits
  return digits
}

describe("creating", () => {
  it("shows the value once, in the format for secret scanners, and stores only a digest", async () => {
    const made = await create()
    expect(made).toEqual({ ...record, companyId: acme.id, createdBy: acme.owner.id, token: expect.any(String) })
    expect(made.token).toMatch(/^amp_[0-9A-Za-z]{36}_[0-9A-Za-z]{6}$/)
    expect(made.token.slice(41)).toBe(checksum(made.token.slice(0, 40)))
    expect(made.tokenPrefix).toBe(made.token.slice(0, 12))
    expect(await sql("select 1 from access_token t where t::text like $1", [`%${made.token.slice(12, 40)}%`])).toEqual([])

    const { body: listed } = await rest.as(acme.owner.jwt).get(path()).expect(200)
    expect(listed).toContainEqual({ ...record, id: made.id, tokenPrefix: made.tokenPrefix })
    expect(JSON.stringify(listed)).not.toContain(made.token)
    const { body: companies } = await rest.as(made.token).get("/api/companies/my").expect(200)
    expect(companies.map(({ id }: { id: string }) => id)).toEqual([acme.id])
  })

  it("takes a name of 1 to 100 characters, trimmed", async () => {
    expect((await create("  Shop ")).name).toBe("Shop")
    expect((await create("é".repeat(100))).name).toHaveLength(100)
    for (const name of ["", "   ", "x".repeat(101), null, 5]) await rest.as(acme.owner.jwt).post(path(), { name }).expect(400)
  })

  it("never creates the same value twice, and the checksum detects a mistyped one", async () => {
    const tokens = (await Promise.all(Array.from({ length: 5 }, () => create()))).map(({ token }) => token as string)
    expect(new Set(tokens).size).toBe(5)
    for (const token of tokens) {
      expect(looksLikeToken(token)).toBe(true)
      const mistyped = token.slice(0, 20) + (token[20] === "a" ? "b" : "a") + token.slice(21)
      expect(looksLikeToken(mistyped)).toBe(false)
      const { body } = await rest.as(mistyped).get("/api/chats").expect(401)
      expect(body.message).toMatch(/mistyped/)
    }
  })
})

describe("managing", () => {
  it("is for owners and admins", async () => {
    for (const jwt of [acme.owner.jwt, acme.admin.jwt]) {
      const made = await create("Shop", jwt)
      await rest.as(jwt).get(path()).expect(200)
      await rest.as(jwt).patch(`${path()}/${made.id}`, { name: "Store" }).expect(200)
      await rest.as(jwt).delete(`${path()}/${made.id}`).expect(200)
    }
    const { id } = await create()
    for (const jwt of [acme.member.jwt, globex.owner.jwt]) {
      await rest.as(jwt).get(path()).expect(403)
      await rest.as(jwt).post(path(), { name: "Shop" }).expect(403)
      await rest.as(jwt).patch(`${path()}/${id}`, { name: "Store" }).expect(403)
      await rest.as(jwt).delete(`${path()}/${id}`).expect(403)
    }
    const { body } = await rest.as(acme.owner.jwt).get(`/api/companies/${v7()}/access-tokens`).expect(403)
    expect(body.code).toBe("FORBIDDEN")
  })

  it("checks the role in the named company, for a user of two", async () => {
    const person = await acme.person("admin")
    await globex.person("member", person)
    await rest.as(person.jwt).get(path()).expect(200)
    await rest.as(person.jwt).get(`/api/companies/${globex.id}/access-tokens`).expect(403)
    const { id } = await create()
    await rest.as(globex.owner.jwt).delete(`/api/companies/${globex.id}/access-tokens/${id}`).expect(404)
  })

  it("renames, and the list shows the new name", async () => {
    const made = await create()
    const { body } = await rest.as(acme.owner.jwt).patch(`${path()}/${made.id}`, { name: " Store " }).expect(200)
    expect(body).toEqual({
      ...record,
      id: made.id,
      companyId: acme.id,
      name: "Store",
      tokenPrefix: made.tokenPrefix,
      createdBy: acme.owner.id,
    })
    const { body: listed } = await rest.as(acme.owner.jwt).get(path())
    expect(listed.find(({ id }: { id: string }) => id === made.id).name).toBe("Store")
  })
})

describe("revoking", () => {
  it("ends the token at once, on every instance and on its open sockets", async () => {
    const made = await create()
    const other = await w.another()
    const socket = await rawSocket(w)
    expect(await socket.open(made.token)).toBe("acknowledged")
    const elsewhere = (token: string) => fetch(`${other.url}/api/chats`, { headers: { "X-Access-Token": token } })
    expect((await elsewhere(made.token)).status).toBe(200)

    const { body } = await rest.as(acme.owner.jwt).delete(`${path()}/${made.id}`).expect(200)
    expect(body).toMatchObject({ id: made.id, tokenPrefix: made.tokenPrefix, revokedAt: expect.any(String) })
    expect(body).not.toHaveProperty("token")

    expect((await elsewhere(made.token)).status).toBe(401)
    await rest.as(made.token).get("/api/chats").expect(401)
    expect((await gql(made.token, "{ myCompanies { id } }")).status).toBe(401)
    expect((await socket.closed()).code).toBe(4401)
    const { body: listed } = await rest.as(acme.owner.jwt).get(path())
    expect(listed.map(({ id }: { id: string }) => id)).not.toContain(made.id)
    await rest.as(acme.owner.jwt).delete(`${path()}/${made.id}`).expect(404)
    await rest.as(acme.owner.jwt).patch(`${path()}/${made.id}`, { name: "Back" }).expect(404)
  })
})

const createWith = async (fields: object) =>
  (
    await rest
      .as(acme.owner.jwt)
      .post(path(), { name: "Shop", ...fields })
      .expect(201)
  ).body
const inMinutes = (minutes: number) => new Date(clock.now().getTime() + minutes * 60_000).toISOString()

describe("an expiry", () => {
  it("is shown wherever the token is, by both APIs", async () => {
    const expiresAt = inMinutes(60)
    const made = await createWith({ expiresAt })
    expect(made).toEqual({ ...record, companyId: acme.id, expiresAt, token: expect.any(String) })
    const { body: listed } = await rest.as(acme.owner.jwt).get(path()).expect(200)
    expect(listed.find(({ id }: { id: string }) => id === made.id)).toMatchObject({ expiresAt, readOnly: false })
    const renamed = await rest.as(acme.owner.jwt).patch(`${path()}/${made.id}`, { name: "Store" }).expect(200)
    expect(renamed.body).toMatchObject({ name: "Store", expiresAt })
    const { data } = await gql(
      acme.owner.jwt,
      `mutation ($companyId: UUID!, $expiresAt: DateTime) {
        createAccessToken(companyId: $companyId, name: "Shop", expiresAt: $expiresAt, readOnly: true) { expiresAt readOnly } }`,
      { companyId: acme.id, expiresAt },
    )
    expect(data.createAccessToken).toEqual({ expiresAt, readOnly: true })
  })

  it("must be in the future", async () => {
    for (const expiresAt of [inMinutes(-1), clock.now().toISOString(), "tomorrow", "", 5]) {
      const { body } = await rest.as(acme.owner.jwt).post(path(), { name: "Shop", expiresAt }).expect(400)
      expect(body.details).toEqual([{ path: "expiresAt", message: expect.any(String) }])
    }
    expect((await createWith({ expiresAt: null })).expiresAt).toBeNull()
  })

  it("ends the token at that time, with 401 on HTTP and 4401 on sockets, also open ones", async () => {
    const { token } = await createWith({ expiresAt: inMinutes(5) })
    const [opened, lasting] = [await rawSocket(w), await rawSocket(w)]
    expect(await opened.open(token)).toBe("acknowledged")
    expect(await lasting.open((await createWith({ expiresAt: inMinutes(10) })).token)).toBe("acknowledged")
    clock.advance(5 * 60_000 - 1_000)
    await rest.as(token).get("/api/chats").expect(200)
    clock.advance(1_000)
    const { body } = await rest.as(token).get("/api/chats").expect(401)
    expect(body).toMatchObject({ code: "UNAUTHENTICATED", message: "The access token has expired" })
    expect((await gql(token, "{ myCompanies { id } }")).status).toBe(401)
    expect((await opened.closed()).code).toBe(4401)
    expect(await (await rawSocket(w)).open(token)).toBe(4401)
    expect((await lasting.ask("{ chatFolders { id } }"))[0].payload.data).toEqual({ chatFolders: [] })
    lasting.socket.terminate()
  })
})

describe("a read-only token", () => {
  const forbidden = expect.objectContaining({
    message: "This access token is read-only",
    extensions: expect.objectContaining({ code: "FORBIDDEN", statusCode: 403 }),
  })
  let token: string

  beforeAll(async () => {
    const made = await createWith({ readOnly: true })
    expect(made).toEqual({ ...record, companyId: acme.id, readOnly: true, token: expect.any(String) })
    token = made.token
  })

  it("is true or false", async () => {
    for (const readOnly of ["yes", 1]) await rest.as(acme.owner.jwt).post(path(), { name: "Shop", readOnly }).expect(400)
    expect((await createWith({ readOnly: null })).readOnly).toBe(false)
  })

  it("reads over REST, GraphQL and sockets, and receives events", async () => {
    await rest.as(token).get("/api/chats").expect(200)
    await rest.as(token).ask("head", "/api/chats").expect(200)
    expect((await gql(token, "{ chatFolders { id } }")).data).toEqual({ chatFolders: [] })
    const socket = await rawSocket(w)
    expect(await socket.open(token)).toBe("acknowledged")
    expect((await socket.ask("{ chatFolders { id } }"))[0].payload.data).toEqual({ chatFolders: [] })
    socket.socket.terminate()
    const heard = await subscribe(w, token)
    const chat = await acme.chat()
    expect((await heard.next()).payload).toEqual(chat)
    await heard.stop()
  })

  it("runs no mutation: over HTTP, with variables, in a multipart request, and on a socket", async () => {
    const before = await sql("select count(*)::integer as count from chat_folder")
    const mutation = 'mutation { createChatFolder(input: { name: "Returns" }) { id } }'
    expect(await gql(token, mutation)).toMatchObject({ data: null, errors: [forbidden] })
    const two = await gql(token, `mutation { a: createChatFolder(input: { name: "A" }) { id } signOut }`)
    expect(two.errors?.[0]).toEqual(forbidden)
    const signIn = await gql(token, `mutation { signIn(email: "${acme.owner.email}", password: "x") { accessToken } }`)
    expect(signIn.errors).toEqual([forbidden])
    const socket = await rawSocket(w)
    expect(await socket.open(token)).toBe("acknowledged")
    expect((await socket.ask(mutation))[0].payload.errors).toEqual([forbidden])
    socket.socket.terminate()

    const operations = { query: "mutation ($file: Upload!) { uploadMedia(file: $file) { id } }", variables: { file: null } }
    const upload = await rest
      .as(token)
      .ask("post", "/graphql")
      .field("operations", JSON.stringify(operations))
      .field("map", '{"0":["variables.file"]}')
      .attach("0", Buffer.from("Hello"), "hello.txt")
    expect(upload.body.errors).toEqual([forbidden])
    expect(await sql("select count(*)::integer as count from chat_folder")).toEqual(before)
    expect(await sql("select 1 from media")).toEqual([])
  })

  it.each(everyRoute.filter(([, route]) => route.method !== "GET" && !isPublic(route)))("is refused by %s", async (_name, route) => {
    const method = route.method.toLowerCase() as Method
    const { body } = await rest.as(token).ask(method, route.path.replace(/\{\w+\}/g, v7()))
    // Only a user manages tokens.
    expect(body.statusCode).toBe(route.path.includes("access-tokens") ? 401 : 403)
  })
})

describe("using", () => {
  it("is 401 where a user is required", async () => {
    await rest.as(acme.token).get("/api/auth/me").expect(401)
    await rest.as(acme.token).get(path()).expect(401)
    const { errors } = await gql(acme.token, "query ($id: UUID!) { accessTokens(companyId: $id) { id } }", { id: acme.id })
    expect(errors![0]!.extensions).toMatchObject({ code: "UNAUTHENTICATED", statusCode: 401 })
  })

  it("works as a bearer token too, and in the wrong header names the right one", async () => {
    const bearer = { Authorization: `Bearer ${acme.token}` }
    const { body } = await rest.as(bearer).get("/api/companies/my").expect(200)
    expect(body.map(({ id }: { id: string }) => id)).toEqual([acme.id])
    await rest.as(bearer).get("/api/auth/me").expect(401)
    const made = await create()
    await rest
      .as({ Authorization: `Bearer ${made.token}` })
      .get("/api/chats")
      .expect(200)
    await rest.as(acme.owner.jwt).delete(`${path()}/${made.id}`).expect(200)
    await rest
      .as({ Authorization: `Bearer ${made.token}` })
      .get("/api/chats")
      .expect(401)
    await rest.as({ Authorization: "Bearer amp_mistyped" }).get("/api/chats").expect(401)
    const wrong = await rest.as({ "X-Access-Token": acme.owner.jwt }).get("/api/chats").expect(401)
    expect(wrong.body.message).toContain("Authorization")
  })

  it("takes precedence over a JWT", async () => {
    const both = (token: string, jwt: string) => ({ "X-Access-Token": token, Authorization: `Bearer ${jwt}` })
    const { body } = await rest.as(both(acme.token, globex.owner.jwt)).get("/api/companies/my").expect(200)
    expect(body.map(({ id }: { id: string }) => id)).toEqual([acme.id])
    await rest.as(both(acme.token, "no.such.jwt")).get("/api/chats").expect(200)
    await rest.as(both("amp_mistyped", acme.owner.jwt)).get("/api/chats").expect(401)
    await rest.as(both(acme.token, acme.owner.jwt)).get("/api/auth/me").expect(401)
  })

  it("is recorded, to the minute", async () => {
    const made = await create()
    const lastUsed = async () => (await sql("select last_used_at from access_token where id = $1", [made.id]))[0].last_used_at
    const used = async (after: string | null) => {
      await rest.as(made.token).get("/api/chat-folders").expect(200)
      // Written in the background: it is stored a moment later.
      for (;;) if ((await lastUsed()) !== after) return lastUsed()
    }
    const first = await used(null)
    clock.advance(30_000)
    await rest.as(made.token).get("/api/chat-folders").expect(200)
    expect(await lastUsed()).toEqual(first)
    clock.advance(31_000)
    expect(new Date(await used(first)).getTime()).toBeGreaterThan(new Date(first).getTime() + 60_000)
  })
})
