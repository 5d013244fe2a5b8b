import { routes } from "./kit/routes.js"

export const mediaRoutes = routes("Media", {
  "POST /api/media/upload": {
    summary: "Uploads a file for messages or knowledge items.",
    document: `mutation ($companyId: UUID, $file: Upload!, $idempotencyKey: String) {
      uploadMedia(companyId: $companyId, file: $file, idempotencyKey: $idempotencyKey) { ...Media } }`,
    multipart: "file",
    idempotent: true,
    errorStatuses: [400, 403],
  },
})
