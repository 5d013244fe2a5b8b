import { Readable } from "node:stream"
import type { Lease } from "../context/lease.js"
import { mustBeWithinQuota, quotaLeft } from "../context/media-quota.js"
import type { RequestContext } from "../context/request-context.js"
import { Channel } from "../entities/channel.js"
import type { Failure } from "../entities/kit/work-state.js"
import type { Media, MediaSource } from "../entities/media.js"
import { ApiError } from "../errors/errors.js"
import { rootLimits } from "../limits.js"
import { receiveContent } from "../media/upload.js"
import { type Account, ChannelFailure, type Download } from "../ports/channel.js"
import { GuardedRequestError } from "../ports/kit/guarded-http-client.js"
import { accountOf } from "./account.js"
import { channelLimits } from "./limits.js"

/** A file of a channel that is being fetched. */
export interface Fetch {
  companyId: string
  storageKey: string
  filename: string
  source: MediaSource
  messenger: string
  account: Account
}

/** Reads what fetching a file needs, in the transaction that claims it; null when there is nothing to fetch. */
export async function beginFetch({ em, services }: RequestContext, media: Media): Promise<Fetch | null> {
  const { companyId, storageKey, filename, source } = media
  if (media.status !== "pending" || !source) return null
  const channel = await em.findOne(Channel, { id: source.channelId })
  if (!channel) {
    media.failFetching("its connection is gone")
    return null
  }
  return { companyId, storageKey, filename, source, messenger: channel.messenger, account: accountOf(channel, services.secrets) }
}

/** Fetches a file, stores its content and then its row. */
export async function fetchFile(lease: Lease<Media>, task: Fetch): Promise<void> {
  const { context, signal } = lease
  const { storage, arrivals } = context.services
  const left = await quotaLeft(context, task.companyId)
  const { bytes, filename } = await contentOf(context, task, AbortSignal.any([signal, AbortSignal.timeout(channelLimits.fetchMs)]))
  await using arrived = await receiveContent(arrivals, filename ?? task.filename, Readable.from([bytes]), left)
  await storage.put(task.storageKey, arrived.path)
  await lease
    .store(async (media, tx) => {
      media.fetched(arrived)
      await mustBeWithinQuota(tx, task.companyId)
    })
    .catch(async (error) => {
      // Other files have used the quota up meanwhile; the row of a lost file is kept.
      if (error instanceof ApiError) await storage.remove([task.storageKey])
      throw error
    })
}

async function contentOf(
  { services }: RequestContext,
  task: Fetch,
  signal: AbortSignal,
): Promise<{ bytes: Uint8Array; filename?: string | null }> {
  const { reference } = task.source
  if (isText(reference)) return { bytes: Buffer.from(reference.text) }
  const adapter = services.channels.adapter(task.messenger)!
  const download = await adapter.download(reference, task.account, signal)
  return "bytes" in download ? download : { bytes: await read(services, download, signal), filename: download.filename ?? null }
}

const isText = (reference: unknown): reference is { text: string } =>
  typeof reference === "object" && reference !== null && "text" in reference && typeof reference.text === "string"

async function read(
  services: RequestContext["services"],
  { url, headers, isOwn }: Extract<Download, { url: string }>,
  signal: AbortSignal,
) {
  const client = isOwn ? services.vendorHttpClient : services.httpClient
  const maxBytes = rootLimits.uploadBytes
  const options = { method: "GET", ...(headers && { headers }), timeoutMs: channelLimits.fetchMs, maxBytes: maxBytes + 1, signal }
  const response = await client.request(url, options)
  if (response.status >= 400 && response.status < 500 && response.status !== 429) throw new Lost(`the channel answered ${response.status}`)
  if (response.status !== 200) throw new Error(`The channel answered ${response.status}`)
  if (response.body.length > maxBytes) throw new Lost(`it is larger than ${maxBytes / 1024 / 1024} MB`)
  return response.body
}

/** Thrown when another try is useless. */
class Lost extends Error {}

/** How a failed try is repeated. */
export function fetchFailure({ request: { log } }: RequestContext, error: unknown): Failure {
  if (error instanceof Lost) return { reason: error.message, tries: 1 }
  if (error instanceof ApiError) return { reason: error.message, tries: 1 }
  if (error instanceof GuardedRequestError) return { reason: error.message, ...(error.reason === "refused" && { tries: 1 }) }
  if (error instanceof ChannelFailure) return { reason: error.message, ...(error.options.kind === "permanent" && { tries: 1 }) }
  log.error({ err: error }, "a file of a channel could not be fetched")
  return { reason: "it could not be fetched" }
}
