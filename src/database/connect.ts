import { MikroORM } from "@mikro-orm/postgresql"
import type { Kysely } from "kysely"
import type { Pool } from "pg"
import { operatorError } from "../errors/operator-error.js"
import { ormOptions } from "./options.js"
import { partsOf } from "./place.js"
import { PoolGuard } from "./pool-guard.js"
import type { Tables } from "./tables.js"

/** The connection pool, as MikroORM, as pg and as Kysely. */
export interface Database {
  orm: MikroORM
  pool: Pool
  /** Query builder on the pool, outside any transaction. */
  sql: Sql
  /** Guards this pool, and further pools on the same database. */
  guard: PoolGuard
  /** Connection string, for modules that need their own connection (LISTEN, Agenda). */
  url: string
  close(): Promise<void>
}

/** Query builder, typed by the columns of the tables. */
export type Sql = Kysely<Tables>

/** Opens the pool; throws an error for the operator when the database cannot be reached. */
export async function connect(url: string, log?: (line: string) => void): Promise<Database> {
  const guard = new PoolGuard()
  const orm = await MikroORM.init(ormOptions(url, log, (pool) => guard.watch(pool)))
  const pool = await answering(orm).catch(async (error) => {
    await orm.close()
    throw unreachable(url, error)
  })
  return { orm, pool, sql: orm.em.fork().getKysely<Tables>(), guard, url, close: () => orm.close() }
}

/** The pool, once the database has answered. */
async function answering(orm: MikroORM): Promise<Pool> {
  const pool = await (orm.em.getConnection() as unknown as { getNativeClient(): Promise<Pool> }).getNativeClient()
  await pool.query("select 1")
  return pool
}

/** PostgreSQL's code for a database that does not exist. */
const noDatabase = "3D000"

/** How pg says that it has no password to answer with. */
const noPassword = /client password must be a string/

/** The message names only the host, because the URL may contain a password. With several addresses, the driver's error has no message. */
function unreachable(url: string, error: Error & { code?: string }): Error {
  const { database, server } = partsOf(url)
  if (error.code === noDatabase)
    return operatorError(`There is no database ${database} at ${server}: create it, or correct DATABASE_URL.`, error)
  if (noPassword.test(error.message))
    return operatorError(
      `The database at ${server} wants a password: DATABASE_URL has none, and PGPASSFILE names no file of mode 600 with a line for it.`,
      error,
    )
  return operatorError(`The database at ${server} cannot be reached: ${error.message || error.code}`, error)
}
