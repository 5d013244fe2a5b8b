import { createHash, randomBytes } from "node:crypto"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { administer, Instance, killAll } from "../../test/kit/campaign/instance.js"
import { Postgres } from "../../test/kit/campaign/postgres.js"
import { must, sleep, until } from "../../test/kit/campaign/wait.js"
import { copyBuild, type MutationName } from "./builds.js"
import { Listener } from "./listener.js"
import { SlowModel } from "./model.js"

const template = "faults_template"

/** The company of every deployment, and the position of its log when it was copied. */
export interface CompanyFixture {
  companyId: string
  token: string
  widgetId: string
  /** Resume cursor before everything that happens in a deployment. */
  origin: string
}

/** Before there is a company. */
const bare: CompanyFixture = { companyId: "", token: "", widgetId: "", origin: "" }

/** A database with its company, a model, and servers on both. */
export interface Deployment extends CompanyFixture {
  model: SlowModel
  /** Shared by all deployments: stopped only by a campaign that runs alone. */
  postgres: Postgres
  // biome-ignore lint/suspicious/noExplicitAny: rows of any shape.
  sql(text: string, values?: unknown[]): Promise<any[]>
  /** Opens a separate connection, for a lock. */
  connection(): Promise<pg.Client>
  /** Runs a command of the administration; `more` adds to its environment. Returns what it printed. */
  // biome-ignore lint/suspicious/noExplicitAny: each command prints its own object.
  administer(args: string[], more?: Record<string, string>): Promise<any>
  /** Starts a server; `more` adds to its environment. */
  start(name: string, more?: Record<string, string>): Promise<Instance>
  /** A subscriber from the start of the deployment on. */
  listen(url: () => string, credentials: Record<string, string>, onEvent?: () => void): Listener
  /** What the servers logged. */
  log(): string
  close(): Promise<void>
}

/** What all campaigns share: one PostgreSQL, the builds, and a database to copy. */
export interface TestBed {
  deployment(without?: MutationName): Promise<Deployment>
  close(): Promise<void>
}

/** Opens the test bed: an embedded PostgreSQL in a new folder, with a template database that has one company. */
export async function openTestBed(): Promise<TestBed> {
  const folder = mkdtempSync(join(tmpdir(), "platform-faults-"))
  // PostgreSQL does not run as root: its user must be able to enter the folder.
  chmodSync(folder, 0o755)
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const builds = new Map<MutationName | undefined, Promise<string>>()
  const buildOf = (without?: MutationName) => {
    const build = builds.get(without) ?? copyBuild(folder, without)
    builds.set(without, build)
    return build
  }
  try {
    const postgres = await Postgres.open(join(folder, "data"))
    // The speed of the machine includes that of its transactions.
    process.env["TEST_DATABASE_URL"] = postgres.url
    const close = async () => {
      killAll()
      await postgres.close()
      remove()
    }
    try {
      await postgres.createDatabase(template)
      const setUp = await openDeployment(postgres, template, await buildOf(), bare)
      const company = await createCompany(setUp).finally(() => setUp.close())
      return {
        close,
        async deployment(without) {
          const name = `deployment_${randomBytes(4).toString("hex")}`
          await postgres.createDatabase(name, template)
          return openDeployment(postgres, name, await buildOf(without), company)
        },
      }
    } catch (error) {
      await close()
      throw error
    }
  } catch (error) {
    remove()
    throw error
  }
}

async function openDeployment(postgres: Postgres, name: string, build: string, company: CompanyFixture): Promise<Deployment> {
  const address = new URL(postgres.url)
  address.pathname = `/${name}`
  const model = await SlowModel.start()
  const pool = new pg.Pool({ connectionString: address.href, max: 5 })
  pool.on("error", () => {})
  const instances: Instance[] = []
  const listeners: Listener[] = []
  const env = environment(address.href, model.url)
  return {
    ...company,
    model,
    postgres,
    sql: async (text, values) => (await pool.query(text, values)).rows,
    async connection() {
      const client = new pg.Client({ connectionString: address.href })
      // A campaign that failed may leave it open, and the next one stops PostgreSQL.
      client.on("error", () => {})
      await client.connect()
      return client
    },
    administer: (args, more = {}) => administer(build, { ...env, ...more }, args),
    start(instance, more = {}) {
      // The key tells the model which instance calls.
      const made = new Instance(instance, build, { ...env, OPENAI_API_KEY: instance, ...more })
      instances.push(made)
      return made.start()
    },
    listen(url, credentials, onEvent) {
      const listener = new Listener(url, credentials, company.origin, onEvent)
      listeners.push(listener)
      return listener
    },
    log: () => instances.map(({ name, log }) => log.replace(/^(?=.)/gm, `${name}: `)).join(""),
    async close() {
      for (const listener of listeners) listener.close()
      await Promise.all(instances.map((instance) => instance.kill()))
      await pool.end()
      await model.close()
    },
  }
}

const environment = (databaseUrl: string, modelUrl: string) => ({
  PORT: "0",
  DATABASE_URL: databaseUrl,
  DEMO: "false",
  ALLOW_PRIVATE_NETWORK: "true",
  JWT_SECRET: randomBytes(24).toString("hex"),
  ENCRYPTION_KEY: "00".repeat(32),
  OPENAI_BASE_URL: modelUrl,
  OPENAI_API_KEY: "nobody",
  OPENAI_MODEL: "slow",
  REPLY_DEBOUNCE_MS: "300",
  REPLY_MAX_WAIT_MS: "600",
  RATE_LIMIT_PER_MINUTE: "0",
  RATE_LIMIT_ANONYMOUS_PER_MINUTE: "0",
  TRUST_PROXY: "1",
  LOG_LEVEL: "warn",
})

/** Creates the company by the command line and over REST, and finds the end of its log. */
async function createCompany(deployment: Deployment): Promise<CompanyFixture> {
  const admin = (...args: string[]) => deployment.administer(args)
  const { id: companyId } = await admin("company:create", "--name", "Faults")
  const { token } = await admin("token:create", "--company", companyId, "--name", "Campaigns")
  await admin("subscription:set", "--company", companyId, "--plan", "pro", "--status", "active")
  const server = await deployment.start("setup")
  const assistant = await post(`${server.url}/api/assistants-new`, token, { name: "Assistant", prompt: "Answer." })
  const connect = ["--messenger", "widget", "--external-id", "site", "--name", "Site", "--assistant", assistant.body.id]
  const { id: widgetId } = await admin("channel:connect", "--company", companyId, ...connect)
  const origin = await anyCursor(server, token)
  await server.stop()
  return { companyId, token, widgetId, origin }
}

/** The cursor of an event that happens now: every deployment resumes after it. */
async function anyCursor(server: Instance, token: string): Promise<string> {
  const listener = new Listener(() => server.url, { accessToken: token }, null)
  // Without a cursor a subscription starts with the next event, and nothing signals its start.
  await must("an event is heard", async () => {
    await post(`${server.url}/api/chats`, token, { messenger: "playground", fromId: `playground-${randomBytes(4).toString("hex")}` })
    return until(() => listener.heard.length > 0, 1_000)
  })
  listener.close()
  return listener.heard[0]!.id
}

/** A client address for each customer, so that their number does not meet the limits of one address. */
export const addressOf = (name: string) => `10.${[...createHash("sha256").update(name).digest().subarray(0, 3)].join(".")}`

/** Sends JSON with the company's access token, or as the customer that the `messageId` of the body names; `key` is for `Idempotency-Key`. */
// biome-ignore lint/suspicious/noExplicitAny: bodies of any shape.
type Answer = { status: number; body: any }
export async function post(
  url: string,
  token: string | null,
  body: unknown,
  { method = "POST", key }: { method?: string; key?: string } = {},
): Promise<Answer> {
  const sender = token ? { "x-access-token": token } : { "x-forwarded-for": addressOf((body as { messageId: string }).messageId) }
  const headers = { "content-type": "application/json", ...sender, ...(key && { "idempotency-key": key }) }
  const answer = await fetch(url, { method, headers, body: JSON.stringify(body) })
  return { status: answer.status, body: await answer.json() }
}

/** Sends a request until it is answered, however often the server is killed meanwhile; a key keeps it from being done twice. */
export async function insist(
  instance: Instance,
  token: string,
  method: string,
  path: string,
  body: object,
  key: string | null,
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any shape.
): Promise<any> {
  for (;;) {
    const answer = await post(`${instance.url}${path}`, token, body, { method, ...(key && { key }) }).catch(() => null)
    if (answer && answer.status < 300) return answer.body
    // A request with the same key may still run in the database; a server without a free connection asks to come back.
    if (answer && ![409, 503].includes(answer.status))
      throw new Error(`${method} ${path} was answered with ${answer.status}: ${JSON.stringify(answer.body)}`)
    await sleep(50)
  }
}
