import type pg from "pg"
import type { World } from "./world.js"

/** A statement with the values of one run of it. */
export interface SentStatement {
  name?: string
  text: string
  values: unknown[]
}

/** The statements that the servers of this process send during a call, each text once; not those that the test sends with `world.sql`. */
export async function sentStatements(world: World, work: () => PromiseLike<unknown>): Promise<SentStatement[]> {
  const { prototype } = (world.services.database.pool as unknown as { Client: typeof pg.Client }).Client
  const [sent, byTest] = [jest.spyOn(prototype, "query"), jest.spyOn(world, "sql")]
  await work()
  const calls = sent.mock.calls as unknown as [string | Partial<SentStatement>, unknown][]
  const ours = new Set(byTest.mock.calls.map(([text]) => text))
  for (const spy of [sent, byTest]) spy.mockRestore()
  const found = new Map<string, SentStatement>()
  for (const [statement, given] of calls) {
    const { name, text = "", values = given } = typeof statement === "string" ? { text: statement } : statement
    if (ours.has(text)) continue
    // Several in one message have no values.
    for (const one of Array.isArray(values) ? [text] : text.split(/;\s+(?=with\b)/)) {
      const key = name ?? one
      if (/^\s*(?:select|insert|update|delete|with)\b/i.test(one))
        found.set(key, { ...(name && { name }), text: one, values: Array.isArray(values) ? values : [] })
    }
  }
  return [...found.values()]
}

/** A node of a plan, as PostgreSQL explains it. */
interface PlanNode {
  "Node Type": string
  "Relation Name"?: string
  "Subplan Name"?: string
  Alias?: string
  Output?: string[]
  Plans?: PlanNode[]
  [property: string]: unknown
}

const conditionsOf = ["Index Cond", "Recheck Cond", "Filter", "Join Filter", "Hash Cond", "Merge Cond"]

const nodesOf = (plan: PlanNode): PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

/** `a.company_id = b.company_id`, or a comparison of `a.company_id` with a value or with a column of something that is no table. */
const comparison = /(?:"?(\w+)"?\.)?company_id = (?:"?(\w+)"?\.company_id)?/g

/** The tables of companies that a plan reads without the company, which is neither compared with a value nor with a table whose company is. */
function withoutCompany(plan: PlanNode, ofCompanies: ReadonlySet<string>): string[] {
  const nodes = nodesOf(plan)
  // A node that writes reads nothing itself: what it changes is found by a node below it.
  const scans = nodes.filter(({ "Node Type": type, Alias: alias }) => type !== "ModifyTable" && alias)
  const tables = new Map(scans.flatMap(({ "Relation Name": table, Alias: alias }) => (table ? [[alias!, table] as const] : [])))
  // A column of a subplan that is kept as a hash table is shown by its place.
  const outputs = new Map(nodes.map(({ "Subplan Name": name, Output: columns = [] }) => [name, columns]))
  const named = (condition: string) =>
    condition.replace(/\(hashed (SubPlan \d+)\)\.col(\d+)/g, (all, name, place) => outputs.get(name)?.[place - 1] ?? all)
  const conditions = nodes.flatMap((node) => conditionsOf.flatMap((name) => (typeof node[name] === "string" ? [named(node[name])] : [])))
  const pairs = conditions.flatMap((condition) => [...condition.matchAll(comparison)].map(([, left, right]) => [left, right]))
  const limited = new Set<string>()
  const isLimited = (side: string | undefined) => side === undefined || !tables.has(side) || limited.has(side)
  for (let before = -1; before < limited.size; ) {
    before = limited.size
    for (const [left, right] of pairs) {
      if (left && isLimited(right)) limited.add(left)
      if (right && isLimited(left)) limited.add(right)
    }
  }
  return [...tables].flatMap(([alias, table]) => (ofCompanies.has(table) && !limited.has(alias) ? [table] : []))
}

/** The tables with these names that a statement reads without their company, by the plan that PostgreSQL makes for it. */
export async function readWithoutCompany({ sql }: World, { text, values }: SentStatement, ofCompanies: ReadonlySet<string>) {
  const [row] = await sql(`explain (verbose, costs off, format json) ${text}`, values)
  return withoutCompany(row["QUERY PLAN"][0].Plan, ofCompanies)
}
