import type { GraphQLError } from "graphql"
import { describe, toGraphQLError } from "../errors.js"
import type { Viewer } from "../schema/kit/viewer.js"

export const responseJson = "application/graphql-response+json"

/** Logs what is ours to repair and makes the error that a client is shown; when to come back is a header of the whole answer. */
export function shownError(error: unknown, request: Pick<Viewer["request"], "requestId" | "log" | "headers">): GraphQLError {
  const { unexpected, statusCode, headers } = describe(error)
  if (unexpected) request.log.error({ err: error }, "operation failed")
  else if (statusCode === 503) request.log.warn({ reason: (error as Error).message }, "operation refused: a service does not answer")
  if (headers["Retry-After"]) request.headers["Retry-After"] = headers["Retry-After"]
  return toGraphQLError(error, request.requestId)
}

/** The HTTP status by the GraphQL-over-HTTP specification: plain JSON answers 200, the newer type the status of the request's own error. */
export function statusOf(
  accept: string | undefined,
  data: unknown,
  errors: readonly { extensions?: Record<string, unknown> }[] | undefined,
): number {
  if (data !== undefined || !errors?.length) return 200
  const status = Number(errors[0]?.extensions?.["statusCode"] ?? 400)
  // A GET that asks for a mutation is refused as HTTP refuses it, whatever the type.
  return accept?.includes(responseJson) || status === 405 ? status : 200
}
