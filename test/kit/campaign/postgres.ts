import { join } from "node:path"
import pg from "pg"
import { recall } from "../../../src/database/embedded/home.js"
import { type EmbeddedDatabase, openEmbedded } from "../../../src/database/embedded/open.js"
import { findPostmaster } from "../../../src/database/embedded/postmaster.js"
import { SERVER_ROLE, superuserUrl } from "../../../src/database/embedded/roles.js"
import { must } from "./wait.js"

/** The PostgreSQL server that all deployments share; a campaign that runs alone may stop it and start it again. */
export class Postgres {
  private constructor(
    private readonly dataDir: string,
    private readonly database: EmbeddedDatabase,
  ) {}

  static async open(dataDir: string) {
    return new Postgres(dataDir, await openEmbedded({ dataDir, role: "server", log() {} }))
  }

  get url() {
    return this.database.url
  }

  /** Creates a database that the servers own. */
  async createDatabase(name: string, from = "template1") {
    const client = new pg.Client({ connectionString: superuserUrl(recall(this.dataDir)!) })
    await client.connect()
    await client.query(`create database ${name} owner ${SERVER_ROLE} template ${from}`).finally(() => client.end())
  }

  /** Immediate shutdown: every session ends where it is, nothing is written any more. Waits until the process is gone. */
  async stopImmediately() {
    const data = recall(this.dataDir)?.data ?? join(this.dataDir, "postgres")
    process.kill(findPostmaster(data)!.pid, "SIGQUIT")
    await must("PostgreSQL has ended", () => !findPostmaster(data), 15_000)
  }

  /** Starts it again with the same data on the same port; waits until it accepts connections. */
  async startAgain() {
    // A command starts the database where it does not run, and leaves it to the server when it is done.
    const command = await openEmbedded({ dataDir: this.dataDir, role: "command", log() {} })
    await command.stop()
    if (command.url !== this.url) throw new Error("PostgreSQL came back on another port: the old one was taken meanwhile")
  }

  /** Stops it for good. */
  close() {
    return this.database.stop()
  }
}
