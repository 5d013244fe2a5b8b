import { routes } from "./kit/routes.js"

export const sessionRoutes = routes("Authentication", {
  "POST /api/auth/sign-in": {
    does: "Sign in with email and password.",
    run: `mutation ($email: String, $password: String) { signIn(email: $email, password: $password) { ...TokenPair } }`,
    body: "fields",
    status: 200,
    fails: [400, 401, 429],
    attempt: true,
  },
  "POST /api/auth/refresh": {
    does: "Exchange a refresh token for a new pair.",
    run: `mutation ($refreshToken: String!) { refreshSession(refreshToken: $refreshToken) { ...TokenPair } }`,
    body: "fields",
    status: 200,
    fails: [400, 401],
  },
  "GET /api/auth/me": {
    does: "The signed-in user.",
    run: "query { me { ...Me } }",
  },
})
