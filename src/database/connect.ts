import { MikroORM } from "@mikro-orm/postgresql"
import type { Kysely } from "kysely"
import type { Pool } from "pg"
import { ormOptions } from "./options.js"

/** The one connection pool, seen as the mapper and as plain PostgreSQL. */
export interface Database {
  orm: MikroORM
  pool: Pool
  /** Query builder on the pool, outside any transaction. */
  sql: Sql
  /** The address, for those who need a connection of their own (LISTEN, Agenda). */
  url: string
  close(): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: planned reads name their columns at run time, from the mapper's metadata.
export type Sql = Kysely<any>

/** Opens the pool; throws a sentence when the database cannot be reached. */
export async function connect(url: string, log?: (line: string) => void): Promise<Database> {
  const orm = await MikroORM.init(ormOptions(url, undefined, log))
  const connection = orm.em.getConnection() as unknown as { getNativeClient(): Promise<Pool>; getClient(): Sql }
  const pool = await connection.getNativeClient()
  return { orm, pool, sql: connection.getClient(), url, close: () => orm.close() }
}
