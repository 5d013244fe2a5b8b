import pg from "pg"
import { v7 } from "uuid"
import { promised } from "../kit/promise.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, rest, sql } = w

const noteCalls = `insert into tool_call (id, company_id, tool_id, params, created_at)
  select id, $1, tool_id, '{}', now() from unnest($2::uuid[], $3::uuid[]) as given (id, tool_id)`
const finishCalls = "update tool_call set status = $2, success = $2 = 'success', latency_ms = $3 where id = any($1)"

/** A concurrent transaction, which a test runs step by step. */
async function transaction() {
  const client = new pg.Client({ connectionString: w.databaseUrl })
  await client.connect()
  await client.query("begin")
  const [{ pid }] = (await client.query("select pg_backend_pid() as pid")).rows
  return {
    run: (text: string, values?: unknown[]) => client.query(text, values),
    commit: () => client.query("commit"),
    end: () => client.end(),
    /** Resolves when another transaction waits for this one. */
    async isWaitedFor() {
      const waiting = "select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))"
      await until("another transaction waits for this one", async () => (await sql(waiting, [pid])).length > 0)
    },
  }
}

/** The result of a promise: "done", or the code of the database's error. */
const endOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    ({ code }: { code: string }) => code,
  )

/** The stored totals, and those counted from the log. */
const kept = "select tool_id, total, success, error, latency_ms::int, timed from tool_call_tally order by tool_id"
const recount = `select tool_id, count(*)::int as total, count(*) filter (where status = 'success')::int as success,
  count(*) filter (where status = 'error')::int as error, coalesce(sum(latency_ms) filter (where status <> 'pending'), 0)::int as latency_ms,
  count(latency_ms) filter (where status <> 'pending')::int as timed from tool_call group by tool_id order by tool_id`

describe("the totals of a tool's log", () => {
  it("a tool that is deleted while a call is stored: the deletion waits, and deletes the call", async () => {
    const tool = await acme.tool()
    await sql(noteCalls, [acme.id, [v7()], [tool.id]])
    const turn = await transaction()
    try {
      await turn.run(noteCalls, [acme.id, [v7()], [tool.id]])
      const deletion = rest.as(acme.token).delete(`/api/assistant-tools-new/${tool.id}`).expect(200)
      const deleted = endOf(Promise.resolve(deletion.then()))
      await turn.isWaitedFor()
      expect(await endOf(turn.commit())).toBe("done")
      expect(await deleted).toBe("done")
    } finally {
      await turn.end()
    }
    expect(
      await sql("select 1 from tool_call where tool_id = $1 union all select 1 from tool_call_tally where tool_id = $1", [tool.id]),
    ).toEqual([])
  })

  it("a call that is stored while its tool is deleted: the call waits and is refused, without a deadlock", async () => {
    const tool = await acme.tool()
    await sql(noteCalls, [acme.id, [v7()], [tool.id]])
    const [person, turn] = [await transaction(), await transaction()]
    try {
      await person.run("select 1 from assistant_tool where id = $1 for update", [tool.id])
      const noted = endOf(turn.run(noteCalls, [acme.id, [v7()], [tool.id]]).then(() => turn.commit()))
      await person.isWaitedFor()
      expect(await endOf(person.run("delete from assistant_tool where id = $1", [tool.id]).then(() => person.commit()))).toBe("done")
      expect(await noted).toBe("23503")
    } finally {
      await person.end()
      await turn.end()
    }
  })

  it("a call that ends while its tool is deleted: no deadlock", async () => {
    const [tool, call] = [await acme.tool(), v7()]
    await sql(noteCalls, [acme.id, [call], [tool.id]])
    const [person, turn] = [await transaction(), await transaction()]
    try {
      await turn.run("select 1 from tool_call where id = $1 for update", [call])
      const deleted = endOf(person.run("delete from assistant_tool where id = $1", [tool.id]).then(() => person.commit()))
      await turn.isWaitedFor()
      expect(await endOf(turn.run(finishCalls, [[call], "success", 12]).then(() => turn.commit()))).toBe("done")
      expect(await deleted).toBe("done")
    } finally {
      await person.end()
      await turn.end()
    }
    expect(await sql("select 1 from tool_call_tally where tool_id = $1", [tool.id])).toEqual([])
  })

  promised("equal a recount after concurrent calls of many tools, in any order", async () => {
    const tools = await Promise.all(Array.from({ length: 6 }, () => acme.tool()))
    const shuffled = <T>(list: T[]) =>
      list
        .map((item) => [Math.random(), item] as const)
        .sort(([a], [b]) => a - b)
        .map(([, item]) => item)
    const batch = async (index: number) => {
      const calls = Array.from({ length: 18 }, () => v7())
      await sql(noteCalls, [acme.id, calls, shuffled([...tools, ...tools, ...tools].map(({ id }) => id))])
      // A third stays pending, and ended calls are not counted again.
      await sql(finishCalls, [shuffled(calls.slice(0, 6)), "success", index])
      await sql(finishCalls, [shuffled(calls.slice(6, 12)), "error", null])
      await sql("update tool_call set error = 'told' where id = any($1)", [shuffled(calls)])
    }
    await Promise.all(Array.from({ length: 24 }, (_, index) => batch(index)))
    expect(await sql(kept)).toEqual(await sql(recount))

    const { body } = await rest.as(acme.token).get(`/api/assistant-tools-new/${tools[0].id}/logs?status=pending&take=1`).expect(200)
    expect(body.stats.total).toBe(24 * 3)
    expect(body.totalCount).toBe(body.stats.pending)
  })

  it("cost little for a statement with many calls: 20,000 calls of one tool at once", async () => {
    const tool = await acme.tool()
    await sql(
      `insert into tool_call (id, company_id, tool_id, params, created_at, status, success, latency_ms)
       select gen_random_uuid(), $1, $2, '{}', now() - n * interval '1 second', case n % 10000 when 0 then 'error' else 'success' end, n % 10000 <> 0, 20
       from generate_series(1, 20000) n`,
      [acme.id, tool.id],
    )
    const { body } = await rest.as(acme.token).get(`/api/assistant-tools-new/${tool.id}/logs?status=error`).expect(200)
    expect(body).toMatchObject({ totalCount: 2, stats: { total: 20_000, success: 19_998, error: 2, pending: 0, averageLatencyMs: 20 } })
    expect(body.data).toHaveLength(2)

    // Rare calls in a long log are found by an index, not by a scan.
    await sql("analyze tool_call")
    const plan = await sql(
      `explain select * from tool_call t where t.company_id = any($1) and t.tool_id = $2 and t.status = $3 order by t.created_at desc, t.id desc limit 20`,
      [[acme.id], tool.id, "error"],
    )
    expect(plan.map((row) => row["QUERY PLAN"]).join("\n")).toContain("tool_call_outcome")
  })
})
