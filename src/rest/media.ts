import { routes } from "./kit/routes.js"

export const mediaRoutes = routes("Media", {
  "POST /api/media/upload": {
    does: "Uploads a file for messages or knowledge items.",
    run: `mutation ($companyId: UUID, $file: Upload!, $idempotencyKey: String) {
      uploadMedia(companyId: $companyId, file: $file, idempotencyKey: $idempotencyKey) { ...Media } }`,
    multipart: "file",
    idempotent: true,
    fails: [400, 403],
  },
})
