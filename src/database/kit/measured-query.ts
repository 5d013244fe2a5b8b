import { Query, type QueryArrayConfig, type QueryArrayResult } from "pg"
import type { ReadMeter } from "../run-query.js"

/** The driver's method that receives a row. */
interface RowHandler {
  handleDataRow(message: { length: number }): void
}

const handleDataRow = (Query.prototype as unknown as RowHandler).handleDataRow

/** A query that keeps no further row once its meter has thrown; `onTooMuch` gets the error. */
export class MeasuredQuery extends Query implements RowHandler {
  private isTooMuch = false

  constructor(
    config: QueryArrayConfig,
    callback: (error: Error | undefined, result: QueryArrayResult<unknown[][]>) => void,
    private readonly meter: ReadMeter,
    private readonly onTooMuch: (error: Error) => void,
  ) {
    super(config, callback as never)
  }

  handleDataRow(message: { length: number }) {
    if (this.isTooMuch) return
    try {
      this.meter.take(message.length)
    } catch (error) {
      this.isTooMuch = true
      return this.onTooMuch(error as Error)
    }
    handleDataRow.call(this, message)
  }
}
