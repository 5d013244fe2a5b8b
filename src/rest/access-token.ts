import { routes } from "./kit/routes.js"

export const accessTokenRoutes = routes("Access tokens", {
  "GET /api/companies/{companyId}/access-tokens": {
    does: "Lists the active access tokens of a company, without their values.",
    run: `query ($companyId: UUID!) { accessTokens(companyId: $companyId) { ...AccessToken } }`,
    fails: [403],
  },
  "POST /api/companies/{companyId}/access-tokens": {
    does: "Creates an access token; its value is returned only in this response.",
    run: `mutation ($companyId: UUID!, $name: String!) { createAccessToken(companyId: $companyId, name: $name) { ...AccessToken token } }`,
    body: "fields",
    fails: [400, 403],
  },
  "PATCH /api/companies/{companyId}/access-tokens/{tokenId}": {
    does: "Renames an access token.",
    run: `mutation ($companyId: UUID!, $tokenId: UUID!, $name: String!) {
      renameAccessToken(companyId: $companyId, id: $tokenId, name: $name) { ...AccessToken } }`,
    body: "fields",
    fails: [400, 403, 404],
  },
  "DELETE /api/companies/{companyId}/access-tokens/{tokenId}": {
    does: "Revokes an access token immediately and permanently.",
    run: `mutation ($companyId: UUID!, $tokenId: UUID!) { revokeAccessToken(companyId: $companyId, id: $tokenId) { ...AccessToken revokedAt } }`,
    fails: [403, 404],
  },
})
