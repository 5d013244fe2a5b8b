import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { Agent, request } from "undici"
import { secrets, startProgram } from "./contestants.js"
import { type BenchDatabase, openDatabases } from "./database.js"
import { measuredCompany } from "./fill.js"
import { tokenOf } from "./fresh-server.js"
import type { Options } from "./options.js"
import { root } from "./processes.js"
import { requestFor } from "./requests.js"
import { drawSamples, sampleOf } from "./samples.js"

/** The traffic: a list of chats, a list of messages and a new message of another company, each again as soon as the pause after it has ended. */
const traffic = ["W1", "W2", "W5"] as const
type Kind = (typeof traffic)[number]
const pauseMs = 20
const quietSeconds = 60
const warmUpSeconds = 10
/** About half of the filled messages are older. */
const retentionDays = 35
/** The p99 of the traffic may be twice that of the quiet time. */
const target = 2

interface Reading {
  kind: Kind
  at: number
  ms: number
}

/** Answers of the traffic until it is ended; a wrong one fails the run. */
class Traffic {
  readonly readings: Reading[] = []
  #isOver = false
  readonly #dispatcher = new Agent({ keepAliveTimeout: 60_000 })
  #running: Promise<unknown> = Promise.resolve()

  async begin(url: string, database: BenchDatabase) {
    const samples = await drawSamples(database)
    this.#running = Promise.all(
      traffic.map((kind) => this.#repeat(url, kind, (number) => ({ ...sampleOf(samples, kind, number), ...database }))),
    )
    this.#running.catch(() => {})
  }

  async #repeat(
    url: string,
    kind: Kind,
    given: (number: number) => ReturnType<typeof sampleOf> & Pick<BenchDatabase, "token" | "companyId">,
  ) {
    for (let number = 0; !this.#isOver; number++) {
      const asked = requestFor("ours", kind, { ...given(number), cursor: null, text: `Message ${number}: the parcel left our warehouse.` })
      const [at, begin] = [Date.now(), performance.now()]
      const { statusCode, body } = await request(url, { ...asked, dispatcher: this.#dispatcher })
      const text = await body.text()
      this.readings.push({ kind, at, ms: performance.now() - begin })
      if (statusCode !== 200 || text.includes('"errors":[')) throw new Error(`${kind} answered ${statusCode}: ${text.slice(0, 300)}`)
      await sleep(pauseMs)
    }
  }

  async end() {
    this.#isOver = true
    await this.#running
  }
}

/** What is done beside the traffic; returns a sentence about it. */
type Removal = (database: BenchDatabase, env: NodeJS.ProcessEnv) => Promise<string>

const deleteCompany: Removal = async ({ url, companyId }, env) => {
  const args = [
    "--enable-source-maps",
    "dist/server/admin.js",
    "company:delete",
    "--company",
    companyId,
    "--name",
    measuredCompany,
    "--json",
  ]
  const command: ChildProcess = spawn(process.execPath, args, {
    cwd: root,
    env: { ...env, DATABASE_URL: url },
    stdio: ["ignore", "pipe", "inherit"],
  })
  const printed: string[] = []
  command.stdout!.on("data", (chunk) => printed.push(String(chunk)))
  const [code] = await once(command, "exit")
  if (code !== 0) throw new Error(`company:delete ended with ${code}`)
  return JSON.stringify(JSON.parse(printed.join("")).records)
}

/** Waits until the server that deletes old messages, which it begins at its start, deletes no more. */
const awaitRetention: Removal = async ({ client }) => {
  const deleted = async () =>
    Number((await client.query("select n_tup_del from pg_stat_user_tables where relname = 'message'")).rows[0].n_tup_del)
  for (let [before, now] = [-1, 0]; now === 0 || now > before; await sleep(15_000)) [before, now] = [now, await deleted()]
  return `${await deleted()} messages were deleted`
}

/** R1: the traffic of a company while half of the messages are deleted, and while another company with half of the chats is; returns the report. */
export async function measureRemoval(options: Options, say: (line: string) => void): Promise<string> {
  const retention = await beside("retention", awaitRetention, { MESSAGE_RETENTION_DAYS: String(retentionDays) }, options, say)
  say(retention)
  return `${retention}\n\n${await beside("company:delete", deleteCompany, {}, options, say)}`
}

async function beside(name: string, removal: Removal, meanwhile: Record<string, string>, options: Options, say: (line: string) => void) {
  await using stack = new AsyncDisposableStack()
  const { database } = await openDatabases(stack, options, say)
  await database.letVacuum()
  const { rows } = await database.client.query("select id from company where name = 'Shop 7'")
  const other = { ...database, companyId: rows[0].id, token: await tokenOf(database.client, rows[0].id) }
  const phase = async (seconds: number | null, env: Record<string, string>) => {
    const server = await startProgram("ours", { ...database, env })
    try {
      const running = new Traffic()
      await running.begin(server.url, other)
      await sleep(warmUpSeconds * 1_000)
      const from = Date.now()
      const said = seconds === null ? await removal(database, { ...process.env, ...secrets }) : await sleep(seconds * 1_000)
      const took = (Date.now() - from) / 1_000
      await running.end()
      return { said, took, readings: running.readings.filter(({ at }) => at >= from) }
    } finally {
      await server.stop()
    }
  }
  say(`${name}: the quiet time …`)
  const quiet = await phase(quietSeconds, {})
  say(`${name}: beside it …`)
  // Each sweep begins with the server, not when it is due next.
  await database.client.query("delete from agenda_jobs")
  const busy = await phase(null, meanwhile)
  return report(`${name} (${busy.took.toFixed(0)} s): ${busy.said}`, quiet.readings, busy.readings)
}

/** The value below which a share of the sorted values lies. */
const quantile = (sorted: number[], share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

function report(title: string, quiet: Reading[], busy: Reading[]): string {
  const rows = [...traffic, "all"].map((kind) => {
    const [before, during] = [quiet, busy].map((readings) =>
      readings
        .filter((each) => kind === "all" || each.kind === kind)
        .map(({ ms }) => ms)
        .sort((one, another) => one - another),
    ) as [number[], number[]]
    const figures = [before, during].flatMap((times) => [0.5, 0.99, 1].map((share) => quantile(times, share).toFixed(1)))
    const ratio = quantile(during, 0.99) / quantile(before, 0.99)
    return `| ${kind} | ${figures.join(" | ")} | ${ratio.toFixed(2)} ${ratio <= target ? "" : "MISSED"} |`
  })
  const head = "| ms | p50 quiet | p99 quiet | longest quiet | p50 | p99 | longest | p99 : quiet |\n|---|---|---|---|---|---|---|---|"
  return `${title}\n\n${head}\n${rows.join("\n")}`
}
