import type { Statement } from "../database/unit-of-work.js"
import type { RequestContext } from "./request-context.js"

/** Repeats a statement, each time in its own transaction, until it affects fewer rows than `size`; its last two parameters are the companies and `size`. */
export async function inBatches(context: RequestContext, statement: Statement, values: unknown[], size: number): Promise<void> {
  for (;;) {
    const rows = await context.statement(statement, [...values, context.companyIds, size])
    if (rows.length < size) return
  }
}
