import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { constants, tmpdir } from "node:os"
import { join, resolve } from "node:path"
import pg from "pg"
import { connect } from "../../src/database/connect.js"
import { openEmbedded } from "../../src/database/embedded/open.js"
import { migrate } from "../../src/database/migrate.js"

/** The migrated, empty database that every world is a copy of. */
const TEMPLATE = "template_world"

/** `npm test`, after the build: one PostgreSQL for the whole run, one migrated template in it, then Jest with whatever arguments were given. */
async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "platform-test-"))
  // PostgreSQL does not run as root: its user must be able to enter the folder.
  chmodSync(folder, 0o755)
  const database = await openEmbedded({ dataDir: folder, role: "server", log() {} })
  try {
    await prepareCluster(database.url)
    await makeTemplate(database.url)
    return await jest({ TEST_DATABASE_URL: database.url, TEST_TEMPLATE: TEMPLATE, TEST_DATA_DIR: folder })
  } finally {
    await database.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Nothing here has to survive a power cut: a commit that does not wait for the disk is a fraction as long. */
async function prepareCluster(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // For all roles, and not with ALTER SYSTEM: what stands on PostgreSQL's command line goes before its files.
  await client.query("alter role all set synchronous_commit = off")
  await client.query(`create database ${TEMPLATE}`)
  await client.end()
}

async function makeTemplate(url: string) {
  const address = new URL(url)
  address.pathname = `/${TEMPLATE}`
  const template = await connect(address.href)
  await migrate(template)
  await template.close()
}

/** What one process compiled of the server and its libraries, those that tests start load. */
const compiled = { NODE_COMPILE_CACHE: resolve("node_modules/.cache/node") }

/** Runs Jest and answers its exit code; an interrupt goes to Jest, and the database is stopped when Jest has ended. */
async function jest(env: Record<string, string>): Promise<number> {
  const args = ["node_modules/jest/bin/jest.js", ...process.argv.slice(2)]
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
