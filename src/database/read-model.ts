import type { EntityMetadata, EntityProperty, MikroORM } from "@mikro-orm/postgresql"
import type { Compilable, RawBuilder, SelectQueryBuilder } from "kysely"
import { oncePer } from "../once-per.js"
import type { Connection } from "./run-query.js"
import type { Columns, EntityName, Properties, Tables } from "./tables.js"

/** The fields that an operation selects of a type, each with its own selection. */
export interface Selection {
  [field: string]: Selection
}

/** A row of any type. */
export interface PlainRow {
  id: string
  [field: string]: unknown
}

/** A row that a planned read returns: its ID and company ID, and the selected columns and fields. */
export type PlannedRow<N extends EntityName> = PlainRow & Partial<Properties<N>>

/** A query on the table of an entity, with the alias `t`; `O` is the type of its rows. */
export type Query<N extends EntityName, O = PlannedRow<N>> = SelectQueryBuilder<Tables & { t: Columns<N> }, "t", O>

/** Adds conditions, an order or limits to a query. */
export type Narrow<N extends EntityName> = <O>(query: Query<N, O>) => Query<N, O>

/** The reads with which the relations of a row are loaded; `Reader` has them. */
export interface RelationReader extends Connection {
  readonly companyIds: string[]
  /** Returns the signed URL of a file. */
  readonly mediaUrl: (id: string) => string
  byIds<N extends EntityName>(model: ReadModel<N>, ids: readonly string[], selection: Selection): Promise<Map<string, PlannedRow<N>>>
  manyOf<T extends EntityName>(relation: HasMany<T>, ids: readonly string[], selection: Selection): Promise<Map<string, PlannedRow<T>[]>>
  list<N extends EntityName>(
    model: ReadModel<N>,
    selection: Selection,
    query: (query: Query<N>) => Compilable<PlannedRow<N>>,
    companyIds?: string[],
  ): Promise<PlannedRow<N>[]>
}

/** A field that is not a column of its type. */
export interface Relation<N extends EntityName = EntityName> {
  /** Columns of the row that the field is loaded from. */
  needs: readonly string[]
  /** Returns the value for each row, in their order. `selection` is the selection of the field, `ofRow` that of the row. */
  load(rows: PlannedRow<N>[], reader: RelationReader, selection: Selection, ofRow: Selection): unknown[] | Promise<unknown[]>
}

/** Declares how the rows of an entity's GraphQL type are read. */
export interface ReadModel<N extends EntityName = EntityName> {
  /** Name of the entity. */
  name: N
  relations: Record<string, Relation<N>>
  /** Columns that the field resolvers of the type need, by field. */
  resolverNeeds: Record<string, readonly string[]>
  /** Limits a query to the companies in reach, where the table has no `company_id`. */
  scope?<O>(query: Query<N, O>, companyIds: string[]): Query<N, O>
}

const registry = new Map<string, ReadModel>()

/** Declares the read model of an entity, which all its planned reads use. */
export function readModel<N extends EntityName>(
  name: N,
  relations: Record<string, Relation<NoInfer<N>>> = {},
  scope?: ReadModel<N>["scope"],
): ReadModel<N> {
  const model: ReadModel<N> = { name, relations, resolverNeeds: {}, scope }
  registry.set(name, model as unknown as ReadModel)
  return model
}

/** Returns the read model of an entity by its name; undefined for a type that is no entity. */
export const readModelOf = (name: string) => registry.get(name)

/** A field with the row that a column of this type refers to. */
export const belongsTo = <N extends EntityName, T extends EntityName>(
  target: () => ReadModel<T>,
  key: keyof Properties<N> & string,
): Relation<N> => ({
  needs: [key],
  async load(rows, reader, selection) {
    const ids = rows.map((row) => row[key] as string | null | undefined)
    const unique = [...new Set(ids)].filter((id) => id != null)
    const found = await reader.byIds(target(), unique, selection)
    return ids.map((id) => (id && found.get(id)) || null)
  },
})

/** A field that is computed from columns of the row. */
export const computed = <N extends EntityName>(
  needs: (keyof Properties<N> & string)[],
  compute: (row: PlannedRow<N>) => unknown,
): Relation<N> => ({ needs, load: (rows) => rows.map(compute) })

/** The rows whose lists are loaded, for a query that cannot use `any(…)`. */
export interface Owners {
  /** A table with their IDs in the column `id`. */
  list: RawBuilder<{ id: string }>
  /** Whether a column is the company in reach. */
  isCompany(column: string): RawBuilder<boolean>
}

/** A field with the rows of another table that refer to this row, such as the files of a message. */
export interface HasMany<T extends EntityName> extends Relation {
  target: () => ReadModel<T>
  /** The field of a loaded row that refers to its owner. */
  key: string
  /** Key of the query template. */
  templateKey: string
  /** Limits a query to the rows that refer to `ids`, an `any(…)` expression, and orders them; selects `key` where it is not a column. */
  of(query: Query<T>, ids: RawBuilder<string>, owners: Owners): Compilable<PlannedRow<T>>
}

let lists = 0

/** Declares a one-to-many relation; a field resolver loads it with `reader.many()`. */
export function hasMany<T extends EntityName>(target: () => ReadModel<T>, key: string, of: HasMany<T>["of"]): HasMany<T> {
  const relation: HasMany<T> = {
    target,
    key,
    templateKey: `list ${lists++}`,
    of,
    needs: [],
    async load(rows, reader, selection) {
      const ids = rows.map(({ id }) => id)
      const lists = await reader.manyOf(relation, ids, selection)
      return ids.map((id) => lists.get(id) ?? [])
    },
  }
  return relation
}

interface Table {
  table: string
  /** Column names by property. */
  of: Map<string, string>
}

const tablesOf = oncePer((_orm: MikroORM) => new Map<string, Table>())

/** The table and the columns of an entity, from MikroORM's metadata. */
export function columnsOf(orm: MikroORM, name: EntityName): Table {
  const known = tablesOf(orm)
  const table = known.get(name) ?? describe(orm, name)
  known.set(name, table)
  return table
}

function describe(orm: MikroORM, name: EntityName): Table {
  const { tableName, props } = [...orm.getMetadata().getAll().values()].find((meta) => meta.className === name) as EntityMetadata
  return { table: tableName, of: new Map(storedProperties(props).map((prop) => [prop.name as string, prop.fieldNames[0]!])) }
}

/** Properties of an entity that are one column each; embedded objects have a column for each property of their own. */
export const storedProperties = (props: EntityProperty[]) =>
  props.filter(({ persist, kind, embedded }) => persist !== false && kind !== "embedded" && !embedded)

/** The columns that an operation selects and those that its relations and field resolvers need; always the ID and the company ID. */
export function plannedProperties(model: ReadModel, columns: Table, selection: Selection): string[] {
  const wanted = new Set<string>(["id", "companyId"])
  for (const field of Object.keys(selection)) {
    wanted.add(field)
    for (const needed of model.relations[field]?.needs ?? model.resolverNeeds[field] ?? []) wanted.add(needed)
  }
  return [...wanted].filter((property) => columns.of.has(property))
}
