import { Lanes } from "../context/lanes.js"
import type { Services } from "../context/services.js"
import { RateLimited } from "../errors/errors.js"
import { oncePer } from "../once-per.js"
import { channelLimits } from "./limits.js"

const queuesOf = oncePer((_services: Services) => ({
  lanes: new Lanes(channelLimits.hookRequestsAtOnce),
  /** By connection: size of the bodies that are handled or wait. */
  bytes: new Map<string, number>(),
}))

/**
 * Handles a request of a connection's hook, with a body of so many bytes, a few at a time: a connection that sends many delays its own, and not
 * those of others. Throws 429 when too many wait, since each holds its body.
 */
export async function inTurn<T>(services: Services, connectionId: string, bytes: number, work: () => Promise<T>): Promise<T> {
  const { lanes, bytes: held } = queuesOf(services)
  const bytesOf = () => held.get(connectionId) ?? 0
  if (lanes.waiting(connectionId) >= channelLimits.hookRequestsWaiting || bytesOf() + bytes > channelLimits.hookQueueBytes)
    throw new RateLimited(1)
  held.set(connectionId, bytesOf() + bytes)
  try {
    return await lanes.run(connectionId, work)
  } finally {
    held.set(connectionId, bytesOf() - bytes)
    if (bytesOf() === 0) held.delete(connectionId)
  }
}
