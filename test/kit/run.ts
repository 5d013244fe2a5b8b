import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { constants, tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { connect } from "../../src/database/connect.js"
import { openEmbedded } from "../../src/database/embedded.js"
import { migrate } from "../../src/database/migrate.js"

/** The migrated, empty database that every world is a copy of. */
const TEMPLATE = "template_world"

/** `npm test`: one PostgreSQL for the whole run, one migrated template in it, then Jest with whatever arguments were given. */
async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "platform-test-"))
  // PostgreSQL does not run as root: whoever it runs as must be able to enter the folder.
  chmodSync(folder, 0o755)
  const database = await openEmbedded({ dataDir: folder, role: "server", log() {} })
  try {
    await makeFast(database.url)
    await makeTemplate(database.url)
    return await jest({ TEST_DATABASE_URL: database.url, TEST_TEMPLATE: TEMPLATE, TEST_DATA_DIR: folder })
  } finally {
    await database.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Nothing here has to survive a power cut: without waiting for the disk the suite takes a fraction of the time. */
async function makeFast(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (const setting of ["fsync = off", "synchronous_commit = off", "full_page_writes = off"]) {
    await client.query(`alter system set ${setting}`)
  }
  await client.query("select pg_reload_conf()")
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

/** Runs Jest and answers its exit code; an interrupt goes to Jest, and the database is stopped when Jest has ended. */
async function jest(env: Record<string, string>): Promise<number> {
  const args = ["--experimental-vm-modules", "--no-warnings", "node_modules/jest/bin/jest.js", ...process.argv.slice(2)]
  const child = spawn(process.execPath, args, { stdio: "inherit", env: { ...process.env, ...env } })
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal))
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null]
  return code ?? 128 + constants.signals[signal!]
}

process.exitCode = await main()
