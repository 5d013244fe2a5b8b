import pLimit, { type LimitFunction } from "p-limit"
import type { Services } from "../context/services.js"
import { RateLimited } from "../errors.js"
import { oncePer } from "../once-per.js"
import { channelLimits } from "./limits.js"

interface Queue {
  limit: LimitFunction
  /** Size of the bodies that are handled or wait. */
  bytes: number
}

const queuesOf = oncePer((_services: Services) => new Map<string, Queue>())

/**
 * Handles a request of a connection's hook, with a body of so many bytes, a few at a time: a connection that sends many delays its own, and not
 * those of others. Throws 429 when too many wait, since each holds its body.
 */
export async function inTurn<T>(services: Services, connectionId: string, bytes: number, work: () => Promise<T>): Promise<T> {
  const queues = queuesOf(services)
  const queue = queues.get(connectionId) ?? { limit: pLimit(channelLimits.hookRequestsAtOnce), bytes: 0 }
  const { limit } = queue
  if (limit.pendingCount >= channelLimits.hookRequestsWaiting || queue.bytes + bytes > channelLimits.hookQueueBytes)
    throw new RateLimited(1)
  queues.set(connectionId, queue)
  queue.bytes += bytes
  try {
    return await limit(work)
  } finally {
    queue.bytes -= bytes
    // This request may still count.
    if (limit.pendingCount === 0 && limit.activeCount <= 1) queues.delete(connectionId)
  }
}
