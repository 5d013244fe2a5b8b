import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { STATUS_CODES } from "node:http"
import { isBuiltin } from "node:module"
import { posix } from "node:path"

/** A file of the repository: its path from the root, with forward slashes, and its text. */
export interface Source {
  path: string
  text: string
}

/** A house rule: a rule about the code that a test checks. */
export interface Rule {
  /** The reason, and what to do instead. */
  teaches: string
  /** Returns the violations in a file. */
  finds(source: Source): string[]
}

/** The root of the repository. */
export const root = `${process.cwd()}/`
const notOurs = new Set(["node_modules", "dist", "data", "coverage", ".git", ".cache"])

/** Every text file below a folder of the repository. */
export function sourcesBelow(folder: string, ending = /\.(tsx?|js|json|md|html|css|svg|yml|graphql|example)$|Dockerfile$/): Source[] {
  const found: Source[] = []
  for (const entry of readdirSync(posix.join(root, folder), { withFileTypes: true })) {
    const path = posix.join(folder, entry.name)
    if (entry.isDirectory() && !notOurs.has(entry.name)) found.push(...sourcesBelow(path, ending))
    else if (entry.isFile() && ending.test(entry.name)) found.push({ path, text: readFileSync(posix.join(root, path), "utf8") })
  }
  return found
}

/** Every text file that is committed; all of them where there is no git to ask. */
export function committedSources(): Source[] {
  const all = sourcesBelow(".")
  try {
    const committed = new Set(
      execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).split("\n"),
    )
    return all.filter(({ path }) => committed.has(path))
  } catch {
    return all
  }
}

/** Checks every file; each complaint names the file, the violation, and the rule. */
export const complaints = (rule: Rule, sources: Source[]): string[] =>
  sources.flatMap((source) => rule.finds(source).map((found) => `${source.path}: ${found}\n  ${rule.teaches}`))

/** The code without its comments. */
export const codeOf = (text: string) => text.replace(/\/\*.*?\*\//gs, "").replace(/(^|\s)\/\/.*$/gm, "$1")

/** The imports of a file: own files by their path from the root, packages by name. */
function importsOf({ path, text }: Source): string[] {
  const named = [...codeOf(text).matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, name]) => name!)
  return named.map((name) => (name.startsWith(".") ? posix.join(posix.dirname(path), name).replace(/\.js$/, ".ts") : name))
}

/** The packages that a file imports, without paths inside them and without Node's own modules. */
export function packagesOf({ text }: Source): string[] {
  const statements = /^\s*(?:import|export)\b(?:[^"';(]*?\bfrom)?\s*"([^"]+)"|\bimport\(\s*"([^"]+)"/gm
  const names = [...codeOf(text).matchAll(statements)].map(([, name, later]) => (name ?? later)!)
  return names.flatMap((name) => (isBuiltin(name) ? [] : (/^(@[\w.-]+\/)?[\w-][\w.-]*(?=\/|$)/.exec(name)?.[0] ?? [])))
}

const isOurs = (imported: string) => imported.startsWith("src/")

/** A rule about the imports of the files of a folder. */
const imports = (folder: string, teaches: string, isRefused: (imported: string, path: string) => boolean): Rule => ({
  teaches,
  finds: (source) =>
    source.path.startsWith(folder)
      ? importsOf(source)
          .filter((imported) => isRefused(imported, source.path))
          .map((imported) => `imports ${imported}`)
      : [],
})

/** A rule about patterns in the code of a folder. */
const words = (folder: string, teaches: string, patterns: RegExp[], isExcused: (path: string) => boolean = () => false): Rule => ({
  teaches,
  finds: ({ path, text }) =>
    path.startsWith(folder) && !isExcused(path)
      ? patterns.flatMap((pattern) => [...codeOf(text).matchAll(pattern)].map(([found]) => `has ${found.trim()}`))
      : [],
})

export const entitiesStandAlone = imports(
  "src/entities/",
  "An entity imports errors and other entities only; its methods get everything else as arguments.",
  (imported) => isOurs(imported) && !/^src\/(entities\/|errors\/errors\.ts$)/.test(imported),
)

export const restKnowsDocuments = imports(
  "src/rest/",
  "A REST route is data: an address and a GraphQL document. Its behaviour is a root field of the schema; add or change that instead.",
  (imported) =>
    isOurs(imported) &&
    !/^src\/(rest\/|graphql\/|context\/(limits|access|refuse-nul)\.ts$|errors\/errors\.ts$|once-per\.ts$|observability\/longest-turns\.ts$)/.test(
      imported,
    ),
)

export const mcpKnowsDocuments = imports(
  "src/mcp/",
  "A tool of the MCP server is data: a name, a description and a GraphQL document. It has no other access to data than its operation.",
  (imported) =>
    isOurs(imported) &&
    !/^src\/(mcp\/|rest\/kit\/|graphql\/|context\/(limits|access|request-context)\.ts$|errors\/errors\.ts$|once-per\.ts$)/.test(imported),
)

const transactions = [/\.(begin|commit|rollback|transactional)\(/g, /\brunInTransaction\(/g, /\bnew UnitOfWork\(/g, /\binTransaction\(/g]

export const resolversOpenNoTransaction = words(
  "src/resolvers/",
  "A mutation already runs in one transaction. A mutation with several transactions says @Access(…, { transaction: 'manual' }) and uses context.transaction().",
  transactions,
)

export const listsAreArrays = words(
  "src/",
  "An empty list would be `in ()`, a syntax error, and each length of a list would be another statement. Write sql`t.column = any(…)` with one array.",
  [/"(?:not )?in",\s*(?![\s["])\S+/g],
)

export const resolversPublishNothing = words(
  "src/resolvers/",
  "Emit an event from the entity: it becomes an event row in the transaction and is published after the commit. Only revoked credentials are published directly.",
  [/\.publish\((?!\s*"credentials")/g, /\bpg_notify\b/g, /\bsequencer\b/g],
)

export const resolversEnqueueNothing = words(
  "src/resolvers/",
  "Background work is a state and a due time on the entity's row; a method of the entity schedules the job, which starts after the commit.",
  [/\bscheduler\b/g, /\bagenda\b/gi, /(?<!scheduler)\.schedule\(/g, /\brunning\.add\(/g, /"(?:\.\.\/)+jobs\/[^"]*"/g],
)

export const resolversTouchNoPort = imports(
  "src/resolvers/",
  "A resolver waits for the database only. Use context.services in a mutation with transaction: 'manual', or leave it to a job.",
  (imported) => imported.startsWith("src/ports/"),
)

/** String and template literals of code. */
const literals = /`(?:[^`\\]|\\.)*`|"(?:[^"\\\n]|\\.)*"/gs
const statement = /\b(?:select\b.*\bfrom|insert\s+into|update\b.*\bset|delete\s+from)\b/is

export const resolversHoldNoSql: Rule = {
  teaches:
    "A resolver finds, calls and returns. A statement is in the folder of its subject (chats/, messages/, assistant/, knowledge/), in a function that the root field calls.",
  finds: ({ path, text }) =>
    path.startsWith("src/resolvers/")
      ? [...codeOf(text).matchAll(literals)].flatMap(([literal]) =>
          statement.test(literal) ? [`has ${literal.slice(0, literalShown)}`] : [],
        )
      : [],
}

/** How many characters of a statement a complaint shows. */
const literalShown = 60

/** The kind of an adapter; `kit/`, which all kinds share, has none. */
const kindOf = (path: string) => /^src\/ports\/(?!kit\/)([^/]+)\//.exec(path)?.[1]

export const adaptersKnowTheirInterface: Rule = {
  teaches:
    "An adapter imports its interface, its own folder, the kit, errors and limits. It gets options and values, never rows, the ORM or the pool.",
  finds: (source) => {
    const kind = kindOf(source.path)
    if (!kind) return []
    const isAllowed = (imported: string) =>
      isOurs(imported)
        ? imported === `src/ports/${kind}.ts` ||
          kindOf(imported) === kind ||
          /^src\/(errors\/errors\.ts$|ports\/limits\.ts$|ports\/kit\/)/.test(imported)
        : !/^(@mikro-orm\/|kysely$|pg$|type-graphql$|agenda$)/.test(imported)
    return importsOf(source)
      .filter((imported) => !isAllowed(imported))
      .map((imported) => `imports ${imported}`)
  },
}

export const adaptersAreChosenInOnePlace = imports(
  "src/",
  "Adapters are chosen in src/ports/index.ts. All other files import the interface, src/ports/<kind>.ts.",
  (imported, path) => kindOf(imported) !== undefined && path !== "src/ports/index.ts" && kindOf(path) !== kindOf(imported),
)

/** Files that access the database without the ORM's company filter, each with what separates companies there. */
export const rawAccess: Record<string, string> = {
  "src/database/connect.ts": "opens the one pool",
  "src/database/replica.ts":
    "opens the pool of the replica and asks how far that is; planned reads, which Reader has limited to the companies",
  "src/database/heartbeat.ts": "checks that the database responds, and listens; no rows",
  "src/database/unscoped.ts": "reads across companies; its callers are listed below",
  "src/database/unit-of-work.ts": "the query builder for planned reads, which Reader.scoped() limits to the companies",
  "src/database/kit/pipelined.ts": "runs planned reads, which Reader has limited to the companies",
  "src/database/migrate.ts": "changes the schema under a lock, reads no rows",
  "src/database/vector-index.ts": "detects pgvector, creates an index, reads no rows",
  "src/database/embedded/init.ts": "creates the database",
  "src/database/embedded/roles.ts": "creates the server's role and makes it the owner of the database",
  "src/database/embedded/start.ts": "waits for the database to start",
  "src/context/request-context.ts": "one statement as a transaction; the callers of statement() are listed below",
  "src/context/rate-limit.ts": "counts sign-in attempts, before authentication",
  "src/http/health.ts": "select 1",
  "src/server.ts": "passes the pool to the wake-up",
  "src/admin/open.ts": "passes the pool to the wake-up",
  "src/observability/process-gauges.ts": "counts events without a position, in all companies, and reads no content",
  "src/events/sequencer.ts": "gives positions in the log, reads no payload",
  "src/event-webhooks/fan-out.ts": "makes deliveries of the events of all companies: … on w.company_id = e.company_id",
  "src/events/wake-up.ts": "LISTEN and NOTIFY, no rows",
  "src/jobs/kit/agenda-store.ts": "Agenda's own pool on its own table, no rows of companies",
}

export const queriesRunInOnePlace = words(
  "src/",
  "A query of Kysely is run by runQuery(reader, query): it uses the transaction, pipelines concurrent statements, and prepares templates.",
  [/\.execute(?:Query|TakeFirst|TakeFirstOrThrow)?\(/g],
  (path) => path === "src/database/kit/transaction-connection.ts",
)

export const databaseKitStaysInside = imports(
  "src/",
  "Compiling, preparing and sending statements is internal to src/database/run-query.ts and the Reader. Use those.",
  (imported, path) => imported.startsWith("src/database/kit/") && !path.startsWith("src/database/"),
)

/** Callers of unscoped(), each with the reason why it reads across companies. */
export const unscopedCallers: Record<string, string> = {
  "src/context/authenticate.ts": "finds the company of credentials",
  "src/context/write-position.ts": "notes up to where a credential has written",
  "src/calls/receive.ts": "finds the company of a call, by the IDs in a report that its provider has signed",
  "src/calls/agent-tools.ts": "finds the company of a tool, by its ID in the URL; the secret of its assistant is checked then",
  "src/calls/gauges.ts": "counts calls of all companies, and reads no content",
  "src/channels/connection.ts":
    "finds the company of a connection, by the ID in a hook's URL; of assistants and chats only those of that company",
  "src/events/hub.ts": "reads the log once for all subscribers of this instance, and delivers to each only events of its companies",
  "src/events/transports/open-sockets.ts": "finds sockets of this instance whose credentials ended, in any company",
  "src/events/stream.ts": "replays the log for the companies of one subscriber, by company_id",
  "src/jobs/kit/worker.ts": "finds and counts due rows of all companies, each is then claimed in its own; renews the leases of its runs",
  "src/assistant/claim.ts": "claims due chats of several companies, each by its ID and its company",
  "src/jobs/lost-tool-calls.ts": "ends calls that a crash left pending, in all companies, only by age",
  "src/jobs/call-lines.ts": "finds companies with waiting calls; each gives its lines in its own company",
  "src/jobs/quiet-chats.ts": "finds quiet chats of all companies; each is then returned in its own company",
  "src/jobs/quiet-stretches.ts": "ends stretches in which nobody writes any more, in all companies, only by age",
  "src/jobs/keep-outcomes.ts": "finds the companies and time zones whose sums are kept; each is worked on in its own company",
  "src/jobs/add-up-chat-counts.ts": "adds up changes of numbers, each to those of its own company",
  "src/jobs/group-questions.ts": "finds questions that are in no group, in all companies; each is grouped in its own company",
  "src/jobs/ask-ratings.ts": "finds stretches whose customers are to be asked, in all companies; each is asked in its own company",
  "src/jobs/rebuild-stretches.ts": "makes stretches of the messages of chats, in all companies, each chat by its ID",
  "src/chats/stretch.ts": "the quiet hours of the installation",
  "src/knowledge/indexing.ts": "makes items with another embedding due, in all companies",
  "src/jobs/retention.ts": "deletes expired rows, in all companies",
  "src/admin/demo.ts": "is the database empty?",
  "src/event-webhooks/fan-out.ts": "is there an enabled endpoint in any company?",
  "src/event-webhooks/gauges.ts": "counts what waits, and endpoints, in all companies, and reads no content",
  "src/http/media.ts": "a signed address needs no company: the signature is the permission",
  "src/jobs/stray-files.ts": "finds stored files without a row in any company",
  "src/admin/encryption.ts": "the operator encrypts the secrets of all companies again",
  "src/admin/checks.ts": "the operator checks the counters of all companies",
  "src/admin/people.ts": "the operator lists all companies, users and subscriptions, or gives the id of a company",
  "src/admin/sessions.ts": "a session belongs to a user, who may have several companies",
  "src/admin/kit.ts": "the operator gives the id of a channel or a token, which has a company",
  "src/channels/early.ts": "asks for several companies whether something came before a message, by connections that were found before",
  "src/channels/delivery-statements.ts": "claims due chats of several companies, each by its ID and its company",
  "src/channels/hook-connection.ts":
    "finds the company of a connection, by the ID in a hook's URL, by a row, or by the account and the secret of its application",
}

/** Files with their own statements, each with its condition on the companies in reach. */
export const statementCallers: Record<string, string> = {
  "src/calls/delete.ts": "forget-answers-of-call: … companyId = any($2); a lock, no rows",
  "src/calls/statements.ts": "lock-voice-lines, count-calls-on-line and charge-call: … and company_id = any($2), of a company id = any($2)",
  "src/calls/provider-id.ts":
    "lock-provider-call: a lock, no rows; other-call-of-provider-id: whether a call of any company has an ID of its provider",
  "src/messages/create.ts": "append-message: … where company_id = any($6)",
  "src/messages/append.ts": "append-message, inside a transaction",
  "src/messages/inbound.ts":
    "append-inbound, append-from-widget: append-message with further conditions; the latter returns a connection as connection.ts does",
  "src/messages/first-inbound.ts": "open-inbound: … company_id = any($6)",
  "src/admin/demo-past.ts": "every one for the company that the transaction made, = any($2)",
  "src/admin/channels.ts": "retry-deliveries-of-channel: … where company_id = any($2)",
  "src/admin/delete-company.ts": "every one with … company_id = $1, the only company in reach; await-event-fan-out: a lock, no rows",
  "src/event-webhooks/endpoints.ts": "the end of the log, which has no company",
  "src/mcp-servers/call.ts": "mcp-server-of-tool: … company_id = any($2)",
  "src/event-webhooks/redeliver.ts": "redeliver-events and add-missed-event-deliveries: … company_id = any($2)",
  "src/event-webhooks/record.ts": "record-event-attempt: … company_id = any($2)",
  "src/event-webhooks/send.ts": "due-event-deliveries and next-due-event-delivery: … company_id = any($2)",
  "src/chats/chat-folder.ts": "lock-chats-of-folder: … company_id = any($2)",
  "src/chats/forget.ts": "await-event-fan-out: a lock, no rows",
  "src/channels/deliver.ts": "mark-sending and store-delivery-progress: … and company_id = any($2)",
  "src/channels/delivery-statements.ts": "store-sent-message: … and company_id = any($2)",
  "src/channels/known-customer.ts":
    "append-from-channel and append-from-channel-with-own-ids: append-inbound in the chat that it finds, … company_id = any($6)",
  "src/channels/message.ts": "stored-message: the company of the connection, which was found by its ID",
  "src/channels/pace.ts": "next-send-slot: … and company_id = any($2)",
  "src/channels/receive.ts": "note-inbound: … and company_id = any($2)",
  "src/channels/typing.ts": "typing-target: … and company_id = any($2)",
  "src/assistant/knowledge.ts": "spend-embedding-credit and give-embedding-credit-back: … company_id = any($2)",
  "src/knowledge/stored-vectors.ts": "a setting of pgvector, no rows",
  "src/assistant/claim.ts": "begin-turn: the chat that was locked before, by its ID and its company",
  "src/assistant/answer.ts": "append-answer: append-message with further conditions",
  "src/assistant/tool-statements.ts":
    "open-tool-call and record-tool-call: append-message with further conditions, and company_id = any($6)",
  "src/database/copy-rows.ts": "copies rows of the companies in reach: … and company_id = any(…)",
  "src/assistant/copy.ts": "the tools of an assistant: … and company_id = any($2)",
  "src/knowledge/copy.ts": "the items and chunks of an assistant: … and company_id = any($2)",
  "src/assistant/removal.ts": "free-quiet-chats and lock-calls-of-assistant: … and company_id = any($2)",
  "src/knowledge/index-store.ts": "every one with company_id = any(…)",
  "src/chats/chat-tag.ts": "the company of the chat or the tag that was found before, or company_id = any($2)",
  "src/outcomes/keep.ts": "every one with company_id = any($2); lock-outcome-day: a lock, no rows",
  "src/outcomes/keep-month.ts": "every one with company_id = any($2)",
  "src/outcomes/rating.ts": "every one with company_id = any($2)",
  "src/knowledge/question-groups.ts": "every one with the company and company_id = any(…); lock-question-groups: a lock, no rows",
  "src/knowledge/unanswered.ts": "close-unanswered-question, reopen-unanswered-question: … and company_id = any($2)",
  "src/chats/stretch.ts": "end-stretch: the chat that was found and locked before",
  "src/chats/read-state.ts": "since-our-last: the company of the chat that was found and locked before",
  "src/context/batches.ts": "runs the statements of chats/chat-tag, chats/chat-folder and chats/forget with the companies in reach",
  "src/context/idempotency.ts": "an advisory lock, no rows; forget-answers: of chats and files that were found and locked before",
  "src/context/media-quota.ts": "media-bytes-of-company: … and company_id = any($2)",
  "src/context/room.ts": "lock-company: … id = any($2)",
  "src/assistant/turn-size.ts": "lock-assistant and turn-size: … and company_id = any($2)",
  "src/context/request-context.ts": "passes on what the functions above run",
}

const listed = (pattern: RegExp, list: Record<string, string>, teaches: string) =>
  words("src/", teaches, [pattern], (path) => Object.hasOwn(list, path))

export const rawAccessIsListed = listed(
  /\bpool\.(?:query|connect)\(|\bdatabase\.pool\b|\bgetKysely\(|\bem\.execute\(|\bgetConnection\(|\bgetKnex\(|\bnew (?:Pool|Client)\(|\bqb\(|\bcreateQueryBuilder\(/g,
  rawAccess,
  "Raw access has no company filter. Read through context.reader or the EntityManager; a new exception is listed in test/kit/house-rules.ts with its reason.",
)

export const unscopedCallersAreListed = listed(
  /\bunscoped\(/g,
  { ...unscopedCallers, "src/database/unscoped.ts": "declares it" },
  "unscoped() reads all companies. List a new caller in test/kit/house-rules.ts with the reason why it has no company.",
)

export const statementCallersAreListed = listed(
  /\b(?:context|tx)\.(?:statement|run)\(|\bunit\.run\(/g,
  statementCallers,
  "A file's own statement needs `company_id = any(…)` with the companies in reach; list it in test/kit/house-rules.ts.",
)

export const scopeIsSetInOnePlace = words(
  "src/",
  "The company filter is on by default and gets its companies in scopedManager(). Nothing else sets it or turns it off.",
  [/\bsetFilterParams\(/g, /\bfilters:\s*(?:false|\{)/g, /\bdisableFilters?\b/g],
  (path) => path === "src/database/unit-of-work.ts",
)

/** Files with statements that write tables of audited entities, each with the reason why the audit trail lacks no entry. */
export const auditBypasses: Record<string, string> = {
  "src/outcomes/keep-day.ts": "tables of kept sums, which are not audited",
  "src/outcomes/keep.ts": "tables of kept sums, which are not audited",
  "src/chats/chat-tag.ts": "drop-tag-exclusion: recorded with unit.audit.changedByStatement()",
  "src/calls/statements.ts": "minutes that a call costs; what a person sets goes through the entity",
  "src/assistant/knowledge.ts": "credits that a search spends; what a person sets goes through the entity",
  "src/knowledge/indexing.ts": "makes indexing due",
  "src/channels/pace.ts": "when the next message may leave",
  "src/channels/receive.ts": "the time of the last message",
  "src/context/authenticate.ts": "the time of the last use",
  "src/event-webhooks/fan-out.ts": "when the next delivery is due",
  "src/event-webhooks/record.ts": "how many attempts failed, and since when; that it is disabled goes through the entity",
  "src/database/copy-rows.ts": "copies rows for the two below",
  "src/assistant/copy.ts": "tools that come with the copy of an assistant, whose entry stands for them",
  "src/knowledge/copy.ts": "knowledge that comes with the copy of an assistant, whose entry stands for it",
  "src/jobs/kit/work-statements.ts": "leases",
  "src/admin/encryption.ts": "the same secrets under another key",
  "src/admin/delete-company.ts": "the deletion of a company with its audit trail",
}

/** The tables of the audited entities. */
export const auditedTables: Record<string, string> = {
  Company: "company",
  Member: "member",
  Subscription: "subscription",
  AccessToken: "access_token",
  Assistant: "assistant",
  AssistantTool: "assistant_tool",
  McpServer: "mcp_server",
  Knowledge: "knowledge",
  Channel: "channel",
  EventWebhook: "event_webhook",
}

export const auditBypassesAreListed = words(
  "src/",
  "A change of an audited row goes through its entity, so that the audit trail has it. After a statement call unit.audit.changedByStatement(), and list the file in test/kit/house-rules.ts; or list it with the reason why no person changed the row.",
  [
    new RegExp(`\\b(?:insert into|update|delete from) (?:(?:${Object.values(auditedTables).join("|")})\\b|\\$\\{)`, "g"),
    new RegExp(`\\bnative(?:Update|Delete|Insert)\\((?:${Object.keys(auditedTables).join("|")}),`, "g"),
    /\bcopyRows(?:<.*>)?\(/g,
  ],
  (path) => Object.hasOwn(auditBypasses, path),
)

/** Jobs without a row of a company, each with its access to companies. */
export const sweeps: Record<string, string> = {
  "src/jobs/lost-tool-calls.ts": "reads the age of pending calls, in any company",
  "src/jobs/call-lines.ts": "finds companies with waiting calls, and gives lines in each",
  "src/jobs/quiet-chats.ts": "finds quiet chats, and returns each in its own company",
  "src/jobs/quiet-stretches.ts": "ends stretches by the age of their last message",
  "src/jobs/keep-outcomes.ts": "finds time zones in which sums are kept, and makes them in the company of each",
  "src/jobs/add-up-chat-counts.ts": "adds up changes of numbers, each to those of its own company",
  "src/jobs/group-questions.ts": "finds questions without a group, and groups them in the company of each",
  "src/jobs/ask-ratings.ts": "finds ended stretches that are to be rated, and asks in the company of each",
  "src/jobs/rebuild-stretches.ts": "makes stretches of each chat by its ID",
  "src/jobs/stray-files.ts": "compares files with rows",
  "src/jobs/retention.ts": "reads only the age of rows",
}

export const jobsGetACompany: Rule = {
  teaches:
    "A job is `export const name: Job = { name, async run(services, companyId, id) … }`, named like its file, and works in that company. Durable work on a row is `export const name = defineWork({ name, … })`, which claims in the row's company and sweeps. List another sweep in test/kit/house-rules.ts.",
  finds: ({ path, text }) => {
    const name = /^src\/jobs\/([a-z-]+)\.ts$/.exec(path)?.[1]
    if (!name || name === "limits" || Object.hasOwn(sweeps, path)) return []
    const isWork = /export const \w+ = defineWork\(\{/.test(text)
    const found: string[] = []
    if (!isWork && !/export const \w+: Job = \{/.test(text)) found.push("exports no Job and no work")
    if (!new RegExp(`name: "${name}"`).test(text)) found.push(`is not called "${name}"`)
    if (!isWork && !/\brun\(\w+, companyId, \w+\)/.test(text)) found.push("its run() takes no companyId")
    return found
  },
}

/** Numbers that are not limits: statuses of HTTP, milliseconds per second, bytes per kilobyte. */
const harmless = new Set([...Object.keys(STATUS_CODES).map(Number), 1000, 1024])

/** Files whose large numbers are not limits. */
export const numbersOfTheirOwn: Record<string, RegExp> = {
  // Timeouts of the embedded database.
  "src/database/embedded/.*": /./,
  // Keys of advisory locks.
  "src/database/migrate": /^7_304_211$/,
  "src/events/sequencer": /^7_304_212$/,
  "src/event-webhooks/fan-out": /^7_304_214$/,
  "src/database/vector-index": /^7_304_213$/,
  // The largest value of a column of type integer.
  "src/admin/people": /^2_147_483_647$/,
  // Close codes of WebSockets, and the longest time of a timer.
  "src/events/transports/(graphql-ws|open-sockets|socket)": /^(4\d{3}|10\d\d|2_147_483_647|2 \*\* 31)$/,
  "src/pages/browser/widget/live": /^4401$/,
  "src/pages/browser/inbox/kit/socket": /^4401$/,
  // Bounds of environment variables, and the default port.
  "src/config/environment": /^(65535|4000|1_000_000|100_000_000)$/,
  // Weights and lengths of the offline model.
  "src/ports/text-model/offline.*": /./,
  // Hashing and cache of the offline embedding.
  "src/ports/embedding/offline": /^(128|512|20_000)$/,
  // Meta's error codes.
  "src/ports/channel/meta-errors": /./,
  // Tones in hertz, and the middle of an 8-bit sample.
  "src/ports/voice/simulated-sound": /^(440|330|128)$/,
  // Statuses of SIP responses.
  "src/calls/outcome": /^(486|600|480)$/,
  // Codes of errors of JSON-RPC.
  "src/http/mcp": /^32[67]\d\d$|^32000$/,
  // The longest duration of a stop.
  "src/start": /^15_000$/,
}

export const limitsStandInLimits: Rule = {
  teaches:
    "Every number of the specification is defined once, in the limits.ts of its folder, with its reason. List a number that is not a limit in test/kit/house-rules.ts.",
  finds: ({ path, text }) => {
    if (!path.startsWith("src/") || !/\.tsx?$/.test(path) || /^src\/(?:[\w-]+\/)*limits\.ts$/.test(path)) return []
    // Without regular expressions, strings and template literals.
    const bare = codeOf(text)
      .replace(/`(?:[^`\\]|\\.)*`/gs, "``")
      .replace(/"(?:[^"\\\n]|\\.)*"/g, '""')
      .replace(/(?<=[(=,:]\s*)\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g, "//")
    const numbers = [...bare.matchAll(/(?<![\w.$#])\d[\d_]{2,}(?![\w.])/g)].map(([number]) => number)
    const own = Object.entries(numbersOfTheirOwn).find(([file]) => new RegExp(`^${file}\\.ts$`).test(path))?.[1]
    return numbers
      .filter((number) => !harmless.has(Number(number.replaceAll("_", ""))) && !own?.test(number))
      .map((number) => `has the number ${number}`)
  },
}

/** Limits that no code uses. */
export function unusedLimits(sources: Source[]): string[] {
  const holdsLimits = ({ path }: Source) => /(^|\/)limits\.ts$/.test(path)
  const names = sources.filter(holdsLimits).flatMap(({ text }) => [...text.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name!))
  const users = sources.filter((source) => !holdsLimits(source)).map(({ text }) => codeOf(text))
  const use = (name: string) => new RegExp(`[lL]imits\\.${name}\\b|\\{[^{}]*\\b${name}\\b[^{}]*\\} = \\w*[lL]imits\\b`)
  return names.filter((name) => !users.some((text) => use(name).test(text)))
}

/** The most lines of a file. */
const lineLimit = 330

export const filesAreShort: Rule = {
  teaches: `A file has at most ${lineLimit} lines: a longer one has more than one subject, so split it.`,
  finds: ({ path, text }) => {
    const lines = text.trimEnd().split("\n").length
    return path.startsWith("src/") && lines > lineLimit ? [`has ${lines} lines`] : []
  },
}

/** The folder of a file in src, or the file itself in src; `kit/` and adapters belong to their folder. */
const folderOf = (path: string) => {
  const folder = posix.dirname(path).replace(/^src\/?/, "")
  if (folder === "") return path
  return folder.startsWith("ports") ? "ports" : folder.replace(/\/kit$/, "")
}

/** Folders of src that import one another in a circle, with the imports that close it; type imports count. */
export function folderCircles(sources: Source[]): string[] {
  const edges = new Map<string, Map<string, string>>()
  for (const source of sources.filter(({ path }) => path.startsWith("src/") && /\.tsx?$/.test(path))) {
    const from = folderOf(source.path)
    for (const imported of importsOf(source).filter(isOurs)) {
      const to = folderOf(imported)
      if (to === from) continue
      if (!edges.has(from)) edges.set(from, new Map())
      edges.get(from)!.set(to, `${source.path} imports ${imported}`)
    }
  }
  const reached = (from: string) => {
    const seen = new Set<string>()
    const open = [from]
    for (let at = open.pop(); at !== undefined; at = open.pop())
      for (const next of edges.get(at)?.keys() ?? []) if (!seen.has(next) && seen.add(next)) open.push(next)
    return seen
  }
  const all = new Map([...edges.keys()].map((folder) => [folder, reached(folder)]))
  return [...edges].flatMap(([from, targets]) => [...targets].flatMap(([to, why]) => (all.get(to)?.has(from) ? [why] : [])))
}

export const foldersHaveSubjects: Rule = {
  teaches:
    "A folder named services, utils, helpers, common or shared says nothing. Put the code into the folder of its feature, or into that folder's kit/.",
  finds: ({ path }) =>
    /^src\/(?:.*\/)?(services|utils?|helpers?|common|shared|misc|lib)\//.test(path) ? ["is in a folder without a subject"] : [],
}

export const noBarrels: Rule = {
  teaches: "Import from the file that declares it. The only index.ts is src/ports/index.ts, where adapters are chosen.",
  finds: ({ path, text }) => {
    if (!path.startsWith("src/") || path === "src/ports/index.ts") return []
    return /\/index\.ts$/.test(path) || /^export \* from/m.test(text) ? ["is a barrel"] : []
  },
}

export const nothingIsLeftOver: Rule = {
  teaches: "Finish it, or file an issue; the code has no notes about work to do.",
  finds: ({ path, text }) => [
    ...(path.startsWith("docs/") ? [] : [...text.matchAll(/\b(?:TO[D]O|FIX[M]E|X{3}|HA[C]K)\b/g)].map(([word]) => `has ${word}`)),
    ...[...text.matchAll(/\b(?:describe|it|test)\.only\(/g)].map(([word]) => `has ${word}`),
  ],
}

/** Pages that show how to configure clients of MCP, with the names of these. */
const namesClients = ["README.md", "docs/mcp-server.md"]

export const nothingOfThisMachine: Rule = {
  teaches: "The repository has no path of a developer's machine and no mention of who or what wrote it. Tests create folders with mkdtemp.",
  finds: ({ path, text: whole }) => {
    const text = namesClients.includes(path) ? whole.replace(/\bClaude[ ]Code\b/g, "") : whole
    return [
      ...text.matchAll(/(?<![\w.:*-])\/(?:work|tmp|root|home|Users)\/[\w.-]+/g),
      ...text.matchAll(/\b(?:co[- ]authored[- ]by|generated\swith|claude\s(?:code|opus)|chat\s?gpt|(?:work|helper|agent)\ssession)\b/gi),
    ].map(([found]) => `has ${found}`)
  },
}
