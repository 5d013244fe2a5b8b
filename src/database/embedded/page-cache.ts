import { totalmem } from "node:os"

const megabyte = 1024 * 1024
const mostMb = 4096

/** The smallest cache of pages in megabytes: PostgreSQL's own default. */
export const leastPageCacheMb = 128

/**
 * The embedded database's cache of pages (`shared_buffers`) in megabytes: a quarter of the memory of this machine or container (in bytes), which
 * PostgreSQL's manual suggests (section 19.4.1), and at most 4 GB. PostgreSQL takes the memory of a page when it first needs it, apart from 22 MB
 * for each GB, which it takes at its start.
 */
export function pageCacheMb(memory: number = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)): number {
  return Math.min(mostMb, Math.max(leastPageCacheMb, Math.floor(memory / 4 / megabyte)))
}
