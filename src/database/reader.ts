import type { MikroORM } from "@mikro-orm/postgresql"
import DataLoader from "dataloader"
import { sql } from "kysely"
import type { Sql } from "./connect.js"
import { columnsOf, type PlainRow, plannedProperties, type Query, type Selection, type Source } from "./source.js"

/**
 * The planned reads of one viewer: plain rows, the columns that were asked for, a fixed number of statements whatever the size of the page,
 * and never a row of a company out of reach.
 */
export class Reader {
  #loaders = new Map<Source, Map<string, DataLoader<string, PlainRow | null>>>()

  constructor(
    readonly orm: MikroORM,
    readonly sql: Sql,
    readonly companyIds: string[],
    /** The signed address of a file. */
    readonly mediaUrl: (id: string) => string = noAddress,
  ) {}

  /** A query on a type's table that sees only the companies in reach; `t` is its alias. */
  scoped(source: Source, companyIds = this.companyIds): Query {
    const query = this.sql.selectFrom(`${columnsOf(this.orm, source.name).table} as t`)
    if (source.scope) return source.scope(query, companyIds)
    return query.where("t.company_id", ...inList(companyIds))
  }

  /** Rows of a type with everything the selection asks for. */
  async list(source: Source, selection: Selection, build: (query: Query) => Query, companyIds?: string[]): Promise<PlainRow[]> {
    const columns = columnsOf(this.orm, source.name)
    const properties = plannedProperties(source, columns, selection)
    const query = build(this.scoped(source, companyIds)).select(
      properties.map((property) => `t.${columns.of.get(property)} as ${property}`),
    )
    return this.complete(source, await query.execute(), selection)
  }

  /** Puts the selected fields that are no columns on rows that were read before. */
  async complete(source: Source, rows: PlainRow[], selection: Selection): Promise<PlainRow[]> {
    if (rows.length === 0) return rows
    const extras = Object.keys(selection).flatMap((field) => {
      const extra = source.extras[field]
      return extra ? [extra.load(rows, this, selection[field]!)] : []
    })
    await Promise.all(extras)
    return rows
  }

  /** How many rows a query finds. */
  async count(source: Source, build: (query: Query) => Query, companyIds?: string[]): Promise<number> {
    const row = await build(this.scoped(source, companyIds)).select(sql<string>`count(*)`.as("count")).executeTakeFirstOrThrow()
    return Number(row["count"])
  }

  /** One row by its id, or null when it is missing or out of reach; asked for together, many are read in one statement. */
  byId(source: Source, id: string, selection: Selection): Promise<PlainRow | null> {
    const bySelection = this.#loaders.get(source) ?? new Map<string, DataLoader<string, PlainRow | null>>()
    this.#loaders.set(source, bySelection)
    const key = JSON.stringify(selection)
    const known =
      bySelection.get(key) ??
      new DataLoader<string, PlainRow | null>(async (ids) => {
        const found = await this.byIds(source, ids, selection)
        return ids.map((each) => found.get(each) ?? null)
      })
    bySelection.set(key, known)
    return known.load(id)
  }

  /** Rows by their ids, in one statement. */
  async byIds(source: Source, ids: readonly string[], selection: Selection): Promise<Map<string, PlainRow>> {
    if (ids.length === 0) return new Map()
    const rows = await this.list(source, selection, (query) => query.where("t.id", ...inList([...ids])))
    return new Map(rows.map((row) => [row["id"] as string, row]))
  }
}

function noAddress(): never {
  throw new Error("Who reads here has no address to show files at")
}

/** `= id` for one, so that an index on the column also gives its order; `= any (ids)` for several. */
export function inList(ids: string[]): ["=", unknown] {
  return ids.length === 1 ? ["=", ids[0]] : ["=", sql`any(${ids}::uuid[])`]
}
