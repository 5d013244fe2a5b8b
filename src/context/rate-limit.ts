import type { Redis } from "ioredis"
import ipaddr from "ipaddr.js"
import type { Logger } from "pino"
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterPostgres, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible"
import type { Config } from "../config/config.js"
import type { Database } from "../database/connect.js"
import { RateLimited } from "../errors/errors.js"
import { rootLimits } from "../limits.js"
import { reconnectWait } from "../reconnect.js"
import { logOutages } from "../redis-outage.js"
import { contextLimits } from "./limits.js"

/** What is limited per minute. */
export interface RateLimits {
  /** Sign-in attempts per client address and per email, over all instances, with and without Redis. */
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

/**
 * The limits of a server. All but sign-in are counted in Redis, over all instances; without Redis, and while it does not answer, in the process:
 * a counter in the database would be one hot row per token.
 */
export function rateLimits(config: Config, database: Database, redis: Redis | null): RateLimits {
  const shared = (name: string) => (options: Options) => (redis ? inRedis(redis, name, options) : new RateLimiterMemory(options))
  return {
    signIn: new RateLimit(config.signInAttemptsPerMinute, (options) => inDatabase(database, options)),
    credential: new RateLimit(config.rateLimitPerMinute, shared("credential")),
    address: new RateLimit(config.rateLimitAnonymousPerMinute, shared("address")),
    newChatsOfAddress: new RateLimit(contextLimits.newChatsOfAddressPerMinute, shared("new-chats-address")),
    newChatsOfConnection: new RateLimit(contextLimits.newChatsOfConnectionPerMinute, shared("new-chats-connection")),
  }
}

/** Connects to the Redis that counts; a command fails at once while there is no connection. */
export async function redisForLimits(url: string, log: Logger): Promise<Redis> {
  const { Redis } = await import("ioredis")
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: rootLimits.redisConnectMs,
    commandTimeout: rootLimits.redisAnswerMs,
    retryStrategy: reconnectWait,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
  })
  logOutages([redis], log, "each instance counts its requests itself")
  // A server starts without Redis too: the error was logged, and it connects again.
  await redis.connect().catch(() => {})
  return redis
}

interface Options {
  points: number
  duration: number
}

const inRedis = (redis: Redis, name: string, options: Options) =>
  new RateLimiterRedis({
    ...options,
    storeClient: redis,
    keyPrefix: `platform:limit:${name}`,
    rejectIfRedisNotReady: true,
    insuranceLimiter: new RateLimiterMemory(options),
  })

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
    make: (options: Options) => RateLimiterAbstract,
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
  { address, headers }: { address: string; headers: Record<string, string> },
) {
  await limits.newChatsOfAddress.count(addressKey(address), headers)
  await limits.newChatsOfConnection.count(connectionId, headers)
}
