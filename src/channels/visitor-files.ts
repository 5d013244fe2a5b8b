import { LockMode } from "@mikro-orm/postgresql"
import type { RequestContext } from "../context/request-context.js"
import { Chat } from "../entities/chat.js"
import { clock } from "../entities/kit/clock.js"
import { type ArrivedFile, Media } from "../entities/media.js"
import { BadUserInput, PayloadTooLarge, RateLimited, Unauthenticated, UnsupportedMediaType } from "../errors/errors.js"
import type { QuotaLeft } from "../media/upload.js"
import { channelLimits } from "./limits.js"

/** What the visitor of a widget may upload of what the company has left (contract, section 10). */
export function leftForVisitor(left: QuotaLeft | null): QuotaLeft {
  const ofFile = { bytes: channelLimits.visitorFileBytes, error: new PayloadTooLarge(channelLimits.visitorFileBytes) }
  return left && left.bytes < ofFile.bytes ? left : ofFile
}

/** Throws unless the visitor of a widget may upload a file of this type. */
export function mustBeVisitorsType({ mimeType }: ArrivedFile): void {
  if (!/^image\/(?!svg)|^application\/pdf$/.test(mimeType))
    throw new UnsupportedMediaType(`Files of this type (${mimeType}) are not taken here: send an image or a PDF file`)
}

/** Locks the visitor's chat, and throws when it has as many files of the last 24 hours as a visitor may upload. */
export async function mustBeWithinVisitorsDay({ em }: RequestContext, chatId: string): Promise<void> {
  const chat = await em.findOne(Chat, { id: chatId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (!chat) throw new Unauthenticated("The visitor's chat was deleted: write without the token")
  const day = channelLimits.visitorDayMs
  const since = new Date(clock.now().getTime() - day)
  const options = { orderBy: { createdAt: "desc" }, limit: channelLimits.visitorFilesPerDay, fields: ["createdAt"] } as const
  const files = await em.find(Media, { companyId: chat.companyId, visitorChatId: chatId, createdAt: { $gt: since } }, options)
  const oldest = files.at(-1)
  if (!oldest || files.length < channelLimits.visitorFilesPerDay) return
  const seconds = (oldest.createdAt.getTime() + day - clock.now().getTime()) / 1_000
  throw new RateLimited(seconds, `A visitor may send ${channelLimits.visitorFilesPerDay} files a day: try again later`)
}

/** Locks the files that a visitor has uploaded, and attaches them; throws when one is not the visitor's. */
export async function attachVisitorsFiles({ em }: RequestContext, chat: Chat, ids: string[]): Promise<Media[]> {
  if (ids.length === 0) return []
  // In the order of their IDs, so that two messages with the same files cannot deadlock.
  const options = { orderBy: { id: "asc" }, lockMode: LockMode.PESSIMISTIC_WRITE } as const
  const found = await em.find(Media, { id: { $in: ids }, companyId: chat.companyId, visitorChatId: chat.id }, options)
  const files = ids.flatMap((id) => found.find((media) => media.id === id) ?? [])
  if (files.length < ids.length)
    throw new BadUserInput("mediaIds names a file that this visitor has not uploaded", [
      { path: "mediaIds", message: "names a file that this visitor has not uploaded" },
    ])
  for (const media of files) media.attach()
  return files
}
