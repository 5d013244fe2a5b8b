import { routes } from "./kit/routes.js"

export const accessTokenRoutes = routes("Access tokens", {
  "GET /api/companies/{companyId}/access-tokens": {
    does: "The company's tokens that work, without their values.",
    run: `query ($companyId: UUID!) { accessTokens(companyId: $companyId) { ...AccessToken } }`,
    fails: [403],
  },
  "POST /api/companies/{companyId}/access-tokens": {
    does: "Create a token; its value is in this answer alone.",
    run: `mutation ($companyId: UUID!, $name: String!) { createAccessToken(companyId: $companyId, name: $name) { ...AccessToken token } }`,
    body: "fields",
    fails: [400, 403],
  },
  "PATCH /api/companies/{companyId}/access-tokens/{tokenId}": {
    does: "Rename a token.",
    run: `mutation ($companyId: UUID!, $tokenId: UUID!, $name: String!) {
      renameAccessToken(companyId: $companyId, id: $tokenId, name: $name) { ...AccessToken } }`,
    body: "fields",
    fails: [400, 403, 404],
  },
  "DELETE /api/companies/{companyId}/access-tokens/{tokenId}": {
    does: "Revoke a token, for good and at once.",
    run: `mutation ($companyId: UUID!, $tokenId: UUID!) { revokeAccessToken(companyId: $companyId, id: $tokenId) { ...AccessToken revokedAt } }`,
    fails: [403, 404],
  },
})
