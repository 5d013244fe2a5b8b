import { Readable } from "node:stream"
import type { RouterContext } from "@koa/router"
import { contextLimits } from "../../context/limits.js"
import { timed } from "../../observability/longest-turns.js"
import { csvHeader, csvLines } from "./csv.js"
import { type Operation, rootValue } from "./operation.js"
import type { Route } from "./routes.js"
import { variablesOf } from "./variables.js"

interface Page {
  nodes: object[]
  totalCount?: number | null
  stats?: object
  pageInfo?: { hasNextPage: boolean; endCursor: string | null }
}

/** Runs the operation of a route and sends the value of its root field. */
export async function answer(operation: Operation, ctx: RouterContext, context: unknown, body: Record<string, unknown>) {
  const { route } = operation
  const query = new URLSearchParams(ctx.querystring)
  const parts = { path: ctx["params"] as Record<string, string>, query, body, idempotencyKey: ctx.get("Idempotency-Key") }
  const variables = variablesOf(operation, parts)
  if (route.csv) ctx.vary("Accept")
  if (route.csv && ctx.accepts(["application/json", "text/csv"]) === "text/csv") return answerCsv(operation, ctx, context, variables)
  const isWhole = route.streamsAll && !["take", "cursor", "skip"].some((name) => query.get(name))
  const root = await rootField(operation, context, isWhole ? { ...variables, first: contextLimits.pageMax } : variables)
  const value = route.field ? (root as Record<string, unknown>)[route.field] : root
  ctx.status = route.status ?? (route.method === "POST" ? 201 : 200)
  ctx.type = "application/json"
  ctx.body = isWhole
    ? streamed(wholeList(operation, context, variables, value as Page))
    : Buffer.from(timed("serialize", () => JSON.stringify(shaped(route, value))))
}

const rootField = async (operation: Operation, context: unknown, variables: Record<string, unknown>): Promise<unknown> =>
  rootValue(await operation.run(context, variables))

/** A body that is made while it is sent. */
const streamed = (parts: AsyncGenerator<string>) => Readable.from(parts)

/** Sends all rows as CSV, whatever the request says of the page; a value without pages has them all. */
async function answerCsv(operation: Operation, ctx: RouterContext, context: unknown, variables: Record<string, unknown>) {
  const { csv, page, path } = operation.route
  const whole = page ? { ...variables, first: contextLimits.pageMax, after: null, withTotal: false } : variables
  const value = await rootField(operation, context, whole)
  ctx.type = "text/csv; charset=utf-8"
  ctx.attachment(`${path.split("/").at(-1)}.csv`)
  if (!page) ctx.body = csvHeader(operation) + csvLines(operation, (value as Record<string, object[]>)[csv!]!)
  else ctx.body = streamed(wholeCsv(operation, context, whole, value as Page))
}

async function* wholeCsv(operation: Operation, context: unknown, variables: Record<string, unknown>, first: Page): AsyncGenerator<string> {
  yield csvHeader(operation)
  for await (const { nodes } of pagesFrom(operation, context, variables, first)) yield csvLines(operation, nodes)
}

/** Streams all pages of a list as one JSON text, with one page in memory at a time. */
async function* wholeList(operation: Operation, context: unknown, variables: Record<string, unknown>, first: Page): AsyncGenerator<string> {
  yield `{"totalCount":${first.totalCount ?? null},"nextCursor":null,"data":[`
  let separator = ""
  for await (const page of pagesFrom(operation, context, variables, first)) {
    const nodes = timed("serialize", () => page.nodes.map((node) => JSON.stringify(withNulls(node, operation.route.nulls))).join(","))
    if (nodes) yield separator + nodes
    separator = ","
  }
  yield "]}"
}

/** A page of a list, and all after it. */
async function* pagesFrom(operation: Operation, context: unknown, variables: Record<string, unknown>, first: Page): AsyncGenerator<Page> {
  for (let page = first; ; ) {
    yield page
    if (!page.pageInfo?.hasNextPage) return
    // The total was counted with the first page.
    const next = { ...variables, first: contextLimits.pageMax, after: page.pageInfo.endCursor, withTotal: false }
    page = (await rootField(operation, context, next)) as Page
  }
}

function shaped(route: Route, value: unknown): unknown {
  const absent = route.nulls
  if (!route.page) return withNulls(value as object, absent)
  const { nodes, totalCount, pageInfo, stats } = value as Page
  return {
    data: nodes.map((node) => withNulls(node, absent)),
    totalCount: totalCount ?? null,
    nextCursor: pageInfo?.hasNextPage ? pageInfo.endCursor : null,
    ...(stats && { stats }),
  }
}

/** Sets fields that were not selected to null. */
function withNulls(value: object, absent: string[]) {
  if (!value) return value
  const fields = value as Record<string, unknown>
  // The compiled query sets a field that was not included to undefined.
  for (const name of absent) fields[name] ??= null
  return fields
}
