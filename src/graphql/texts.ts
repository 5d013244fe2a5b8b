import {
  DirectiveLocation,
  type GraphQLArgument,
  GraphQLDirective,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLScalarType,
  type GraphQLSchema,
  GraphQLString,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from "graphql"
import type { TextLength } from "../entities/kit/scalars.js"
import { BadUserInput, type Detail } from "../errors/errors.js"
import { oncePer } from "../once-per.js"

/** What has a text: an argument or a field of an input. */
type Place = GraphQLArgument | GraphQLInputField

/** Shows tools how long a text may be; people read it in the description. */
export const lengthDirective = new GraphQLDirective({
  name: "length",
  description:
    "How many characters (Unicode code points) a text has, or each text of a list; where its description says so, after white space is trimmed from both ends.",
  locations: [DirectiveLocation.ARGUMENT_DEFINITION, DirectiveLocation.INPUT_FIELD_DEFINITION],
  args: {
    min: { type: new GraphQLNonNull(GraphQLInt), description: "The least." },
    max: { type: new GraphQLNonNull(GraphQLInt), description: "The most." },
  },
})

/** The scalar with the limits of a text whose type in the schema is String. */
const textOf = (at: Pick<Place, "extensions">): GraphQLScalarType | undefined => at.extensions["text"] as GraphQLScalarType | undefined

const lengthOf = (scalar: unknown) => (isScalarType(scalar) ? (scalar.extensions["length"] as TextLength | undefined) : undefined)

/** The type with another one in place of its named type. */
function renamed(type: GraphQLInputType, named: GraphQLScalarType): GraphQLInputType {
  if (isNonNullType(type)) return new GraphQLNonNull(renamed(type.ofType, named))
  return isListType(type) ? new GraphQLList(renamed(type.ofType, named)) : named
}

/** The type of a place, or that of a variable that is passed to it, with the scalar of its text. */
export function limitedType(at: Place | undefined, type = at!.type): GraphQLInputType {
  const text = at && textOf(at)
  return text && getNamedType(type) === GraphQLString ? renamed(type, text) : type
}

/**
 * Declares all texts of a schema as String, which every client generator knows, and shows their lengths in the descriptions and by the
 * directive; their scalars stay as extensions.
 */
export function exposeTexts(schema: GraphQLSchema) {
  const types = schema.getTypeMap()
  const objects = Object.values(types).filter(isObjectType)
  const inputs = Object.values(types).filter(isInputObjectType)
  const places: Place[] = [
    ...objects.flatMap((type) => Object.values(type.getFields()).flatMap(({ args }) => args)),
    ...inputs.flatMap((type) => Object.values(type.getFields())),
  ]
  for (const at of places) {
    const text = getNamedType(at.type)
    const length = lengthOf(text)
    if (!length) continue
    const { min, max, isTrimmed } = length
    const what = isListType(getNullableType(at.type)) ? "Length of each" : "Length"
    const sentence = `${what}: ${isTrimmed ? `${min} to ${max} characters after trimming` : `at most ${max} characters`}.`
    Object.assign(at, {
      type: renamed(at.type, GraphQLString),
      description: [at.description, sentence].filter(Boolean).join(" "),
      extensions: { ...at.extensions, text, directives: { length: { min, max } } },
    })
  }
  for (const [name, type] of Object.entries(types)) if (lengthOf(type)) delete types[name]
}

const hasTexts = oncePer((type: GraphQLInputObjectType): boolean => hasTextsOnPath(type, []))

/** Whether an input has a text on some level; inputs may contain themselves. */
function hasTextsOnPath(type: GraphQLInputObjectType, path: readonly GraphQLInputObjectType[]): boolean {
  return Object.values(type.getFields()).some((field) => {
    const named = getNamedType(field.type)
    return textOf(field) || (isInputObjectType(named) && named !== type && !path.includes(named) && hasTextsOnPath(named, [...path, type]))
  })
}

/** Whether values of a type may have texts in them. */
export const mayHaveTexts = (type: GraphQLInputType) => {
  const named = getNamedType(type)
  return isInputObjectType(named) && hasTexts(named)
}

/** Reads the texts in a value: trims them, and adds those that exceed their limits to the details. What is no text is refused elsewhere. */
export function readText(value: unknown, at: Pick<Place, "type" | "extensions">, path: string, details: Detail[]): unknown {
  if (value == null) return value
  const type = getNullableType(at.type)
  const below = (name: string | number) => (path === "" ? String(name) : `${path}.${name}`)
  if (isListType(type)) {
    const item = { type: type.ofType, extensions: at.extensions }
    return Array.isArray(value)
      ? value.map((each, index) => readText(each, item, below(index), details))
      : readText(value, item, path, details)
  }
  if (isInputObjectType(type)) {
    if (!hasTexts(type) || typeof value !== "object") return value
    const given = value as Record<string, unknown>
    const fields = Object.values(type.getFields()).filter(({ name }) => given[name] != null)
    return {
      ...given,
      ...Object.fromEntries(fields.map((field) => [field.name, readText(given[field.name], field, below(field.name), details)])),
    }
  }
  const text = textOf(at)
  if (!text || typeof value !== "string") return value
  try {
    return text.parseValue(value)
  } catch (error) {
    if (!(error instanceof BadUserInput)) throw error
    details.push({ path, message: error.message })
    return value
  }
}

/** The error of texts that exceed their limits. */
export const textsRefused = (details: Detail[]) =>
  new BadUserInput(details.map(({ path, message }) => `${path} ${message}`).join("; "), details)

/** Returns the function that reads the texts in the arguments of a field; it throws for those that exceed their limits. */
export function textReader(declared: readonly GraphQLArgument[]): (args: Record<string, unknown>) => Record<string, unknown> {
  const withTexts = declared.filter((arg) => textOf(arg) || mayHaveTexts(arg.type))
  if (withTexts.length === 0) return (args) => args
  return (args) => {
    const details: Detail[] = []
    const read = { ...args }
    for (const arg of withTexts) if (args[arg.name] != null) read[arg.name] = readText(args[arg.name], arg, arg.name, details)
    if (details.length > 0) throw textsRefused(details)
    return read
  }
}
