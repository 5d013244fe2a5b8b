import { randomBytes } from "node:crypto"
import { join } from "node:path"
import type { Size } from "../fill.js"
import { ensureFilled, filledNames, isSchemaOther } from "../filled.js"
import { dataDir, openPostgres } from "../postgres.js"
import { canPin, cores, pinPostgres, postmasterOf } from "../processes.js"
import { earlierVersion } from "../requests.js"
import { type BenchCompany, createCompanies, prepare } from "./fixtures.js"
import { Helper } from "./helper.js"
import type { TurnOptions } from "./options.js"
import { type Contestant, contestantsOf, type Side, startSide } from "./sides.js"

const template = "bench_turns"
const templates: Partial<Record<Contestant, string>> = { before: `${template}_earlier`, "a tenth": `${template}_tenth` }
const templateOf = (contestant: Contestant) => templates[contestant] ?? template

/** What the workloads share: PostgreSQL, the contestants, the stand-ins for the model and the endpoint, and the generators of load. */
export interface Deployment {
  contestants: readonly Contestant[]
  jwtSecret: string
  postmaster: number | null
  standIns: Helper
  load: Helper
  person: Helper
  say(line: string): void
  /** Starts contestants, each on a new copy of the database, until the stack is closed. */
  start(stack: AsyncDisposableStack, which: readonly Contestant[], environment: NodeJS.ProcessEnv, isCounting?: boolean): Promise<Side[]>
}

/** What the database holds before the run; null for a new one. With a tenth there is another one with a tenth of the chats. */
type Filling = Pick<TurnOptions, "size"> & Partial<Pick<TurnOptions, "isWithTenth">>

/** Opens PostgreSQL, creates the companies in new databases or in copies of filled ones, and starts the helpers. */
export async function openDeployment(
  stack: AsyncDisposableStack,
  { size, isWithTenth = false }: Filling,
  say: (line: string) => void,
): Promise<Deployment> {
  const { admin, urlOf, create } = await openPostgres(stack, say)
  const postmaster = postmasterOf((await admin.query("select pg_backend_pid() as pid")).rows[0].pid)
  if (!canPin || !postmaster || !pinPostgres(postmaster, cores.rest)) say("not everything is pinned to its core, so the figures say less")

  const helper = (file: string) => {
    const started = Helper.start(file)
    stack.defer(() => started.stop())
    return started
  }
  const [standIns, load, person] = [helper("stand-ins.ts"), helper("load.ts"), helper("person.ts")]
  const { url: standInUrl } = await standIns.ask<{ url: string }>("address")
  const jwtSecret = randomBytes(32).toString("hex")
  const shared = {
    NODE_ENV: "production",
    HOST: "127.0.0.1",
    DATA_DIR: join(dataDir, "turns"),
    JWT_SECRET: jwtSecret,
    ENCRYPTION_KEY: randomBytes(32).toString("hex"),
    // What fails is seen in the rows and reported.
    LOG_LEVEL: process.env["BENCH_LOG_LEVEL"] ?? "fatal",
    RATE_LIMIT_PER_MINUTE: "0",
    RATE_LIMIT_ANONYMOUS_PER_MINUTE: "0",
    // Every new visitor has an address of its own.
    TRUST_PROXY: "1",
    ALLOW_PRIVATE_NETWORK: "true",
    OPENAI_BASE_URL: `${standInUrl}/v1`,
    // Read by the reference; ours reads it from the connection.
    DELIVERY_URL: `${standInUrl}/deliver`,
    OPENAI_API_KEY: "bench",
    OPENAI_MODEL: "stand-in",
  }

  /** By template. */
  const companies = new Map<string, BenchCompany[]>()

  const start: Deployment["start"] = async (sides, which, more, isCounting) => {
    // An interrupted run ends them too, before PostgreSQL.
    stack.defer(() => sides.disposeAsync())
    const started: Side[] = []
    for (const contestant of which) {
      const name = `${template}_${contestant.replace(" ", "_")}`
      await create(name, templateOf(contestant))
      const side = { contestant, companies: companies.get(templateOf(contestant))! }
      started.push(await startSide(sides, side, { ...shared, ...more, DATABASE_URL: urlOf(name) }, isCounting))
    }
    return started
  }

  /** Makes the template of this version from that of the earlier one, whose schema may be older. */
  const migrated = async () => {
    await using stack = new AsyncDisposableStack()
    await create(template, templateOf("before"))
    await startSide(stack, { contestant: "ours", companies: [] }, { ...shared, DATABASE_URL: urlOf(template) })
    companies.set(template, companies.get(templateOf("before"))!)
  }

  /** Makes a contestant's template: a new database or a copy of a filled one, with the companies. */
  const made = async (contestant: Contestant, of: Size | null) => {
    if (of) await ensureFilled({ admin, urlOf, size: of, say })
    await create(templateOf(contestant), of ? filledNames(of)[contestant === "before" && isSchemaOther ? "before" : "ours"] : "template1")
    await using setUp = new AsyncDisposableStack()
    const environment = { ...shared, DATABASE_URL: urlOf(templateOf(contestant)) }
    const { url } = await startSide(setUp, { contestant, companies: [] }, environment)
    companies.set(templateOf(contestant), await createCompanies(environment, url, standInUrl))
    await setUp.disposeAsync()
    await prepare(environment.DATABASE_URL)
  }

  say("creating companies …")
  await made(earlierVersion ? "before" : "ours", size)
  if (earlierVersion) await migrated()
  if (isWithTenth && size) await made("a tenth", { ...size, chats: size.chats / 10 })
  return { contestants: contestantsOf(isWithTenth), jwtSecret, postmaster, standIns, load, person, say, start }
}
