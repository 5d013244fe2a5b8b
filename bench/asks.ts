import type { Matter, Request } from "./requests.js"

/** A GET. */
export const get = (path: string, headers: Record<string, string> = {}): Request => ({ method: "GET", path, headers })

/** A POST of JSON. */
export const post = (path: string, body: unknown, headers: Record<string, string> = {}): Request => ({
  method: "POST",
  path,
  headers: { "Content-Type": "application/json", ...headers },
  body: JSON.stringify(body),
})

/** A GraphQL operation whose variables are made of the matter. */
export const operation =
  (query: string, variables: (matter: Matter) => unknown, headers: (matter: Matter) => Record<string, string> = () => ({})) =>
  (matter: Matter) =>
    post("/graphql", { query, variables: variables(matter) }, headers(matter))
