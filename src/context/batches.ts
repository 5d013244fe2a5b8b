import type { Statement } from "../database/unit-of-work.js"
import type { RequestContext } from "./request-context.js"

/** Runs a statement, each time as a unit of its own, until it touches fewer rows than a batch; its last two values are the companies and the size. */
export async function inBatches(context: RequestContext, statement: Statement, values: unknown[], size: number): Promise<void> {
  for (;;) {
    const rows = await context.statement(statement, [...values, context.companyIds, size])
    if (rows.length < size) return
  }
}
