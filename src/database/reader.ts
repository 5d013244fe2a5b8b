import type { MikroORM } from "@mikro-orm/postgresql"
import DataLoader from "dataloader"
import { type Compilable, type RawBuilder, sql } from "kysely"
import { oncePer } from "../once-per.js"
import type { Database, Sql } from "./connect.js"
import type { QueryTemplate } from "./kit/compiled-once.js"
import { pipelined } from "./kit/pipelined.js"
import {
  columnsOf,
  type HasMany,
  type Narrow,
  type Owners,
  type PlainRow,
  type PlannedRow,
  plannedProperties,
  type Query,
  type ReadModel,
  type Selection,
} from "./read-model.js"
import { type Connection, type ReadMeter, runQuery } from "./run-query.js"
import type { EntityName } from "./tables.js"

/** The part of a query after the condition on the company; its text depends only on `key`. */
export interface ListTemplate<N extends EntityName, V extends unknown[] = unknown[], R = PlannedRow<N>> {
  key: string
  values: [...V]
  build(query: Query<N>, values: V, isCompany: Owners["isCompany"]): Compilable<R>
}

/** A filter whose text depends only on `key`. */
export interface FilterTemplate<N extends EntityName, V extends unknown[] = unknown[]> {
  key: string
  values: [...V]
  build<O>(query: Query<N, O>, values: V): Query<N, O>
}

/**
 * The planned reads of one request: plain rows with the selected columns, a fixed number of statements whatever the size of the page, and
 * no row of a company out of reach.
 */
export class Reader implements Connection {
  readonly #loaders = new Map<object, Map<string, Loader<unknown>>>()
  readonly send: Connection["send"]

  constructor(
    readonly orm: MikroORM,
    readonly sql: Sql,
    readonly companyIds: string[],
    /** The pool or a transaction. */
    connection: Connection,
    /** Returns the signed URL of a file. */
    readonly mediaUrl: (id: string) => string = noMediaUrl,
  ) {
    this.send = connection.send
  }

  /** A query on the table of an entity, with the alias `t`, limited to the companies in reach. */
  scoped<N extends EntityName>(model: ReadModel<N>, companyIds = this.companyIds): Query<N, unknown> {
    const query = this.table(model)
    return model.scope ? model.scope(query, companyIds) : query.where(ofCompany(...equalsAny(companyIds)))
  }

  private table<N extends EntityName>({ name }: ReadModel<N>): Query<N, unknown> {
    return this.sql.selectFrom(sql.table(columnsOf(this.orm, name).table).as("t")) as unknown as Query<N, unknown>
  }

  /** Reads rows of an entity with the selected columns and relations. A template is compiled once and prepared. */
  async list<N extends EntityName, R extends PlannedRow<N>, V extends unknown[]>(
    model: ReadModel<N>,
    selection: Selection,
    query: ((query: Query<N>) => Compilable<R>) | ListTemplate<N, V, R>,
    companyIds = this.companyIds,
  ): Promise<R[]> {
    const planned =
      typeof query === "function"
        ? query(this.selecting(model, this.properties(model, selection), this.scoped(model, companyIds)))
        : this.template(model, this.properties(model, selection), query, companyIds)
    return this.withRelations(model, await runQuery<R>(this, planned, relationsIn(model, selection)), selection)
  }

  private template<N extends EntityName, R, V extends unknown[]>(
    model: ReadModel<N>,
    properties: string[],
    { key, values, build }: ListTemplate<N, V, R>,
    companyIds: string[],
  ): QueryTemplate<R> {
    if (model.scope) throw new Error(`${model.name} has its own scope, so its queries cannot be templates`)
    // One company is compared with `=`: an index on the column then also gives its order.
    const isOne = companyIds.length === 1
    return {
      key: `${model.name} ${isOne} ${key} ${properties}`,
      values: [isOne ? companyIds[0] : arrayOf(companyIds), ...values],
      build: ([company, ...rest]) => {
        const isCompany = (column?: string) => ofCompany("=", isOne ? company : anyOf(company), column)
        return build(this.selecting(model, properties, this.table(model).where(isCompany())), rest as V, isCompany)
      },
    }
  }

  private properties<N extends EntityName>(model: ReadModel<N>, selection: Selection) {
    return plannedProperties(model, columnsOf(this.orm, model.name), selection)
  }

  private selecting<N extends EntityName>(model: ReadModel<N>, properties: string[], query: Query<N, unknown>): Query<N> {
    const columns = columnsOf(this.orm, model.name).of
    return query.select(properties.map((property) => sql.ref(`t.${columns.get(property)}`).as(property))) as unknown as Query<N>
  }

  /** Adds selected relations and columns to rows that were read before, and missing columns that relations and field resolvers need. */
  async complete<N extends EntityName>(model: ReadModel<N>, rows: PlannedRow<N>[], selection: Selection): Promise<PlannedRow<N>[]> {
    const missing = this.properties(model, selection).filter((property) => rows.some((row) => !(property in row)))
    if (missing.length > 0) {
      const ids = rows.map(({ id }) => id)
      const found = await this.byIds(model, ids, Object.fromEntries(missing.map((property) => [property, {}])))
      for (const row of rows) for (const property of missing) (row as PlainRow)[property] = found.get(row.id)?.[property] ?? null
    }
    return this.withRelations(model, rows, selection)
  }

  private async withRelations<N extends EntityName, R extends PlannedRow<N>>(
    model: ReadModel<N>,
    rows: R[],
    selection: Selection,
  ): Promise<R[]> {
    if (rows.length === 0) return rows
    const loadField = async (field: string) => {
      const values = await model.relations[field]!.load(rows, this, selection[field]!, selection)
      for (let index = 0; index < rows.length; index++) (rows[index] as PlainRow)[field] = values[index]
    }
    await Promise.all(relationsIn(model, selection).map(loadField))
    return rows
  }

  /**
   * Reads a page of the matching rows and their number in one statement: counting reads all matches, so the page is taken from them. `keys`
   * are the columns that `page` uses.
   */
  async counted<N extends EntityName>(
    model: ReadModel<N>,
    selection: Selection,
    { filter, keys, page, order }: { filter: Narrow<N>; keys: string[]; page: Narrow<N>; order: Narrow<N> },
    companyIds = this.companyIds,
  ): Promise<{ rows: PlannedRow<N>[]; totalCount: number }> {
    const found = filter(this.scoped(model, companyIds)).select(
      [...new Set(["id", ...keys])].map((column) => sql.ref(`t.${column}`).as(column)),
    )
    const pageIds = page(this.sql.selectFrom(sql.table("found").as("t")) as unknown as Query<N, unknown>).select(sql.ref("t.id").as("id"))
    const pageRows = this.sql
      .with(
        (cte) => cte("found").materialized(),
        () => found,
      )
      .selectFrom(sql.table(columnsOf(this.orm, model.name).table).as("t"))
      .where(sql<boolean>`t.id in ${pageIds}`) as unknown as Query<N, unknown>
    // The page is of these companies anyway; named again, one shard of a distributed table has its rows.
    const ofReach = model.scope ? pageRows : pageRows.where(ofCompany(...equalsAny(companyIds)))
    const query = order(this.selecting(model, this.properties(model, selection), ofReach)).select(
      sql<string>`(select count(*) from found)`.as("totalCount"),
    )
    const rows = await runQuery<PlannedRow<N> & { totalCount: string }>(this, query, relationsIn(model, selection))
    // An empty page has no row that contains the count.
    const totalCount = rows[0] ? Number(rows[0].totalCount) : await this.count(model, filter, companyIds)
    return { rows: await this.withRelations(model, rows, selection), totalCount }
  }

  /** Counts the rows that match a filter. */
  async count<N extends EntityName>(model: ReadModel<N>, filter: Narrow<N>, companyIds?: string[]): Promise<number> {
    const query = filter(this.scoped(model, companyIds)).select(sql<string>`count(*)`.as("count"))
    const [row] = await runQuery<{ count: string }>(this, query)
    return Number(row!.count)
  }

  /** Reads one row by its ID; null when it is missing or out of reach. Concurrent calls share one statement. */
  async byId<N extends EntityName>(model: ReadModel<N>, id: string, selection: Selection): Promise<PlannedRow<N> | null> {
    return (await this.byIds(model, [id], selection)).get(id) ?? null
  }

  /** Reads several rows by their IDs; returns those that were found. */
  byIds<N extends EntityName>(model: ReadModel<N>, ids: readonly string[], selection: Selection): Promise<Map<string, PlannedRow<N>>> {
    const read = async (list: readonly string[]) => {
      const rows = await this.list(
        model,
        selection,
        model.scope
          ? (query) => query.where(sql<boolean>`t.id = ${anyOf(arrayOf(list))}`)
          : { key: "by ids", values: [arrayOf(list)], build: (query, [array]) => query.where(sql<boolean>`t.id = ${anyOf(array)}`) },
      )
      return new Map(rows.map((row) => [row.id, row]))
    }
    return this.load(model, selection, ids, read)
  }

  /** Reads the rows of a one-to-many relation; concurrent calls share one statement. */
  async many<T extends EntityName>(relation: HasMany<T>, id: string, selection: Selection): Promise<PlannedRow<T>[]> {
    return (await this.manyOf(relation, [id], selection)).get(id) ?? []
  }

  /** Reads the rows of a one-to-many relation for several owners; returns the lists that are not empty, by owner. */
  manyOf<T extends EntityName>(relation: HasMany<T>, ids: readonly string[], selection: Selection): Promise<Map<string, PlannedRow<T>[]>> {
    const read = async (list: readonly string[]) => {
      const { target, key, templateKey, of } = relation
      const rows = await this.list(
        target(),
        { ...selection, [key]: {} },
        {
          key: templateKey,
          values: [arrayOf(list)],
          build: (query, [array], isCompany) => of(query, anyOf(array), { list: tableOf(array), isCompany }),
        },
      )
      const lists = new Map<string, PlannedRow<T>[]>()
      for (const row of rows) lists.set(row[key] as string, [])
      for (const row of rows) lists.get(row[key] as string)!.push(row)
      return lists
    }
    return this.load(relation, selection, ids, read)
  }

  /**
   * Loads with the DataLoader of a relation and a selection, which reads in one statement what is requested in the same tick. One load has
   * the IDs of a whole page, because a promise per row costs more than reading the row. There is no cache: a mutation reads again what it
   * has written, and the context of a subscription lives for hours.
   */
  private async load<V>(
    relation: object,
    selection: Selection,
    ids: readonly string[],
    read: (ids: readonly string[]) => Promise<Map<string, V>>,
  ): Promise<Map<string, V>> {
    if (ids.length === 0) return new Map()
    const loaders = this.#loaders.get(relation) ?? new Map<string, Loader<unknown>>()
    this.#loaders.set(relation, loaders)
    const key = JSON.stringify(selection)
    const loader =
      (loaders.get(key) as Loader<V> | undefined) ??
      new DataLoader(
        async (lists) => {
          const found = await read([...new Set(lists.flat())])
          return lists.map(() => found)
        },
        { cache: false },
      )
    loaders.set(key, loader)
    return loader.load(ids)
  }
}

/** Loads rows, or lists of rows, by IDs. */
type Loader<V> = DataLoader<readonly string[], Map<string, V>>

/** Planned reads on the connection pool, outside any transaction. `meterOf` returns the meter of a statement. */
export const readerOnPool = (
  { orm, sql, pool }: Database,
  companyIds: string[],
  mediaUrl: (id: string) => string,
  meterOf?: () => ReadMeter,
  /** Returns what to read on in place of the pool. */
  inPlaceOf: (pool: Connection) => Connection = (primary) => primary,
) => new Reader(orm, sql, companyIds, inPlaceOf(pipelined(pool, meterOf)), mediaUrl)

/** Completes rows to which no other row refers yet: it reads nothing, and finds nothing. */
export const readerOfNewRows = oncePer(({ orm, sql }: Database) => new Reader(orm, sql, [], { send: async () => [] }))

/** Selected fields that are relations. */
const relationsIn = ({ relations }: { relations: object }, selection: Selection) =>
  Object.keys(selection).filter((field) => Object.hasOwn(relations, field))

function noMediaUrl(): never {
  throw new Error("This reader cannot sign URLs of files")
}

/** IDs as PostgreSQL's text of an array; UUIDs need no quotes. */
export const arrayOf = (ids: readonly string[]) => `{${ids.join()}}`

/** `any(ids)` for the text of an array. */
export const anyOf = (array: unknown) => sql<string>`any(${array}::uuid[])`

/** A table of IDs for the text of an array. */
const tableOf = (array: unknown) => sql<{ id: string }>`(select unnest(${array}::uuid[]) as id)`

/** `= id` for one ID, so that an index on the column also gives its order; `= any(ids)` for several. */
export const equalsAny = (ids: readonly string[]): ["=", string | RawBuilder<string>] => [
  "=",
  ids.length === 1 ? ids[0]! : anyOf(arrayOf(ids)),
]

/** The condition that a row belongs to a company. */
const ofCompany = (_equals: "=", company: unknown, column = "t.company_id") => sql<boolean>`${sql.ref(column)} = ${company}`
