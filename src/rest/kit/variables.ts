import { type GraphQLInputType, getNamedType, getNullableType, isInputObjectType, isListType } from "graphql"
import { contextLimits } from "../../context/limits.js"
import type { Detail } from "../../errors/errors.js"
import { checkInput, refuseDetails } from "./check-input.js"
import type { Operation } from "./operation.js"
import type { Route } from "./routes.js"

/** Parts of a request: path parameters, query string, JSON body and idempotency key. */
export interface RequestParts {
  /** The `Idempotency-Key` header; empty when absent. */
  idempotencyKey?: string
  path: Record<string, string>
  query: URLSearchParams
  body: Record<string, unknown>
}

/** Whether a variable of a multipart route is a query parameter, rather than the file or the idempotency key. */
export const isBesideFile = (route: Route, variable: string) => variable !== route.multipart && variable !== "idempotencyKey"

/** Parameters that count as absent when they are empty (contract, section 1). */
const optionalWhenEmpty = ["filter", "search", "q", "include", "cursor"]

/** Fills the variables of an operation by name and declared type; throws one BadUserInput with all errors. */
export function variablesOf({ route, variables }: Operation, parts: RequestParts): Record<string, unknown> {
  const details: Detail[] = []
  const values: Record<string, unknown> = {}
  const query = readQuery(route, [...variables.keys()], parts, details)
  const body = route.body === "fields" ? parts.body : {}
  for (const [variable, { type }] of variables) {
    const name = route.rename?.[variable] ?? variable
    if (variable === route.multipart) values[variable] = parts.body[variable]
    else if (route.multipart && variable === "idempotencyKey") Object.assign(values, keyOf(route, parts))
    else if (variable === route.body) values[variable] = { ...(pruned(parts.body, type) as object), ...keyOf(route, parts) }
    else if (parts.path[name] !== undefined) values[variable] = parts.path[name]
    else if (route.body === "fields" && Object.hasOwn(body, name)) values[variable] = pruned(body[name], type)
    else if (query[name] !== undefined) values[variable] = fromText(query[name], type, name, details)
  }
  Object.assign(values, included(route, query["include"], details))
  for (const [variable, { type, required }] of variables) {
    const name = variable === route.body ? "" : (route.rename?.[variable] ?? variable)
    if (values[variable] !== undefined || required) checkInput(values[variable], type, name, details)
  }
  refuseDetails(details)
  return values
}

/** The idempotency key: the header alone, so that a body is the same with and without it. */
const keyOf = (route: Route, { idempotencyKey }: RequestParts) => (route.idempotent ? { idempotencyKey: idempotencyKey || undefined } : {})

/** Reads the known query parameters: repeated ones are refused, unknown ones ignored. Path parameters and body fields are unknown here. */
function readQuery(route: Route, variables: string[], { path, query }: RequestParts, details: Detail[]) {
  const read: Record<string, string | undefined> = {}
  if (route.body) return read
  const inQuery = variables.filter((variable) => !route.multipart || isBesideFile(route, variable))
  const names = inQuery.map((variable) => route.rename?.[variable] ?? variable).filter((name) => path[name] === undefined)
  if (route.include) names.push("include")
  for (const name of names) {
    const [value, ...more] = query.getAll(name)
    if (more.length > 0) details.push({ path: name, message: "must not be given twice" })
    if (value === "" && optionalWhenEmpty.includes(name)) continue
    read[name] = value
  }
  return read
}

function included(route: Route, include: string | undefined, details: Detail[]) {
  if (!route.include) return {}
  const names = include?.split(",").map((name) => name.trim()) ?? []
  const unknown = names.filter((name) => !Object.hasOwn(route.include!, name))
  if (unknown.length > 0)
    details.push({
      path: "include",
      message: `must be a list of ${Object.keys(route.include).join(", ")}; "${unknown.join(", ")}" is unknown`,
    })
  return Object.fromEntries(Object.entries(route.include).map(([name, variable]) => [variable, names.includes(name)]))
}

/** Parses a query parameter by its declared type: integers are plain decimals, booleans are true or false. */
function fromText(text: string, type: GraphQLInputType, name: string, details: Detail[]): unknown {
  const scalar = getNamedType(type).name
  if (scalar === "Boolean") {
    if (text === "true" || text === "false") return text === "true"
    details.push({ path: name, message: "must be true or false" })
    return undefined
  }
  if (scalar !== "Int") return text
  const number = /^(0|[1-9]\d{0,8})$/.test(text) ? Number(text) : Number.NaN
  const isSize = name === "take"
  if (Number.isNaN(number) || (isSize && (number < contextLimits.pageMin || number > contextLimits.pageMax))) {
    details.push({
      path: name,
      message: isSize
        ? `must be a whole number from ${contextLimits.pageMin} to ${contextLimits.pageMax}`
        : "must be a whole number, 0 or more",
    })
    return undefined
  }
  return number
}

/** Removes undeclared fields of a body, which REST ignores. */
function pruned(value: unknown, type: GraphQLInputType): unknown {
  const bare = getNullableType(type)
  if (isListType(bare) && Array.isArray(value)) return value.map((item) => pruned(item, bare.ofType))
  if (!isInputObjectType(bare) || !value || typeof value !== "object" || Array.isArray(value)) return value
  const known = Object.values(bare.getFields()).filter((field) => Object.hasOwn(value, field.name))
  return Object.fromEntries(known.map((field) => [field.name, pruned((value as Record<string, unknown>)[field.name], field.type)]))
}
