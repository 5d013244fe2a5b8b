import type { EntityClass, MikroORM } from "@mikro-orm/postgresql"
import type { Statement } from "../../database/unit-of-work.js"

/** The statements of a kind of work, over the columns that its entity declares. */
export interface WorkStatements {
  /** Rows to take, fairly: `$1` now, `$2` IDs to skip, `$3` companies with running work, `$4` how much, `$5` slots of each, `$6` limit. */
  due: Statement<{ id: string; company_id: string; since: string }>
  /** `$1` new end of the leases, `$2` IDs of the rows, `$3` their companies, `$4` IDs of the runs; returns the runs that hold their rows. */
  renew: Statement<{ run_id: string }>
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
        select id, company_id, since from (
          select id, company_id, since, coalesce(here.running, 0) + row_number() over (partition by company_id order by since, id) as place
          from (${waiting}) waiting left join unnest($3::uuid[], $4::integer[]) as here (company_id, running) using (company_id)
          where id <> all($2::uuid[])
        ) ranked where place <= $5 order by place, since limit $6`,
    },
    renew: {
      name: `renew-lease-${name}`,
      // Rows that are locked now are renewed by the next interval, so that one of them does not delay the others.
      text: `
        with held as (
          select id, lease.run_id from unnest($2::uuid[], $3::uuid[], $4::uuid[]) as lease (id, company_id, run_id) join ${table} using (id, company_id)
          where ${table}.${run} = lease.run_id
        ), free as (
          select id from ${table} where id in (select id from held) for no key update skip locked
        ), renewed as (
          update ${table} set ${lease} = $1 from held where ${table}.id = held.id and ${table}.${run} = held.run_id and held.id in (select id from free)
        )
        select run_id from held`,
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
