import pg from "pg"
import { operatorError } from "../../errors/operator-error.js"
import type { Home, Memory } from "./home.js"

/** The role that initdb creates, which cannot stop being a superuser; only this folder connects as it. */
export const SUPERUSER = "platform"

/** The role that the server and its commands work as: it owns the platform's database and everything in it, and has no other right. */
export const SERVER_ROLE = "platform_server"

const TIMEOUT_MS = 10_000

/** The connection string of a database for the superuser. */
export function superuserUrl(memory: Memory, port = memory.port, database = "platform"): string {
  return `postgres://${SUPERUSER}:${memory.password}@127.0.0.1:${port}/${database}`
}

/** The connection string of the platform's database for the server's role. */
export function serverUrl(memory: Memory, port: number): string {
  return `postgres://${SERVER_ROLE}:${memory.serverPassword}@127.0.0.1:${port}/platform`
}

/**
 * Creates the server's role where it is missing, and gives it what the superuser owns, as in a database of an earlier version. At every
 * start, because an earlier version may have been used in between.
 */
export async function prepareServerRole(home: Home, port: number): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl(home.memory, port), ssl: false, connectionTimeoutMillis: TIMEOUT_MS })
  // A lost connection also rejects the running statement.
  client.on("error", () => {})
  try {
    await client.connect()
    // One transaction: a process that is killed in between leaves the database as it was.
    await client.query(`BEGIN; SET LOCAL lock_timeout = ${TIMEOUT_MS}; SET LOCAL search_path = pg_catalog`)
    for (const statement of await roleStatements(client, home.memory.serverPassword)) await client.query(statement)
    await client.query("COMMIT")
  } catch (error) {
    throw operatorError(`The role of the server could not be prepared in ${home.data}: ${(error as Error).message}.`, error)
  } finally {
    await client.end()
  }
}

async function roleStatements(client: pg.Client, password: string): Promise<string[]> {
  const role = await client.query("SELECT FROM pg_roles WHERE rolname = $1", [SERVER_ROLE])
  const owned = await client.query<{ kind: string; identity: string }>(OWNED_BY_SUPERUSER)
  return [
    // The password is set even if the role exists: postgres.json may come from a backup.
    `${role.rowCount ? "ALTER" : "CREATE"} ROLE ${SERVER_ROLE} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS
       PASSWORD ${client.escapeLiteral(password)}`,
    `ALTER DATABASE platform OWNER TO ${SERVER_ROLE}`,
    ...owned.rows.map(({ kind, identity }) => `ALTER ${kind} ${identity} OWNER TO ${SERVER_ROLE}`),
  ]
}

/**
 * The objects that the superuser has created in this database; REASSIGN OWNED is refused for the role of initdb. Objects of initdb have an oid
 * below 16384. Members of extensions (dependency e) stay; parts of other objects (i) and sequences of a column (a) follow what they belong to,
 * except the constructor functions of a range type.
 */
const OWNED_BY_SUPERUSER = `
  SELECT object.type AS kind, object.identity
  FROM (
    SELECT 'pg_namespace'::regclass AS catalog, oid, nspowner AS owner, false AS is_sequence FROM pg_namespace WHERE nspname !~ '^pg_'
    UNION ALL
    SELECT 'pg_class', oid, relowner, relkind = 'S' FROM pg_class
      WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND relpersistence <> 't'
    UNION ALL
    SELECT 'pg_proc', oid, proowner, false FROM pg_proc
    UNION ALL
    SELECT 'pg_type', oid, typowner, false FROM pg_type
  ) owned, pg_identify_object(owned.catalog, owned.oid, 0) object
  WHERE owned.owner = '${SUPERUSER}'::regrole AND owned.oid >= 16384
    AND NOT EXISTS (
      SELECT FROM pg_depend
      WHERE classid = owned.catalog AND objid = owned.oid AND objsubid = 0
        AND (deptype = 'e' OR deptype = 'i' AND catalog <> 'pg_proc'::regclass OR deptype = 'a' AND is_sequence)
    )`
