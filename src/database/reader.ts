import type { MikroORM } from "@mikro-orm/postgresql"
import DataLoader from "dataloader"
import { type Compilable, type RawBuilder, sql } from "kysely"
import type { Database, Sql } from "./connect.js"
import { pipelined } from "./kit/pipelined.js"
import {
  columnsOf,
  type HasMany,
  type Narrow,
  type PlainRow,
  type PlannedRow,
  plannedProperties,
  type Query,
  type ReadModel,
  type Selection,
} from "./read-model.js"
import { type Connection, type QueryTemplate, runQuery } from "./run-query.js"
import type { EntityName } from "./tables.js"

/** What follows the condition on the company in a query whose text depends on nothing but `key`. */
export interface ListTemplate<N extends EntityName, V extends unknown[] = unknown[], R = PlannedRow<N>> {
  key: string
  values: [...V]
  build(query: Query<N>, values: V): Compilable<R>
}

/** A condition whose text depends on nothing but `key`. */
export interface FilterTemplate<N extends EntityName, V extends unknown[] = unknown[]> {
  key: string
  values: [...V]
  build<O>(query: Query<N, O>, values: V): Query<N, O>
}

/**
 * The planned reads of one request: plain rows, the columns that were selected, a fixed number of statements whatever the size of the page,
 * and never a row of a company out of reach.
 */
export class Reader implements Connection {
  readonly #loaders = new Map<object, Map<string, Loader<unknown>>>()
  readonly send: Connection["send"]

  constructor(
    readonly orm: MikroORM,
    readonly sql: Sql,
    readonly companyIds: string[],
    /** Where it reads: the pool, or a transaction. */
    connection: Connection,
    /** The signed address of a file. */
    readonly mediaUrl: (id: string) => string = noAddress,
  ) {
    this.send = connection.send
  }

  /** A query on the table of an entity that sees only the companies in reach; its alias is `t`. */
  scoped<N extends EntityName>(model: ReadModel<N>, companyIds = this.companyIds): Query<N, unknown> {
    const query = this.table(model)
    return model.scope ? model.scope(query, companyIds) : query.where(isOf(...inList(companyIds)))
  }

  private table<N extends EntityName>({ name }: ReadModel<N>): Query<N, unknown> {
    return this.sql.selectFrom(sql.table(columnsOf(this.orm, name).table).as("t")) as unknown as Query<N, unknown>
  }

  /** Rows of an entity with everything that was selected of them. A template is compiled once, and prepared. */
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
    if (model.scope) throw new Error(`${model.name} has a scope of its own, whose text is not fixed`)
    // One company is compared as one: an index on the column then gives its order too.
    const isOne = companyIds.length === 1
    return {
      key: `${model.name} ${isOne} ${key} ${properties}`,
      values: [isOne ? companyIds[0] : arrayOf(companyIds), ...values],
      build: ([company, ...rest]) =>
        build(this.selecting(model, properties, this.table(model).where(isOf("=", isOne ? company : anyOf(company)))), rest as V),
    }
  }

  private properties<N extends EntityName>(model: ReadModel<N>, selection: Selection) {
    return plannedProperties(model, columnsOf(this.orm, model.name), selection)
  }

  private selecting<N extends EntityName>(model: ReadModel<N>, properties: string[], query: Query<N, unknown>): Query<N> {
    const columns = columnsOf(this.orm, model.name).of
    return query.select(properties.map((property) => sql.ref(`t.${columns.get(property)}`).as(property))) as unknown as Query<N>
  }

  /** Puts the selected relations on rows that were read before, and the columns that a field resolver needs and the rows lack. */
  async complete<N extends EntityName>(model: ReadModel<N>, rows: PlannedRow<N>[], selection: Selection): Promise<PlannedRow<N>[]> {
    const needed = Object.keys(selection).flatMap((field) => model.resolverNeeds[field] ?? [])
    const missing = needed.filter((property) => rows.some((row) => !(property in row)))
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
    const put = async (field: string) => {
      const values = await model.relations[field]!.load(rows, this, selection[field]!, selection)
      for (let index = 0; index < rows.length; index++) (rows[index] as PlainRow)[field] = values[index]
    }
    await Promise.all(relationsIn(model, selection).map(put))
    return rows
  }

  /**
   * A page of what a filter finds, and how many rows that are: counting looks at all of them, so the page is taken from those. `keys` are the
   * columns by which `page` chooses.
   */
  async counted<N extends EntityName>(
    model: ReadModel<N>,
    selection: Selection,
    { filter, keys, page, order }: { filter: Narrow<N>; keys: string[]; page: Narrow<N>; order: Narrow<N> },
    companyIds?: string[],
  ): Promise<{ rows: PlannedRow<N>[]; totalCount: number }> {
    const found = filter(this.scoped(model, companyIds)).select(
      [...new Set(["id", ...keys])].map((column) => sql.ref(`t.${column}`).as(column)),
    )
    const places = page(this.sql.selectFrom(sql.table("found").as("t")) as unknown as Query<N, unknown>).select(sql.ref("t.id").as("id"))
    const shown = this.sql
      .with(
        (cte) => cte("found").materialized(),
        () => found,
      )
      .selectFrom(sql.table(columnsOf(this.orm, model.name).table).as("t"))
      .where(sql<boolean>`t.id in ${places}`) as unknown as Query<N, unknown>
    const query = order(this.selecting(model, this.properties(model, selection), shown)).select(
      sql<string>`(select count(*) from found)`.as("totalCount"),
    )
    const rows = await runQuery<PlannedRow<N> & { totalCount: string }>(this, query, relationsIn(model, selection))
    // An empty page, of an empty list or behind the end of one, has no row that says it.
    const totalCount = rows[0] ? Number(rows[0].totalCount) : await this.count(model, filter, companyIds)
    return { rows: await this.withRelations(model, rows, selection), totalCount }
  }

  /** How many rows a query finds. */
  async count<N extends EntityName>(model: ReadModel<N>, filter: Narrow<N>, companyIds?: string[]): Promise<number> {
    const query = filter(this.scoped(model, companyIds)).select(sql<string>`count(*)`.as("count"))
    const [row] = await runQuery<{ count: string }>(this, query)
    return Number(row!.count)
  }

  /** One row by its id, or null when it is missing or out of reach; ids that are asked for together are read in one statement. */
  async byId<N extends EntityName>(model: ReadModel<N>, id: string, selection: Selection): Promise<PlannedRow<N> | null> {
    return (await this.byIds(model, [id], selection)).get(id) ?? null
  }

  /** The same for several ids: the rows that were found, by their ids. */
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

  /** The rows that belong to a row, as a relation declares them; asked for together, those of many rows are read in one statement. */
  async many<T extends EntityName>(relation: HasMany<T>, id: string, selection: Selection): Promise<PlannedRow<T>[]> {
    return (await this.manyOf(relation, [id], selection)).get(id) ?? []
  }

  /** The same for several rows: the lists that are not empty, by the ids of the rows that they belong to. */
  manyOf<T extends EntityName>(relation: HasMany<T>, ids: readonly string[], selection: Selection): Promise<Map<string, PlannedRow<T>[]>> {
    const read = async (list: readonly string[]) => {
      const { target, key, templateKey, of } = relation
      const rows = await this.list(
        target(),
        { ...selection, [key]: {} },
        { key: templateKey, values: [arrayOf(list)], build: (query, [array]) => of(query, anyOf(array)) },
      )
      const lists = new Map<string, PlannedRow<T>[]>()
      for (const row of rows) lists.set(row[key] as string, [])
      for (const row of rows) lists.get(row[key] as string)!.push(row)
      return lists
    }
    return this.load(relation, selection, ids, read)
  }

  /**
   * Loads through the DataLoader of a relation with a selection, which reads in one statement what is asked for together. A load asks for the
   * ids of a whole page, since a promise per row costs more than reading the row. Nothing is remembered: a mutation reads again what it has
   * written, and the context of a subscription lives for hours.
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
          const found = await read(lists.length === 1 ? lists[0]! : [...new Set(lists.flat())])
          return lists.map(() => found)
        },
        { cache: false },
      )
    loaders.set(key, loader)
    return loader.load(ids)
  }
}

/** Loads what belongs to ids: rows, or lists of rows. */
type Loader<V> = DataLoader<readonly string[], Map<string, V>>

/** Planned reads on the connection pool, outside any transaction. */
export const readerOnPool = ({ orm, sql, pool }: Database, companyIds: string[], mediaUrl: (id: string) => string) =>
  new Reader(orm, sql, companyIds, pipelined(pool), mediaUrl)

/** The selected fields that are relations. */
const relationsIn = ({ relations }: { relations: object }, selection: Selection) =>
  Object.keys(selection).filter((field) => Object.hasOwn(relations, field))

function noAddress(): never {
  throw new Error("This reader has no address to show files at")
}

/** Ids as PostgreSQL writes an array: they are UUIDs, which need no quotes. */
export const arrayOf = (ids: readonly string[]) => `{${ids.join()}}`

/** `any (ids)` of such an array. */
export const anyOf = (array: unknown) => sql<string>`any(${array}::uuid[])`

/** `= id` for one, so that an index on the column also gives its order; `= any (ids)` for several. */
export const inList = (ids: readonly string[]): ["=", string | RawBuilder<string>] => [
  "=",
  ids.length === 1 ? ids[0]! : anyOf(arrayOf(ids)),
]

/** The condition that a row belongs to a company. */
const isOf = (_equals: "=", company: unknown) => sql<boolean>`t.company_id = ${company}`
