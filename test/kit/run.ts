import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { constants, tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { embeddedCluster, givenCluster, makeTemplate, prepareCluster, TEMPLATE } from "./cluster.js"
import { keepTemporaryFilesInMemory } from "./memory-folder.js"
import { reportChecks } from "./report-checks.js"
import { type RunJest, withOneTry, withSecondTry } from "./second-try.js"

/**
 * `npm test`, after the build: one PostgreSQL for the whole run, one migrated template in it, then Jest with whatever arguments were given. The
 * PostgreSQL is the embedded one, or that of TEST_POSTGRES_URL, the address of a superuser. With CI=true, or the argument --second-try, a file
 * that failed is run once more (kit/second-try).
 */
async function main(): Promise<number> {
  keepTemporaryFilesInMemory()
  const folder = mkdtempSync(join(tmpdir(), "platform-test-"))
  // PostgreSQL does not run as root: its user must be able to enter the folder.
  chmodSync(folder, 0o755)
  const given = process.env["TEST_POSTGRES_URL"]
  const { superuser, url, stop } = given ? await givenCluster(given) : await embeddedCluster(folder)
  try {
    await prepareCluster(superuser)
    await makeTemplate(url)
    const env = { TEST_DATABASE_URL: url, TEST_SUPERUSER_URL: superuser, TEST_TEMPLATE: TEMPLATE, TEST_DATA_DIR: folder }
    return await runJest((args) => jest(env, args), folder)
  } finally {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What one process compiled of the server and its libraries, those that tests start load. */
const compiled = { NODE_COMPILE_CACHE: resolve("node_modules/.cache/node") }

const tryAgain = "--second-try"

/** The tests with a command of their own: `npm run test:system`, `npm run test:clients`. */
const separate = "/test/(system|clients)/"

/** Jest's arguments: without names of files, those of all tests but these. */
function jestArguments(): string[] {
  const args = process.argv.slice(2).filter((arg) => arg !== tryAgain)
  return args.some((arg) => !arg.startsWith("-")) ? args : [...args, `--testPathIgnorePatterns=${separate}`]
}

/** Runs Jest as it was asked for, and reports its outcome. */
async function runJest(jest: RunJest, folder: string): Promise<number> {
  const args = jestArguments()
  if (args.some((arg) => /^--(watch|watchAll|json|showConfig|listTests|help|version)\b/.test(arg))) return jest(args)
  const twice = process.argv.includes(tryAgain) || process.env["CI"] === "true"
  const outcome = await (twice ? withSecondTry : withOneTry)(jest, args, folder)
  reportChecks(outcome)
  return outcome.reasons.length > 0 ? 1 : 0
}

/** Runs Jest and answers its exit code; an interrupt goes to Jest, and the database is stopped when Jest has ended. */
async function jest(env: Record<string, string>, given: string[]): Promise<number> {
  const args = ["node_modules/jest/bin/jest.js", ...given]
  const child = spawn(process.execPath, args, { stdio: "inherit", env: { ...process.env, ...compiled, ...env } })
  const interrupt = () => child.kill("SIGINT")
  stopping.addEventListener("abort", interrupt)
  if (stopping.aborted) interrupt()
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null]
  return code ?? 128 + constants.signals[signal!]
}

// Heard from the beginning: an interrupt while the database starts must not leave it behind.
const interrupted = new AbortController()
const stopping = interrupted.signal
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interrupted.abort())

process.exitCode = await main()
