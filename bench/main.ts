import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { compareAnswers, findCursors } from "./comparison.js"
import { type Server, startServers } from "./contestants.js"
import { countStatements } from "./counting.js"
import { databaseOf, openDatabases } from "./database.js"
import { measureDelivered } from "./delivered.js"
import { measureGuardrails } from "./guardrails.js"
import { measureHistory } from "./history.js"
import { measureInbox } from "./inbox.js"
import { type BenchmarkContext, flood, type Measurement, measure } from "./measure.js"
import { type Options, readOptions } from "./options.js"
import { measureOutcomes } from "./outcomes.js"
import { canPin, cores, end, pinPostgres, postmasterOf, startNode } from "./processes.js"
import { measureRemoval } from "./removal.js"
import { type Findings, report } from "./report.js"
import { contestants } from "./requests.js"
import { drawSamples } from "./samples.js"
import { measureSearch } from "./search.js"
import { readSizeOptions } from "./size-options.js"
import { measureSizes } from "./sizes.js"
import { measureSubscribers } from "./subscribers/main.js"
import { readSubscriberOptions } from "./subscribers/options.js"
import { measureTurns } from "./turns/main.js"
import { readTurnOptions } from "./turns/options.js"

const say = (line: string) => void process.stderr.write(`${line}\n`)
const here = fileURLToPath(new URL(".", import.meta.url))

/** Runs the benchmark; tables go to standard output, progress to standard error. */
async function main() {
  const begin = performance.now()
  const args = process.argv.slice(2)
  // K1 has its own rows and no other contestant, so it runs alone.
  if (args.some((arg) => /^(--workloads=)?K1$/i.test(arg))) return void process.stdout.write(`${await measureSearch(say)}\n`)
  // So do the reports over stretches.
  if (args.some((arg) => /^(--workloads=)?O1$/i.test(arg))) return void process.stdout.write(`${await measureOutcomes(say)}\n`)
  // So do the rules of guardrails, without a database.
  if (args.some((arg) => /^(--workloads=)?G1$/i.test(arg))) return void process.stdout.write(`${measureGuardrails()}\n`)
  // So does the inbox.
  if (args.some((arg) => /^(--workloads=)?I1$/i.test(arg))) return void process.stdout.write(`${await measureInbox(say)}\n`)
  // So do the subscribers of W7.
  const subscribers = readSubscriberOptions(args)
  if (subscribers) return void process.stdout.write(`${await measureSubscribers(subscribers, say)}\n`)
  const turnOptions = readTurnOptions(args)
  if (turnOptions) return void process.stdout.write(`${await measureTurns(turnOptions, say)}\n`)
  // S1 runs alone, too: it has databases of its own.
  const sizeOptions = readSizeOptions(args)
  if (sizeOptions) return void process.stdout.write(`${await measureSizes(sizeOptions, say)}\n`)
  if (args.some((arg) => /^(--workloads=)?R1$/i.test(arg))) {
    const sizes = args.filter((arg) => !/^(--workloads(=R1)?|R1)$/i.test(arg))
    return void process.stdout.write(`${await measureRemoval(readOptions(sizes), say)}\n`)
  }
  const options = readOptions(args)
  if (!existsSync(`${here}node_modules/postgraphile`)) {
    say("installing PostGraphile …")
    execFileSync("npm", ["ci", "--prefix", here, "--no-audit", "--no-fund"], { stdio: ["ignore", "ignore", "inherit"] })
  }
  await using stack = new AsyncDisposableStack()
  // Paused servers would outlive an interrupted run.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(1)))
  const databases = await openDatabases(stack, options, say)
  const { database } = databases
  const postmaster = postmasterOf((await database.client.query("select pg_backend_pid() as pid")).rows[0].pid)
  if (!canPin) say("no taskset or a single core: nothing is pinned, so the figures say less")
  else if (!postmaster || !pinPostgres(postmaster, cores.rest))
    say("PostgreSQL is not on this machine or cannot be pinned: it is not pinned")
  const servers = await startServers(databases, contestants, (server) => stack.defer(() => server.stop()))
  const load = startNode(cores.rest, ["--import", "tsx", "bench/load.ts"], {}, { ipc: true })
  stack.defer(() => end(load))
  const samples = await drawSamples(database)

  say(`about ${Math.ceil(expectedSeconds(options) / 60)} minutes with these options`)
  const { page, cursors } = await findCursors(servers, databases, options)
  const context: BenchmarkContext = { options, ...databases, servers, load, samples, cursors, postmaster, isTidied: true, say }
  const found: Findings = { statements: [], fresh: [], flooded: [], delivered: [], history: [] }
  await compareAnswers(context, options.workloads, contestants)
  say("every contestant returns the same")
  found.statements = await countStatements(context, options.workloads)
  await pauseAll(context)
  found.fresh = await measure(context)
  if (options.writes > 0) {
    await flood(context)
    found.flooded = await measureAgain(context)
  }
  if (options.delivered) found.delivered = await measureDelivered(databases, load, samples, postmaster, options, say)
  if (options.history) found.history = await measureHistory(database)
  process.stdout.write(`${describe(options, page)}\n${report(found, options)}\n`)
  process.stdout.write(`\nIt took ${((performance.now() - begin) / 60_000).toFixed(1)} minutes.\n`)
}

/**
 * The writes have moved the pages: their cursors are read again, and the contestants' answers compared again. In a database of its own an
 * earlier version has other messages by now, so that it is not compared.
 */
async function measureAgain(context: BenchmarkContext): Promise<Measurement[]> {
  resumeAll(context.servers)
  const { cursors } = await findCursors(context.servers, context, context.options)
  const again = { ...context, cursors, isTidied: false }
  await compareAnswers(
    again,
    context.options.workloads,
    contestants.filter((each) => databaseOf(context, each) === context.database),
  )
  await pauseAll(again)
  return measure(again)
}

/** Waits until the servers have finished their background work, then pauses them. */
async function pauseAll({ servers, database, earlier }: BenchmarkContext) {
  await sleep(1_500)
  for (const server of Object.values(servers)) server.pause()
  for (const { client } of [database, earlier]) await client.query("delete from event where position is null")
}

const resumeAll = (servers: Record<string, Server>) => {
  for (const server of Object.values(servers)) server.resume()
}

const describe = ({ size: { chats, others }, connections, rounds, seconds }: Options, page: number) =>
  `${chats} chats, ${chats * 10} messages${others === 0 ? "" : `, half of them in one company and the others in ${others}`}, ${connections} connections, ${rounds} rounds of ${seconds} s; the far page of W6 is page ${page}; Node ${process.version}`

/** Estimated duration, without filling the database, which happens once. */
function expectedSeconds({ workloads, rounds, seconds, warmUpSeconds, writes, delivered, history }: Options): number {
  const phase = workloads.length * rounds * (contestants.length * (seconds + warmUpSeconds + 0.5) + 1)
  return 60 + phase * (writes > 0 ? 2 : 1) + writes / 2_000 + (history ? 40 : 0) + (delivered ? 20 * rounds : 0)
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error))
    process.exit(1)
  },
)
