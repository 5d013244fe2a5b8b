import { spawn } from "node:child_process"
import { once } from "node:events"
import { happens } from "./wait.js"
import type { World } from "./world.js"

/** A built server as a separate process that a test may try to crash. */
export interface ServerProcess {
  url: string
  /** Its exit code or signal; null while it runs. */
  ended(): string | null
  /** Its standard error. */
  log(): string
  /** Pauses the process, or lets it continue. */
  freeze(isFrozen: boolean): void
  stop(signal?: NodeJS.Signals): Promise<void>
}

/** The environment of a process on the database of a test server, and with its secrets. */
export function serverEnvironment(world: World): Record<string, string> {
  const { PATH = "", HOME = "", NODE_COMPILE_CACHE = "" } = process.env
  const { config, secrets } = world.services
  return {
    PATH,
    HOME,
    NODE_COMPILE_CACHE,
    PORT: "0",
    DEMO: "false",
    DATA_DIR: config.dataDir,
    DATABASE_URL: world.databaseUrl,
    JWT_SECRET: secrets.jwtSecret,
    ENCRYPTION_KEY: secrets.encryptionKey.toString("hex"),
    JWT_TTL_SECONDS: String(config.jwtTtlSeconds),
    SIGN_IN_ATTEMPTS_PER_MINUTE: "1000",
    RATE_LIMIT_PER_MINUTE: "0",
    RATE_LIMIT_ANONYMOUS_PER_MINUTE: "0",
    LOG_LEVEL: "warn",
  }
}

/** Starts one with the secrets of the test server, so that it accepts the same credentials. */
export const serverProcess = (world: World, env: Record<string, string> = {}): Promise<ServerProcess> =>
  startServerProcess({ ...serverEnvironment(world), ...env })

/** Starts a built server with this environment, which has its database. */
export async function startServerProcess(env: Record<string, string>): Promise<ServerProcess> {
  const child = spawn(process.execPath, ["--enable-source-maps", "dist/server/main.js"], { env })
  let [printed, logged] = ["", ""]
  child.stderr.on("data", (text) => (logged = (logged + text).slice(-100_000)))
  const listening = new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (text) => {
      printed += text
      const [, address] = /Listening on (http:\S+)\n/.exec(printed) ?? []
      if (address) resolve(address)
    })
    // Its output is complete only then.
    child.once("close", (code, signal) => reject(new Error(`The server did not start (${code ?? signal}): ${logged}`)))
  })
  const look = () => ({ printed, logged })
  const url = await happens("the server listens", listening, look).catch((error) => {
    child.kill("SIGKILL")
    throw error
  })
  const ended = () => (child.exitCode === null && child.signalCode === null ? null : `${child.exitCode ?? child.signalCode}: ${logged}`)
  return {
    url,
    ended,
    log: () => logged,
    freeze: (isFrozen) => void child.kill(isFrozen ? "SIGSTOP" : "SIGCONT"),
    async stop(signal: NodeJS.Signals = "SIGTERM") {
      if (ended() !== null) return
      const exit = once(child, "exit")
      child.kill(signal)
      await happens(`the server has ended after ${signal}`, exit, look).finally(() => child.kill("SIGKILL"))
    },
  }
}
