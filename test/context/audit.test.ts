import { readFileSync } from "node:fs"
import { buildSchema, type GraphQLObjectType } from "graphql"
import { v7 } from "uuid"
import { systemContext } from "../../src/context/request-context.js"
import { entities } from "../../src/database/options.js"
import { storedProperties } from "../../src/database/read-model.js"
import { Channel } from "../../src/entities/channel.js"
import { auditRuleOf } from "../../src/entities/kit/audited.js"
import type { Row } from "../../src/entities/kit/row.js"
import { indexKnowledge } from "../../src/jobs/index-knowledge.js"
import { voiceAgent } from "../../src/jobs/voice-agent.js"
import { administration } from "../kit/command-line.js"
import { auditedTables, root } from "../kit/house-rules.js"
import { promised } from "../kit/promise.js"
import { stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, rest, gql, sql } = w
const { done, refused } = administration(w)
beforeAll(() => stopScheduler(w))

/** The entries that are written during a call, oldest first. */
async function entriesOf(work: () => PromiseLike<unknown>) {
  const known: string[] = (await sql("select id from audit_entry")).map(({ id }) => id)
  await work()
  return sql(
    `select company_id as "companyId", actor_kind as "actorKind", actor_id as "actorId", action, subject_type as "subjectType",
      subject_id as "subjectId", changed, address, request_id as "requestId"
    from audit_entry where id <> all($1) order by id`,
    [known],
  )
}

/** Every text of an input that a client may give contains it, so that no value can be in an entry unseen. */
const value = "Geheimnis"

async function mutate(field: string, credential = acme.owner.jwt) {
  const { data, errors } = await gql(credential, `mutation { ${field} }`)
  expect(errors).toBeUndefined()
  return Object.values(data)[0] as { id: string }
}

const folded = (name: string) => `createChatTag(input: { name: "${name}" }) { id }`
const inAssistant = () => `assistantId: "${acme.assistant.id}", name: "${value}"`
const text = () => `createKnowledgeItem(input: { ${inAssistant()}, kind: TEXT, resourceContent: "${value}" }) { id }`
const toolNamed = (name: string) =>
  `createAssistantTool(input: { assistantId: "${acme.assistant.id}", name: "${name}", description: "${value}", apiCallUrl: "https://${value}.example/a", webhookSecret: "${value}" }) { id }`
const webhook = () =>
  `createEventWebhook(input: { companyId: "${acme.id}", url: "http://127.0.0.1:9/${value}", types: [CHAT_DELETED] }) { id }`
const token = (name: string) => `createAccessToken(companyId: "${acme.id}", name: "${name}", readOnly: true) { id }`

/** A mutation: what must exist before, the field with the ID of that, the type of its subject, and the names of the changed fields. */
type Case = [before: (() => Promise<{ id: string }>) | null, field: (id: string) => string, type: string, changed: string[]]

const audited: Record<string, Case> = {
  createAssistant: [
    null,
    () => `createAssistant(input: { companyId: "${acme.id}", name: "${value}", prompt: "${value}", excludedTags: ["${value}"] }) { id }`,
    "Assistant",
    ["excludedTags", "name", "prompt", "textModelId"],
  ],
  updateAssistant: [
    () => acme.makeAssistant(),
    (id) =>
      `updateAssistant(id: "${id}", input: { greeting: "${value}", temperature: 1, vaRegistration: { provider: "simulated" } }) { id }`,
    "Assistant",
    ["greeting", "temperature", "vaRegistration"],
  ],
  copyAssistant: [
    // The voice settings are stored by a second write of the transaction.
    () => acme.makeAssistant({ name: value, vaRegistration: { provider: "simulated" } }),
    (id) => `copyAssistant(id: "${id}", input: {}) { id }`,
    "Assistant",
    ["name", "textModelId", "vaRegistration"],
  ],
  setAssistantGuardrails: [
    () => acme.makeAssistant(),
    (id) => `setAssistantGuardrails(assistantId: "${id}", guardrails: { words: { answer: LOG, words: ["${value}"] } }) { id }`,
    "Assistant",
    ["guardrails"],
  ],
  setRatingQuestion: [
    async () => acme.widget,
    (id) => `setRatingQuestion(channelId: "${id}", question: "${value}") { id }`,
    "Channel",
    ["ratingQuestion"],
  ],
  deleteAssistant: [() => acme.makeAssistant(), (id) => `deleteAssistant(id: "${id}") { id }`, "Assistant", []],
  createAssistantTool: [
    null,
    () => toolNamed(`first_${value}`),
    "AssistantTool",
    ["apiCallUrl", "assistantId", "description", "name", "webhookSecret"],
  ],
  updateAssistantTool: [
    () => mutate(toolNamed(`second_${value}`)),
    (id) => `updateAssistantTool(id: "${id}", input: { disabled: true, webhookSecret: "other ${value}" }) { id }`,
    "AssistantTool",
    ["disabled", "webhookSecret"],
  ],
  deleteAssistantTool: [() => acme.tool(), (id) => `deleteAssistantTool(id: "${id}") { id }`, "AssistantTool", []],
  createKnowledgeItem: [null, text, "Knowledge", ["assistantId", "kind", "name", "resourceContent"]],
  updateKnowledgeItem: [
    () => mutate(text()),
    (id) => `updateKnowledgeItem(id: "${id}", input: { resourceContent: "other ${value}", isVector: true }) { id }`,
    "Knowledge",
    ["isVector", "resourceContent"],
  ],
  deleteKnowledgeItem: [() => mutate(text()), (id) => `deleteKnowledgeItem(id: "${id}") { id }`, "Knowledge", []],
  createEventWebhook: [null, webhook, "EventWebhook", ["secret", "types", "url"]],
  updateEventWebhook: [
    () => mutate(webhook()),
    (id) => `updateEventWebhook(id: "${id}", input: { disabled: true, query: "{ ${value}: type }" }) { id }`,
    "EventWebhook",
    ["disabled", "query"],
  ],
  rotateEventWebhookSecret: [() => mutate(webhook()), (id) => `rotateEventWebhookSecret(id: "${id}") { id }`, "EventWebhook", ["secret"]],
  deleteEventWebhook: [() => mutate(webhook()), (id) => `deleteEventWebhook(id: "${id}") { id }`, "EventWebhook", []],
  createMcpServer: [
    null,
    () =>
      `createMcpServer(input: { companyId: "${acme.id}", name: "${value}", url: "http://127.0.0.1:9/${value}", headers: { ${value}: "${value}" } }) { id }`,
    "McpServer",
    ["credentials", "name", "url"],
  ],
  updateMcpServer: [
    () => acme.mcpServer(),
    (id) => `updateMcpServer(id: "${id}", input: { name: "${value}", headers: { ${value}: "${value}" } }) { id }`,
    "McpServer",
    ["credentials", "name"],
  ],
  deleteMcpServer: [() => acme.mcpServer(), (id) => `deleteMcpServer(id: "${id}") { id }`, "McpServer", []],
  createAccessToken: [null, () => token(value), "AccessToken", ["name", "readOnly"]],
  renameAccessToken: [
    () => mutate(token("Old")),
    (id) => `renameAccessToken(companyId: "${acme.id}", id: "${id}", name: "${value}") { id }`,
    "AccessToken",
    ["name"],
  ],
  revokeAccessToken: [
    () => mutate(token("Old")),
    (id) => `revokeAccessToken(companyId: "${acme.id}", id: "${id}") { id }`,
    "AccessToken",
    ["revokedAt"],
  ],
}

/** Mutations that change nothing that is audited, but for the last one, which has a test of its own. */
const others = [
  ...["signIn", "refreshSession", "signOut", "createAssistantFolder", "updateAssistantFolder", "deleteAssistantFolder"],
  ...[
    "testAssistantTool",
    "refreshMcpServer",
    // Of the assistant itself; what it does to tools is in test/mcp-servers.
    "setAssistantMcpTools",
    "testEventWebhook",
    "redeliverEvent",
    "redeliverEvents",
    "answerToolCall",
    "originateCall",
    "queryKnowledge",
    "createChat",
    "updateChat",
    "deleteChat",
    "endStretch",
    "rateStretch",
    "closeUnansweredQuestion",
    "reopenUnansweredQuestion",
    "setAiControl",
  ],
  ...[
    "assignAssistant",
    "unassignAssistant",
    "assignManager",
    "takeOverChat",
    "markChatRead",
    "markChatUnread",
    "addChatLabel",
    "removeChatLabel",
  ],
  ...["setChatFolder", "setChatTags", "addChatTag", "removeChatTag", "addChatComment", "removeChatComment", "createChatFolder"],
  ...[
    "updateChatFolder",
    "deleteChatFolder",
    "createChatTag",
    "deleteChatTag",
    "createMessage",
    "retryMessage",
    "uploadMedia",
    "updateChatTag",
  ],
]

const schema = buildSchema(readFileSync(`${root}schema.graphql`, "utf8"))

describe("a mutation of what is audited", () => {
  it.each(Object.entries(audited))("%s writes one entry", async (action, [before, field, subjectType, changed]) => {
    const existing = before && (await before())
    let subject = existing
    const entries = await entriesOf(async () => {
      subject = await mutate(field(existing?.id ?? ""))
    })
    expect(entries.map((entry) => ({ ...entry, changed: [...entry.changed].sort() }))).toEqual([
      {
        companyId: acme.id,
        actorKind: "USER",
        actorId: acme.owner.id,
        action,
        subjectType,
        subjectId: subject!.id,
        changed,
        address: expect.stringMatching(/127\.0\.0\.1$/),
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    ])
  })

  it("leaves no value and no secret in the table", async () => {
    const rows = await sql("select e::text as row from audit_entry e")
    expect(rows.length).toBeGreaterThan(20)
    expect(rows.filter(({ row }) => new RegExp(`${value}|amp_|v2\\.`, "i").test(row))).toEqual([])
  })

  it("is in one of these lists", () => {
    expect(Object.keys(schema.getMutationType()!.getFields()).sort()).toEqual([...Object.keys(audited), ...others].sort())
  })

  it("by an access token over REST is recorded as the GraphQL mutation of its route", async () => {
    const { id } = await acme.makeAssistant()
    const headers = { "X-Access-Token": acme.token, "X-Request-Id": "one-of-ours" }
    const entries = await entriesOf(() => rest.as(headers).patch(`/api/assistants-new/${id}`, { prompt: "Be kind." }).expect(200))
    expect(entries).toMatchObject([
      {
        actorKind: "TOKEN",
        actorId: acme.tokenId,
        action: "updateAssistant",
        subjectId: id,
        changed: ["prompt"],
        requestId: "one-of-ours",
      },
    ])
  })

  it("is recorded by itself when a request has several", async () => {
    const entries = await entriesOf(() => gql(acme.owner.jwt, `mutation { a: ${token("A")} b: ${text()} }`))
    expect(entries.map(({ action }) => action)).toEqual(["createAccessToken", "createKnowledgeItem"])
  })
})

describe("no entry is written", () => {
  const tool = () => acme.tool({ name: `taken_${v7()}` })

  it("for a change that is refused or rolled back", async () => {
    const [{ id }, taken] = [await acme.makeAssistant(), await tool()]
    const refusals: [string, string][] = [
      [acme.owner.jwt, `updateAssistant(id: "${id}", input: { name: "" }) { id }`],
      [acme.owner.jwt, `updateAssistant(id: "${id}", input: { name: "Other", draftOfId: "${acme.assistant.id}" }) { id }`],
      [acme.owner.jwt, toolNamed(taken.name)],
      [globex.owner.jwt, `updateAssistant(id: "${id}", input: { name: "Other" }) { id }`],
      [acme.member.jwt, token("Mine")],
    ]
    const entries = await entriesOf(async () => {
      for (const [jwt, field] of refusals) expect((await gql(jwt, `mutation { ${field} }`)).errors).toHaveLength(1)
    })
    expect(entries).toEqual([])
  })

  it("for a mutation that changes nothing", async () => {
    const [assistant, kept] = [await acme.makeAssistant({ prompt: "Be kind." }), await tool()]
    const entries = await entriesOf(async () => {
      await mutate(`updateAssistant(id: "${assistant.id}", input: { prompt: "Be kind.", excludedTags: [] }) { id }`)
      await mutate(`updateAssistantTool(id: "${kept.id}", input: { name: "${kept.name}", disabled: false }) { id }`)
    })
    expect(entries).toEqual([])
  })

  it("for what background work stores: an index, a voice agent, the end of a deletion; and for the use of a token and of credits", async () => {
    const vaRegistration = { provider: "simulated" }
    const [assistant, ended] = [await acme.makeAssistant({ vaRegistration }), await acme.makeAssistant({ vaRegistration })]
    const item = await acme.makeKnowledge({ isVector: true })
    const work = async () => {
      for (const kind of [indexKnowledge, voiceAgent, voiceAgent]) {
        await kind.sweep.run(w.services)
        await w.services.running.idle()
      }
    }
    expect(await entriesOf(work)).toEqual([])
    const { body } = await rest.as(acme.token).get(`/api/assistant-knowledge-new/${item.id}`).expect(200)
    expect(body.indexStatus).toBe("indexed")
    const [{ voiceAgentStatus }] = await sql(`select voice_agent_status as "voiceAgentStatus" from assistant where id = $1`, [assistant.id])
    expect(voiceAgentStatus).toBe("ready")

    const deletion = await entriesOf(() => mutate(`deleteAssistant(id: "${ended.id}") { id }`))
    expect(deletion).toMatchObject([{ actorKind: "USER", action: "deleteAssistant", subjectId: ended.id, changed: [] }])
    expect(await entriesOf(work)).toEqual([])
    await rest.as(acme.token).get(`/api/assistants-new/${ended.id}`).expect(404)

    const query = { assistantId: acme.assistant.id, query: "Returns" }
    expect(await entriesOf(() => rest.as(acme.token).post("/api/assistant-knowledge-new/query", query).expect(201))).toEqual([])
  })
})

describe("what a change has as its consequence", () => {
  it("the channels of a deleted assistant lose it", async () => {
    const { id: assistant } = await acme.makeAssistant()
    const options = { company: acme.id, messenger: "playground", "external-id": v7(), name: "Play", assistant }
    const channel = await done("channel:connect", options)
    const entries = await entriesOf(() => mutate(`deleteAssistant(id: "${assistant}") { id }`))
    expect(entries.map(({ subjectType, subjectId, changed }) => [subjectType, subjectId, changed])).toEqual(
      expect.arrayContaining([
        ["Channel", channel.id, ["assistantId"]],
        ["Assistant", assistant, []],
      ]),
    )
    expect(entries).toHaveLength(2)
  })

  it("a tag that is renamed leaves excludedTags", async () => {
    const { id: assistant } = await acme.makeAssistant({ excludedTags: ["Angry"] })
    const { id } = await mutate(folded("angry"))
    const entries = await entriesOf(() => mutate(`updateChatTag(id: "${id}", input: { name: "Furious" }) { id }`))
    expect(entries).toMatchObject([
      { action: "updateChatTag", actorId: acme.owner.id, subjectType: "Assistant", subjectId: assistant, changed: ["excludedTags"] },
    ])
  })
})

it("commands are recorded under their names", async () => {
  const company = { company: acme.id }
  const someone = await globex.person()
  const member = { ...company, user: someone.id }
  const account = { ...company, messenger: "olx", "external-id": value, name: value }
  let subject = ""
  const made = async (command: string, options: Record<string, string | true>) => {
    subject = (await done(command, options)).id
  }
  const expected: [string, () => Promise<unknown>, string, () => string, string[]][] = [
    ["member:add", () => done("member:add", { ...member, role: "member" }), "Member", () => someone.id, ["role", "userId"]],
    ["member:add", () => done("member:add", { ...member, role: "admin" }), "Member", () => someone.id, ["role"]],
    ["member:remove", () => done("member:remove", member), "Member", () => someone.id, []],
    [
      "subscription:set",
      () => made("subscription:set", { ...company, plan: value, "new-plan": true, status: "trialing" }),
      "Subscription",
      () => subject,
      ["plan", "startsAt", "status"],
    ],
    [
      "balance:set",
      () => done("balance:set", { ...company, voice: "7", "embedding-credits": "9000" }),
      "Company",
      () => acme.id,
      ["embeddingCredits", "voiceBalance"],
    ],
    [
      "channel:connect",
      () =>
        made("channel:connect", { ...account, credentials: JSON.stringify({ deliveryUrl: "https://deliver.example/", secret: value }) }),
      "Channel",
      () => subject,
      ["config", "credentials", "messenger", "name"],
    ],
    ["channel:disconnect", () => done("channel:disconnect", { id: subject }), "Channel", () => subject, ["isActive"]],
    ["token:create", () => made("token:create", { ...company, name: value }), "AccessToken", () => subject, ["name"]],
    ["token:revoke", () => done("token:revoke", { id: subject }), "AccessToken", () => subject, ["revokedAt"]],
  ]
  for (const [action, run, subjectType, subjectId, changed] of expected) {
    const [entry, ...more] = await entriesOf(run)
    expect({ ...entry, changed: [...entry.changed].sort() }).toEqual({
      ...{ companyId: acme.id, actorKind: "SYSTEM", actorId: null, action, subjectType, subjectId: subjectId(), changed },
      ...{ address: null, requestId: null },
    })
    expect(more).toEqual([])
  }
  const [created] = await entriesOf(() => made("company:create", { name: value }))
  expect(created).toMatchObject({
    companyId: subject,
    action: "company:create",
    subjectType: "Company",
    subjectId: subject,
    changed: ["name"],
  })

  const listed = await done("audit:list", { ...company, take: "3" })
  expect(listed.map(({ action }: { action: string }) => action)).toEqual(["token:revoke", "token:create", "channel:disconnect"])
  expect(listed[0]).toEqual({
    ...{ id: expect.any(String), companyId: acme.id, actorKind: "SYSTEM", actorId: null, action: "token:revoke" },
    ...{ subjectType: "AccessToken", subjectId: expect.any(String), changed: ["revokedAt"] },
    ...{ address: null, requestId: null, createdAt: expect.stringMatching(/Z$/) },
  })
  for (const take of ["0", "x", "1001"]) expect(await refused(2, "audit:list", { ...company, take })).toMatch(/--take/)
  const rows = await sql("select e::text as row from audit_entry e")
  expect(rows.filter(({ row }) => row.includes(value))).toEqual([])
})

describe("auditEntries", () => {
  const fields = "id companyId actorKind actorId action subjectType subjectId changed address requestId createdAt"
  const list = (credential: string, more = "", companyId = acme.id) =>
    gql(
      credential,
      `{ auditEntries(companyId: "${companyId}"${more}) { totalCount nodes { ${fields} } pageInfo { hasNextPage endCursor } } }`,
    )

  it("lists the trail of the company newest first, in pages", async () => {
    const all = (await list(acme.admin.jwt, ", first: 100")).data.auditEntries
    const rows = await sql("select id from audit_entry where company_id = $1 order by created_at desc, id desc limit 100", [acme.id])
    expect(all.nodes.map(({ id }: { id: string }) => id)).toEqual(rows.map(({ id }) => id))
    expect(new Set(all.nodes.map(({ companyId }: { companyId: string }) => companyId))).toEqual(new Set([acme.id]))

    const first = (await list(acme.owner.jwt, ", first: 2")).data.auditEntries
    expect(first.pageInfo.hasNextPage).toBe(true)
    const next = (await list(acme.owner.jwt, `, first: 2, after: "${first.pageInfo.endCursor}"`)).data.auditEntries
    expect([...first.nodes, ...next.nodes]).toEqual(all.nodes.slice(0, 4))
    expect(first.totalCount).toBe(Number((await sql("select count(*) from audit_entry where company_id = $1", [acme.id]))[0].count))
  })

  it("is for owners and admins of the company alone", async () => {
    const statusOf = async (credential: string, companyId = acme.id) =>
      (await list(credential, "", companyId)).errors?.[0]?.extensions.statusCode ?? 200
    expect(await statusOf(acme.owner.jwt)).toBe(200)
    expect(await statusOf(acme.member.jwt)).toBe(403)
    expect(await statusOf(globex.owner.jwt)).toBe(403)
    expect(await statusOf(acme.owner.jwt, v7())).toBe(403)
    expect(await statusOf(acme.token)).toBe(401)
  })

  promised("refuses a cursor of another company", async () => {
    await acme.person("owner", globex.owner)
    const { data } = await list(globex.owner.jwt, ", first: 1")
    const { errors } = await list(globex.owner.jwt, `, after: "${data.auditEntries.pageInfo.endCursor}"`, globex.id)
    expect(errors![0]!.extensions.statusCode).toBe(400)
  })
})

describe("the trail cannot be left out", () => {
  /** Entities of a company that are not audited, each with the reason. */
  const unaudited: Record<string, string> = {
    AssistantFolder: "arranges assistants; the trail is of what works for customers",
    McpTool: "what an MCP server lists; the tools that an assistant may use are of AssistantTool",
    KnowledgeChunk: "made from a knowledge item by its indexing",
    ChatFolder: "arranges the inbox",
    ChatTag: "arranges the inbox",
    ChannelItem: "waits for a job, or for people to look at it",
    ChannelMessage: "the state of a delivery; a message has its status",
    ChatIdentity: "written by channels",
    MessagePart: "written by deliveries",
    ChatTagging: "arranges the inbox",
    ChatCount: "made from the chats",
    ChatCountChange: "made from the chats",
    Chat: "the daily work; changes of AI control have their own record",
    GuardrailHit: "is a record itself",
    AskedQuestion: "facts that the database writes with the daily work",
    QuestionGroup: "made from the questions",
    Stretch: "facts that the database writes with the daily work",
    OutcomeZone: "which sums the server keeps",
    OutcomeDay: "which sums are kept",
    OutcomeSum: "made from the stretches",
    OutcomeTime: "made from the stretches",
    OutcomeMonth: "made from the stretches",
    OutcomeMonthSum: "made from the stretches",
    OutcomeDimensionSum: "made from the stretches",
    OutcomeDimensionTime: "made from the stretches",
    ControlChange: "is a record itself",
    AssistantTurn: "is a record itself",
    Call: "is a record itself, with who requested it",
    ToolCall: "is a log itself",
    ToolCallTally: "counted by the database",
    Message: "the daily work; a message has its author",
    Media: "belongs to messages and knowledge items",
    MediaTally: "counted by the database",
    MessageMedia: "belongs to a message",
    Event: "is a log itself",
    EventDelivery: "is a log itself",
    AuditEntry: "is the trail",
  }
  const metadata = () =>
    Object.entries(entities).map(([name, entity]) => ({ name, entity, meta: w.services.database.orm.getMetadata().get(entity as never) }))

  it("every entity of a company is marked with @Audited, or listed here with a reason", () => {
    const owned = metadata().filter(({ name, meta }) => name === "Company" || "companyId" in meta.properties)
    const undecided = owned.filter(({ name, entity }) => !auditRuleOf(entity) && !unaudited[name]).map(({ name }) => name)
    expect(undecided).toEqual([])
    expect(Object.keys(unaudited).filter((name) => !owned.some((each) => each.name === name && !auditRuleOf(each.entity)))).toEqual([])
  })

  it("the rule about statements knows the tables of all audited entities", () => {
    const marked = metadata().filter(({ entity }) => auditRuleOf(entity))
    expect(Object.fromEntries(marked.map(({ name, meta }) => [name, meta.tableName]))).toEqual(auditedTables)
  })

  it("every column that it may name is called as in the API", () => {
    const writeOnly = ["AssistantTool.webhookSecret", "Channel.credentials", "McpServer.credentials"]
    const unknown = metadata().flatMap(({ name, entity, meta }) => {
      const rule = auditRuleOf(entity)
      if (!rule) return []
      const { internal = [], names = {} } = rule as { internal?: unknown; names?: Record<string, string> }
      const hidden: string[] =
        typeof internal === "function" ? internal(Object.assign(new (entity as new () => Row)(), { kind: "text" })) : internal
      const shown = storedProperties(meta.props as never)
        .map((prop) => prop.name as string)
        .filter((property) => !hidden.includes(property))
      const type = schema.getType(name === "Subscription" ? "CompanySubscription" : name) as GraphQLObjectType
      return shown
        .map((property) => names[property] ?? property)
        .filter((field) => !type.getFields()[field])
        .map((field) => `${name}.${field}`)
    })
    expect(unknown.sort()).toEqual(writeOnly)
  })

  it("a change without a unit of work, or without the name of an action, is not stored", async () => {
    const em = w.services.database.orm.em.fork()
    em.setFilterParams("company", { ids: [acme.id] })
    const channel = await em.findOneOrFail(Channel, { id: acme.widget.id })
    channel.name = "Renamed"
    await expect(em.flush()).rejects.toThrow(/unit of work/)
    const rename = systemContext(w.services, acme.id).transaction(async (tx) => {
      ;(await tx.find(Channel, acme.widget.id)).name = "Renamed"
    })
    await expect(rename).rejects.toThrow(/name of an action/)
    expect(await sql("select 1 from channel where name = 'Renamed'")).toEqual([])
  })
})
