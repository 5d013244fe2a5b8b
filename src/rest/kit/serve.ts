import type { RouterContext } from "@koa/router"
import type { ExecutionResult } from "graphql"
import { limits } from "../../limits.js"
import type { Operation } from "./operation.js"
import type { Route } from "./routes.js"
import { variablesOf } from "./variables.js"

/** Runs a route's operation and answers its root field, as REST shows it. */
export async function answer(operation: Operation, ctx: RouterContext, viewer: unknown, body: Record<string, unknown>) {
  const { route } = operation
  const variables = variablesOf(operation, { path: ctx["params"], query: new URLSearchParams(ctx.querystring), body })
  const isWhole = route.whole && ["first", "after", "skip"].every((name) => variables[name] === undefined)
  const result: ExecutionResult = await (isWhole ? wholeList(operation, viewer, variables) : operation.run(viewer, variables))
  const [error] = result.errors ?? []
  if (error) throw error
  const value = result.data?.[Object.keys(result.data)[0]!]
  ctx.status = route.status ?? (route.method === "POST" ? 201 : 200)
  ctx.body = JSON.stringify(shaped(route, value))
  ctx.type = "application/json"
}

interface Page {
  nodes: object[]
  totalCount?: number | null
  pageInfo?: { hasNextPage: boolean; endCursor: string | null }
}

/** A whole list as one page: read page by page, so that no single statement grows with it. */
async function wholeList({ run, root }: Operation, viewer: unknown, variables: Record<string, unknown>): Promise<ExecutionResult> {
  const nodes: object[] = []
  for (let after: string | null = null; ; ) {
    const result: ExecutionResult = await run(viewer, { ...variables, first: limits.pageMax, after })
    if (result.errors) return result
    const page = result.data![root.name] as Page
    nodes.push(...page.nodes)
    after = page.pageInfo!.endCursor
    if (!page.pageInfo!.hasNextPage) return { data: { [root.name]: { ...page, nodes, totalCount: nodes.length } } }
  }
}

function shaped(route: Route, value: unknown): unknown {
  const absent = route.nulls ?? []
  if (!route.page) return withNulls(value as object, absent)
  const { nodes, totalCount, pageInfo } = value as Page
  return {
    data: nodes.map((node) => withNulls(node, absent)),
    totalCount: totalCount ?? null,
    nextCursor: pageInfo?.hasNextPage ? pageInfo.endCursor : null,
  }
}

/** Fields are always present: what was not included is null. */
function withNulls(value: object, absent: string[]) {
  if (absent.length === 0 || !value) return value
  const shown: Record<string, unknown> = { ...value }
  // The compiler leaves undefined where a field was not included, which JSON would drop.
  for (const name of absent) shown[name] ??= null
  return shown
}
