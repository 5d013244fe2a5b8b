import type { GraphQLResolveInfo } from "graphql"
import type { FileUpload } from "graphql-upload-minimal"
import { Arg, Ctx, Info, Mutation, Resolver } from "type-graphql"
import { leftForVisitor, mustBeVisitorsType, mustBeWithinVisitorsDay } from "../channels/visitor-files.js"
import { Access } from "../context/access.js"
import { completed, idempotent } from "../context/idempotency.js"
import { mustBeWithinQuota, quotaLeft } from "../context/media-quota.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import type { PlainRow } from "../database/read-model.js"
import { UploadedFile, UUID } from "../entities/kit/scalars.js"
import { Media } from "../entities/media.js"
import { receiveUpload } from "../media/upload.js"
import { mediaReadModel } from "../schema/media.js"

/** Writes the row of a stored file, and removes the file when the row is not written. */
async function storeRow(context: RequestContext, media: Media, idempotencyKey: string | null | undefined): Promise<Media | PlainRow> {
  const { companyId, filename, sha256, storageKey, visitorChatId } = media
  const { storage } = context.services
  const request = { idempotencyKey, companyId, filename, sha256 }
  try {
    const row = await context.transaction((tx) =>
      idempotent(tx, tx.unit, "Media", request, async () => {
        if (visitorChatId) await mustBeWithinVisitorsDay(tx, visitorChatId)
        tx.em.persist(media)
        await mustBeWithinQuota(tx, companyId)
        return media
      }),
    )
    if (row.id !== media.id) await storage.remove([storageKey])
    return row
  } catch (error) {
    // The commit may have succeeded although its response was lost; if that is unknown, the job for stray files decides later.
    const row = await context.reader.byId(mediaReadModel, media.id, {}).catch(() => media)
    if (!row) await storage.remove([storageKey]).catch(() => {})
    throw error
  }
}

@Resolver()
export class MediaResolver {
  @Access("visitor", { transaction: "manual" })
  @Mutation(() => Media, {
    description:
      "Uploads a file for messages or knowledge items. A file that is not used is deleted after one day. The visitor of a widget may upload images and PDF of 10 MB, 20 a day, for messages of its own chat.",
  })
  async uploadMedia(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("companyId", () => UUID, {
      nullable: true,
      description: "ID of the company. Default: the company of the access token, or the only company of the user.",
    })
    companyId: string | null | undefined,
    @Arg("file", () => UploadedFile, {
      description: "The file, sent as the GraphQL multipart request specification describes; at most 25 MB.",
    })
    file: Promise<FileUpload>,
    @Arg("idempotencyKey", () => String, {
      nullable: true,
      description: "Idempotency key: a repetition of the request with the same key within 24 hours returns the first response.",
    })
    idempotencyKey?: string | null,
  ) {
    const { services, request, identity } = context
    const visitor = identity.kind === "visitor" ? identity : null
    const owner = context.company(companyId)
    // A repetition stores nothing, and is answered even if the quota is used up meanwhile.
    const left = idempotencyKey ? null : await quotaLeft(context, owner, request.form)
    const allowed = visitor ? leftForVisitor(left) : left
    await using arrived = await receiveUpload(services.arrivals, await file, allowed, request.form)
    if (visitor) mustBeVisitorsType(arrived)
    const media = Media.arrived(owner, arrived, visitor?.chatId)
    await services.storage.put(media.storageKey, arrived.path).catch(async (error) => {
      // The file may have been stored although the request failed.
      await services.storage.remove([media.storageKey]).catch(() => {})
      throw error
    })
    return completed(context, "Media", { ...(await storeRow(context, media, idempotencyKey)) }, selectionOf(info))
  }
}
