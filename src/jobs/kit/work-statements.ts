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
  // Each half has a partial index: due rows, by company, and rows of lost workers.
  const lost = `select id, company_id, ${lease} as since from ${table} where ${lease} <= $1 and ${run} is not null`
  const waiting = `select id, company_id, ${due} as since from ${table} where ${due} <= $1 and ${run} is null union all ${lost}`
  return {
    due: {
      name: `due-${name}`,
      // The first item of a company comes before the second of any other; running items count. Of each company no more is read than it has slots, so
      // that it costs the same however much is due.
      text: `
        with recursive company as (
          (select company_id from ${table} where ${due} <= $1 order by company_id limit 1)
          union all
          select (select t.company_id from ${table} t where t.${due} <= $1 and t.company_id > company.company_id order by t.company_id limit 1)
          from company where company.company_id is not null
        ), here as (
          select company_id, running from unnest($3::uuid[], $4::integer[]) as each (company_id, running)
        ), waiting as (
          select each.id, company.company_id, each.since from company left join here using (company_id)
          cross join lateral (
            select t.id, t.${due} as since from ${table} t
            where t.company_id = company.company_id and t.${due} <= $1 and t.${run} is null and t.id <> all($2::uuid[])
            order by t.${due} limit greatest($5 - coalesce(here.running, 0), 0)
          ) each
          union all select id, company_id, since from (${lost}) lost where id <> all($2::uuid[])
        )
        select id, company_id, since from (
          select id, company_id, since, coalesce(here.running, 0) + row_number() over (partition by company_id order by since, id) as place
          from waiting left join here using (company_id)
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
