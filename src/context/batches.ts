import type { Statement } from "../database/unit-of-work.js"
import type { Viewer } from "./request-context.js"

/** Runs a statement, each time as a unit of its own, until it touches fewer rows than a batch; its last two values are the companies and the size. */
export async function inBatches(viewer: Viewer, statement: Statement, values: unknown[], size: number): Promise<void> {
  for (;;) {
    const rows = await viewer.statement(statement, [...values, viewer.companyIds, size])
    if (rows.length < size) return
  }
}
