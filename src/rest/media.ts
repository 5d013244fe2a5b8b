import { routes } from "./kit/routes.js"

/** An uploaded file as REST shows it. */
export const mediaFields = "id companyId filename mimeType size url createdAt updatedAt"

export const mediaRoutes = routes("Media", {
  "POST /api/media/upload": {
    does: "Upload a file, to be attached to messages.",
    run: `mutation ($companyId: UUID, $file: Upload!, $idempotencyKey: String) {
      uploadMedia(companyId: $companyId, file: $file, idempotencyKey: $idempotencyKey) { ${mediaFields} } }`,
    multipart: "file",
    idempotent: true,
    fails: [400, 403],
  },
})
