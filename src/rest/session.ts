import { routes } from "./kit/routes.js"

export const sessionRoutes = routes("Authentication", {
  "POST /api/auth/sign-in": {
    summary: "Signs a user in with email and password.",
    document: `mutation ($email: String, $password: String) { signIn(email: $email, password: $password) { ...TokenPair } }`,
    body: "fields",
    status: 200,
    errorStatuses: [400, 401, 429],
    countsAsSignIn: true,
  },
  "POST /api/auth/refresh": {
    summary: "Exchanges a refresh token for a new pair of tokens.",
    document: `mutation ($refreshToken: String!) { refreshSession(refreshToken: $refreshToken) { ...TokenPair } }`,
    body: "fields",
    status: 200,
    errorStatuses: [400, 401],
  },
  "GET /api/auth/me": {
    summary: "Returns the signed-in user.",
    document: "query { me { ...Me } }",
  },
})
