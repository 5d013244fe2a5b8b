import { spawn } from "node:child_process"
import { createCipheriv, randomBytes } from "node:crypto"
import { v7 } from "uuid"
import { sealedColumns } from "../../src/admin/encryption.js"
import { CannotUnseal, seal, sealMark, unseal } from "../../src/entities/kit/sealed.js"
import { administration } from "../kit/command-line.js"
import { promised } from "../kit/promise.js"
import { type Receiver, receiver } from "../kit/receiver.js"
import { openTransaction } from "../kit/transaction.js"
import { happens, until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, rest, sql } = w
const { done, refused } = administration(w)

const before = randomBytes(32)
const now = () => w.services.secrets.encryptionKey

/** A text as the first version encrypted it: without the fingerprint of its key. */
function sealedByTheFirst(text: string, key: Buffer) {
  const nonce = randomBytes(12)
  const cipher = createCipheriv("aes-256-gcm", key, nonce)
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()])
  return ["v1", nonce.toString("base64url"), cipher.getAuthTag().toString("base64url"), sealed.toString("base64url")].join(".")
}

describe("a sealed text", () => {
  const key = randomBytes(32)

  it.each(["", "word", "Grüße 🌍", "x".repeat(100_000)])("is read back by its key alone (%#)", (text) => {
    const sealed = seal(text, key)
    expect(unseal(sealed, key)).toBe(text)
    expect(() => unseal(sealed, before)).toThrow(CannotUnseal)
    expect(seal(text, key)).not.toBe(sealed)
  })

  it("names its scheme and its key, and reveals nothing about the key", () => {
    const sealed = seal("word", key)
    expect(sealed).toMatch(/^v2\.[\w-]{11}\.[\w-]{16}\.[\w-]{22}\.[\w-]+$/)
    expect(sealed.startsWith(sealMark(key))).toBe(true)
    expect(sealMark(key)).not.toBe(sealMark(before))
    expect(sealed).not.toContain(key.toString("base64url").slice(0, 8))
  })

  it("of the first version is still read", () => {
    const sealed = sealedByTheFirst("word ü", key)
    expect(unseal(sealed, key)).toBe("word ü")
    expect(() => unseal(sealed, before)).toThrow("could not be decrypted with the current ENCRYPTION_KEY")
  })

  it("that was changed anywhere is refused", () => {
    for (const sealed of [seal("word", key), sealedByTheFirst("word", key)]) {
      for (let at = 0; at < sealed.length; at++) {
        // The last digit of base64 has unused bits.
        const last = sealed[at + 1] === "." || at === sealed.length - 1
        const other = sealed[at] === "A" ? "Q" : "A"
        if (!last) expect(() => unseal(sealed.slice(0, at) + other + sealed.slice(at + 1), key)).toThrow(CannotUnseal)
      }
    }
    const [, , ...rest] = seal("word", key).split(".")
    for (const text of ["", "v1", "v2", "word", "v1.a.b.c", `v1.${rest.join(".")}`, `v3.${rest.join(".")}`])
      expect(() => unseal(text, key)).toThrow(CannotUnseal)
  })
})

describe("a new key", () => {
  let endpoint: Receiver
  beforeAll(async () => {
    endpoint = await receiver()
  })
  afterAll(() => endpoint.close())
  beforeEach(async () => {
    for (const [table, column] of sealedColumns) await sql(`update ${table} set ${column} = null`)
  })

  const call = async ({ id }: { id: string }) =>
    (await rest.as(acme.token).post(`/api/assistant-tools-new/${id}/test`, {}).expect(201)).body
  const keep = (id: string, sealed: string) => sql("update assistant_tool set sealed_secret = $2 where id = $1", [id, sealed])
  const from = before.toString("base64")

  it("decrypts everything that the old one encrypted, after one command, while the server runs", async () => {
    const words = ["by the old", "by the old, first version", "by the new, first version", "by the new"]
    const tools = await Promise.all(words.map(() => acme.tool({ apiCallUrl: endpoint.url })))
    const sealed = [
      seal(words[0]!, before),
      sealedByTheFirst(words[1]!, before),
      sealedByTheFirst(words[2]!, now()),
      seal(words[3]!, now()),
    ]
    for (const [at, tool] of tools.entries()) await keep(tool.id, sealed[at]!)
    const credentials = JSON.stringify({ deliveryUrl: "https://deliver.example/", secret: "private" })
    await sql("update channel set credentials = $2 where id = $1", [acme.widget.id, seal(credentials, before)])
    const times = () => sql("select id, updated_at from assistant_tool union all select id, updated_at from channel order by id")
    const unchanged = await times()
    expect(await call(tools[0])).toMatchObject({ success: false, error: expect.stringContaining("current ENCRYPTION_KEY") })

    expect(await done("encryption:rotate", { from: before.toString("hex") })).toEqual({ rotated: 4 })

    for (const [at, tool] of tools.entries()) {
      expect(await call(tool)).toMatchObject({ success: true })
      expect(endpoint.requests.at(-1)!.headers.authorization).toBe(`Basic ${words[at]}`)
    }
    const [channel] = await sql("select credentials from channel where id = $1", [acme.widget.id])
    expect(unseal(channel.credentials, now())).toBe(credentials)
    expect(await times()).toEqual(unchanged)
    expect(await done("encryption:rotate", { from })).toEqual({ rotated: 0 })
  })

  promised("continues where it was killed", async () => {
    const { id: assistantId } = await acme.makeAssistant()
    const ids = Array.from({ length: 1_200 }, () => v7())
    await sql(
      `insert into assistant_tool (id, created_at, updated_at, company_id, assistant_id, name, description, params, sealed_secret)
       select id, now(), now(), $3, $4, 't' || at, 'd', '{}', sealed from unnest($1::uuid[], $2::text[]) with ordinality as given (id, sealed, at)`,
      [ids, ids.map((id) => seal(`of ${id}`, before)), acme.id, assistantId],
    )
    const sealedNow = async () =>
      (await sql("select count(*)::int as count from assistant_tool where starts_with(sealed_secret, $1)", [sealMark(now())]))[0].count
    // The second batch waits for a locked row; there the command is killed.
    await using holder = await openTransaction(w.databaseUrl)
    await holder.query("select 1 from assistant_tool where id = $1 for update", [ids[700]])
    const { PATH = "" } = process.env
    const env = { PATH, DATABASE_URL: w.databaseUrl, JWT_SECRET: w.services.secrets.jwtSecret, ENCRYPTION_KEY: now().toString("hex") }
    const command = spawn(process.execPath, ["--enable-source-maps", "dist/server/admin.js", "encryption:rotate", "--from", from], {
      env,
    })
    const ended = new Promise((resolve) => command.once("exit", (_code, signal) => resolve(signal)))
    const waits =
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'update assistant_tool%'"
    await until("the second batch waits for the row", async () => (await sql(waits)).length > 0)
    command.kill("SIGKILL")
    expect(await happens("the command has ended", ended)).toBe("SIGKILL")
    // The database rolls the running transaction back.
    await holder.rollback()
    const runs =
      "select 1 from pg_stat_activity where datname = current_database() and state <> 'idle' and query like 'update assistant_tool%'"
    await until("the killed command's statement has ended", async () => (await sql(runs)).length === 0)
    const first = await sealedNow()
    expect([500, 1_000]).toContain(first)

    expect(await done("encryption:rotate", { from })).toEqual({ rotated: 1_200 - first })
    const rows = await sql("select id, sealed_secret from assistant_tool where assistant_id = $1 and not is_system", [assistantId])
    expect(rows).toHaveLength(1_200)
    for (const row of rows) expect(unseal(row.sealed_secret, now())).toBe(`of ${row.id}`)
  })

  it("skips what neither key decrypts, names it, and continues with the rest", async () => {
    const [lost, found] = [await acme.tool({ apiCallUrl: endpoint.url }), await acme.tool({ apiCallUrl: endpoint.url })]
    const foreign = seal("lost", randomBytes(32))
    await keep(lost.id, foreign)
    await keep(found.id, seal("found", before))
    const refusal = await refused(1, "encryption:rotate", { from })
    expect(refusal).toContain(`Encrypted again: 1. Neither key decrypts 1: assistant_tool ${lost.id} (`)
    expect(await sql("select sealed_secret from assistant_tool where id = $1", [lost.id])).toEqual([{ sealed_secret: foreign }])
    expect(await call(found)).toMatchObject({ success: true })
    expect(await call(lost)).toMatchObject({ success: false })
    await rest.as(acme.token).patch(`/api/assistant-tools-new/${lost.id}`, { webhookSecret: "another" }).expect(200)
    expect(await done("encryption:rotate", { from })).toEqual({ rotated: 0 })
  })

  it("validates its options", async () => {
    expect(await refused(2, "encryption:rotate")).toMatch(/^--from is needed/)
    expect(await refused(2, "encryption:rotate", { from: "short" })).toBe("--from must be 32 bytes, written as base64 or hexadecimal")
  })
})

it("covers every encrypted column", () => {
  const digests = ["access_token.digest", "users.password_hash"]
  const hidden = [...w.services.database.orm.getMetadata().getAll().values()].flatMap(({ tableName, props }) =>
    props.filter((prop) => prop.hidden).map((prop) => `${tableName}.${prop.fieldNames[0]}`),
  )
  expect(hidden.sort()).toEqual([...digests, ...sealedColumns.map((column) => column.join("."))].sort())
})
