import { RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible"
import type { Database } from "../database/connect.js"
import { RateLimited } from "../errors.js"

/** Response headers of every request that a limit counts. */
export const limitHeaders = (limit: number, remaining: number, resetMs: number) => ({
  "X-RateLimit-Limit": String(limit),
  "X-RateLimit-Remaining": String(Math.max(0, remaining)),
  "X-RateLimit-Reset": String(Math.ceil(resetMs / 1000)),
})

/** Counts sign-in attempts in the database, so that the limit is exact over all instances. */
export class SignInLimit {
  readonly #limiter: RateLimiterPostgres | null

  constructor(
    database: Database,
    /** 0 disables the limit. */
    private readonly perMinute: number,
  ) {
    const options = { storeClient: database.pool, storeType: "pool", tableName: "sign_in_attempt", tableCreated: true, keyPrefix: "" }
    this.#limiter = perMinute > 0 ? new RateLimiterPostgres({ ...options, points: perMinute, duration: 60 }) : null
  }

  /** Counts an attempt under a key and sets the limit's headers; throws RateLimited beyond the limit. */
  async count(key: string, headers: Record<string, string>): Promise<void> {
    if (!this.#limiter) return
    try {
      const result = await this.#limiter.consume(key)
      this.setHeaders(headers, result)
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused
      this.setHeaders(headers, refused)
      throw new RateLimited(refused.msBeforeNext / 1000)
    }
  }

  private setHeaders(headers: Record<string, string>, result: RateLimiterRes) {
    const known = headers["X-RateLimit-Remaining"]
    // Of several limits, the headers describe the one with fewer attempts left.
    if (known === undefined || result.remainingPoints <= Number(known))
      Object.assign(headers, limitHeaders(this.perMinute, result.remainingPoints, result.msBeforeNext))
  }
}
