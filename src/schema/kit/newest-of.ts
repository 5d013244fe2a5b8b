import { sql } from "kysely"
import { contextLimits } from "../../context/limits.js"
import { type HasMany, hasMany, type ReadModel, type Selection } from "../../database/read-model.js"
import type { Reader } from "../../database/reader.js"
import type { EntityName } from "../../database/tables.js"

/** A list of the newest rows of each owner: its tables, the column that names the owner, and the columns that order it. */
export interface NewestList<T extends EntityName> {
  target: () => ReadModel<T>
  table: string
  owner: { table: string; column: string; property: string }
  newestFirst: string[]
}

/** Declares the first page of such a list, which is read for all owners of a page in one statement, and its total count in another one. */
export function newestOf<T extends EntityName>(list: NewestList<T>) {
  const bySize = new Map<number, HasMany<T>>()
  const counts = relation(list, 1, true)
  return {
    /** Reads the newest rows of an owner, at most `size`. */
    rows(reader: Reader, id: string, size: number, selection: Selection) {
      if (size > contextLimits.pageMax + 1) throw new Error(`A page has no ${size} rows`)
      const found = bySize.get(size) ?? relation(list, size, false)
      bySize.set(size, found)
      return reader.many(found, id, selection)
    },
    /** Counts all rows of an owner. */
    async count(reader: Reader, id: string): Promise<number> {
      const [newest] = await reader.many(counts, id, {})
      return Number((newest as { totalCount?: string } | undefined)?.totalCount ?? 0)
    },
  }
}

function relation<T extends EntityName>({ target, table, owner, newestFirst }: NewestList<T>, size: number, isCounted: boolean) {
  const order = (alias: string) =>
    sql.join(
      newestFirst.map((column) => sql`${sql.ref(`${alias}.${column}`)} desc`),
      sql`, `,
    )
  const ofOwner = sql`${sql.ref(`m.${owner.column}`)} = o.id and m.company_id = o.company_id`
  return hasMany(target, owner.property, (query, ids) => {
    const newest = sql`select n.id from ${sql.table(owner.table)} as o
      cross join lateral (select m.id from ${sql.table(table)} as m where ${ofOwner} order by ${order("m")} limit ${sql.lit(size)}) as n
      where o.id = ${ids}`
    const found = query.where(sql<boolean>`t.id in (${newest})`).orderBy(order("t"))
    if (!isCounted) return found
    const all = sql<string>`(select count(*) from ${sql.table(table)} as m where ${sql.ref(`m.${owner.column}`)} = ${sql.ref(`t.${owner.column}`)} and m.company_id = t.company_id)`
    return found.select(all.as("totalCount")) as typeof found
  })
}
