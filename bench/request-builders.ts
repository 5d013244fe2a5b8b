import type { Request, RequestParameters } from "./requests.js"

/** A GET. */
export const get = (path: string, headers: Record<string, string> = {}): Request => ({ method: "GET", path, headers })

/** A POST of JSON. */
export const post = (path: string, body: unknown, headers: Record<string, string> = {}): Request => ({
  method: "POST",
  path,
  headers: { "Content-Type": "application/json", ...headers },
  body: JSON.stringify(body),
})

/** A GraphQL operation with variables from the parameters. */
export const operation =
  (
    query: string,
    variables: (parameters: RequestParameters) => unknown,
    headers: (parameters: RequestParameters) => Record<string, string> = () => ({}),
  ) =>
  (parameters: RequestParameters) =>
    post("/graphql", { query, variables: variables(parameters) }, headers(parameters))
