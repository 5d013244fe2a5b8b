import type { ChildProcess } from "node:child_process"
import { randomBytes } from "node:crypto"
import { fileURLToPath } from "node:url"
import { startArguments, startEnvironment, unbundled } from "../scripts/start-arguments.js"
import { type BenchDatabase, type BenchDatabases, databaseOf } from "./database.js"
import { cores, end, freePort, root, startNode, untilAnswers } from "./processes.js"
import { type Contestant, earlierVersion } from "./requests.js"

/** A running server of the benchmark. */
export interface Server {
  url: string
  pid: number
  /** Pauses the process while another one is measured, so that its idle work does not disturb. */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

/** What a program is told: its database, and more of its configuration. */
type Company = Pick<BenchDatabase, "url" | "companyId"> & { env?: Record<string, string> }

/** What is started for a contestant. */
export type Program = "ours" | "before" | "LIMIT-rows" | "LIMIT" | "PostGraphile"
const data = fileURLToPath(new URL("data/server", import.meta.url))

/** The secrets of our servers. */
export const secrets = { JWT_SECRET: randomBytes(32).toString("hex"), ENCRYPTION_KEY: randomBytes(32).toString("hex") }

const version = (directory: string) => ({
  directory,
  args: [...(process.env["BENCH_NODE_OPTIONS"]?.split(" ") ?? []), ...startArguments(directory)],
  env: () => ({
    ...startEnvironment(directory),
    DATA_DIR: data,
    ...secrets,
    LOG_LEVEL: "warn",
    RATE_LIMIT_PER_MINUTE: "0",
    ALLOW_PRIVATE_NETWORK: "true",
  }),
})

const programs: Record<Program, { directory?: string; args: string[]; env: (database: Company) => NodeJS.ProcessEnv }> = {
  ours: version(root),
  before: version(earlierVersion ?? root),
  "LIMIT-rows": { args: ["--import", "tsx", "bench/limit-rows.ts"], env: ({ companyId }) => ({ COMPANY_ID: companyId }) },
  LIMIT: { args: ["--import", "tsx", "bench/limit.ts"], env: ({ companyId }) => ({ COMPANY_ID: companyId }) },
  PostGraphile: { args: ["--import", "tsx", "bench/postgraphile.ts"], env: () => ({ GRAPHILE_ENV: "production" }) },
}

/** The program of a contestant: our three, and the two of the earlier version, are one program each. */
export const programOf = (contestant: Contestant): Program => contestant.replace(/,.*/, "") as Program

/** Starts a program on the server's core; `hear` receives its IPC messages, and without it there is no IPC channel. */
export async function startProgram(name: Program, database: Company, before: string[] = [], hear?: (message: unknown) => void) {
  const { directory, args, env } = programs[name]
  const port = await freePort()
  const environment = {
    NODE_ENV: "production",
    DATABASE_URL: database.url,
    PORT: String(port),
    HOST: "127.0.0.1",
    ...env(database),
    ...database.env,
  }
  const child = startNode(cores.server, [...before, ...(hear ? unbundled(args) : args)], environment, { ipc: Boolean(hear), directory })
  if (hear) child.on("message", hear)
  const url = `http://127.0.0.1:${port}`
  await untilAnswers(child, `${url}/chats`).catch(async (error) => {
    await end(child)
    throw error
  })
  return serverOf(child, url)
}

/** Starts every program, calls `started` for each, and returns the server of each contestant. */
export async function startServers(databases: BenchDatabases, contestants: readonly Contestant[], started: (server: Server) => void) {
  const running = new Map<Program, Server>()
  for (const name of new Set(contestants.map(programOf))) {
    const server = await startProgram(name, databaseOf(databases, name))
    started(server)
    running.set(name, server)
  }
  return Object.fromEntries(contestants.map((contestant) => [contestant, running.get(programOf(contestant))!])) as Record<
    Contestant,
    Server
  >
}

const serverOf = (child: ChildProcess, url: string): Server => ({
  url,
  pid: child.pid!,
  pause: () => void child.kill("SIGSTOP"),
  resume: () => void child.kill("SIGCONT"),
  stop: () => end(child),
})
