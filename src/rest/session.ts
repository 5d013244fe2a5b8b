import { routes } from "./kit/routes.js"

export const sessionRoutes = routes("Authentication", {
  "POST /api/auth/sign-in": {
    does: "Signs a user in with email and password.",
    run: `mutation ($email: String, $password: String) { signIn(email: $email, password: $password) { ...TokenPair } }`,
    body: "fields",
    status: 200,
    fails: [400, 401, 429],
    attempt: true,
  },
  "POST /api/auth/refresh": {
    does: "Exchanges a refresh token for a new pair of tokens.",
    run: `mutation ($refreshToken: String!) { refreshSession(refreshToken: $refreshToken) { ...TokenPair } }`,
    body: "fields",
    status: 200,
    fails: [400, 401],
  },
  "GET /api/auth/me": {
    does: "Returns the signed-in user.",
    run: "query { me { ...Me } }",
  },
})
