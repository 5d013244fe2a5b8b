import pLimit from "p-limit"
import type { Database } from "../database/connect.js"
import { timeoutError } from "../database/pool-guard.js"
import { rootLimits } from "../limits.js"
import { oncePer } from "../once-per.js"
import { Lanes } from "./lanes.js"
import { contextLimits } from "./limits.js"

const { connectionUses: limits } = contextLimits

/** Lets what no person asks for use the connections of an instance to the database, some at once, so that people's requests find others. */
class ConnectionUses {
  readonly #all = pLimit(limits.system)
  readonly #ofWork = pLimit(limits.work)
  readonly #ofCompany = new Lanes(limits.workOfCompany)

  /** Uses a connection, for a customer's message or the like; fails like a statement that gets none when it must wait for too long. */
  async inTime<T>(use: () => Promise<T>): Promise<T> {
    if (this.#all.activeCount < limits.system && this.#all.pendingCount === 0) return this.#all(use)
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      reject(timeoutError())
    }, rootLimits.databaseWaitMs)
    void this.#all(async () => {
      if (isLate) return
      clearTimeout(timer)
      await use().then(resolve, reject)
    })
    return promise
  }

  /** Uses a connection for durable work of a company, in its turn, which `inTurn` waits for; never all are used for rows of one company that are locked. */
  forWork<T>(companyId: string, inTurn: (use: () => Promise<T>) => Promise<T>, use: () => Promise<T>): Promise<T> {
    return this.#ofCompany.run(companyId, () => inTurn(() => this.#ofWork(() => this.#all(use))))
  }
}

/** The connections of the instance that works with the database. */
export const connectionUses = oncePer((_database: Database) => new ConnectionUses())
