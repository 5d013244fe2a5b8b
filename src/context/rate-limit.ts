import ipaddr from "ipaddr.js"
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible"
import type { Config } from "../config.js"
import type { Database } from "../database/connect.js"
import { RateLimited } from "../errors.js"
import { contextLimits } from "./limits.js"
import type { RequestInfo } from "./request-context.js"

/** What is limited per minute. */
export interface RateLimits {
  /** Sign-in attempts per client address and per email, exact over all instances. */
  signIn: RateLimit
  /** Requests, and operations on sockets, per credential. */
  credential: RateLimit
  /** Requests without valid credentials, and those of the widget, per client address. */
  address: RateLimit
  /** New chats of the widget per client address. */
  newChatsOfAddress: RateLimit
  /** New chats of the widget per connection. */
  newChatsOfConnection: RateLimit
}

/** The limits of a server. All but sign-in are counted in the process: a counter in the database would be one hot row per token. */
export function rateLimits(config: Config, database: Database): RateLimits {
  return {
    signIn: new RateLimit(config.signInAttemptsPerMinute, (options) => inDatabase(database, options)),
    credential: new RateLimit(config.rateLimitPerMinute),
    address: new RateLimit(config.rateLimitAnonymousPerMinute),
    newChatsOfAddress: new RateLimit(contextLimits.newChatsOfAddressPerMinute),
    newChatsOfConnection: new RateLimit(contextLimits.newChatsOfConnectionPerMinute),
  }
}

interface Options {
  points: number
  duration: number
}

const inDatabase = ({ pool }: Database, options: Options) =>
  new RateLimiterPostgres({
    ...options,
    storeClient: pool,
    storeType: "pool",
    tableName: "sign_in_attempt",
    tableCreated: true,
    keyPrefix: "",
  })

/** Counts under keys per minute. */
export class RateLimit {
  readonly #limiter: RateLimiterAbstract | null

  constructor(
    /** 0 disables the limit. */
    perMinute: number,
    make: (options: Options) => RateLimiterAbstract = (options) => new RateLimiterMemory(options),
  ) {
    this.#limiter = perMinute > 0 ? make({ points: perMinute, duration: 60 }) : null
  }

  /** Counts once under a key and sets the headers of the response; throws RateLimited beyond the limit. */
  async count(key: string, headers: Record<string, string>): Promise<void> {
    if (!this.#limiter) return
    try {
      setHeaders(headers, this.#limiter.points, await this.#limiter.consume(key))
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused
      setHeaders(headers, this.#limiter.points, refused)
      throw new RateLimited(refused.msBeforeNext / 1000)
    }
  }
}

/** Of several limits, the headers describe the one with the fewest requests left. */
function setHeaders(headers: Record<string, string>, limit: number, { remainingPoints, msBeforeNext }: RateLimiterRes) {
  const known = headers["X-RateLimit-Remaining"]
  if (known !== undefined && remainingPoints > Number(known)) return
  headers["X-RateLimit-Limit"] = String(limit)
  headers["X-RateLimit-Remaining"] = String(Math.max(0, remainingPoints))
  headers["X-RateLimit-Reset"] = String(Math.ceil(msBeforeNext / 1000))
}

/** The key of a client address: of IPv6 the network of 64 bits, because a client may have all addresses in it. */
export function addressKey(address: string): string {
  if (!ipaddr.isValid(address)) return `address:${address}`
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6 ? `address:${parsed.parts.slice(0, 4).join(":")}::/64` : `address:${parsed}`
}

/** Counts a new chat of the widget; throws RateLimited beyond the limits (contract, section 8). */
export async function countNewChat(
  limits: RateLimits,
  connectionId: string,
  { address, headers }: Pick<RequestInfo, "address" | "headers">,
) {
  await limits.newChatsOfAddress.count(addressKey(address), headers)
  await limits.newChatsOfConnection.count(connectionId, headers)
}
