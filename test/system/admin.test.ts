import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { text } from "node:stream/consumers"
import { v7 } from "uuid"
import { execute } from "../../src/admin/command-line.js"
import { administration, adminProcess } from "../kit/command-line.js"
import { password } from "../kit/company-fixture.js"
import { rawSocket, subscribe } from "../kit/sockets.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, rest, gql, sql, clock } = w
const { run, done, refused, renameChat, environment } = administration(w)

const id = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const signIn = (email: string, word: string) => rest.anonymous.post("/api/auth/sign-in", { email, password: word })
const open = async (credential: string) => {
  const socket = await rawSocket(w)
  expect(await socket.open(credential)).toBe("acknowledged")
  return socket
}

async function allRefused(code: 1 | 2, cases: [string, Record<string, string | true>, RegExp][]) {
  for (const [command, options, words] of cases) expect(await refused(code, command, options)).toMatch(words)
}

it.each([
  ["from a pipe\n", 0, ""],
  ["", 2, "--password is -, and standard input is empty\n"],
])("reads a secret from standard input, where nobody else sees it: %j", async (given, code, complaint) => {
  const { email } = await acme.person("member")
  const args = ["dist/server/admin.js", "user:set-password", "--email", email, "--password", "-"]
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env
  const command = spawn(process.execPath, args, { env: { PATH, NODE_COMPILE_CACHE, ...environment() } })
  command.stdin.end(given)
  const [complained, [ended]] = await Promise.all([text(command.stderr), once(command, "close")])
  expect([ended, complained]).toEqual([code, complaint || expect.stringMatching(/^Database: .*\n$/)])
  await signIn(email, given.trim() || password).expect(200)
})

describe("a company", () => {
  it("is set up from scratch: the company, its members, its subscription, a token and a channel", async () => {
    const company = await done("company:create", { name: " Initech " })
    expect(company).toEqual({ id, name: "Initech" })
    expect(await done("company:list")).toEqual([
      { id: acme.id, name: "Acme" },
      { id: globex.id, name: "Globex" },
      { id: company.id, name: "Initech" },
    ])

    const bill = await done("user:create", { email: " Bill@Initech.Example ", password: "the coversheet", name: "Bill" })
    expect(bill).toEqual({ id, email: "bill@initech.example", name: "Bill" })
    const place = await done("member:add", { company: company.id, user: "BILL@initech.example", role: "member" })
    expect(place).toEqual({ companyId: company.id, userId: bill.id, role: "member" })
    expect(await done("member:add", { company: company.id, user: bill.id, role: "owner" })).toEqual({ ...place, role: "owner" })
    const { body: pair } = await signIn("bill@initech.example", "the coversheet").expect(200)
    const { body: me } = await rest.as(pair.accessToken).get("/api/auth/me").expect(200)
    expect(me.companies).toEqual([{ id: company.id, name: "Initech", role: "owner" }])

    const subscription = { company: company.id, plan: "basic", status: "trialing", "ends-at": "2031-01-31T00:00:00Z" }
    expect(await done("subscription:set", subscription)).toEqual({
      id,
      companyId: company.id,
      plan: "basic",
      status: "trialing",
      startsAt: time,
      endsAt: "2031-01-31T00:00:00.000Z",
    })
    expect(await done("subscription:set", { company: company.id, plan: "pro", status: "active" })).toMatchObject({
      plan: "pro",
      status: "active",
      endsAt: null,
    })
    const balances = { company: company.id, voice: "12.5", "embedding-credits": "70" }
    expect(await done("balance:set", balances)).toEqual({
      companyId: company.id,
      voiceBalance: 12.5,
      embeddingCredits: 70,
      voiceLines: 1,
    })
    const shown = await gql(
      pair.accessToken,
      "query ($id: UUID!) { company(id: $id) { voiceBalance embeddingCredits voiceLines subscriptions { plan status endsAt } } }",
      { id: company.id },
    )
    expect(shown.data.company).toEqual({
      voiceBalance: 12.5,
      embeddingCredits: 70,
      voiceLines: 1,
      subscriptions: [{ plan: "pro", status: "ACTIVE", endsAt: null }],
    })

    const { token, ...record } = await done("token:create", { company: company.id, name: "Printer" })
    expect(record).toEqual({
      id,
      companyId: company.id,
      name: "Printer",
      tokenPrefix: token.slice(0, 12),
      createdAt: time,
      updatedAt: time,
      expiresAt: null,
      readOnly: false,
      lastUsedAt: null,
      createdBy: null,
    })
    const { body: companies } = await rest.as(token).get("/api/companies/my").expect(200)
    expect(companies.map((each: { id: string }) => each.id)).toEqual([company.id])
  })
})

describe("an access token", () => {
  it("may expire and be read-only", async () => {
    const [expiresAt, limited] = ["2031-01-31T00:00:00.000Z", { company: acme.id, name: "Report", "expires-at": "2031-01-31T00:00:00Z" }]
    expect(await done("token:create", limited)).toMatchObject({ expiresAt, readOnly: false })
    const made = await done("token:create", { ...limited, "read-only": true })
    expect(made).toMatchObject({ expiresAt, readOnly: true })
    await rest.as(made.token).get("/api/chats").expect(200)
    await rest.as(made.token).post("/api/chat-folders", { name: "Returns" }).expect(403)
    expect(await done("token:revoke", { id: made.id })).toMatchObject({ expiresAt, readOnly: true })
  })
})

describe("sessions", () => {
  const sessionOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split(".")[1]!, "base64url").toString()).sid
  const list = (user: string) => done("session:list", { user })

  it("of a user are listed while they are open, with their last refresh", async () => {
    const person = await acme.person()
    const { body: first } = await signIn(person.email, password).expect(200)
    const week = 7 * 24 * 60 * 60 * 1000
    const [newest, oldest, ...more] = await list(person.email.toUpperCase())
    expect(more).toEqual([])
    const record = { userId: person.id, createdAt: time, lastUsedAt: time, expiresAt: time }
    expect(newest).toEqual({ id: sessionOf(first.accessToken), ...record })
    expect(oldest).toEqual({ id: person.sessionId, ...record })
    expect(Date.parse(newest.expiresAt) - Date.parse(newest.lastUsedAt)).toBe(week)
    expect(Math.abs(Date.parse(newest.lastUsedAt) - Date.parse(newest.createdAt))).toBeLessThan(30_000)

    clock.advance(60_000)
    const { body: second } = await rest.anonymous.post("/api/auth/refresh", { refreshToken: first.refreshToken }).expect(200)
    const [refreshed] = await list(person.id)
    expect(refreshed).toMatchObject({ id: newest.id, createdAt: newest.createdAt })
    expect(Date.parse(refreshed.lastUsedAt) - Date.parse(newest.lastUsedAt)).toBeGreaterThanOrEqual(60_000)

    await gql(second.accessToken, "mutation { signOut }")
    expect(await list(person.id)).toEqual([oldest])
    clock.advance(week)
    expect(await list(person.id)).toEqual([])
    expect(await refused(1, "session:end", { id: oldest.id })).toMatch(/^No session has the id/)
  })

  it("end one by one, with their tokens and open sockets, and all of them with a new password", async () => {
    const person = await acme.person()
    const { body: other } = await signIn(person.email, password).expect(200)
    const socket = await open(person.jwt)
    const [kept, ending] = await list(person.id)
    expect(await done("session:end", { id: person.sessionId.toUpperCase() })).toEqual(ending)
    expect((await socket.closed()).code).toBe(4401)
    await rest.as(person.jwt).get("/api/chats").expect(401)
    await rest.anonymous.post("/api/auth/refresh", { refreshToken: person.refreshToken }).expect(401)
    await rest.as(other.accessToken).get("/api/chats").expect(200)
    expect(await list(person.id)).toEqual([kept])
    expect(await done("session:end", { id: ending.id })).toEqual(ending)

    await done("user:set-password", { email: person.email, password: "another password" })
    expect(await list(person.id)).toEqual([])
    await rest.as(other.accessToken).get("/api/chats").expect(401)
  })
})

describe("what is revoked ends at once in the running server", () => {
  const { done } = administration(w, adminProcess)

  it("a token, with its open sockets", async () => {
    const record = (await done("token:create", { company: acme.id, name: "Short-lived" })) as { id: string; token: string }
    const socket = await open(record.token)
    const { token: _once, ...kept } = record
    const revoked = await done("token:revoke", { id: record.id.toUpperCase() })
    expect(revoked).toEqual({ ...kept, updatedAt: time, lastUsedAt: time, revokedAt: time })
    await rest.as(record.token).get("/api/chats").expect(401)
    expect((await socket.closed()).code).toBe(4401)
    expect((await done("token:revoke", { id: record.id })).revokedAt).toBe(revoked.revokedAt)
  })

  it("a membership, with its open sockets", async () => {
    const person = await acme.person()
    const socket = await open(person.jwt)
    await rest.as(person.jwt).get("/api/chats").expect(200)
    const removed = await done("member:remove", { company: acme.id, user: person.email })
    expect(removed).toEqual({ companyId: acme.id, userId: person.id, role: "member" })
    await rest.as(person.jwt).get(`/api/chats?companyId=${acme.id}`).expect(403)
    expect((await rest.as(person.jwt).get("/api/auth/me").expect(200)).body.companies).toEqual([])
    expect((await socket.closed()).code).toBe(4403)
  })

  it("the old role of a user with a new role or company, with open sockets, which reconnect", async () => {
    const person = await acme.person()
    for (const [company, role] of [
      [acme, "admin"],
      [globex, "member"],
    ] as const) {
      const socket = await open(person.jwt)
      await done("member:add", { company: company.id, user: person.email, role })
      expect((await socket.closed()).code).toBe(1012)
    }
  })

  it("a password, with all sessions", async () => {
    const person = await acme.person()
    const socket = await open(person.jwt)
    const shown = { id: person.id, email: person.email }
    expect(await done("user:set-password", { email: person.email, password: "another password", name: "Renamed" })).toEqual({
      ...shown,
      name: "Renamed",
    })
    await rest.as(person.jwt).get("/api/chats").expect(401)
    await rest.anonymous.post("/api/auth/refresh", { refreshToken: person.refreshToken }).expect(401)
    expect((await socket.closed()).code).toBe(4401)
    await signIn(person.email, password).expect(401)
    await signIn(person.email, "another password").expect(200)
  })
})

describe("a channel", () => {
  const credentials = { deliveryUrl: "https://deliver.example/in", secret: "a very private word" }
  const bridge = (more = {}) => ({
    company: acme.id,
    messenger: "custom-messenger",
    "external-id": "shop-bridge",
    name: "Bridge",
    credentials: JSON.stringify({ ...credentials, surplus: "not kept" }),
    ...more,
  })

  it("is connected with credentials that nobody can read, disconnected, and connected again under its id", async () => {
    const ended = await run("channel:connect", bridge({ assistant: acme.assistant.id }))
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Database: [^\n]+\n$/) })
    const connection = JSON.parse(ended.stdout)
    expect(connection).toEqual({
      id,
      companyId: acme.id,
      messenger: "custom-messenger",
      name: "Bridge",
      isActive: true,
      assistantId: acme.assistant.id,
      config: { externalId: "shop-bridge" },
      hookUrl: expect.stringMatching(new RegExp(`^http://.+/hooks/custom-messenger/${connection.id}$`)),
      problem: null,
      lastInboundAt: null,
      createdAt: time,
      updatedAt: time,
    })
    const listed = await done("channel:list", { company: acme.id })
    expect(listed.map((each: { id: string }) => each.id)).toEqual([acme.widget.id, connection.id])
    expect(listed[1]).toEqual(connection)

    const [row] = await sql("select t::text as all, credentials from channel t where id = $1", [connection.id])
    const everywhere = row.all + ended.stdout + JSON.stringify(listed)
    const { body } = await rest.as(acme.token).get("/api/chats/messengers").expect(200)
    const asBytes = Buffer.from(row.credentials, "base64").toString("latin1")
    for (const place of [everywhere, JSON.stringify(body), asBytes]) {
      for (const word of [...Object.values(credentials), "deliver.example", "surplus"]) expect(place).not.toContain(word)
    }

    // Again with the same account: new values, the same id.
    const renamed = await done("channel:connect", bridge({ name: "Renamed", assistant: acme.assistant.id }))
    expect(renamed).toEqual({ ...connection, name: "Renamed", updatedAt: time })
    const gone = await done("channel:disconnect", { id: connection.id })
    expect(gone).toEqual({ ...renamed, isActive: false, updatedAt: time })
    const back = await done("channel:connect", bridge({ name: "Back" }))
    expect(back).toEqual({ ...connection, name: "Back", assistantId: null, updatedAt: time })
  })

  it("gets new credentials while it is connected, if it needs any", async () => {
    const { id: connection } = await done("channel:connect", bridge({ "external-id": "another-bridge" }))
    const sealed = async () => (await sql("select credentials from channel where id = $1", [connection]))[0].credentials
    const before = await sealed()
    const given = { id: connection, credentials: JSON.stringify({ ...credentials, secret: "another private word" }) }
    expect(await done("channel:set-credentials", given)).toMatchObject({ id: connection, isActive: true })
    const after = await sealed()
    expect(after).not.toBe(before)
    expect(after).not.toContain("private")
    await allRefused(1, [
      ["channel:set-credentials", { id: connection, credentials: '{"secret":"x"}' }, /needs the credential deliveryUrl/],
      ["channel:set-credentials", { id: acme.widget.id, credentials: "{}" }, /widget has no credentials/],
      ["channel:set-credentials", { ...given, id: acme.id }, /No channel connection has the id/],
    ])
    expect(await sealed()).toBe(after)
  })

  it("that is a widget takes messages until it is disconnected", async () => {
    const site = { company: acme.id, messenger: "widget", "external-id": "new-site", name: "New site" }
    const { id: connection, hookUrl } = await done("channel:connect", site)
    const path = new URL(hookUrl).pathname
    await rest.anonymous.post(path, { text: "Hello" }).expect(201)
    await done("channel:disconnect", { id: connection })
    await rest.anonymous.post(path, { text: "Hello?" }).expect(404)
  })

  it("is refused without the credentials that it needs", async () => {
    const connect = (messenger: string, given: string) => bridge({ messenger, credentials: given })
    await allRefused(1, [
      ["channel:connect", connect("olx", '{"deliveryUrl":"https://x.example"}'), /needs the credential secret/],
      ["channel:connect", connect("telegram-bot", '{"botToken":5}'), /needs the credential botToken/],
    ])
    await allRefused(2, [
      ["channel:connect", connect("olx", "{ broken"), /JSON object/],
      ["channel:connect", connect("pigeon", "{}"), /--messenger must be one of/],
    ])
    expect(await sql("select 1 from channel where messenger in ('olx', 'telegram-bot')")).toEqual([])
  })
})

describe("a change of a chat", () => {
  it("notifies the company's clients also from a command, in a process without a server", async () => {
    const chat = await acme.chat({ name: "Ada" })
    const heard = await subscribe(w, acme.token, { chatId: chat.id })
    await renameChat(acme.id, chat.id, "Ada L.")

    const { type, payload } = await heard.next()
    const { body } = await rest.as(acme.token).get(`/api/chats/${chat.id}`).expect(200)
    expect({ type, payload }).toEqual({ type: "CHAT_UPDATED", payload: body })
    expect(payload.name).toBe("Ada L.")
    await heard.stop()
  })
})

describe("the exit code", () => {
  it("is 1 for a valid command that was refused", async () => {
    const site = { company: acme.id, messenger: "widget", "external-id": "x", name: "X" }
    await allRefused(1, [
      ["token:create", { company: v7(), name: "X" }, /^No company has the id/],
      ["token:create", { company: acme.id, name: "X", "expires-at": "2020-01-01T00:00:00Z" }, /^expiresAt must be in the future/],
      ["token:revoke", { id: "nonsense" }, /^No access token has the id nonsense/],
      ["channel:connect", { ...site, assistant: globex.assistant.id }, /^No assistant of the company/],
      ["session:list", { user: "nobody@acme.example" }, /^No user is called nobody@acme.example/],
      ["session:end", { id: v7() }, /^No session has the id/],
      ["session:end", { id: "nonsense" }, /^No session has the id nonsense/],
      ["member:remove", { company: acme.id, user: globex.owner.id }, /no member of this company/],
      ["user:create", { email: acme.owner.email, password: "long enough", name: "New" }, /A user with this email exists/],
      ["user:set-password", { email: acme.owner.email, password: "short" }, /8 to 200 characters/],
    ])
  })

  it("is 2 for bad usage", async () => {
    await allRefused(2, [
      ["constructor", {}, /There is no command constructor; without a command all are listed/],
      ["company:lst", {}, /There is no command company:lst; is company:list meant\?/],
      ["company:show", {}, /There is no command company:show; of company there are company:create, /],
      ["company:list", { verbose: "yes" }, /--verbose/],
      ["user:create", { email: "n@example.com", password: "long enough", name: " " }, /--name is needed/],
      ["token:create", { company: acme.id, name: "x".repeat(101) }, /--name must be at most 100 characters/],
      ["token:create", { company: acme.id, name: "X", "expires-at": "soon" }, /--expires-at must be a date/],
      ["token:create", { company: acme.id, name: "X", "read-only": "yes" }, /Unexpected argument 'yes'/],
      ["member:add", { company: acme.id, user: acme.owner.id, role: "king" }, /--role must be one of owner, admin, member/],
      ["subscription:set", { company: acme.id, plan: "pro", status: "active", "ends-at": "soon" }, /--ends-at must be a date/],
      ["subscription:set", { company: acme.id, plan: "por", status: "active" }, /--plan must be one of basic, .*, pro, .*; add --new-plan/],
      ["balance:set", { company: acme.id, "voice-lines": "1.5" }, /--voice-lines must be a whole number/],
    ])
    const twice = await adminProcess(["company:create", "--name", "A", "--name", "B"], { DATABASE_URL: w.databaseUrl })
    expect(twice).toMatchObject({ code: 2, stdout: "", stderr: "--name is given twice\n" })
  })

  it("is 1, with one line, when there is no database or the configuration is wrong", async () => {
    const [unreachable, wrong] = await Promise.all([
      adminProcess(["company:list"], { DATABASE_URL: "postgres://127.0.0.1:1/nothing" }),
      adminProcess(["company:list"], { DATABASE_URL: "mysql://localhost" }),
    ])
    expect(unreachable).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^[^\n]+\n$/) })
    expect(wrong).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^DATABASE_URL: [^\n]+\n$/) })
  })
})

it("lists users, tokens and subscriptions, of one company on request, and never the value of a token", async () => {
  const { id: companyId } = await done("company:create", { name: "Listed" })
  const member = await done("user:create", { email: "zoe@listed.example", password: "long enough", name: "Zoe" })
  await done("member:add", { company: companyId, user: member.id, role: "admin" })
  const listed = { ...member, companies: [{ companyId, role: "admin" }] }
  expect(await done("user:list", { company: companyId })).toEqual([listed])
  const everyone = await done("user:list")
  expect(everyone).toContainEqual(listed)
  expect(everyone.map(({ id }: { id: string }) => id)).toContain(globex.owner.id)

  const token = await done("token:create", { company: companyId, name: "Shop" })
  const revoked = await done("token:create", { company: companyId, name: "Old" })
  await done("token:revoke", { id: revoked.id })
  const { token: value, ...shown } = token
  const tokens = await done("token:list", { company: companyId })
  expect(tokens).toEqual([shown])
  expect(JSON.stringify(tokens)).not.toContain(value)

  expect(await done("subscription:list", { company: companyId })).toEqual([])
  const subscription = await done("subscription:set", { company: companyId, plan: "pro", status: "active" })
  expect(await done("subscription:list", { company: companyId })).toEqual([subscription])
  expect(await done("subscription:list")).toContainEqual(subscription)
  // A plan that no company has is new; from then on it is known.
  const own = { company: companyId, plan: "partners", status: "active" }
  expect(await done("subscription:set", { ...own, "new-plan": true })).toMatchObject({ plan: "partners" })
  expect(await done("subscription:set", own)).toMatchObject({ plan: "partners" })
  for (const command of ["user:list", "token:list", "subscription:list"])
    expect(await refused(1, command, { company: v7() })).toMatch(/^No company has the id/)
})

it("names its database on standard error, in the one line of a refusal too, without user and password", async () => {
  const { host, pathname, password: word } = new URL(w.databaseUrl)
  const place = `PostgreSQL database ${pathname.slice(1)} at ${host}`
  const [list, refusal] = await Promise.all([run("company:list"), refused(1, "session:end", { id: "nonsense" })])
  expect(list.stderr).toBe(`Database: ${place}\n`)
  expect(refusal).toBe(`No session has the id nonsense (${place})`)
  expect(word).not.toBe("")
  expect(list.stderr + refusal).not.toContain(word)
})

it("prints help and its version without a database", async () => {
  const { version } = JSON.parse(await readFile("package.json", "utf8"))
  const nowhere = { DATABASE_URL: "postgres://127.0.0.1:1/nothing" }
  const [help, word, one, printed] = await Promise.all(
    [["--help"], ["help"], ["token:create", "--help"], ["--version"]].map((args) => execute(args, nowhere)),
  )
  expect(word).toEqual(help)
  expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining("subscription:list") })
  expect(one).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^ {2}token:create --company.+\n.+\n(.+\n)*? +--expires-at: ISO 8601/),
  })
  expect(printed).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" })
})

it("prints the usage without a command, and prints for people without --json", async () => {
  const [usage, list] = await Promise.all([adminProcess([], {}), administration(w, adminProcess).run("company:list", {}, false)])
  expect(usage).toMatchObject({ code: 0, stderr: "" })
  for (const name of ["company:create", "member:remove", "balance:set", "channel:connect", "token:revoke"])
    expect(usage.stdout).toContain(name)
  expect(list.stdout.split("\n").length).toBeGreaterThan(3)
  expect(JSON.parse(list.stdout)[0]).toEqual({ id: acme.id, name: "Acme" })
})
