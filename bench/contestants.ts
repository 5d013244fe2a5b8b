import type { ChildProcess } from "node:child_process"
import { randomBytes } from "node:crypto"
import { fileURLToPath } from "node:url"
import type { BenchDatabase } from "./database.js"
import { cores, end, freePort, root, startArguments, startNode, untilAnswers } from "./processes.js"
import { type Contestant, earlierVersion } from "./requests.js"

/** A running server that takes part. */
export interface Server {
  url: string
  pid: number
  /** Stands still while another one is measured, so that its idle work costs nobody anything. */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

type Program = "ours" | "before" | "LIMIT-rows" | "LIMIT" | "PostGraphile"
const data = fileURLToPath(new URL("data/server", import.meta.url))

const secrets = { JWT_SECRET: randomBytes(32).toString("hex"), ENCRYPTION_KEY: randomBytes(32).toString("hex") }

const version = (directory: string) => ({
  directory,
  args: [...(process.env["BENCH_NODE_OPTIONS"]?.split(" ") ?? []), ...startArguments(directory)],
  env: () => ({ DATA_DIR: data, ...secrets, LOG_LEVEL: "warn", RATE_LIMIT_PER_MINUTE: "0" }),
})

const programs: Record<Program, { directory?: string; args: string[]; env: (database: BenchDatabase) => NodeJS.ProcessEnv }> = {
  ours: version(root),
  before: version(earlierVersion ?? root),
  "LIMIT-rows": { args: ["--import", "tsx", "bench/limit-rows.ts"], env: ({ companyId }) => ({ COMPANY_ID: companyId }) },
  LIMIT: { args: ["--import", "tsx", "bench/limit.ts"], env: ({ companyId }) => ({ COMPANY_ID: companyId }) },
  PostGraphile: { args: ["--import", "tsx", "bench/postgraphile.ts"], env: () => ({ GRAPHILE_ENV: "production" }) },
}

/** What a contestant runs as: the doors of ours are one program. */
export const programOf = (contestant: Contestant): Program => contestant.replace(/,.*/, "") as Program

/** Starts a program on the server's core; `hear` is told what it says over its channel, which it has only then. */
export async function startProgram(name: Program, database: BenchDatabase, before: string[] = [], hear?: (said: unknown) => void) {
  const { directory, args, env } = programs[name]
  const port = await freePort()
  const surroundings = { NODE_ENV: "production", DATABASE_URL: database.url, PORT: String(port), HOST: "127.0.0.1", ...env(database) }
  const child = startNode(cores.server, [...before, ...args], surroundings, { ipc: Boolean(hear), directory })
  if (hear) child.on("message", hear)
  const url = `http://127.0.0.1:${port}`
  await untilAnswers(child, `${url}/chats`).catch(async (error) => {
    await end(child)
    throw error
  })
  return serverOf(child, url)
}

/** Starts every program, says so of each, and answers what serves each contestant. */
export async function startServers(database: BenchDatabase, contestants: readonly Contestant[], started: (server: Server) => void) {
  const running = new Map<Program, Server>()
  for (const name of new Set(contestants.map(programOf))) {
    const server = await startProgram(name, database)
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
