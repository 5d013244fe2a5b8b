import type { EntityMetadata, MikroORM } from "@mikro-orm/postgresql"
import type { SelectQueryBuilder } from "kysely"
import type { Reader } from "./reader.js"

/** What an operation asks of a type: its fields, each with what is asked of them. */
export interface Selection {
  [field: string]: Selection
}

// biome-ignore lint/suspicious/noExplicitAny: a plain row, shaped by the selection; GraphQL types it at the door.
export type PlainRow = Record<string, any>

// biome-ignore lint/suspicious/noExplicitAny: columns are named at run time, from the mapper's metadata.
export type Query = SelectQueryBuilder<any, any, any>

/** Adds conditions, an order or bounds to a query. */
export type Narrow = (query: Query) => Query

/** A field that is no column: which columns it needs, and how it is put on all rows of a page at once. */
export interface Relation {
  needs: string[]
  /** `selection` is what is asked of the field, `asked` what is asked of its row. */
  load(rows: PlainRow[], reader: Reader, selection: Selection, asked: Selection): Promise<void> | void
}

/** Where the rows of a GraphQL type come from. */
export interface ReadModel {
  /** Name of the GraphQL type and of the entity. */
  name: string
  relations: Record<string, Relation>
  /** Narrows a query to the companies in reach; by `company_id` when nothing else is said. */
  scope?(query: Query, companyIds: string[]): Query
}

const registry = new Map<string, ReadModel>()

/** Declares where the rows of a type come from; every planned read of the type goes by it. */
export function readModel(name: string, relations: Record<string, Relation> = {}, scope?: ReadModel["scope"]): ReadModel {
  const made: ReadModel = { name, relations, scope }
  registry.set(name, made)
  return made
}

/** The source of a type, by its name; undefined for a type that is no row. */
export const readModelOf = (name: string) => registry.get(name)

/** A field that holds the row which one of our columns names. */
export const belongsTo = (field: string, target: () => ReadModel, key: string): Relation => ({
  needs: [key],
  async load(rows, reader, selection) {
    const ids = [...new Set(rows.flatMap((row) => (row[key] ? [row[key] as string] : [])))]
    const found = await reader.byIds(target(), ids, selection)
    for (const row of rows) row[field] = found.get(row[key]) ?? null
  },
})

/** A field that is computed from the row itself. */
export const computed = (field: string, needs: string[], of: (row: PlainRow) => unknown): Relation => ({
  needs,
  load: (rows) => {
    for (const row of rows) row[field] = of(row)
  },
})

interface Columns {
  table: string
  /** Column names by property. */
  of: Map<string, string>
}

const columnsCache = new WeakMap<MikroORM, Map<string, Columns>>()

/** The table and the columns of a type, from the mapper's metadata. */
export function columnsOf(orm: MikroORM, name: string): Columns {
  const cache = columnsCache.get(orm) ?? new Map<string, Columns>()
  columnsCache.set(orm, cache)
  const known = cache.get(name)
  if (known) return known
  const meta = [...orm.getMetadata().getAll().values()].find((each) => (each as EntityMetadata).className === name) as
    | EntityMetadata
    | undefined
  if (!meta) throw new Error(`${name} is no stored type`)
  const columns = {
    table: meta.tableName,
    of: new Map(meta.props.filter((prop) => prop.persist !== false).map((prop) => [prop.name as string, prop.fieldNames[0]!])),
  }
  cache.set(name, columns)
  return columns
}

/** The columns that an operation selected, with what the other selected fields need; ids always. */
export function plannedProperties(source: ReadModel, columns: Columns, selection: Selection): string[] {
  const wanted = new Set<string>(["id", "companyId"])
  for (const field of Object.keys(selection)) {
    wanted.add(field)
    for (const needed of source.relations[field]?.needs ?? []) wanted.add(needed)
  }
  return [...wanted].filter((property) => columns.of.has(property))
}
