import type { EntityClass, MikroORM } from "@mikro-orm/postgresql"
import type { Statement } from "../../database/unit-of-work.js"

/** The statements of a kind of work, over the columns that its entity declares. */
export interface WorkStatements {
  /** Rows to take, fairly: `$1` now, `$2` IDs to skip, `$3` companies with running work, `$4` how much, `$5` slots of each, `$6` limit. */
  due: Statement<{ id: string; company_id: string }>
  /** `$1` new end of the lease, `$2` ID of the row, `$3` companies in reach, `$4` ID of the run. */
  renew: Statement
  /** `$1` now, `$2` time before which due work counts as overdue. */
  counts: Statement
}

/** Builds the statements of a kind of work from MikroORM's metadata. */
export function workStatements<T extends object>(orm: MikroORM, name: string, entity: EntityClass<T>, property: string): WorkStatements {
  const { tableName: table, properties } = orm.getMetadata().get(entity)
  const columns = (properties as Record<string, { embeddedProps: Record<string, { fieldNames: string[] }> }>)[property]!.embeddedProps
  const [due, run, lease, failures] = ["dueAt", "runId", "leaseUntil", "failures"].map((each) => columns[each]!.fieldNames[0]!)
  // Each half has a partial index: due rows, and rows of lost workers.
  const waiting = `
    select id, company_id, ${due} as since from ${table} where ${due} <= $1 and ${run} is null
    union all
    select id, company_id, ${lease} from ${table} where ${lease} <= $1 and ${run} is not null`
  return {
    due: {
      name: `due-${name}`,
      // The first item of a company comes before the second of any other; running items count.
      text: `
        select id, company_id from (
          select id, company_id, since, coalesce(here.running, 0) + row_number() over (partition by company_id order by since, id) as place
          from (${waiting}) waiting left join unnest($3::uuid[], $4::integer[]) as here (company_id, running) using (company_id)
          where id <> all($2::uuid[])
        ) ranked where place <= $5 order by place, since limit $6`,
    },
    renew: {
      name: `renew-lease-${name}`,
      text: `update ${table} set ${lease} = $1 where id = $2 and company_id = any($3::uuid[]) and ${run} = $4 returning id`,
    },
    counts: {
      name: `counts-${name}`,
      text: `
        select count(*)::integer as due, count(*) filter (where since <= $2)::integer as overdue, min(since) as oldest,
          (select count(*)::integer from ${table} where ${lease} > $1) as running,
          (select count(*)::integer from ${table} where ${due} is not null and ${failures} > 0) as failed
        from (${waiting}) waiting`,
    },
  }
}
