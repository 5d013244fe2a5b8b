import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import pg from "pg"
import { givenCluster, makeTemplate, prepareCluster, TEMPLATE } from "./cluster.js"
import { freePort } from "./free-port.js"
import { happens, until } from "./wait.js"

const run = promisify(execFile)

/** The folder of PostgreSQL's programs as Debian installs them; null without them, since the embedded one cannot copy a primary. */
export const debianPrograms = programs()

function programs(): string | null {
  try {
    const [newest] = readdirSync("/usr/lib/postgresql").sort((one, other) => Number(other) - Number(one))
    return newest ? `/usr/lib/postgresql/${newest}/bin` : null
  } catch {
    return null
  }
}

/** One PostgreSQL of Debian's, with a folder and a port of its own. */
class Node {
  constructor(
    readonly folder: string,
    readonly port: number,
  ) {}

  get url() {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`
  }

  /** PostgreSQL does not run as root. */
  program(name: string, ...args: string[]) {
    const command = [`${debianPrograms}/${name}`, ...args]
    const [file, ...rest] = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--", ...command] : command
    return happens(`${name} has ended`, run(file!, rest, { cwd: "/" }))
  }

  async start() {
    const options = `-p ${this.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=200 -c fsync=off -c jit=off`
    // Refused as long as a process of a killed one holds its memory.
    await until("PostgreSQL has started", () =>
      this.program("pg_ctl", "--pgdata", this.folder, "--log", `${this.folder}/log`, "--wait", "--options", options, "start").then(
        () => true,
        () => false,
      ),
    )
  }

  /** Like a power cut. */
  async kill() {
    process.kill(Number(readFileSync(`${this.folder}/postmaster.pid`, "utf8").split("\n")[0]), "SIGKILL")
    await until("nothing listens any more", async () => (await this.query("select 1").catch(() => null)) === null)
  }

  async query(text: string, database = "postgres"): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: new URL(database, this.url).href })
    client.on("error", () => {})
    try {
      await client.connect()
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  }
}

/** A primary with a streaming standby, which confirms each commit, so that a promotion loses nothing. */
export class StreamingCluster {
  private constructor(
    private readonly root: string,
    readonly primary: Node,
    readonly standby: Node,
  ) {}

  /** Starts both, and lets the worlds of this file be made in them. */
  static async start(): Promise<StreamingCluster> {
    const root = await mkdtemp(join(tmpdir(), "streaming-"))
    // The user of PostgreSQL makes its folders there.
    await chmod(root, 0o777)
    const primary = new Node(join(root, "primary"), await freePort())
    await primary.program("initdb", "--pgdata", primary.folder, "--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8")
    await primary.start()
    const { superuser, url } = await givenCluster(primary.url)
    await prepareCluster(superuser)
    // A commit waits for the standby.
    await primary.query("alter role all reset synchronous_commit")
    await makeTemplate(url)
    Object.assign(process.env, { TEST_DATABASE_URL: url, TEST_SUPERUSER_URL: superuser, TEST_TEMPLATE: TEMPLATE })
    const standby = new Node(join(root, "standby"), await freePort())
    const cluster = new StreamingCluster(root, primary, standby)
    await cluster.copy()
    await primary.query("alter system set synchronous_standby_names = '*'")
    await primary.query("select pg_reload_conf()")
    return cluster
  }

  /** Copies the primary into the standby and starts it. */
  private async copy() {
    const { primary, standby } = this
    await primary.program(
      "pg_basebackup",
      "--dbname",
      primary.url,
      "--pgdata",
      standby.folder,
      "--write-recovery-conf",
      "--checkpoint=fast",
    )
    await standby.start()
  }

  /** The address of a database of the primary on the standby. */
  onStandby(databaseUrl: string): string {
    return Object.assign(new URL(databaseUrl), { port: String(this.standby.port) }).href
  }

  /** Waits until the standby has all that is written now. */
  async caughtUp() {
    const [row] = await this.primary.query("select pg_current_wal_insert_lsn()::text as position")
    await until("the standby has everything", async () => {
      const [at] = await this.standby.query(`select pg_last_wal_replay_lsn() >= '${row!["position"]}'::pg_lsn as has`)
      return at!["has"] === true
    })
  }

  /** The standby receives what is written, and shows nothing of it until this is disposed. */
  async paused(): Promise<AsyncDisposable> {
    await this.standby.query("select pg_wal_replay_pause()")
    return { [Symbol.asyncDispose]: async () => void (await this.standby.query("select pg_wal_replay_resume()")) }
  }

  /** The standby becomes a primary. */
  promote = () => this.standby.program("pg_ctl", "--pgdata", this.standby.folder, "--wait", "promote")

  /** Starts the lost primary again, which waits for no standby any more. */
  async startPrimary() {
    if (!(await this.primary.query("select 1").catch(() => null))) await this.primary.start()
    await this.primary.query("alter system set synchronous_standby_names = ''")
    await this.primary.query("select pg_reload_conf()")
  }

  async remove() {
    for (const node of [this.primary, this.standby])
      await node.program("pg_ctl", "--pgdata", node.folder, "--mode", "immediate", "stop").catch(() => {})
    await rm(this.root, { recursive: true, force: true })
  }
}
