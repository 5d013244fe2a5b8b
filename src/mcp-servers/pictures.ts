import { Readable } from "node:stream"
import { mustBeWithinQuota, quotaLeft } from "../context/media-quota.js"
import type { RequestContext } from "../context/request-context.js"
import { Media } from "../entities/media.js"
import { ApiError } from "../errors/errors.js"
import { receiveContent } from "../media/upload.js"
import type { McpPicture } from "../ports/mcp.js"

/**
 * Stores the pictures of a result as files of the company that nothing uses yet; the message with the result uses them. One that cannot be
 * stored, or is none by its bytes, is left out: the tool has done its work.
 */
export async function storePictures(context: RequestContext, companyId: string, pictures: McpPicture[]): Promise<Media[]> {
  const stored: Media[] = []
  for (const [at, picture] of pictures.entries()) {
    try {
      const media = await storePicture(context, companyId, picture, `picture-${at + 1}`)
      if (media) stored.push(media)
    } catch (error) {
      // Whatever the fault is, the result must not be lost.
      const { log } = context.request
      if (error instanceof ApiError) log.warn({ companyId, reason: error.message }, "a picture of a tool could not be stored")
      else log.error({ err: error, companyId }, "a picture of a tool could not be stored")
    }
  }
  return stored
}

async function storePicture(context: RequestContext, companyId: string, { bytes }: McpPicture, filename: string): Promise<Media | null> {
  const { services } = context
  await using arrived = await receiveContent(services.arrivals, filename, Readable.from([bytes]), await quotaLeft(context, companyId))
  if (!arrived.mimeType.startsWith("image/")) return null
  const media = Media.arrived(companyId, arrived)
  await services.storage.put(media.storageKey, arrived.path)
  return context.transaction(async (tx) => {
    tx.em.persist(media)
    await mustBeWithinQuota(tx, companyId)
    return media
  })
}
