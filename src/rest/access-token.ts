import { routes } from "./kit/routes.js"

export const accessTokenRoutes = routes("Access tokens", {
  "GET /api/companies/{companyId}/access-tokens": {
    summary: "Lists the access tokens of a company that were not revoked, without their values.",
    document: `query ($companyId: UUID!) { accessTokens(companyId: $companyId) { ...AccessToken } }`,
    errorStatuses: [403],
  },
  "POST /api/companies/{companyId}/access-tokens": {
    summary: "Creates an access token; its value is returned only in this response.",
    document: `mutation ($companyId: UUID!, $name: String!, $expiresAt: DateTime, $readOnly: Boolean) {
      createAccessToken(companyId: $companyId, name: $name, expiresAt: $expiresAt, readOnly: $readOnly) { ...AccessToken token } }`,
    body: "fields",
    errorStatuses: [400, 403],
  },
  "PATCH /api/companies/{companyId}/access-tokens/{tokenId}": {
    summary: "Renames an access token.",
    document: `mutation ($companyId: UUID!, $tokenId: UUID!, $name: String!) {
      renameAccessToken(companyId: $companyId, id: $tokenId, name: $name) { ...AccessToken } }`,
    body: "fields",
    errorStatuses: [400, 403, 404],
  },
  "DELETE /api/companies/{companyId}/access-tokens/{tokenId}": {
    summary: "Revokes an access token immediately and permanently.",
    document: `mutation ($companyId: UUID!, $tokenId: UUID!) { revokeAccessToken(companyId: $companyId, id: $tokenId) { ...AccessToken revokedAt } }`,
    errorStatuses: [403, 404],
  },
})
