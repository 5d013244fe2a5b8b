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

/** A rule of the house: what it says to whoever breaks it, and how it finds out. */
export interface Rule {
  /** Why, and what to do instead. */
  teaches: string
  /** What in the file breaks it. */
  finds(source: Source): string[]
}

/** The root of the repository. */
export const root = `${process.cwd()}/`
const notOurs = new Set(["node_modules", "dist", "data", "coverage", ".git", ".cache"])

/** Every text file below a folder of the repository. */
export function sourcesBelow(folder: string, ending = /\.(ts|js|json|md|html|css|svg|yml|graphql|example)$|Dockerfile$/): Source[] {
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

/** Holds every file against a rule; each complaint names the file, what it does, and the rule. */
export const complaints = (rule: Rule, sources: Source[]): string[] =>
  sources.flatMap((source) => rule.finds(source).map((found) => `${source.path}: ${found}\n  ${rule.teaches}`))

/** The code without its comments. */
const code = (text: string) => text.replace(/\/\*.*?\*\//gs, "").replace(/(^|\s)\/\/.*$/gm, "$1")

/** What a file imports: our own files by their path from the root, packages by their name. */
function importsOf({ path, text }: Source): string[] {
  const named = [...code(text).matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, name]) => name!)
  return named.map((name) => (name.startsWith(".") ? posix.join(posix.dirname(path), name).replace(/\.js$/, ".ts") : name))
}

/** The packages that a file imports, without the paths inside them and without what Node has itself. */
export function packagesOf({ text }: Source): string[] {
  const statements = /^\s*(?:import|export)\b(?:[^"';(]*?\bfrom)?\s*"([^"]+)"|\bimport\(\s*"([^"]+)"/gm
  const names = [...code(text).matchAll(statements)].map(([, name, later]) => (name ?? later)!)
  return names.flatMap((name) => (isBuiltin(name) ? [] : (/^(@[\w-]+\/)?[\w-][\w.-]*(?=\/|$)/.exec(name)?.[0] ?? [])))
}

const isOurs = (imported: string) => imported.startsWith("src/")

/** A rule about what the files of a room may import. */
const imports = (room: string, teaches: string, isRefused: (imported: string, path: string) => boolean): Rule => ({
  teaches,
  finds: (source) =>
    source.path.startsWith(room)
      ? importsOf(source)
          .filter((imported) => isRefused(imported, source.path))
          .map((imported) => `imports ${imported}`)
      : [],
})

/** A rule about words in the code of a room. */
const words = (room: string, teaches: string, patterns: RegExp[], isExcused: (path: string) => boolean = () => false): Rule => ({
  teaches,
  finds: ({ path, text }) =>
    path.startsWith(room) && !isExcused(path)
      ? patterns.flatMap((pattern) => [...code(text).matchAll(pattern)].map(([found]) => `has ${found.trim()}`))
      : [],
})

export const entitiesStandAlone = imports(
  "src/entities/",
  "An entity is a noun with its rules. It knows errors and other entities; what it needs from outside is handed to its methods.",
  (imported) => isOurs(imported) && !/^src\/(entities\/|errors\.ts$)/.test(imported),
)

export const restKnowsDocuments = imports(
  "src/rest/",
  "A REST route is a row of data: an address and a GraphQL document. What it does is a root field of the schema; add or change that instead.",
  (imported) => isOurs(imported) && !/^src\/(rest\/|graphql\/|context\/(limits|access|refuse-nul)\.ts$|errors\.ts$)/.test(imported),
)

const transactions = [/\.(begin|commit|rollback|transactional)\(/g, /\brunInTransaction\(/g, /\bnew UnitOfWork\(/g, /\binTransaction\(/g]

export const resolversOpenNoTransaction = words(
  "src/resolvers/",
  "The access wrapper runs a mutation as one unit of work. A mutation in several steps says @Access(…, { transaction: 'manual' }) and uses context.transaction().",
  transactions,
)

export const resolversPublishNothing = words(
  "src/resolvers/",
  "Let the entity record a fact: it becomes an event row in the transaction and is told after the commit. Only revoked credentials are told by hand.",
  [/\.publish\((?!\s*"credentials")/g, /\bpg_notify\b/g, /\bsequencer\b/g],
)

export const resolversEnqueueNothing = words(
  "src/resolvers/",
  "Work to come is a state and a due time on the entity's own row; its method notes the wake-up, and the clock hears of it after the commit.",
  [/\bscheduler\b/g, /\bagenda\b/gi, /(?<!scheduler)\.schedule\(/g, /\brunning\.add\(/g, /"(?:\.\.\/)+jobs\/[^"]*"/g],
)

export const resolversTouchNoPort = imports(
  "src/resolvers/",
  "Nothing outside the database is waited for in a resolver. Use what context.services holds, in a mutation of several steps, or leave it to a job.",
  (imported) => imported.startsWith("src/ports/"),
)

/** String and template literals of code. */
const literals = /`(?:[^`\\]|\\.)*`|"(?:[^"\\\n]|\\.)*"/gs
const statement = /\b(?:select\b.*\bfrom|insert\s+into|update\b.*\bset|delete\s+from)\b/is

export const resolversHoldNoSql: Rule = {
  teaches:
    "A resolver finds, calls and returns. A statement stands in the folder of its subject (chats/, messages/, assistant/, knowledge/), in a function that the root field calls.",
  finds: ({ path, text }) =>
    path.startsWith("src/resolvers/")
      ? [...code(text).matchAll(literals)].flatMap(([literal]) =>
          statement.test(literal) ? [`has ${literal.slice(0, literalShown)}`] : [],
        )
      : [],
}

/** How much of a statement a complaint shows. */
const literalShown = 60

/** The kind of an adapter; what kinds have in common, `kit/`, is no adapter. */
const kindOf = (path: string) => /^src\/ports\/(?!kit\/)([^/]+)\//.exec(path)?.[1]

export const adaptersKnowTheirInterface: Rule = {
  teaches:
    "An adapter knows its interface, its neighbours, the kit, errors and limits. It is handed options and values, never rows, the mapper or the pool.",
  finds: (source) => {
    const kind = kindOf(source.path)
    if (!kind) return []
    const isAllowed = (imported: string) =>
      isOurs(imported)
        ? imported === `src/ports/${kind}.ts` ||
          kindOf(imported) === kind ||
          /^src\/(errors\.ts$|ports\/limits\.ts$|ports\/kit\/)/.test(imported)
        : !/^(@mikro-orm\/|kysely$|pg$|type-graphql$|agenda$)/.test(imported)
    return importsOf(source)
      .filter((imported) => !isAllowed(imported))
      .map((imported) => `imports ${imported}`)
  },
}

export const adaptersAreChosenInOnePlace = imports(
  "src/",
  "Adapters are chosen in src/ports/index.ts. Everybody else knows the interface, src/ports/<kind>.ts.",
  (imported, path) => kindOf(imported) !== undefined && path !== "src/ports/index.ts" && kindOf(path) !== kindOf(imported),
)

/** Files that reach the database past the mapper's filter, each with what keeps the company border there. */
export const rawAccess: Record<string, string> = {
  "src/database/connect.ts": "opens the one pool",
  "src/database/heartbeat.ts": "asks whether the database answers, and listens; no rows",
  "src/database/unscoped.ts": "the one door past the border; its callers are listed below",
  "src/database/unit-of-work.ts": "the query builder of a scoped unit, for planned reads, which are narrowed by Reader.scoped()",
  "src/database/kit/pipelined.ts": "runs what the planned reads hand it, which Reader has narrowed",
  "src/database/migrate.ts": "changes the schema under a lock, reads no rows",
  "src/database/vector-index.ts": "asks whether there is pgvector, makes an index, reads no rows of ours",
  "src/database/embedded/init.ts": "makes the database itself",
  "src/database/embedded/start.ts": "asks a database that starts whether it answers",
  "src/context/request-context.ts": "one statement as a whole unit; the callers of statement() are listed below",
  "src/context/sign-in-limit.ts": "counts attempts of people who are nobody yet",
  "src/http/health.ts": "select 1",
  "src/server.ts": "lends the pool to the wake-up",
  "src/admin/open.ts": "lends the pool to the wake-up",
  "src/observability/process-gauges.ts": "counts events without a position, in all companies, and reads no content",
  "src/events/sequencer.ts": "gives places in the log, looks at no payload",
  "src/events/wake-up.ts": "LISTEN and NOTIFY, no rows",
  "src/jobs/kit/scheduler.ts": "Agenda's own pool on its own table, no rows of ours",
}

export const queriesRunInOnePlace = words(
  "src/",
  "A query of Kysely is run by runQuery(reader, query): it knows the transaction, sends together what is started together, and prepares templates.",
  [/\.execute(?:Query|TakeFirst|TakeFirstOrThrow)?\(/g],
  (path) => path === "src/database/kit/in-transaction.ts",
)

export const databaseKitStaysInside = imports(
  "src/",
  "How statements are compiled, prepared and sent stands behind src/database/run-query.ts and the Reader. Use those.",
  (imported, path) => imported.startsWith("src/database/kit/") && !path.startsWith("src/database/"),
)

/** Who reads past the company border by name, and why it must. */
export const unscopedCallers: Record<string, string> = {
  "src/context/authenticate.ts": "whose credentials are these? The company is the answer",
  "src/channels/connection.ts": "whose connection is this? The company is the answer",
  "src/events/hub.ts": "reads the log once for all subscribers of this instance, and tells each only of its own companies",
  "src/events/transports/open-sockets.ts": "which of this instance's sockets have credentials that ended, in any company",
  "src/events/stream.ts": "replays the log for the companies of one subscriber, by company_id",
  "src/jobs/kit/worker.ts": "what is due, and how much, in all companies; each row is then claimed inside its own",
  "src/jobs/lost-tool-calls.ts": "ends what a crash left pending, in all companies, by its age alone",
  "src/jobs/quiet-chats.ts": "which chats have been quiet, in all companies; each is then given back inside its own",
  "src/knowledge/indexing.ts": "which items are indexed by another embedding, in all companies; they become due",
  "src/jobs/retention.ts": "clears away what is kept for a time only, in all companies",
  "src/admin/demo.ts": "is the database empty?",
  "src/http/media.ts": "whoever holds a signed address needs no company: the signature is the permission",
  "src/jobs/stray-files.ts": "which stored files have a row, in any company",
  "src/admin/encryption.ts": "the operator seals the secrets of all companies anew",
  "src/admin/checks.ts": "the operator proves the books of all companies",
  "src/admin/people.ts": "the operator lists all companies, or names one by its id",
  "src/admin/connections.ts": "the operator names a channel or a token by its id; the company is the answer",
}

/** Who hands over a statement of its own, which has to name the companies in reach. */
export const statementCallers: Record<string, string> = {
  "src/messages/create.ts": "append-message: … where company_id = any($6)",
  "src/messages/append.ts": "append-message, inside a unit",
  "src/assistant/knowledge.ts": "spend-embedding-credit and give-embedding-credit-back: … company_id = any($2)",
  "src/knowledge/stored-vectors.ts": "how pgvector scans, no rows",
  "src/jobs/kit/worker.ts": "renew-lease-…: … and company_id = any($3)",
  "src/database/copy-rows.ts": "copies rows of the companies in reach: … and company_id = any(…)",
  "src/assistant/copy.ts": "the tools of an assistant: … and company_id = any($2)",
  "src/knowledge/copy.ts": "the items and chunks of an assistant: … and company_id = any($2)",
  "src/assistant/removal.ts": "free-quiet-chats: … and company_id = any($2)",
  "src/knowledge/index-store.ts": "every one with company_id = any(…)",
  "src/chats/chat-tag.ts": "the company of the chat or the tag that the unit has found, or company_id = any($2)",
  "src/chats/read-state.ts": "since-our-last: the company of the chat that the unit has found and locked",
  "src/context/batches.ts": "runs the statements of chats/chat-tag and chats/chat-folder with the companies in reach",
  "src/context/idempotency.ts": "an advisory lock, no rows",
  "src/context/request-context.ts": "hands on to the unit what the functions above run",
}

const listed = (pattern: RegExp, list: Record<string, string>, teaches: string) =>
  words("src/", teaches, [pattern], (path) => Object.hasOwn(list, path))

export const rawAccessIsListed = listed(
  /\bpool\.(?:query|connect)\(|\bdatabase\.pool\b|\bgetKysely\(|\bem\.execute\(|\bgetConnection\(|\bgetKnex\(|\bnew (?:Pool|Client)\(|\bqb\(|\bcreateQueryBuilder\(/g,
  rawAccess,
  "Raw access does not know the company border. Read through context.reader or the unit's EntityManager; a new exception is listed in test/kit/house-rules.ts with its reason.",
)

export const unscopedCallersAreListed = listed(
  /\bunscoped\(/g,
  { ...unscopedCallers, "src/database/unscoped.ts": "declares it" },
  "unscoped() sees every company. A new caller is listed in test/kit/house-rules.ts with the reason why it has no company.",
)

export const statementCallersAreListed = listed(
  /\b(?:context|tx)\.(?:statement|run)\(|\bunit\.run\(/g,
  statementCallers,
  "A statement of one's own has to carry `company_id = any(…)` with the companies in reach; it is listed in test/kit/house-rules.ts.",
)

export const scopeIsSetInOnePlace = words(
  "src/",
  "The filter that keeps companies apart is on by default and gets its companies in scopedManager(). Nothing else sets it or turns it off.",
  [/\bsetFilterParams\(/g, /\bfilters:\s*(?:false|\{)/g, /\bdisableFilters?\b/g],
  (path) => path === "src/database/unit-of-work.ts",
)

/** Jobs on nobody's row, each with where the company comes from. */
export const sweeps: Record<string, string> = {
  "src/jobs/lost-tool-calls.ts": "looks at the age of what is pending, in any company",
  "src/jobs/quiet-chats.ts": "finds quiet chats, and gives each back inside its own company",
  "src/jobs/stray-files.ts": "looks at files and at whether they have a row",
  "src/jobs/retention.ts": "looks at no company's data, only at its age",
}

export const jobsGetACompany: Rule = {
  teaches:
    "A job is `export const name: Job = { name, async run(services, companyId, id) … }`, called like its file, and works inside that company. What is due on a row is `export const name = defineWork({ name, … })`, which claims inside the row's company and sweeps. Another sweep is listed in test/kit/house-rules.ts.",
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

/** Numbers that are no limits: statuses of HTTP, milliseconds in a second, bytes in a kilobyte. */
const harmless = new Set([...Object.keys(STATUS_CODES).map(Number), 1000, 1024])

/** Files whose large numbers are nobody's limit. */
export const numbersOfTheirOwn: Record<string, RegExp> = {
  // How the embedded database is started, stopped and waited for.
  "src/database/embedded/.*": /./,
  // Names of advisory locks.
  "src/database/migrate": /^7_304_211$/,
  "src/events/sequencer": /^7_304_212$/,
  "src/database/vector-index": /^7_304_213$/,
  // What a column of type integer holds.
  "src/admin/people": /^2_147_483_647$/,
  // Close codes of WebSockets, and what a timer can hold.
  "src/events/transports/(graphql-ws|open-sockets)": /^(4\d{3}|10\d\d|2_147_483_647|2 \*\* 31)$/,
  "src/resolvers/event": /^10\d\d$/,
  // What a variable of the environment can be set to, and the port that is free on most machines.
  "src/environment": /^(65535|4000|1_000_000|100_000_000)$/,
  // How the offline model weighs and cuts what it knows.
  "src/ports/text-model/offline.*": /./,
  // How the offline embedding hashes, and the words that it remembers.
  "src/ports/embedding/offline": /^(128|512|20_000)$/,
  // How long a stop may take.
  "src/main": /^15_000$/,
}

export const limitsStandInLimits: Rule = {
  teaches:
    "Every number of the specification is named once, in the limits.ts of its folder, with its reason. What is no limit is listed in test/kit/house-rules.ts.",
  finds: ({ path, text }) => {
    if (!path.startsWith("src/") || !path.endsWith(".ts") || /^src\/(?:\w+\/)*limits\.ts$/.test(path)) return []
    // Regular expressions, strings and template literals are no arithmetic.
    const bare = code(text)
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

/** Limits that no code keeps, of all the files that hold limits. */
export function unusedLimits(sources: Source[]): string[] {
  const holdsLimits = ({ path }: Source) => /(^|\/)limits\.ts$/.test(path)
  const names = sources.filter(holdsLimits).flatMap(({ text }) => [...text.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name!))
  const users = sources.filter((source) => !holdsLimits(source)).map(({ text }) => code(text))
  const use = (name: string) => new RegExp(`[lL]imits\\.${name}\\b|\\{[^{}]*\\b${name}\\b[^{}]*\\} = \\w*[lL]imits\\b`)
  return names.filter((name) => !users.some((text) => use(name).test(text)))
}

/** The most lines that a file may have and still be read in one go. */
const lineLimit = 330

export const filesAreShort: Rule = {
  teaches: `A file has at most ${lineLimit} lines: it holds more than one thing, so give the second a file of its own.`,
  finds: ({ path, text }) => {
    const lines = text.trimEnd().split("\n").length
    return path.startsWith("src/") && lines > lineLimit ? [`has ${lines} lines`] : []
  },
}

/** A folder of src, or a file in src itself; `kit/` and adapters belong to their folder. */
const folderOf = (path: string) => {
  const folder = posix.dirname(path).replace(/^src\/?/, "")
  if (folder === "") return path
  return folder.startsWith("ports") ? "ports" : folder.replace(/\/kit$/, "")
}

/** Folders of src that import one another in a circle, with the imports that close it; type imports count. */
export function folderCircles(sources: Source[]): string[] {
  const edges = new Map<string, Map<string, string>>()
  for (const source of sources.filter(({ path }) => path.startsWith("src/") && path.endsWith(".ts"))) {
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

export const roomsHaveNames: Rule = {
  teaches:
    "A folder called services, utils, helpers, common or shared says nothing. Put the code into the room of its feature, machinery into that room's kit/.",
  finds: ({ path }) =>
    /^src\/(?:.*\/)?(services|utils?|helpers?|common|shared|misc|lib)\//.test(path) ? ["is in a room without a name"] : [],
}

export const noBarrels: Rule = {
  teaches: "Import from the file that has it. The only index.ts is src/ports/index.ts, where adapters are chosen.",
  finds: ({ path, text }) => {
    if (!path.startsWith("src/") || path === "src/ports/index.ts") return []
    return /\/index\.ts$/.test(path) || /^export \* from/m.test(text) ? ["is a barrel"] : []
  },
}

export const nothingIsLeftOver: Rule = {
  teaches: "Finish it, or write it down as an issue; the code holds what is.",
  finds: ({ path, text }) => [
    ...(path.startsWith("docs/") ? [] : [...text.matchAll(/\b(?:TO[D]O|FIX[M]E|X{3}|HA[C]K)\b/g)].map(([word]) => `has ${word}`)),
    ...[...text.matchAll(/\b(?:describe|it|test)\.only\(/g)].map(([word]) => `has ${word}`),
  ],
}

export const nothingOfThisMachine: Rule = {
  teaches:
    "The repository holds the product: no path of the machine it was written on, no trace of who or what wrote it. Tests make folders with mkdtemp.",
  finds: ({ text }) =>
    [
      ...text.matchAll(/(?<![\w.:*-])\/(?:work|tmp|root|home|Users)\/[\w.-]+/g),
      ...text.matchAll(/\b(?:co[- ]authored[- ]by|generated\swith|claude\s(?:code|opus)|chat\s?gpt|(?:work|helper|agent)\ssession)\b/gi),
    ].map(([found]) => `has ${found}`),
}
