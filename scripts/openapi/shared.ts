import { STATUS_CODES } from "node:http"
import type { JsonSchema } from "../../src/rest/kit/json-schema.js"
import type { Route } from "../../src/rest/kit/routes.js"
import type { Components } from "./components.js"

export const errorDetail: JsonSchema = {
  type: "object",
  description: "A field of the request, and what is wrong with it.",
  properties: { path: { type: "string" }, message: { type: "string" } },
  required: ["path", "message"],
}

export const errorSchema: JsonSchema = {
  type: "object",
  description: "Error of a request; the message says how to correct it.",
  properties: {
    statusCode: { type: "integer" },
    error: { type: "string" },
    message: { type: "string" },
    code: { type: "string" },
    details: {
      type: "array",
      items: { $ref: "#/components/schemas/ErrorDetail" },
    },
    requestId: { type: "string" },
  },
  required: ["statusCode", "error", "message", "code", "details", "requestId"],
}

export const securitySchemes = {
  "jwt-auth": { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "JWT of a signed-in user." },
  "access-token": { type: "apiKey", in: "header", name: "X-Access-Token", description: "Long-lived token of one company." },
}

const header = (description: string, schema: JsonSchema, example: unknown, required = true) => ({ description, required, schema, example })
const count = { type: "integer", minimum: 0 }

/** The headers of responses by name. */
export const headers = {
  "X-Request-Id": header(
    "ID of the request: the caller's, when it sent one, otherwise the server's. The log of the server has it, too.",
    { type: "string" },
    "0197a3c0-8f00-7000-8000-000000000001",
  ),
  "X-RateLimit-Limit": header("Requests that the caller may send in a minute; absent where there is no limit.", count, 6000, false),
  "X-RateLimit-Remaining": header("Requests that are left in this minute.", count, 5999, false),
  "X-RateLimit-Reset": header("Seconds until the minute ends.", count, 60, false),
  "Retry-After": header("Seconds to wait before the request is sent again.", { type: "integer", minimum: 1 }, 1),
  "Idempotency-Replayed": header(
    "Only on a repetition of a request with the same Idempotency-Key: this is the first response once more.",
    { type: "string", const: "true" },
    "true",
    false,
  ),
}

const referTo = (names: (keyof typeof headers)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
const ofEach: (keyof typeof headers)[] = ["X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]

/** The headers of the response to a request of a route that succeeded. */
export const answerHeaders = ({ idempotent }: Pick<Route, "idempotent">) =>
  referTo(idempotent ? [...ofEach, "Idempotency-Replayed"] : ofEach)

/** The responses with an error, by the names of their statuses; 429 and 503 say when to try again. */
export const refusals: Record<string, JsonSchema> = Object.fromEntries(
  [400, 401, 403, 404, 409, 413, 415, 422, 429, 503].map((status) => [
    nameOf(status),
    {
      description: STATUS_CODES[status],
      headers: referTo(status === 429 || status === 503 ? [...ofEach, "Retry-After"] : ofEach),
      content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
    },
  ]),
)

/** Refers to the response with an error of this status. */
export function refusalOf(status: number): JsonSchema {
  if (!refusals[nameOf(status)]) throw new Error(`OpenAPI: no response is declared for the status ${status}`)
  return { $ref: `#/components/responses/${nameOf(status)}` }
}

function nameOf(status: number) {
  return STATUS_CODES[status]!.replaceAll(" ", "")
}

const version = { version: "0.1.0", node: "v24.21.0", migration: "Migration20260130090000_first" }

const serverVersion: JsonSchema = {
  type: "object",
  examples: [version],
  properties: {
    version: { type: "string", description: "Version of the server." },
    node: { type: "string", description: "Version of Node.js." },
    migration: { type: "string", description: "Name of the last migration of the database." },
  },
  required: ["version", "node", "migration"],
  additionalProperties: false,
}

const versionSummary = "Returns the versions of the server, of Node.js and of the database's schema."

/** `GET /version`, which is served without the schema and without a service. */
export const versionOperation = (components: Components) => ({
  tags: ["Server"],
  summary: versionSummary,
  description: versionSummary,
  operationId: "getVersion",
  security: [],
  parameters: [],
  responses: {
    200: {
      description: STATUS_CODES[200],
      headers: referTo(["X-Request-Id"]),
      content: { "application/json": { schema: components.reference(["ServerVersion"], serverVersion), example: version } },
    },
  },
})
