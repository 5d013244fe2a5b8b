import type { EntityClass } from "@mikro-orm/postgresql"
import { databaseLimits } from "./limits.js"
import type { UnitOfWork } from "./unit-of-work.js"

/** Values in which the copies differ, by property. */
export interface CopyValues {
  /** One value per row; `id` is always included. */
  each: { id: string[]; [property: string]: (string | null)[] }
  /** SQL that is the same for all rows; it may refer to the row as `t`, and to `values` as `$1` and so on. */
  all: Record<string, string>
  values: unknown[]
}

/**
 * Copies rows inside the database: all stored columns except those that differ. A column that an entity gets later is copied too.
 */
export async function copyRows<T extends object>(
  unit: UnitOfWork,
  entity: EntityClass<T>,
  ids: string[],
  { each, all, values }: CopyValues,
) {
  const { tableName, props } = unit.em.getMetadata().get(entity)
  const stored = props.filter((prop) => prop.persist !== false && !prop.generated && !prop.embeddable)
  const columns = stored.map(({ fieldNames: [column] }) => column)
  const selected = stored.map(({ name, fieldNames: [column] }) => all[name] ?? (each[name] ? `copy."${name}"` : `t.${column}`))
  const at = values.length + 1
  const lists = Object.keys(each).map((_property, index) => `$${at + 2 + index}::uuid[]`)
  const text = `
    insert into ${tableName} (${columns.join(", ")}) select ${selected.join(", ")}
    from unnest($${at}::uuid[], ${lists.join(", ")}) as copy (source, ${Object.keys(each)
      .map((property) => `"${property}"`)
      .join(", ")})
    join ${tableName} t on t.id = copy.source and t.company_id = any($${at + 1}::uuid[])`
  for (let from = 0; from < ids.length; from += databaseLimits.copyBatch) {
    const batch = (list: unknown[]) => list.slice(from, from + databaseLimits.copyBatch)
    await unit.run({ text }, [...values, batch(ids), unit.scope.companyIds, ...Object.values(each).map(batch)])
  }
}
