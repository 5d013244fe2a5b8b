import pg from "pg"
import { operatorError } from "../errors/operator-error.js"

/** The name of a database and the address of its server, as the driver reads them from its URL; throws when it cannot. */
export function partsOf(url: string): { database: string; server: string } {
  try {
    const { database, user, host, port } = new pg.Client({ connectionString: url })
    // A folder holds the Unix socket of a server on this machine.
    const server = host.startsWith("/") ? host : `${host.includes(":") ? `[${host}]` : host}:${port}`
    return { database: database ?? user ?? "", server }
  } catch (error) {
    const hint = "the user and the password in it have to be percent-encoded"
    throw operatorError(`DATABASE_URL cannot be read: ${(error as Error).message}; ${hint}`, error)
  }
}

/** Names a database for an operator, without user and password. */
export function placeOf(url: string): string {
  const { database, server } = partsOf(url)
  return `PostgreSQL database ${database} at ${server}`
}

/** Names the embedded database of a DATA_DIR for an operator. */
export const embeddedPlaceOf = (dataDir: string): string => `embedded PostgreSQL in ${dataDir}`
