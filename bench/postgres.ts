import { join } from "node:path"
import { fileURLToPath } from "node:url"
import pg from "pg"
import { recall } from "../src/database/embedded/home.js"
import { openEmbedded } from "../src/database/embedded/open.js"
import { superuserUrl } from "../src/database/embedded/roles.js"

/** The folder of the embedded database and of the servers that are measured. */
export const dataDir = join(fileURLToPath(new URL(".", import.meta.url)), "data")

/** The PostgreSQL server of a run. */
export interface BenchPostgres {
  /** A session of its superuser. */
  admin: pg.Client
  urlOf(name: string): string
  /** Makes a database, in place of one of this name: a new one, or a copy of another. */
  create(name: string, from?: string): Promise<void>
}

/** Opens the server: BENCH_DATABASE_URL, else the embedded one in bench/data; the stack closes it. */
export async function openPostgres(stack: AsyncDisposableStack, say: (line: string) => void): Promise<BenchPostgres> {
  const given = process.env["BENCH_DATABASE_URL"]
  const embedded = given ? null : await openEmbedded({ dataDir, role: "command", log: say })
  stack.defer(() => embedded?.stop())
  const superuser = given ?? superuserUrl(recall(dataDir)!)
  const admin = new pg.Client({ connectionString: superuser })
  await admin.connect()
  stack.defer(() => admin.end())
  await quiet(admin)
  return {
    admin,
    urlOf: (name) => Object.assign(new URL(superuser), { pathname: `/${name}` }).href,
    async create(name, from = "template1") {
      await admin.query(`drop database if exists ${name} with (force)`)
      // The other strategy writes each page twice: to the log, too. A copy of files begins outside of PostgreSQL's cache.
      await admin.query(`create database ${name} template ${from} strategy file_copy`)
    },
  }
}

/** Prevents automatic checkpoints during a measurement; each round begins with one. A server given by BENCH_DATABASE_URL is not configured. */
async function quiet(admin: pg.Client) {
  if (process.env["BENCH_DATABASE_URL"]) return
  await admin.query("alter system set checkpoint_timeout = '1h'")
  await admin.query("alter system set max_wal_size = '8GB'")
  await admin.query("select pg_reload_conf()")
}
