import { randomBytes } from "node:crypto"
import pg from "pg"
import { connect } from "../../src/database/connect.js"
import { recall } from "../../src/database/embedded/home.js"
import { openEmbedded } from "../../src/database/embedded/open.js"
import { SERVER_ROLE, superuserUrl } from "../../src/database/embedded/roles.js"
import { migrate } from "../../src/database/migrate.js"

/** The migrated, empty database that every world is a copy of. */
export const TEMPLATE = "template_world"

/** A PostgreSQL with the addresses of its superuser and of the server's role. */
export interface Cluster {
  superuser: string
  url: string
  stop(): Promise<void>
}

export async function embeddedCluster(folder: string): Promise<Cluster> {
  const { url, stop } = await openEmbedded({ dataDir: folder, role: "server", log() {} })
  return { superuser: superuserUrl(recall(folder)!), url, stop }
}

/** The server's role is made in it, with a new password; the databases of an earlier run are dropped. */
export async function givenCluster(superuser: string): Promise<Cluster> {
  const client = new pg.Client({ connectionString: superuser })
  await client.connect()
  const password = randomBytes(16).toString("hex")
  const { rowCount } = await client.query("select from pg_roles where rolname = $1", [SERVER_ROLE])
  await client.query(`${rowCount ? "alter" : "create"} role ${SERVER_ROLE} login nosuperuser password '${password}'`)
  const { rows } = await client.query("select datname from pg_database where datname = $1 or datname like 'world\\_%'", [TEMPLATE])
  for (const { datname } of rows) await client.query(`drop database ${datname} with (force)`)
  await client.end()
  const url = Object.assign(new URL(superuser), { username: SERVER_ROLE, password })
  return { superuser, url: url.href, stop: async () => {} }
}

/** Nothing here has to survive a power cut: a commit that does not wait for the disk is a fraction as long. */
export async function prepareCluster(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // For all roles, and not with ALTER SYSTEM: what stands on PostgreSQL's command line goes before its files.
  await client.query("alter role all set synchronous_commit = off")
  await client.query(`create database ${TEMPLATE} owner ${SERVER_ROLE}`)
  await client.end()
}

export async function makeTemplate(url: string) {
  const address = new URL(url)
  address.pathname = `/${TEMPLATE}`
  const template = await connect(address.href)
  await migrate(template)
  await template.close()
}
