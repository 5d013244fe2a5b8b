import {
  coerceInputValue,
  type GraphQLError,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
} from "graphql"
import { BadUserInput, type Detail, missingField } from "../../errors/errors.js"
import { readText } from "../../graphql/texts.js"

/** Throws one BadUserInput with all details, if there are any. */
export function refuseDetails(details: Detail[]) {
  if (details.length > 0) throw new BadUserInput(details.map(({ path, message }) => `${path} ${message}`.trim()).join("; "), details)
}

/** Checks a value by its declared type, and adds what is wrong to the details, in words without GraphQL type names. */
export function checkInput(value: unknown, type: GraphQLInputType, name: string, details: Detail[]) {
  const report = (path: readonly (string | number)[], error: GraphQLError) => {
    const missing = missingField(error.message)
    const full = [name, ...path, missing ?? ""].filter((part) => part !== "")
    details.push({ path: full.join("."), message: missing ? "is required" : messageOf(error, path, type) })
  }
  mustBeLists(value, type, name ? [name] : [], details)
  if (value === undefined && isNonNullType(type)) details.push({ path: name, message: "is required" })
  else coerceInputValue(value, type, (path, _invalid, error) => report(path, error))
  readText(value, { type, extensions: {} }, name, details)
}

/** Refuses a single item for a list, which GraphQL would accept but the REST schema does not. */
function mustBeLists(value: unknown, type: GraphQLInputType, path: string[], details: Detail[]) {
  const bare = getNullableType(type)
  if (value == null) return
  if (isListType(bare) && !Array.isArray(value)) details.push({ path: path.join("."), message: "must be a list" })
  if (!isInputObjectType(bare)) return
  for (const field of Object.values(bare.getFields()))
    mustBeLists((value as Record<string, unknown>)[field.name], field.type, [...path, field.name], details)
}

/** Translates graphql-js's message for a mistyped value, without GraphQL type names. */
function messageOf(error: GraphQLError, path: readonly (string | number)[], type: GraphQLInputType): string {
  if (error.originalError instanceof BadUserInput) return error.originalError.message
  if (/not to be null/.test(error.message)) return "must not be null"
  const scalar =
    /^(\w+) cannot represent/.exec(error.message)?.[1] ??
    (path.length === 0 && isScalarType(getNamedType(type)) ? getNamedType(type).name : null)
  const words: Record<string, string> = {
    String: "must be a string",
    Int: "must be a whole number",
    Float: "must be a number",
    Boolean: "must be true or false",
  }
  return (scalar && words[scalar]) ?? "has the wrong type"
}
