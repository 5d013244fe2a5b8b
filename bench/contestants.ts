import type { ChildProcess } from "node:child_process"
import { randomBytes } from "node:crypto"
import { fileURLToPath } from "node:url"
import type { BenchDatabase } from "./database.js"
import { cores, end, freePort, startNode, untilAnswers } from "./processes.js"
import type { Contestant } from "./requests.js"

/** A running server that takes part. */
export interface Server {
  url: string
  pid: number
  /** Stands still while another one is measured, so that its idle work costs nobody anything. */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

const data = fileURLToPath(new URL("data/server", import.meta.url))

const programs: Record<Exclude<Contestant, "ours REST">, { args: string[]; env: (database: BenchDatabase) => NodeJS.ProcessEnv }> = {
  ours: {
    args: [...(process.env["BENCH_NODE_OPTIONS"]?.split(" ") ?? []), "dist/src/main.js"],
    env: () => ({
      DATA_DIR: data,
      JWT_SECRET: randomBytes(32).toString("hex"),
      ENCRYPTION_KEY: randomBytes(32).toString("hex"),
      LOG_LEVEL: "warn",
      RATE_LIMIT_PER_MINUTE: "0",
    }),
  },
  LIMIT: { args: ["--import", "tsx", "bench/limit.ts"], env: ({ companyId }) => ({ COMPANY_ID: companyId }) },
  PostGraphile: { args: ["--import", "tsx", "bench/postgraphile.ts"], env: () => ({ GRAPHILE_ENV: "production" }) },
}

/** Starts every server on the server's core; the two doors of ours are one process. */
export async function startServers(database: BenchDatabase): Promise<Record<Contestant, Server>> {
  const started: [string, Server][] = []
  for (const [name, { args, env }] of Object.entries(programs)) {
    const port = await freePort()
    const surroundings = { NODE_ENV: "production", DATABASE_URL: database.url, PORT: String(port), HOST: "127.0.0.1", ...env(database) }
    const child = startNode(cores.server, args, surroundings)
    const url = `http://127.0.0.1:${port}`
    await untilAnswers(child, `${url}/chats`)
    started.push([name, serverOf(child, url)])
  }
  const servers = Object.fromEntries(started) as Record<Contestant, Server>
  return { ...servers, "ours REST": servers.ours }
}

const serverOf = (child: ChildProcess, url: string): Server => ({
  url,
  pid: child.pid!,
  pause: () => void child.kill("SIGSTOP"),
  resume: () => void child.kill("SIGCONT"),
  stop: () => end(child),
})
