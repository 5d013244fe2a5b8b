import type { MikroORM } from "@mikro-orm/postgresql"
import DataLoader from "dataloader"
import { sql } from "kysely"
import type { Sql } from "./connect.js"
import type { Run } from "./pipelined.js"
import { prepared } from "./prepared.js"
import { queryTemplate } from "./query-template.js"
import { columnsOf, type Narrow, type PlainRow, plannedProperties, type Query, type ReadModel, type Selection } from "./read-model.js"

/** The part of a query that follows the company's border, where its text depends on nothing but `key`; `values` stand in their places. */
export interface QueryTemplate {
  key: string
  values: unknown[]
  build(query: Query, values: unknown[]): Query
}

/**
 * The planned reads of one viewer: plain rows, the columns that were asked for, a fixed number of statements whatever the size of the page,
 * and never a row of a company out of reach.
 */
export class Reader {
  #loaders = new Map<ReadModel, Map<string, DataLoader<string, PlainRow | null>>>()

  constructor(
    readonly orm: MikroORM,
    readonly sql: Sql,
    readonly companyIds: string[],
    /** Runs a statement where this reader reads: on the pool, or inside a transaction. */
    private readonly run: Run,
    /** The signed address of a file. */
    readonly mediaUrl: (id: string) => string = noAddress,
  ) {}

  /** A query on a type's table that sees only the companies in reach; `t` is its alias. */
  scoped(source: ReadModel, companyIds = this.companyIds): Query {
    const query = this.table(source)
    return source.scope ? source.scope(query, companyIds) : query.where("t.company_id", ...inList(companyIds))
  }

  private table(source: ReadModel): Query {
    return this.sql.selectFrom(`${columnsOf(this.orm, source.name).table} as t`)
  }

  /** Rows of a type with everything the selection asks for. */
  async list(source: ReadModel, selection: Selection, build: Narrow, companyIds?: string[]): Promise<PlainRow[]> {
    const query = this.selecting(source, this.properties(source, selection), build(this.scoped(source, companyIds)))
    const { sql: text, parameters } = query.compile()
    return this.complete(source, await this.run({ text }, parameters as unknown[], extrasIn(source, selection)), selection)
  }

  /** The same for a list that a fixed statement reads. */
  async fixedList(source: ReadModel, selection: Selection, part: QueryTemplate, companyIds = this.companyIds): Promise<PlainRow[]> {
    const properties = this.properties(source, selection)
    const build: QueryTemplate["build"] = (query, values) => this.selecting(source, properties, part.build(query, values))
    const whole = { ...part, key: `${part.key} ${properties}`, build }
    const rows = await this.fixedRows(source, whole, companyIds, extrasIn(source, selection))
    return this.complete(source, rows, selection)
  }

  /** Plain rows of a fixed statement on a type's table: it is built once, and prepared. */
  async fixedRows(
    source: ReadModel,
    { key, values, build }: QueryTemplate,
    companyIds = this.companyIds,
    later?: string[],
  ): Promise<PlainRow[]> {
    if (source.scope) throw new Error(`${source.name} has a scope of its own, whose text is not fixed`)
    // One company is compared as one: an index on the column then gives its order too.
    const isOne = companyIds.length === 1
    const scoped = (company: unknown) => this.table(source).where("t.company_id", "=", isOne ? company : anyOf(company))
    const all = [isOne ? companyIds[0] : arrayOf(companyIds), ...values]
    const statement = queryTemplate(`${source.name} ${isOne} ${key}`, all, ([company, ...rest]) => build(scoped(company), rest))
    return this.run(prepared(statement.text), statement.values, later)
  }

  private properties(source: ReadModel, selection: Selection) {
    return plannedProperties(source, columnsOf(this.orm, source.name), selection)
  }

  private selecting(source: ReadModel, properties: string[], query: Query) {
    const columns = columnsOf(this.orm, source.name)
    return query.select(properties.map((property) => `t.${columns.of.get(property)} as ${property}`))
  }

  /** Puts the selected fields that are no columns on rows that were read before. */
  async complete(source: ReadModel, rows: PlainRow[], selection: Selection): Promise<PlainRow[]> {
    if (rows.length === 0) return rows
    await Promise.all(extrasIn(source, selection).map((field) => source.relations[field]!.load(rows, this, selection[field]!, selection)))
    return rows
  }

  /**
   * A page of what a filter finds, and how many rows that are: counting looks at all of them, so the page is taken from those. `keys` are the
   * columns by which `page` chooses.
   */
  async counted(
    source: ReadModel,
    selection: Selection,
    { filter, keys, page, order }: { filter: Narrow; keys: string[]; page: Narrow; order: Narrow },
    companyIds?: string[],
  ): Promise<{ rows: PlainRow[]; totalCount: number }> {
    const found = filter(this.scoped(source, companyIds)).select([...new Set(["id", ...keys])].map((column) => `t.${column}`))
    const shown = this.sql
      .with(
        (cte) => cte("found").materialized(),
        () => found,
      )
      .selectFrom(`${columnsOf(this.orm, source.name).table} as t`)
      .where("t.id", "in", page(this.sql.selectFrom("found as t")).select("t.id"))
      .select(sql`(select count(*) from found)`.as("totalCount"))
    const query = order(this.selecting(source, this.properties(source, selection), shown))
    const { sql: text, parameters } = query.compile()
    const rows = await this.run({ text }, parameters as unknown[], extrasIn(source, selection))
    // An empty page, of an empty list or behind the end of one, has no row that says it.
    const totalCount = rows[0] ? Number(rows[0]["totalCount"]) : await this.count(source, filter, companyIds)
    return { rows: await this.complete(source, rows, selection), totalCount }
  }

  /** How many rows a query finds. */
  async count(source: ReadModel, build: Narrow, companyIds?: string[]): Promise<number> {
    const row = await build(this.scoped(source, companyIds)).select(sql<string>`count(*)`.as("count")).executeTakeFirstOrThrow()
    return Number(row["count"])
  }

  /** One row by its id, or null when it is missing or out of reach; asked for together, many are read in one statement. */
  byId(source: ReadModel, id: string, selection: Selection): Promise<PlainRow | null> {
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
  async byIds(source: ReadModel, ids: readonly string[], selection: Selection): Promise<Map<string, PlainRow>> {
    if (ids.length === 0) return new Map()
    const rows = source.scope
      ? await this.list(source, selection, (query) => query.where("t.id", ...inList(ids)))
      : await this.fixedList(source, selection, {
          key: "by ids",
          values: [arrayOf(ids)],
          build: (query, [list]) => query.where("t.id", "=", anyOf(list)),
        })
    return new Map(rows.map((row) => [row["id"] as string, row]))
  }
}

/** The selected fields that are no columns. */
const extrasIn = (source: ReadModel, selection: Selection) => Object.keys(selection).filter((field) => source.relations[field])

function noAddress(): never {
  throw new Error("Who reads here has no address to show files at")
}

/** Ids as PostgreSQL writes an array: they are UUIDs, which need no quotes. */
export const arrayOf = (ids: readonly string[]) => `{${ids.join()}}`

/** `any (ids)` of such an array. */
export const anyOf = (array: unknown) => sql`any(${array}::uuid[])`

/** `= id` for one, so that an index on the column also gives its order; `= any (ids)` for several. */
export function inList(ids: readonly string[]): ["=", unknown] {
  return ids.length === 1 ? ["=", ids[0]] : ["=", anyOf(arrayOf(ids))]
}
