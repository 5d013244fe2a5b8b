import type { EntityMetadata, EntityProperty, MikroORM } from "@mikro-orm/postgresql"
import type { Compilable, RawBuilder, SelectQueryBuilder } from "kysely"
import type { Reader } from "./reader.js"
import type { Columns, EntityName, Properties, Tables } from "./tables.js"

/** What an operation selects of a type: its fields, each with what is selected of it. */
export interface Selection {
  [field: string]: Selection
}

/** A row of any type. */
export interface PlainRow {
  id: string
  [field: string]: unknown
}

/** A row as a planned read returns it: its id and company, and what was selected of its other columns and fields. */
export type PlannedRow<N extends EntityName> = PlainRow & Partial<Properties<N>>

/** A query on the table of an entity, whose alias is `t`; `O` is what it selects. */
export type Query<N extends EntityName, O = PlannedRow<N>> = SelectQueryBuilder<Tables & { t: Columns<N> }, "t", O>

/** Adds conditions, an order or bounds to a query. */
export type Narrow<N extends EntityName> = <O>(query: Query<N, O>) => Query<N, O>

/** A field that is no column. */
export interface Relation<N extends EntityName = EntityName> {
  /** The columns of the row that it needs. */
  needs: readonly string[]
  /** Returns the field's value for each row, in their order. `selection` is what is selected of the field, `ofRow` what of its row. */
  load(rows: PlannedRow<N>[], reader: Reader, selection: Selection, ofRow: Selection): unknown[] | Promise<unknown[]>
}

/** Where the rows of an entity's GraphQL type come from. */
export interface ReadModel<N extends EntityName = EntityName> {
  /** Name of the entity. */
  name: N
  relations: Record<string, Relation<N>>
  /** The columns that the field resolvers of the type need, by field. */
  resolverNeeds: Record<string, readonly string[]>
  /** Narrows a query to the companies in reach, where `company_id` does not. */
  scope?<O>(query: Query<N, O>, companyIds: string[]): Query<N, O>
}

const registry = new Map<string, ReadModel>()

/** Declares where the rows of an entity come from; every planned read of it goes by it. */
export function readModel<N extends EntityName>(
  name: N,
  relations: Record<string, Relation<NoInfer<N>>> = {},
  scope?: ReadModel<N>["scope"],
): ReadModel<N> {
  const model: ReadModel<N> = { name, relations, resolverNeeds: {}, scope }
  registry.set(name, model as unknown as ReadModel)
  return model
}

/** The read model of an entity, by its name; undefined for a type that is no entity. */
export const readModelOf = (name: string) => registry.get(name)

/** A field that holds the row which one of our columns names. */
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

/** A field that holds the rows of another table which belong to the row, such as the files of a message. */
export interface HasMany<T extends EntityName> extends Relation {
  target: () => ReadModel<T>
  /** The field of a found row that names the row which it belongs to. */
  key: string
  /** Names the statement: its text is fixed. */
  templateKey: string
  /** Narrows a query to the rows that belong to `ids`, which is `any(…)`, and orders them; selects `key` where it is no column. */
  of(query: Query<T>, ids: RawBuilder<string>): Compilable<PlannedRow<T>>
}

let lists = 0

/** Declares such a field; a field resolver loads it with `reader.many()`. */
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

const tables = new WeakMap<MikroORM, Map<string, Table>>()

/** The table and the columns of an entity, from the mapper's metadata. */
export function columnsOf(orm: MikroORM, name: EntityName): Table {
  const known = tables.get(orm) ?? new Map<string, Table>()
  tables.set(orm, known)
  const table = known.get(name) ?? describe(orm, name)
  known.set(name, table)
  return table
}

function describe(orm: MikroORM, name: EntityName): Table {
  const { tableName, props } = [...orm.getMetadata().getAll().values()].find((meta) => meta.className === name) as EntityMetadata
  return { table: tableName, of: new Map(storedProperties(props).map((prop) => [prop.name as string, prop.fieldNames[0]!])) }
}

/** The properties of an entity that are one column each; what is embedded has a column for each of its own. */
export const storedProperties = (props: EntityProperty[]) =>
  props.filter(({ persist, kind, embedded }) => persist !== false && kind !== "embedded" && !embedded)

/** The columns that an operation selected, with those that its relations and field resolvers need; always the id and the company. */
export function plannedProperties(model: ReadModel, columns: Table, selection: Selection): string[] {
  const wanted = new Set<string>(["id", "companyId"])
  for (const field of Object.keys(selection)) {
    wanted.add(field)
    for (const needed of model.relations[field]?.needs ?? model.resolverNeeds[field] ?? []) wanted.add(needed)
  }
  return [...wanted].filter((property) => columns.of.has(property))
}
