import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type Server, startServers } from "./contestants.js"
import { type BenchDatabase, openDatabase } from "./database.js"
import { findCursors, pass, settle } from "./gate.js"
import { type Measurement, measure } from "./measure.js"
import { type Options, readOptions } from "./options.js"
import { canPin, cores, end, pinPostgres, postmasterOf, startNode } from "./processes.js"
import { report } from "./report.js"
import { measureSearch } from "./search.js"

const say = (line: string) => void process.stderr.write(`${line}\n`)
const here = fileURLToPath(new URL(".", import.meta.url))

/** Runs the benchmark; the tables go to standard output, what happens meanwhile to standard error. */
async function main() {
  const args = process.argv.slice(2)
  // K1 has rows of its own and nobody to compare with, so it runs alone.
  if (args.some((arg) => /^(--workloads=)?K1$/i.test(arg))) return void process.stdout.write(`${await measureSearch(say)}\n`)
  const options = readOptions(args)
  if (!existsSync(`${here}node_modules/postgraphile`)) {
    say("installing PostGraphile …")
    execFileSync("npm", ["ci", "--prefix", here, "--no-audit", "--no-fund"], { stdio: ["ignore", "ignore", "inherit"] })
  }
  await using stack = new AsyncDisposableStack()
  const database = await openDatabase(options, say)
  stack.defer(() => database.close())
  const postmaster = postmasterOf((await database.client.query("select pg_backend_pid() as pid")).rows[0].pid)
  if (!canPin) say("no taskset or a single core: nothing is pinned, so the figures say less")
  else if (!postmaster || !pinPostgres(postmaster, cores.rest))
    say("PostgreSQL is not on this machine or may not be moved: it is not pinned")
  const servers = await startServers(database)
  for (const server of new Set(Object.values(servers))) stack.defer(() => server.stop())
  const load = startNode(cores.rest, ["--import", "tsx", "bench/load.ts"], {}, true)
  stack.defer(() => end(load))

  const chatIds = { any: await randomChats(database, "true"), long: await randomChats(database, "last_sequence > 100") }
  const { cursors, page } = await findCursors(servers, database, options)
  await pass({ servers, database, chatIds, cursors }, options.workloads)
  await settle()
  pauseAll(servers)
  await database.client.query("delete from event where position is null")
  say(describe(options, page))
  const measurements: Measurement[] = []
  for (const workload of options.workloads) {
    measurements.push(...(await measure({ options, database, servers, load, chatIds, cursors, postmaster }, workload, say)))
  }
  process.stdout.write(`${describe(options, page)}\n${report(measurements, options.workloads)}\n`)
}

const pauseAll = (servers: Record<string, Server>) => {
  for (const server of Object.values(servers)) server.pause()
}

const describe = ({ chats, messages, connections, rounds, seconds }: Options, page: number) =>
  `${chats} chats, ${messages} messages, ${connections} connections, ${rounds} rounds of ${seconds} s; the far page of W6 is page ${page}; Node ${process.version}`

async function randomChats({ client }: BenchDatabase, condition: string): Promise<string[]> {
  const { rows } = await client.query(`select id from chat where ${condition} order by random() limit 8000`)
  return rows.map((row) => row.id)
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error))
    process.exit(1)
  },
)
