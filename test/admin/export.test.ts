import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { companyKinds } from "../../src/admin/export-kinds.js"
import { entities } from "../../src/database/options.js"
import { administration, adminProcess, killedWhen } from "../kit/command-line.js"
import { folderOfItsOwn, samples, unsigned, upload } from "../kit/files.js"
import { promised } from "../kit/promise.js"
import { belongings } from "../kit/routes.js"
import { openTransaction } from "../kit/transaction.js"
import { world } from "../kit/world.js"

const folder = folderOfItsOwn()
const w = world({ DATA_DIR: folder })
const { acme, globex, rest, sql } = w
const { done, refused } = administration(w)

// biome-ignore lint/suspicious/noExplicitAny: each kind has its own record.
type Line = any
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex")
const linesOf = (path: string): Line[] =>
  readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
const recordsOf = (path: string, kind: string): Line[] => linesOf(path).flatMap((line) => (line.kind === kind ? [line.record] : []))
const idsIn = (path: string) => linesOf(path).flatMap(({ kind, record }) => (record ? [`${kind} ${record.id}`] : []))
const sorted = (list: { id: string }[]) => [...list].sort((a, b) => (a.id < b.id ? -1 : 1))

let files = 0
/** The path of a new export; the name is always the same, because the paths of the copies contain it. */
function newPath(): string {
  files += 1
  const path = join(folder, `export-${files}`, "data.jsonl")
  mkdirSync(dirname(path))
  return path
}

/** Messages that nobody waits for, in one statement. */
const many = (chat: { id: string; companyId: string }, count: number, from = 1_000) =>
  sql(
    `insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, text, source, status, sources)
     select gen_random_uuid(), now(), now(), $1, $2, $4 + n, 'Customer', 'Text', 'line ' || n || repeat(' and more', 20), 'PLATFORM', 'stored', '[]'
     from generate_series(1, $3::integer) n`,
    [chat.companyId, chat.id, count, from],
  )

const letter = Buffer.from("What customers ask about deliveries.")
const secret = "a webhook secret of the tests"
let credential: string
let owned: Record<string, string>

beforeAll(async () => {
  for (const company of [acme, globex]) {
    const things = await belongings(company)
    const tool = await company.tool({ assistantId: things["assistants-new"], webhookSecret: secret })
    await rest
      .as(company.token)
      .post(`/api/assistant-tools-new/${tool.id}/test`, { params: { of: company.name } })
      .expect(201)
    const file = (await upload(w, company.token, letter, `${company.name}.txt`).expect(201)).body
    await company.makeKnowledge({ kind: "file", resourceContent: undefined, fileId: file.id, isVector: false, name: "A file" })
    await rest.as(company.token).post("/api/messages", { text: "Without a chat" }).expect(201)
    await many({ id: (await company.chat({ name: "Long\u2028chat" })).id, companyId: company.id }, 450)
    if (company === acme) owned = things as unknown as Record<string, string>
  }
  await w.gql(acme.token, 'mutation { createAssistantFolder(input: { name: "Sales" }) { id } }')
  const credentials = JSON.stringify({ deliveryUrl: "https://deliver.example", secret })
  await done("channel:connect", { company: acme.id, messenger: "olx", "external-id": "shop", name: "OLX", credentials })
  credential = (await done("token:create", { company: acme.id, name: "Shop" })).token
})

describe("company:export", () => {
  const path = newPath()
  let receipt: Line

  beforeAll(async () => {
    receipt = await done("company:export", { company: acme.id, file: path })
  })

  promised("has every record of the company, each once, and a receipt that counts them", async () => {
    const tables = companyKinds.map((kind) => [kind, kind.replace(/(?<=.)[A-Z]/g, "_$&").toLowerCase()] as const)
    const expected: Record<string, number> = { Company: 1 }
    for (const [kind, table] of tables) {
      const rows = await sql(`select id from ${table} where company_id = $1 order by id`, [acme.id])
      expect({ kind, ids: recordsOf(path, kind).map(({ id }) => id) }).toEqual({ kind, ids: rows.map(({ id }) => id) })
      expect(rows.length).toBeGreaterThan(0)
      expected[kind] = rows.length
    }
    expect(receipt.records).toEqual(expected)
    const bytes = readFileSync(path)
    expect(receipt).toMatchObject({ command: "company:export", companyId: acme.id, customer: null, file: path, bytes: bytes.length })
    expect(receipt.sha256).toBe(sha256(bytes))
    const [header, ...lines] = linesOf(path)
    expect(header).toEqual({
      kind: "Export",
      format: 1,
      command: "company:export",
      companyId: acme.id,
      customer: null,
      startedAt: receipt.startedAt,
    })
    expect(lines.at(-1)).toEqual({ kind: "End", finishedAt: receipt.finishedAt })
  })

  it("shows each record as REST does", async () => {
    const as = rest.as(acme.token)
    const get = async (url: string) => (await as.get(url).expect(200)).body
    expect(recordsOf(path, "Company")).toEqual(await get("/api/companies/my"))
    const { data: assistants } = await get("/api/assistants-new?take=100")
    expect(sorted(recordsOf(path, "Assistant"))).toEqual(sorted(assistants))
    for (const [kind, list] of [
      ["Channel", "/api/chats/messengers"],
      ["ChatFolder", "/api/chat-folders"],
      ["ChatTag", "/api/chat-tags"],
    ] as const)
      expect(sorted(recordsOf(path, kind))).toEqual(sorted(await get(list)))
    for (const [kind, url, id] of [
      ["Chat", "/api/chats", owned["chats"]],
      ["AssistantTool", "/api/assistant-tools-new", owned["assistant-tools-new"]],
      ["Knowledge", "/api/assistant-knowledge-new", owned["assistant-knowledge-new"]],
    ] as const)
      expect(recordsOf(path, kind).find((record) => record.id === id)).toEqual(await get(`${url}/${id}`))
    const { data: messages } = unsigned(await get(`/api/messages?chatId=${owned["chats"]}`))
    const exported = recordsOf(path, "Message").filter(({ chatId }) => chatId === owned["chats"])
    expect(exported).toHaveLength(messages.length)
    const withoutUrls = (value: unknown) => JSON.parse(JSON.stringify(value, (key, each) => (key === "url" ? undefined : each)))
    expect(withoutUrls(sorted(exported))).toEqual(withoutUrls(sorted(messages)))
  })

  it("has a copy of each uploaded file, to which the urls lead", async () => {
    const lines = linesOf(path).filter(({ kind }) => kind === "Media")
    expect(lines.map(({ record }) => record.filename).sort()).toEqual(["Acme.txt", "notes.txt"])
    for (const { record, file } of lines) {
      const bytes = readFileSync(join(dirname(path), record.url))
      expect(bytes).toEqual(record.filename === "notes.txt" ? samples.txt : letter)
      expect(file).toEqual({ path: record.url, bytes: record.size, sha256: sha256(bytes) })
    }
    const [text, letterLine] = [
      lines.find(({ record }) => record.filename === "notes.txt"),
      lines.find(({ record }) => record.filename === "Acme.txt"),
    ]
    const attached = recordsOf(path, "Message").flatMap(({ messageMedia }) => messageMedia)
    expect(attached.map(({ media }) => media)).toEqual([text.record])
    expect(recordsOf(path, "Knowledge").flatMap((item) => item.file ?? [])).toEqual([letterLine.record])
    expect(receipt.files).toEqual({ count: 2, bytes: text.record.size + letterLine.record.size })
  })

  promised("has nothing of another company and no secret, and only its owner can read it", async () => {
    const text = readFileSync(path, "utf8")
    for (const word of [globex.id, "Globex", "globex"]) expect(text).not.toContain(word)
    const secrets = [
      ...(await sql("select digest as text from access_token")),
      ...(await sql("select password_hash as text from users")),
      ...(await sql("select credentials as text from channel where credentials is not null")),
      ...(await sql("select sealed_secret as text from assistant_tool where sealed_secret is not null")),
    ].map(({ text: value }) => (Buffer.isBuffer(value) ? value.toString("hex") : String(value)))
    expect(secrets.length).toBeGreaterThan(10)
    for (const word of [secret, credential, acme.token, ...secrets]) expect(text).not.toContain(word)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(`${path}.media`).mode & 0o777).toBe(0o700)
  })

  it("that is finished stays as it is, and gives its receipt again", async () => {
    const before = readFileSync(path)
    await acme.chat()
    expect(await done("company:export", { company: acme.id, file: path })).toEqual(receipt)
    expect(readFileSync(path)).toEqual(before)
  })

  it("leaves out nothing that belongs to a company, unless it is listed here", () => {
    const leftOut: Record<string, string> = {
      Company: "the first record",
      Member: "in the record of the company",
      Subscription: "in the record of the company",
      User: "the members' names and addresses are in the record of the company",
      Session: "credentials of users",
      RefreshToken: "credentials of users",
      KnowledgeChunk: "made from the knowledge items",
      ChannelItem: "what waits, or was not understood, for days",
      ChannelMessage: "the state of deliveries",
      ChatIdentity: "further IDs of customers, by which their channel finds the chat",
      MessagePart: "IDs of parts, by which their channel names messages",
      McpTool: "in the records of the MCP servers",
      ChatTagging: "in the records of the chats",
      ControlChange: "REST does not show it",
      AssistantTurn: "REST does not show it; deleted after a while",
      QuestionGroup: "made from the questions",
      OutcomeZone: "which sums the server keeps",
      OutcomeDay: "which sums are kept",
      OutcomeSum: "made from the stretches",
      OutcomeTime: "made from the stretches",
      OutcomeMonth: "made from the stretches",
      OutcomeMonthSum: "made from the stretches",
      OutcomeDimensionSum: "made from the stretches",
      OutcomeDimensionTime: "made from the stretches",
      StretchSetting: "of all companies",
      ToolCallTally: "made from the tool calls",
      MediaTally: "made from the files",
      MessageMedia: "in the records of the messages",
      CallReport: "reports about calls that are not known yet, for a day",
      Event: "a log of 24 hours of the same records",
      EventLog: "of all companies",
      EventFanOut: "of all companies",
      EventDelivery: "the same records once more, for 30 days",
      ChatCount: "numbers of the chats, which the chats give again",
      ChatCountChange: "as those numbers",
      IdempotencyKey: "stored answers of 24 hours",
    }
    expect([...companyKinds, ...Object.keys(leftOut)].sort()).toEqual(Object.keys(entities).sort())
  })
})

describe("an export that was interrupted", () => {
  it("continues behind any byte, and has each record once", async () => {
    const whole = newPath()
    const { records } = await done("company:export", { company: acme.id, file: whole })
    const bytes = readFileSync(whole)
    const header = bytes.indexOf(10) + 1
    const lines = (path: string) => linesOf(path).slice(1, -1)
    for (let part = 0; part <= 12; part += 1) {
      const path = newPath()
      const cut = header + Math.floor(((bytes.length - header) * part) / 12) - (part === 12 ? 1 : 0)
      writeFileSync(path, bytes.subarray(0, cut))
      const receipt = await done("company:export", { company: acme.id, file: path })
      expect({ cut, records: receipt.records }).toEqual({ cut, records })
      expect(lines(path)).toEqual(lines(whole))
      expect(receipt.sha256).toBe(sha256(readFileSync(path)))
    }
  })

  it("by kill -9 continues, while no transaction stayed open", async () => {
    const chat = await acme.chat({ name: "Very long" })
    await many(chat, 6_000)
    const path = newPath()
    // The command waits for this table, which it reads after the messages, and is killed there at the latest.
    await using holder = await openTransaction(w.databaseUrl)
    await holder.query("lock table call in access exclusive mode")
    const backends = "select pid from pg_stat_activity where datname = current_database()"
    const before = (await sql(backends)).map(({ pid }) => pid)
    let idle = 0
    const killed = killedWhen(async () => {
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
      // Before the file exists, the command checks the migrations, in a transaction.
      if (size > 0) idle += (await sql(`${backends} and state = 'idle in transaction' and pid <> all ($1)`, [before])).length
      return size > 500_000
    })
    await administration(w, killed).run("company:export", { company: acme.id, file: path })
    await holder.rollback()
    expect(idle).toBe(0)
    const begun = idsInComplete(path)
    expect(begun.length).toBeGreaterThan(100)
    const receipt = await administration(w, adminProcess).done("company:export", { company: acme.id, file: path })
    const all = idsIn(path)
    expect(all.slice(0, begun.length)).toEqual(begun)
    expect(new Set(all).size).toBe(all.length)
    const [{ count }] = await sql("select count(*)::integer from message where company_id = $1", [acme.id])
    expect(count).toBeGreaterThan(6_000)
    expect(receipt.records.Message).toBe(count)
  })
})

/** The records of the complete lines. */
const idsInComplete = (path: string) =>
  readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .flatMap((line) => {
      const { kind, record } = JSON.parse(line)
      return record ? [`${kind} ${record.id}`] : []
    })

describe("customer:export", () => {
  const person = { phoneNumber: "+49 (170) 123-45", username: "@Ada", externalId: "ada-77" }
  const chats: Record<string, string> = {}

  beforeAll(async () => {
    const make = async (name: string, fields: object, company = acme) => {
      const chat = await company.chat({ name, fromId: "shop", externalId: `x-${name}`, ...fields })
      chats[name] = chat.id
      const { body: file } = await upload(w, company.token, samples.txt, `${name}.txt`).expect(201)
      await company.message({ chatId: chat.id, text: `to ${name}`, mediaIds: [file.id] })
      return chat
    }
    await many(await make("byId", { messenger: "telegram-bot", externalId: person.externalId }), 450)
    await make("byIdElsewhere", { messenger: "viber-echat", externalId: person.externalId })
    await make("byPhone", { messenger: "whatsapp-business", phoneNumber: person.phoneNumber })
    await make("byUsername", { messenger: "instagram", username: person.username })
    await make("group", {
      messenger: "telegram-bot",
      externalId: `${person.externalId}-group`,
      username: person.username,
      chatType: "group",
    })
    await make("other", { messenger: "telegram-bot", externalId: "ada-777", phoneNumber: "+49 170 123456", username: "Adam" })
    await make("foreign", { messenger: "telegram-bot", ...person }, globex)
  })

  it.each([
    ["ada-77", ["byId", "byIdElsewhere"]],
    ["+4917012345", ["byPhone"]],
    ["+49 170 12345", ["byPhone"]],
    ["ada", ["byUsername"]],
    ["@ADA", ["byUsername"]],
  ])("has the chats of the customer %s over all channels, and nothing else", async (customer, names) => {
    const path = newPath()
    const receipt = await done("customer:export", { company: acme.id, customer, file: path })
    expect(recordsOf(path, "Chat").map(({ id }) => id)).toEqual(names.map((name) => chats[name]).sort())
    expect(
      recordsOf(path, "Media")
        .map(({ filename }) => filename)
        .sort(),
    ).toEqual(names.map((name) => `${name}.txt`).sort())
    const messages = recordsOf(path, "Message")
    expect(new Set(messages.map(({ chatId }) => chatId))).toEqual(new Set(names.map((name) => chats[name])))
    const count = names.length + (names.includes("byId") ? 450 : 0)
    expect(recordsOf(path, "Stretch").map(({ chatId }) => chatId)).toEqual(names.includes("byId") ? [chats.byId] : [])
    const more = names.includes("byId") ? { Stretch: 1 } : {}
    expect(receipt.records).toEqual({ Chat: names.length, Message: count, Media: names.length, ...more })
    expect(new Set(messages.map(({ id }) => id)).size).toBe(count)
    expect(receipt).toMatchObject({ command: "customer:export", customer, sha256: sha256(readFileSync(path)) })
  })

  it("continues in the middle of a chat", async () => {
    const whole = newPath()
    const options = { company: acme.id, customer: person.externalId }
    await done("customer:export", { ...options, file: whole })
    const bytes = readFileSync(whole)
    for (const part of [0.3, 0.6, 0.9]) {
      const path = newPath()
      writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length * part)))
      await done("customer:export", { ...options, file: path })
      expect(linesOf(path).slice(1, -1)).toEqual(linesOf(whole).slice(1, -1))
    }
  })
})

describe("an export is refused", () => {
  it("for a file of another export, or of anything else, which stays as it is", async () => {
    const path = newPath()
    await done("customer:export", { company: acme.id, customer: "ada-77", file: path })
    const words = /is not an export of this command with these options/
    expect(await refused(1, "customer:export", { company: acme.id, customer: "ada", file: path })).toMatch(words)
    expect(await refused(1, "company:export", { company: acme.id, file: path })).toMatch(words)
    expect(await refused(1, "company:export", { company: globex.id, file: path })).toMatch(words)
    for (const text of ["a letter", "a letter\n", '{"kind":"Letter"}\n', '{"kind":"Export"']) {
      const other = newPath()
      writeFileSync(other, text)
      expect(await refused(1, "company:export", { company: acme.id, file: other })).toMatch(words)
      expect(readFileSync(other, "utf8")).toBe(text)
    }
  })

  it("for a path that cannot be written, and for a customer or company that does not exist", async () => {
    expect(await refused(1, "company:export", { company: acme.id, file: folder })).toMatch(/cannot be used: EISDIR/)
    expect(await refused(1, "company:export", { company: acme.id, file: join(folder, "none", "x") })).toMatch(/cannot be used: ENOENT/)
    const path = newPath()
    expect(await refused(1, "customer:export", { company: acme.id, customer: "nobody", file: path })).toMatch(
      /No private chat of the company/,
    )
    expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined()
    expect(await refused(1, "company:export", { company: acme.assistant.id, file: path })).toMatch(/No company has the id/)
    expect(await refused(2, "customer:export", { company: acme.id, file: path })).toMatch(/--customer is needed/)
  })
})
