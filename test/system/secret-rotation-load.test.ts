import { randomBytes } from "node:crypto"
import { rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import jsonwebtoken from "jsonwebtoken"
import pg from "pg"
import { execute } from "../../src/admin/command-line.js"
import { sealMark, unseal } from "../../src/entities/kit/sealed.js"
import { administration } from "../kit/command-line.js"
import { type Deployment, startDeployment, steadyLoad } from "../kit/deployment.js"
import { folderOfItsOwn } from "../kit/files.js"
import { type Receiver, receiver } from "../kit/receiver.js"
import { world } from "../kit/world.js"

// The procedures of docs/operations.md, step by step, on two built servers that answer requests all the time.
const w = world()
const { acme, sql } = w
const { done } = administration(w)
const env = { ALLOW_PRIVATE_NETWORK: "true" }
const json = { "Content-Type": "application/json" }

let servers: Deployment
let endpoint: Receiver
beforeAll(async () => {
  endpoint = await receiver()
})
afterAll(() => endpoint.close())

/** Sends a request; throws for another status, and returns the body. */
async function send(status: number, path: string, headers: Record<string, string>, body?: object, method = body ? "POST" : "GET") {
  const response = await servers.fetch(path, { method, headers: { ...json, ...headers }, body: body && JSON.stringify(body) })
  const text = await response.text()
  if (response.status !== status) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}

const asToken = (token = acme.token) => ({ "X-Access-Token": token })

/** Tests a tool; throws when its call fails. */
async function call(toolId: string) {
  const result = await send(201, `/api/assistant-tools-new/${toolId}/test`, asToken(), { params: {} })
  if (!result.success) throw new Error(result.error)
}

describe("secrets of the environment", () => {
  it("JWT_SECRET and ENCRYPTION_KEY: users, visitors and tools continue over three restarts of all instances", async () => {
    servers = await startDeployment(w, env)
    const [oldSecret, JWT_SECRET] = [w.services.secrets.jwtSecret, randomBytes(48).toString("base64")]
    const key = randomBytes(32)
    const [oldKey, ENCRYPTION_KEY] = [w.services.secrets.encryptionKey, key].map((each) => each.toString("base64")) as [string, string]
    const words = ["kept", "changed"]
    const [kept, changed] = await Promise.all(words.map((webhookSecret) => acme.tool({ apiCallUrl: endpoint.url, webhookSecret })))
    endpoint.answer(({ headers }) => (words.some((word) => headers.authorization === `Basic ${word}`) ? 200 : 401))
    const { jwt, refreshToken } = await acme.person()
    let session = { accessToken: jwt, refreshToken }
    let visitor: { chatId?: string; visitorToken?: string } = {}
    const load = steadyLoad(
      async () => void (await send(200, "/api/chats", { Authorization: `Bearer ${session.accessToken}` })),
      async () => {
        session = await send(200, "/api/auth/refresh", {}, { refreshToken: session.refreshToken })
      },
      async () => {
        const { chatId, visitorToken } = visitor
        visitor = await send(201, `/hooks/widget/${acme.widget.id}`, {}, { text: "Hello", visitorToken })
        if (chatId) expect(visitor.chatId).toBe(chatId)
      },
      () => call(kept.id),
      async () => {
        await send(200, `/api/assistant-tools-new/${changed.id}`, asToken(), { webhookSecret: "changed" }, "PATCH")
        await call(changed.id)
      },
    )
    await load.sent(10)
    // The new ones are accepted everywhere before anything uses them.
    await servers.restart({
      JWT_SECRET: oldSecret,
      JWT_SECRET_PREVIOUS: JWT_SECRET,
      ENCRYPTION_KEY: oldKey,
      ENCRYPTION_KEY_PREVIOUS: ENCRYPTION_KEY,
    })
    await load.sent(10)
    await servers.restart({ JWT_SECRET, JWT_SECRET_PREVIOUS: oldSecret, ENCRYPTION_KEY, ENCRYPTION_KEY_PREVIOUS: oldKey })
    await load.sent(10)
    const { done: rotate } = administration(w, (args, given) =>
      execute(args, { ...given, ENCRYPTION_KEY, ENCRYPTION_KEY_PREVIOUS: oldKey }),
    )
    expect((await rotate("encryption:rotate")).rotated).toBeGreaterThan(0)
    await load.sent(10)
    await servers.restart({ JWT_SECRET, ENCRYPTION_KEY })
    await load.sent(10)
    await load.stop()
    for (const token of [session.accessToken, session.refreshToken, visitor.visitorToken!])
      jsonwebtoken.verify(token, JWT_SECRET, { algorithms: ["HS256"] })
    expect(await sql("select 1 from assistant_tool where not starts_with(sealed_secret, $1)", [sealMark(key)])).toEqual([])
    await sql("update assistant_tool set sealed_secret = null")
  })
  afterAll(() => servers.stop())
})

/** Runs a statement that the server's role may not run. */
const asSuperuser = (statement: string) => superuser.query(statement)
const superuser = new pg.Pool({ connectionString: process.env["TEST_SUPERUSER_URL"]!, max: 1 })
afterAll(() => superuser.end())

describe("secrets without a restart", () => {
  const role = `rotation_${randomBytes(4).toString("hex")}`
  const file = join(folderOfItsOwn(), "pgpass")
  const keep = (password: string, path = file) => writeFile(path, `*:*:*:${role}:${password}\n`, { mode: 0o600 })
  const databaseUrl = (password: string) => Object.assign(new URL(w.databaseUrl), { username: role, password }).href

  beforeAll(async () => {
    const [owner] = await sql("select current_user as name")
    await asSuperuser(`create role ${role} login password 'before' in role ${owner.name}`)
    await asSuperuser(`alter role ${role} set role to ${owner.name}`)
    await keep("before")
    servers = await startDeployment(w, { ...env, DATABASE_URL: databaseUrl(""), PGPASSFILE: file })
  })
  afterAll(async () => {
    await servers.stop()
    await asSuperuser(`drop role ${role}`)
  })

  it("an access token: its successor is created first, and then it is revoked", async () => {
    const old = await done("token:create", { company: acme.id, name: "Shop, 2026" })
    let { token } = old
    const load = steadyLoad(async () => void (await send(200, "/api/chats", asToken(token))))
    await load.sent(10)
    token = (await done("token:create", { company: acme.id, name: "Shop, 2027" })).token
    await load.sent(10)
    await done("token:revoke", { id: old.id })
    await load.sent(10)
    await load.stop()
    for (let place = 0; place < 2; place += 1) await send(401, "/api/chats", asToken(old.token))
  })

  it("the secret of a tool: the endpoint accepts both until the tool's timeout has passed", async () => {
    const accepted = new Set(["before"])
    endpoint.answer(({ headers }) => (accepted.has(headers.authorization!.replace("Basic ", "")) ? 200 : 401))
    const tool = await acme.tool({ apiCallUrl: endpoint.url, webhookSecret: "before", timeoutSeconds: 1 })
    const load = steadyLoad(() => call(tool.id))
    await load.sent(10)
    accepted.add("after")
    await send(200, `/api/assistant-tools-new/${tool.id}`, asToken(), { webhookSecret: "after" }, "PATCH")
    // A call that began before the change ends, at the latest, with the tool's timeout.
    await load.sent(2)
    accepted.delete("before")
    await load.sent(10)
    await load.stop()
    expect(endpoint.requests.at(-1)!.headers.authorization).toBe("Basic after")
  })

  it("the credentials of a channel are replaced while it is connected", async () => {
    const [before, after] = ["before", "after"].map((secret) => JSON.stringify({ deliveryUrl: "https://deliver.example/", secret }))
    const account = { company: acme.id, messenger: "custom-messenger", "external-id": "bridge", name: "Bridge" }
    const channel = await done("channel:connect", { ...account, credentials: before! })
    const load = steadyLoad(async () => {
      const shown: { id: string }[] = await send(200, "/api/chats/messengers", asToken())
      if (!shown.some(({ id }) => id === channel.id)) throw new Error("The channel is not connected")
    })
    await load.sent(10)
    expect(await done("channel:set-credentials", { id: channel.id, credentials: after! })).toMatchObject({ id: channel.id, isActive: true })
    await load.sent(10)
    await load.stop()
    const [{ credentials }] = await sql("select credentials from channel where id = $1", [channel.id])
    expect(unseal(credentials, w.services.secrets.encryptionKey)).toBe(after)
  })

  it("the password of the database: new connections read it from the password file, without a restart", async () => {
    const read = async () => void (await send(200, "/api/chats", asToken()))
    const load = steadyLoad(read, read, read)
    await load.sent(10)

    await keep("after", `${file}.new`)
    const admin = await superuser.connect()
    await admin.query("begin")
    await admin.query(`alter role ${role} password 'after'`)
    await rename(`${file}.new`, file)
    await admin.query("commit")
    const [{ now }] = (await admin.query("select now() as now")).rows
    admin.release()
    await load.sent(10)
    // More requests at once than connections are open.
    await Promise.all(Array.from({ length: 40 }, read))
    const opened = "select 1 from pg_stat_activity where usename = $1 and backend_start > $2"
    expect((await superuser.query(opened, [role, now])).rowCount).toBeGreaterThan(0)
    await load.stop()

    await expect(new pg.Client(databaseUrl("before")).connect()).rejects.toMatchObject({ code: "28P01" })
    expect(servers.log()).not.toMatch(/"level":"(error|fatal)"/)
  })
})
