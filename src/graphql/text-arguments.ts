import {
  type GraphQLArgument,
  GraphQLNonNull,
  type GraphQLObjectType,
  GraphQLScalarType,
  GraphQLString,
  getNamedType,
  isNonNullType,
} from "graphql"
import { BadUserInput, type Detail } from "../errors.js"

/** The text scalar that validates an argument whose type in the schema is String. */
export const textOf = (arg: Pick<GraphQLArgument, "extensions"> | undefined): GraphQLScalarType | undefined =>
  arg?.extensions["text"] as GraphQLScalarType | undefined

/**
 * Declares the text arguments of root fields as String, the type that clients declare for their variables, and keeps the scalar with their
 * limits as an extension.
 */
export function exposeAsString(type: GraphQLObjectType) {
  for (const field of Object.values(type.getFields())) {
    for (const arg of field.args) {
      const scalar = getNamedType(arg.type)
      if (!(scalar instanceof GraphQLScalarType) || !/^Text\w*\d$/.test(scalar.name)) continue
      const mutable = arg as { type: GraphQLArgument["type"]; extensions: GraphQLArgument["extensions"] }
      mutable.extensions = { ...arg.extensions, text: scalar }
      mutable.type = isNonNullType(arg.type) ? new GraphQLNonNull(GraphQLString) : GraphQLString
    }
  }
}

/** Parses the text arguments with their scalars: trims them, and throws for those that exceed their limits. */
export function readTexts(declared: readonly GraphQLArgument[], args: Record<string, unknown>): Record<string, unknown> {
  const texts = declared.filter((arg) => textOf(arg) && args[arg.name] != null)
  if (texts.length === 0) return args
  const details: Detail[] = []
  const read = { ...args }
  for (const arg of texts) {
    try {
      read[arg.name] = textOf(arg)!.parseValue(args[arg.name])
    } catch (error) {
      if (!(error instanceof BadUserInput)) throw error
      details.push({ path: arg.name, message: error.message })
    }
  }
  if (details.length > 0) throw new BadUserInput(details.map(({ path, message }) => `${path} ${message}`).join("; "), details)
  return read
}
