import { once } from "node:events"
import { createServer } from "node:net"
import { DriverException } from "@mikro-orm/core"
import { buildSchema, execute, GraphQLError, GraphQLScalarType, graphql, parse, type Source, validate } from "graphql"
import pg from "pg"
import {
  ApiError,
  BadUserInput,
  Conflict,
  describe as describeError,
  Forbidden,
  IdempotencyKeyReused,
  MethodNotAllowed,
  NotFound,
  PayloadTooLarge,
  RateLimited,
  ResyncRequired,
  toGraphQLError,
  toRestBody,
  Unauthenticated,
  UnsupportedMediaType,
} from "../../src/errors/errors.js"
import { rootLimits } from "../../src/limits.js"

const schema = buildSchema(`
  scalar Color
  input Paint { name: String! color: Color tags: [Int!] }
  type Query { chat(id: Int!): String! paint(input: Paint): String }
`)
const color = schema.getType("Color") as GraphQLScalarType
color.parseValue = (value) => {
  if (!/^#/.test(String(value))) throw new BadUserInput("must be #rgb or #rrggbb")
  return value
}

/** The first error of an operation as graphql-js returns it. */
async function failure(source: string | Source, chat: () => unknown = () => "", variableValues?: Record<string, unknown>) {
  const { errors } = await graphql({ schema, source, rootValue: { chat }, variableValues })
  return errors![0]!
}

const hidden = {
  statusCode: 500,
  error: "Internal Server Error",
  code: "INTERNAL_SERVER_ERROR",
  message: "Something went wrong on our side; quote the request id when you report it.",
  details: [],
  unexpected: true,
}

describe("an error of the API", () => {
  it.each([
    [new BadUserInput("Name it"), 400, "Bad Request", "BAD_USER_INPUT"],
    [new Unauthenticated(), 401, "Unauthorized", "UNAUTHENTICATED"],
    [new Forbidden(), 403, "Forbidden", "FORBIDDEN"],
    [new NotFound("Chat"), 404, "Not Found", "NOT_FOUND"],
    [new MethodNotAllowed("GET"), 405, "Method Not Allowed", "METHOD_NOT_ALLOWED"],
    [new Conflict("A tag of this name exists"), 409, "Conflict", "CONFLICT"],
    [new ResyncRequired(), 410, "Gone", "RESYNC_REQUIRED"],
    [new PayloadTooLarge(), 413, "Payload Too Large", "PAYLOAD_TOO_LARGE"],
    [new UnsupportedMediaType(), 415, "Unsupported Media Type", "UNSUPPORTED_MEDIA_TYPE"],
    [new IdempotencyKeyReused(), 422, "Unprocessable Entity", "IDEMPOTENCY_KEY_REUSED"],
    [new RateLimited(1), 429, "Too Many Requests", "RATE_LIMITED"],
  ])("%s is %i %s, %s, on every transport", (thrown, statusCode, error, code) => {
    const { message } = thrown
    expect(describeError(thrown)).toMatchObject({ statusCode, error, code, message, unexpected: false })
    expect(toRestBody(thrown, "r-1")).toEqual({ statusCode, error, message, code, details: [], requestId: "r-1" })
    expect(toGraphQLError(thrown, "r-1").toJSON()).toEqual({ message, extensions: { code, statusCode, details: [], requestId: "r-1" } })
  })

  it("has a message", () => {
    expect(new NotFound("Chat").message).toBe("Chat not found")
    expect(new PayloadTooLarge(rootLimits.uploadBytes).message).toBe("The request is larger than 25 MB")
    expect(new RateLimited(0.2)).toMatchObject({ message: "Too many requests: try again in 1 second", retryAfterSeconds: 1 })
  })

  it("has the headers of its status", () => {
    expect(describeError(new RateLimited(12.1)).headers).toEqual({ "Retry-After": "13" })
    expect(describeError(new MethodNotAllowed("GET, HEAD")).headers).toEqual({ Allow: "GET, HEAD" })
  })
})

describe("an error from GraphQL", () => {
  it("is what the resolver threw, with its path in the document", async () => {
    const error = await failure("{ chat(id: 1) }", () => {
      throw new NotFound("Chat")
    })
    expect(toGraphQLError(error, "r-2").toJSON()).toEqual({
      message: "Chat not found",
      locations: [{ line: 1, column: 3 }],
      path: ["chat"],
      extensions: { code: "NOT_FOUND", statusCode: 404, details: [], requestId: "r-2" },
    })
  })

  it.each([
    ["a syntax error", "{ chat(", "GRAPHQL_PARSE_FAILED"],
    ["an unknown field", "{ nothing }", "GRAPHQL_VALIDATION_FAILED"],
  ])("is the caller's when it is %s", async (_, source, code) => {
    expect(describeError(await failure(source))).toMatchObject({ statusCode: 400, code, unexpected: false })
  })

  it("names the path of a bad variable", async () => {
    const source = "query ($input: Paint) { paint(input: $input) }"
    const bad = async (input: unknown) => describeError(await failure(source, undefined, { input }))
    expect(await bad({ name: "a; b", color: 'red at "x"; y' })).toMatchObject({
      statusCode: 400,
      code: "BAD_USER_INPUT",
      details: [{ path: "input.color", message: expect.stringMatching(/must be #rgb or #rrggbb$/) }],
    })
    expect(await bad({ name: "a", tags: [1, "x"] })).toMatchObject({ details: [{ path: "input.tags.1" }] })
    expect(await bad({})).toMatchObject({ details: [{ path: "input.name", message: "is required" }] })
  })

  it("is a client error when a required variable or a named operation is missing", async () => {
    expect(describeError(await failure("query ($id: Int!) { chat(id: $id) }"))).toMatchObject({
      statusCode: 400,
      code: "BAD_USER_INPUT",
      details: [{ path: "id", message: "is required" }],
    })
    const { errors } = await execute({ schema, document: parse("query A { chat(id: 1) } query B { chat(id: 1) }") })
    expect(describeError(errors![0])).toMatchObject({ statusCode: 400, code: "BAD_USER_INPUT" })
  })

  it("keeps the code of Apollo and of validation rules", () => {
    const coded = (code: string, extra = {}) => describeError(new GraphQLError("So it is", { extensions: { code, ...extra } }))
    expect(coded("BAD_USER_INPUT")).toMatchObject({ statusCode: 400, code: "BAD_USER_INPUT", message: "So it is" })
    expect(coded("GRAPHQL_VALIDATION_FAILED")).toMatchObject({ statusCode: 400, code: "GRAPHQL_VALIDATION_FAILED" })
    expect(coded("OPERATION_RESOLUTION_FAILURE")).toMatchObject({ statusCode: 400, code: "BAD_USER_INPUT" })
    expect(coded("BAD_REQUEST", { http: { status: 405 } })).toMatchObject({ statusCode: 405, code: "METHOD_NOT_ALLOWED" })
    const [invalid] = validate(schema, parse("{ chat }"))
    expect(describeError(invalid)).toMatchObject({ code: "GRAPHQL_VALIDATION_FAILED" })
  })

  it("is a server error when a resolver failed, or returned a value that its type does not allow", async () => {
    const failed = await failure("{ chat(id: 1) }", () => {
      throw new Error('relation "chat" does not exist')
    })
    expect(describeError(failed)).toMatchObject(hidden)
    expect(toGraphQLError(failed, "r").message).toBe(hidden.message)
    expect(describeError(await failure("{ chat(id: 1) }", () => null))).toMatchObject(hidden)
    expect(describeError(await failure("{ chat(id: 1) }", () => ({})))).toMatchObject(hidden)
  })
})

describe("an error from a library", () => {
  const as = (error: Error, fields: object) => describeError(Object.assign(error, fields))

  it("is a client error when the body cannot be read", () => {
    expect(as(new SyntaxError("Unexpected token } in JSON"), { status: 400, body: "{]" })).toMatchObject({
      statusCode: 400,
      code: "BAD_USER_INPUT",
      message: "The request body is not valid JSON",
    })
    expect(as(new SyntaxError("invalid JSON, only supports object and array"), { status: 400, body: "7" })).toMatchObject({
      statusCode: 400,
      message: "The request body must be a JSON object",
    })
    const large = { status: 413, expose: true, type: "entity.too.large" }
    expect(as(new Error("request entity too large"), large)).toMatchObject({ statusCode: 413, message: "The request is larger than 1 MB" })
    expect(as(new Error("maxFileSize exceeded"), { code: 1009, httpCode: 413 })).toMatchObject({
      statusCode: 413,
      code: "PAYLOAD_TOO_LARGE",
    })
    expect(as(new Error("Unsupported Content-Encoding: zip"), { status: 415 })).toMatchObject({ statusCode: 415 })
    expect(as(new Error("incorrect header check"), { code: "Z_DATA_ERROR" })).toMatchObject({ statusCode: 400 })
    expect(as(new Error("Decompression failed"), { code: "ERR__ERROR_FORMAT_PADDING_2" })).toMatchObject({ statusCode: 400 })
    expect(describeError(new URIError("URI malformed"))).toMatchObject({ statusCode: 400, code: "BAD_USER_INPUT" })
  })

  it.each(["22P02", "22021", "22P05"])("is a client error when PostgreSQL refuses a value (%s), and shows no SQL", (code) => {
    const answer = as(new Error("select * from chat: invalid input syntax"), { code, severity: "ERROR" })
    expect(answer).toMatchObject({ statusCode: 400, code: "BAD_USER_INPUT", unexpected: false })
    expect(answer.message).not.toContain("select")
  })

  describe("about an unavailable service", () => {
    const away = {
      statusCode: 503,
      error: "Service Unavailable",
      code: "SERVICE_UNAVAILABLE",
      message: "The service is not available at the moment: try again in a few seconds",
      details: [],
      headers: { "Retry-After": "2" },
      unexpected: false,
    }

    it.each(["08000", "08003", "08006", "08P01", "28P01", "53300", "57P01", "57P02", "57P03", "57P05"])(
      "is 503: %s of PostgreSQL",
      (code) => {
        const error = Object.assign(new Error("terminating connection due to administrator command"), { code, severity: "FATAL" })
        expect(describeError(error)).toEqual(away)
        // As MikroORM wraps it, and as GraphQL wraps that.
        expect(describeError(new DriverException(error))).toEqual(away)
        expect(describeError(new GraphQLError(error.message, { originalError: new DriverException(error), path: ["chat"] }))).toEqual(away)
      },
    )

    it.each(["40P01", "40001"])("is 503 for a transaction that another one interrupted: %s", (code) => {
      const error = Object.assign(new Error("deadlock detected"), { code, severity: "ERROR" })
      const interrupted = { ...away, message: "Another change came in between, and nothing was changed: try again" }
      for (const thrown of [error, new DriverException(error)]) expect(describeError(thrown)).toEqual(interrupted)
    })

    it.each(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN"])(
      "is 503: %s of the system",
      (code) => {
        const error = Object.assign(new Error("connect to 10.0.0.1:5432"), { code, syscall: "connect" })
        expect(describeError(error)).toEqual(away)
        expect(describeError(new DriverException(error))).toEqual(away)
        // A name with several addresses.
        expect(describeError(Object.assign(new AggregateError([error]), { code }))).toEqual(away)
      },
    )

    it("is 503 for the errors of the driver and its pool that have no code", async () => {
      const nowhere = new pg.Pool({ host: "127.0.0.1", port: 1 })
      const refused = await nowhere.query("select 1").catch((error) => error)
      await nowhere.end()
      const ended = await nowhere.query("select 1").catch((error) => error)
      const silent = createServer((socket) => void socket.resume()).listen(0, "127.0.0.1")
      await once(silent, "listening")
      const { port } = silent.address() as { port: number }
      const waiting = new pg.Pool({ host: "127.0.0.1", port, max: 1, connectionTimeoutMillis: 50 })
      const [connecting, queueing] = await Promise.all([1, 2].map(() => waiting.query("select 1").catch((error) => error)))
      const alone = new pg.Client({ host: "127.0.0.1", port, connectionTimeoutMillis: 50 })
      alone.on("error", () => {})
      const late = await alone.connect().catch((error) => error)
      const afterwards = await alone.query("select 1").catch((error) => error)
      silent.close()
      for (const error of [refused, ended, connecting, queueing, late, afterwards]) expect(describeError(error)).toEqual(away)
      const noPassword = "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string"
      for (const words of ["Connection terminated", "Connection terminated unexpectedly", "Query read timeout", noPassword])
        expect(describeError(new Error(words))).toEqual(away)
    })
  })

  it("is a server error otherwise, without details", () => {
    expect(as(new Error("syntax error at or near"), { code: "42601", severity: "ERROR" })).toMatchObject(hidden)
    expect(as(new Error("vendor says no"), { status: 404, statusCode: 404 })).toMatchObject(hidden)
    expect(describeError(new SyntaxError("Unexpected token < in JSON of a vendor"))).toMatchObject(hidden)
    expect(describeError("a string")).toMatchObject(hidden)
    expect(describeError(undefined)).toMatchObject(hidden)
    expect(toRestBody(new TypeError("x is not a function"), "r-9")).toMatchObject({ statusCode: 500, requestId: "r-9" })
  })

  it("stays what it is, since ApiError is the one base", () => {
    expect(new Conflict("x")).toBeInstanceOf(ApiError)
  })
})
