import type { GraphQLError } from "graphql"
import type { RequestContext } from "../context/request-context.js"
import { describe, toGraphQLError } from "../errors.js"

export const responseJson = "application/graphql-response+json"

/** Logs what is ours to repair and makes the error that a client is shown. */
export function shownError(error: unknown, request: { requestId: string; log: RequestContext["request"]["log"] }): GraphQLError {
  if (describe(error).unexpected) request.log.error({ err: error }, "operation failed")
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
