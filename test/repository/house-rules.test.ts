import { existsSync, readFileSync } from "node:fs"
import { posix } from "node:path"
import { buildSchemaSync, Query, Resolver } from "type-graphql"
import { Access } from "../../src/context/access.js"
import { scopedManager } from "../../src/database/unit-of-work.js"
import { Chat } from "../../src/entities/chat.js"
import { guardRootFields } from "../../src/graphql/guard.js"
import * as rules from "../kit/house-rules.js"
import { committedSources, complaints, type Rule, root, type Source, sourcesBelow } from "../kit/house-rules.js"
import { promised } from "../kit/promise.js"
import { testsWaitForEvents } from "../kit/waiting-rule.js"
import { world } from "../kit/world.js"

const source = sourcesBelow("src")
const code = source.filter(({ path }) => /\.tsx?$/.test(path))

/** An invented file with this path and these lines. */
const made = (path: string, ...lines: string[]): Source => ({ path, text: lines.join("\n") })

/** Tests that a rule holds, reports violations, and accepts the rest. */
function rule(says: string, { of, breaks, keeps = [], among = code }: { of: Rule; breaks: Source[]; keeps?: Source[]; among?: Source[] }) {
  describe(says, () => {
    it("holds", () => expect(complaints(of, among)).toEqual([]))
    it("is reported when it is broken", () => {
      for (const broken of breaks) expect({ broken, complaints: complaints(of, [broken]).length }).toEqual({ broken, complaints: 1 })
      expect(complaints(of, breaks)[0]).toContain(of.teaches)
    })
    if (keeps.length > 0) it("accepts the rest", () => expect(complaints(of, keeps)).toEqual([]))
  })
}

describe("directions", () => {
  rule("an entity imports errors and entities only", {
    of: rules.entitiesStandAlone,
    breaks: [
      made("src/entities/chat.ts", 'import { append } from "../messages/append.js"'),
      made("src/entities/chat.ts", "import {", "  type RequestContext,", '} from "../context/request-context.js"'),
      made("src/entities/kit/row.ts", 'const hub = await import("../../events/hub.js")'),
    ],
    keeps: [
      made(
        "src/entities/chat.ts",
        'import { entityLimits } from "./limits.js"',
        'import { Row } from "./kit/row.js"',
        'import { v7 } from "uuid"',
      ),
    ],
  })
  rule("a REST file imports documents, no resolver and no entity", {
    of: rules.restKnowsDocuments,
    breaks: [
      made("src/rest/chat.ts", 'import { ChatResolver } from "../resolvers/chat.js"'),
      made("src/rest/kit/serve.ts", 'import type { Chat } from "../../entities/chat.js"'),
      made("src/rest/kit/representation.ts", 'import type { PlainRow } from "../../database/read-model.js"'),
    ],
    keeps: [
      made(
        "src/rest/kit/operation.ts",
        'import { routes } from "./routes.js"',
        'import { accessOf } from "../../graphql/access.js"',
        'import { BadUserInput } from "../../errors/errors.js"',
      ),
    ],
  })
  rule("a tool of the MCP server imports documents, no resolver and no entity", {
    of: rules.mcpKnowsDocuments,
    breaks: [
      made("src/mcp/kit/call.ts", 'import { createMessage } from "../../messages/create.js"'),
      made("src/mcp/tools.ts", 'import type { Chat } from "../entities/chat.js"'),
    ],
    keeps: [
      made(
        "src/mcp/kit/call.ts",
        'import type { RequestContext } from "../../context/request-context.js"',
        'import { rootValue } from "../../rest/kit/operation.js"',
        'import { onlyReads } from "./tool.js"',
      ),
    ],
  })
  describe("folders have no circular imports, type imports included", () => {
    it("holds", () => expect(rules.folderCircles(code)).toEqual([]))
    it("is reported when it is broken", () => {
      const circle = [
        made("src/database/reader.ts", 'import type { Services } from "../context/services.js"'),
        made("src/context/services.ts", 'import { connect } from "../messages/append.js"'),
        made("src/messages/append.ts", 'import { Reader } from "../database/reader.js"'),
      ]
      expect(rules.folderCircles(circle)).toHaveLength(3)
      expect(rules.folderCircles(circle.slice(1))).toEqual([])
    })
  })
  rule("a resolver opens no transaction", {
    of: rules.resolversOpenNoTransaction,
    breaks: [
      made("src/resolvers/chat.ts", "await context.em.begin()"),
      made("src/resolvers/chat.ts", "await em.transactional(async (em) => em.persist(chat))"),
      made("src/resolvers/kit/tokens.ts", "return runInTransaction(unit, work)"),
    ],
    keeps: [made("src/resolvers/chat.ts", "// never em.begin()", "await context.transaction(async (tx) => tx.em.persist(chat))")],
  })
  rule("a condition on a list that a request gives is one array", {
    of: rules.listsAreArrays,
    breaks: [
      made("src/resolvers/assistant-tool.ts", 'query.where("t.type", "in", types)'),
      made("src/messages/list.ts", 'query.where("t.id", "not in", seen.ids)'),
    ],
    keeps: [
      made("src/messages/list.ts", 'query.where("t.role", "in", ["Customer", "User"])'),
      made("src/resolvers/assistant-tool.ts", "query.where(sql<boolean>`t.type = any($1)`)"),
    ],
  })
  rule("a resolver publishes nothing but the end of credentials", {
    of: rules.resolversPublishNothing,
    breaks: [
      made("src/resolvers/chat.ts", 'await context.services.wakeUp.publish("events", "1")'),
      made("src/resolvers/chat.ts", "pubSub.publish(topic, chat)"),
    ],
    keeps: [made("src/resolvers/session.ts", 'await context.services.wakeUp.publish("credentials", sessionId)')],
  })
  rule("a resolver enqueues nothing", {
    of: rules.resolversEnqueueNothing,
    breaks: [
      made("src/resolvers/chat.ts", "await context.services.scheduler.ping()"),
      made("src/resolvers/chat.ts", "chat.schedule(job)"),
      made("src/resolvers/chat.ts", 'import { reply } from "../jobs/reply.js"'),
    ],
  })
  rule("a resolver has no SQL", {
    of: rules.resolversHoldNoSql,
    breaks: [
      made("src/resolvers/chat.ts", 'const known = "select id from chat where company_id = $1"'),
      made("src/resolvers/chat.ts", "const text = `with batch as (", "    select id", "  from chat)", "  select 1`"),
      made("src/resolvers/kit/tokens.ts", "context.run(`insert into session (id) values ($1)`, [id])"),
      made("src/resolvers/chat.ts", 'await run({ text: "UPDATE chat SET name = $1" })'),
      made("src/resolvers/chat.ts", 'await run({ text: "delete from chat" })'),
    ],
    keeps: [
      made(
        "src/resolvers/chat.ts",
        "// select id from chat",
        '@Mutation(() => Chat, { description: "Selects a chat." })',
        "return context.reader.list(chatReadModel, selectionOf(info), (query) => query.orderBy(sql`lower(t.name)`))",
        'const said = "update"',
        'const more = "set"',
      ),
      made("src/chats/chat-tag.ts", 'const known = "select id from chat_tag where company_id = $1"'),
    ],
  })
  rule("a resolver imports no adapter", {
    of: rules.resolversTouchNoPort,
    breaks: [made("src/resolvers/assistant.ts", 'import { offlineModel } from "../ports/text-model/offline.js"')],
  })
  rule("an adapter imports its interface and its own folder", {
    of: rules.adaptersKnowTheirInterface,
    breaks: [
      made("src/ports/channel/telegram.ts", 'import type { Chat } from "../../entities/chat.js"'),
      made("src/ports/channel/telegram.ts", 'import type { EntityManager } from "@mikro-orm/postgresql"'),
      made("src/ports/channel/telegram.ts", 'import type { TextModel } from "../text-model.js"'),
    ],
    keeps: [
      made(
        "src/ports/channel/telegram.ts",
        'import type { Channel } from "../channel.js"',
        'import { portLimits } from "../limits.js"',
        'import { sign } from "./sign.js"',
      ),
    ],
  })
  rule("adapters are chosen in one place", {
    of: rules.adaptersAreChosenInOnePlace,
    breaks: [
      made("src/assistant/turn.ts", 'import { anthropic } from "../ports/text-model/ai-sdk.js"'),
      made("src/ports/channel/telegram.ts", 'import { words } from "../text-model/offline-phrases.js"'),
    ],
    keeps: [made("src/ports/index.ts", 'import { offlineModel } from "./text-model/offline.js"')],
  })
  rule("a job is named like its file and gets a company", {
    of: rules.jobsGetACompany,
    breaks: [
      made("src/jobs/deliver.ts", 'export const deliver: Job = { name: "deliver", async run(services, id) {} }'),
      made("src/jobs/deliver.ts", 'export const deliver: Job = { name: "delivery", async run(services, companyId, id) {} }'),
      made("src/jobs/tidy.ts", 'export const tidy: Sweep = { name: "tidy", run(services, companyId, id) {} }'),
      made("src/jobs/deliver.ts", 'export const deliver = defineWork({ name: "delivery", entity: Message })'),
    ],
    keeps: [
      made(
        "src/jobs/deliver.ts",
        "export const deliver: Job = {",
        '  name: "deliver",',
        "  async run(services, companyId, messageId) {},",
        "}",
      ),
      made("src/jobs/deliver.ts", 'export const deliver = defineWork({ name: "deliver", entity: Message })'),
    ],
  })
})

describe("the separation of companies", () => {
  rule("raw access to the database is listed", {
    of: rules.rawAccessIsListed,
    breaks: [
      made("src/resolvers/chat.ts", 'await services.pool.query("select * from chat")'),
      made("src/assistant/memory.ts", "unit.em.getKysely()"),
      made("src/resolvers/chat.ts", 'await context.em.execute("select 1")'),
      made("src/jobs/reply.ts", "em.getConnection()"),
    ],
  })
  rule("a query is run in one place", {
    of: rules.queriesRunInOnePlace,
    breaks: [
      made("src/knowledge/search.ts", "const rows = await reader.scoped(chunkReadModel).selectAll().execute()"),
      made("src/assistant/progress.ts", 'await held.select("t.id").executeTakeFirst()'),
      made("src/database/reader.ts", "await this.sql.executeQuery(query)"),
    ],
    keeps: [made("src/knowledge/search.ts", "await runQuery(reader, query)")],
  })
  rule("the kit of database/ is used by database/ only", {
    of: rules.databaseKitStaysInside,
    breaks: [made("src/knowledge/search.ts", 'import { pipelined } from "../database/kit/pipelined.js"')],
    keeps: [
      made("src/knowledge/search.ts", 'import { runQuery } from "../database/run-query.js"'),
      made("src/database/reader.ts", 'import { pipelined } from "./kit/pipelined.js"'),
    ],
  })
  rule("callers of unscoped() are listed, with a reason", {
    of: rules.unscopedCallersAreListed,
    breaks: [made("src/resolvers/chat.ts", "await unscoped(database, everything)")],
  })
  rule("files with their own statements are listed", {
    of: rules.statementCallersAreListed,
    breaks: [
      made("src/resolvers/chat.ts", "await context.statement(markRead, [id])"),
      made("src/assistant/turn.ts", "await unit.run(markRead, [id])"),
    ],
  })
  rule("the filter gets its companies in one place, and is turned off nowhere", {
    of: rules.scopeIsSetInOnePlace,
    breaks: [
      made("src/resolvers/chat.ts", "await context.em.find(Chat, {}, { filters: false })"),
      made("src/jobs/reply.ts", 'em.setFilterParams("company", { ids: [companyId] })'),
    ],
  })

  rule("statements that write what is audited are listed", {
    of: rules.auditBypassesAreListed,
    breaks: [
      made("src/chats/update.ts", 'const rename = "update channel set name = $1"'),
      made("src/jobs/tidy.ts", "const text = `delete from $" + "{table} where id = $1`"),
      made("src/resolvers/assistant.ts", "await tx.em.nativeUpdate(Channel, { assistantId: id }, { assistantId: null })"),
      made("src/assistant/removal.ts", "await copyRows(unit, AssistantTool, ids, values)"),
    ],
    keeps: [made("src/assistant/answer.ts", "const ended = `update assistant_turn set outcome = $1`")],
  })

  it("has no entry for code that does not exist", () => {
    const paths = new Set(code.map(({ path }) => path))
    const named = [rules.rawAccess, rules.unscopedCallers, rules.statementCallers, rules.sweeps, rules.auditBypasses].flatMap((list) =>
      Object.keys(list),
    )
    expect(named.filter((path) => !paths.has(path))).toEqual([])
    const texts = new Map(code.map(({ path, text }) => [path, text]))
    expect(Object.keys(rules.unscopedCallers).filter((path) => !texts.get(path)?.includes("unscoped("))).toEqual([])
  })

  const here = world()

  it("refuses a read without companies", async () => {
    await here.acme.chat()
    const { database } = here.services
    await expect(database.orm.em.fork().findOne(Chat, {})).rejects.toThrow(/company/)
    const chats = await scopedManager(database, [here.acme.id]).find(Chat, {})
    expect(chats.map((chat) => chat.companyId)).toEqual([here.acme.id])
    expect(await scopedManager(database, [here.globex.id]).find(Chat, {})).toEqual([])
    expect(await scopedManager(database, []).find(Chat, {})).toEqual([])
  })

  /** References without a foreign key on the company, each with its reason. */
  const excused: Record<string, string> = {
    "audit_entry.actor_id": "a user or a token; kept after they are gone",
    "audit_entry.subject_id": "an entry outlives the row that it is about",
    "assistant.text_model_id": "text models are configuration, not rows",
    "call.line_work_id": "the fence of work on a call, which is no row",
    "call.record_work_id": "the fence of work on the record of a call, which is no row",
    "assistant.voice_work_id": "the fence of work on a voice agent, which is no row",
    "chat_count_change.company_id": "removed within seconds, with or without its company; a foreign key would cost each message",
    "chat_count_change.folder_id": "what a chat was counted by, whether or not it is still there",
    "chat_count_change.manager_id": "what a chat was counted by, whether or not it is still there",
    "chat_count_change.tag_id": "what a chat was counted by, whether or not it is still there",
    "channel.poll_id": "the fence of a poll, which is no row",
    "channel_item.handling_id": "the fence of work on an item, which is no row",
    "chat.delivery_id": "the fence of a delivery, which is no row",
    "media.fetch_id": "the fence of fetching a file, which is no row",
    "chat.context_id": "names an archive of messages, which is the number that they share and no row",
    "chat.last_message_id": "written by the one statement that also inserts the message, from its own values",
    "chat.turn_id": "the fence of a turn, which is no row",
    "stretch.assistant_id": "a fact of the past; kept after the assistant is gone",
    "stretch.person_id": "a fact of the past; kept after the user is gone",
    "outcome_sum.assistant_id": "as of the stretches that are counted",
    "outcome_sum.person_id": "as of the stretches that are counted",
    "outcome_month_sum.assistant_id": "as of the stretches that are counted",
    "outcome_month_sum.person_id": "as of the stretches that are counted",
    "outcome_dimension_sum.assistant_id": "as of the stretches that are counted",
    "outcome_dimension_sum.person_id": "as of the stretches that are counted",
    "outcome_dimension_time.assistant_id": "as of the stretches that are counted",
    "outcome_dimension_time.person_id": "as of the stretches that are counted",
    "outcome_time.assistant_id": "as of the stretches that are counted",
    "outcome_time.person_id": "as of the stretches that are counted",
    "control_change.actor_id": "a user, a token or an assistant; kept after they are gone",
    "event.chat_id": "an event outlives its chat, to tell of its end",
    "event_delivery.chat_id": "a delivery outlives its chat, to tell of its end",
    "mcp_server.refresh_id": "the fence of listing the tools, which is no row",
    "event_webhook.sending_id": "the fence of sending events, which is no row",
    "event.company_id": "the log is cleared by age; a foreign key would lock the company's row for every message",
    "member.user_id": "users belong to no company; this row is what says so",
    "message.author_id": "users belong to no company; kept, without the name, when the user is gone",
    "message.context_id": "names an archive of messages, which is the number that they share and no row",
    "tool_call.turn_id": "the fence of a turn, by which its calls are found again",
    "message.reply_to_message_id": "looked up in the same chat in the transaction that stores it",
  }

  it("is known to the planner: a company may have many rows of a table", async () => {
    const unknown = await here.sql(`
      select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and a.attname = 'company_id'
        and not coalesce('n_distinct=10' = any(a.attoptions), false) order by 1`)
    const advice = "needs, in its migration, `alter column company_id set (n_distinct = 10)`: docs/decisions/large-companies.md"
    expect(unknown.map(({ name }: { name: string }) => `${name} ${advice}`)).toEqual([])
  })

  it("has texts for its search of which the planner samples many: of a few, one that happens to match makes a rare term a frequent one", async () => {
    const [column] = await here.sql(
      "select attstattarget as texts from pg_attribute where attrelid = 'chat'::regclass and attname = 'search_text'",
    )
    expect(column.texts).toBe(500)
  })

  it("is checked by the database: a reference inside a company includes the company", async () => {
    const references: { name: string }[] = await here.sql(`
      with owned as (
        select c.oid, c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
        where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and a.attname = 'company_id'
      )
      select o.relname || '.' || a.attname as name from owned o join pg_attribute a on a.attrelid = o.oid
      where a.attname like '%\\_id' and a.atttypid = 'uuid'::regtype and not a.attisdropped and not exists (
        select 1 from pg_constraint k join pg_attribute b on b.attrelid = o.oid and b.attname = 'company_id'
        where k.conrelid = o.oid and k.contype = 'f' and k.convalidated and a.attnum = any(k.conkey) and b.attnum = any(k.conkey)
      )
      order by 1`)
    const unkept = references.map(({ name }) => name)
    const advice = "needs a foreign key in a new migration: docs/adding-a-feature.md, step 2; or a reason in the list above"
    expect(unkept.filter((name) => !excused[name]).map((name) => `${name} ${advice}`)).toEqual([])
    expect(Object.keys(excused).filter((name) => !unkept.includes(name))).toEqual([])
  })

  promised("refuses a reference to another company's row, whatever the code above does", async () => {
    const [chat, folder] = [await here.acme.chat(), await here.globex.folder()]
    await expect(here.sql("update chat set folder_id = $1 where id = $2", [folder.id, chat.id])).rejects.toThrow(/foreign key/)
  })
})

describe("access", () => {
  @Resolver()
  class Guarded {
    @Access("public")
    @Query(() => String)
    open() {
      return "yes"
    }
  }

  @Resolver()
  class Forgotten {
    @Query(() => String)
    unguarded() {
      return "no"
    }
  }

  // biome-ignore lint/complexity/noBannedTypes: what type-graphql calls a class.
  const schemaOf = (...resolvers: Function[]) =>
    buildSchemaSync({
      resolvers: resolvers as never,
      validate: false,
      orphanedTypes: [],
      pubSub: { publish() {}, subscribe: () => [] as never },
    })

  it("has a rule on every root field, or the server does not start", () => {
    expect(() => guardRootFields(schemaOf(Guarded))).not.toThrow()
    expect(() => guardRootFields(schemaOf(Guarded, Forgotten))).toThrow(/without one: Query\.unguarded$/)
  })
})

describe("the repository", () => {
  const documents = [...sourcesBelow("docs", /\.md$/), { path: "README.md", text: readFileSync(posix.join(root, "README.md"), "utf8") }]
  const everything = committedSources().filter(({ path }) => !path.endsWith("package-lock.json"))

  it("has documents with valid links", () => {
    const links = documents.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => ({ path, link, to: posix.join(posix.dirname(path), link!) })),
    )
    expect(links.length).toBeGreaterThan(5)
    expect(links.filter(({ to }) => !existsSync(posix.join(root, to)))).toEqual([])
  })

  it("documents the real size of a feature", () => {
    const table = documents.find(({ path }) => path === "docs/adding-a-feature.md")!.text
    const told = [...table.matchAll(/^\| `(src\/\w+\/chat-folder\.ts)` *\| (\d+) *\|/gm)].map(([, path, lines]) => [path, Number(lines)])
    const real = told.map(([path]) => [
      path,
      code
        .find((file) => file.path === path)!
        .text.trimEnd()
        .split("\n").length,
    ])
    expect(told).toEqual(real)
    expect(table).toContain(`| **${real.reduce((sum, [, lines]) => sum + Number(lines), 0)}** |`)
  })

  it("has no unused limit", () => {
    expect(rules.unusedLimits(code)).toEqual([])
    const limits = made("src/limits.ts", "export const limits = {", "  kept: 1,", "  taken: 2,", "  forgotten: 3,", "}")
    const user = made("src/app.ts", "const { taken: most } = limits", "// limits.forgotten", "use(limits.kept)")
    expect(rules.unusedLimits([limits, user])).toEqual(["forgotten"])
  })

  rule("limits are in limits.ts", {
    of: rules.limitsStandInLimits,
    breaks: [made("src/resolvers/chat.ts", "const most = 250"), made("src/jobs/reply.ts", "setTimeout(look, 30_000)")],
    keeps: [
      made(
        "src/rest/chat.ts",
        "const fails = [400, 404]",
        'const sentence = "at most 16000 characters"',
        "const pattern = /^\\d{4}-[0-9]{200}$/",
        "seconds * 1000",
      ),
    ],
  })
  rule("a file is short", {
    of: rules.filesAreShort,
    breaks: [made("src/entities/chat.ts", ...Array<string>(331).fill("// line"))],
    among: source,
  })
  rule("a test waits for events", {
    of: testsWaitForEvents,
    breaks: [
      made("test/chats/chat.test.ts", "await sleep(200)"),
      made("test/chats/chat.test.ts", "while (!done()) await new Promise((resolve) => setTimeout(resolve, 20))"),
      made("test/chats/chat.test.ts", "expect(performance.now() - begin).toBeLessThan(1_000)"),
      made("test/chats/chat.test.ts", "while (Date.now() < end) {"),
    ],
    keeps: [
      made("test/chats/chat.test.ts", "// Not a wait: the pause between two requests of a client.", "await sleep(30)"),
      made("test/chats/chat.test.ts", 'await until("the chat is gone", () => chats.length === 0)'),
    ],
    among: sourcesBelow("test", /\.ts$/).filter(({ path }) => path !== "test/repository/house-rules.test.ts"),
  })
  rule("a folder has a subject", {
    of: rules.foldersHaveSubjects,
    breaks: [made("src/utils/dates.ts"), made("src/schema/helpers/x.ts")],
    among: source,
  })
  rule("there are no barrels", {
    of: rules.noBarrels,
    breaks: [made("src/entities/index.ts", 'export { Chat } from "./chat.js"'), made("src/entities/all.ts", 'export * from "./chat.js"')],
  })
  rule("nothing is left over", {
    of: rules.nothingIsLeftOver,
    breaks: [made("src/app.ts", `// ${["TO", "DO"].join("")}: later`), made("test/chat.test.ts", `it${".only"}("works", () => {})`)],
    among: everything,
  })
  rule("nothing mentions the developer's machine", {
    of: rules.nothingOfThisMachine,
    breaks: [
      made("src/app.ts", `const file = "${["", "tmp", "x.json"].join("/")}"`),
      made("README.md", `See ${["", "work", "main"].join("/")}`),
    ],
    keeps: [made("Dockerfile", "WORKDIR /app", "RUN mkdir /data")],
    among: everything,
  })
})
