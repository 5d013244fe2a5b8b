import fc, { type Arbitrary } from "fast-check"
import {
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isNonNullType,
  isObjectType,
  OperationTypeNode,
} from "graphql"
import { withHostile } from "./hostile-values.js"
import { isPlain, Ref } from "./pools.js"
import { argumentsOf, ownerOf, type Shape } from "./shapes.js"
import { validOf } from "./valid-values.js"

/** An operation with one root field. */
export interface Operation {
  /** `Mutation.createChat`. */
  key: string
  kind: OperationTypeNode
  field: string
  query: string
  /** Values by name, with references. */
  variables: Record<string, unknown>
  /** The type of the object that it creates, if it creates one. */
  makes: string | null
}

/** A root field with what is generated of it. */
export interface RootField {
  key: string
  kind: OperationTypeNode
  /** Valid operations, and some with hostile arguments. */
  operations: Arbitrary<Operation>
}

/** How much of a root field's operations is valid. */
const validShare = 0.4

/** Every root field of the schema. */
export function rootFields(schema: GraphQLSchema): RootField[] {
  return [OperationTypeNode.QUERY, OperationTypeNode.MUTATION, OperationTypeNode.SUBSCRIPTION].flatMap((kind) => {
    const root = schema.getRootType(kind)!
    return Object.values(root.getFields()).map((field) => {
      const key = `${root.name}.${field.name}`
      return { key, kind, operations: operationsOf(key, kind, field) }
    })
  })
}

/** Few selections, as of real clients: each new document costs the server a compilation. */
const selections = fc.constantFrom(0, 85, 170, 255)

function operationsOf(key: string, kind: OperationTypeNode, field: GraphQLField<unknown, unknown>): Arbitrary<Operation> {
  const shape = argumentsOf(field)
  const valid = validOf(shape) as Arbitrary<Record<string, unknown>>
  const makes = /^(create|copy|upload)/.test(field.name) ? ownerOf(field) : null
  const values = fc.oneof({ arbitrary: valid, weight: validShare * 100 }, { arbitrary: withHostile(valid), weight: (1 - validShare) * 100 })
  return fc.tuple(values, selections, fc.integer({ min: 0, max: 9 })).map(([args, bits, choice]) => {
    const common = { key, kind, field: field.name, makes }
    const selected = selectionOf(field.type, bits)
    // One in ten has literals instead of variables.
    if (choice === 0) return { ...common, query: `${kind} { ${field.name}${literalArguments(args, shape)}${selected} }`, variables: {} }
    const known = field.args.filter(({ name }) => Object.hasOwn(args, name))
    const declared = known.map(({ name, type }) => `$${name}: ${type}`).join(", ")
    const passed = known.map(({ name }) => `${name}: $${name}`).join(", ")
    const query = `${kind}${declared && ` (${declared})`} { ${field.name}${passed && `(${passed})`}${selected} }`
    return { ...common, query, variables: args }
  })
}

/** A selection of all scalars, and of the objects that the bits choose, two levels deep. */
function selectionOf(type: GraphQLOutputType, bits: number, depth = 0): string {
  const named = getNamedType(type)
  if (!isObjectType(named)) return ""
  const fields = Object.values(named.getFields()).filter((field) => !field.args.some((arg) => isNonNullType(arg.type)))
  const selected = fields.flatMap((field, index) => {
    if (isLeafType(getNamedType(field.type))) return [field.name]
    const isChosen = field.name === "nodes" || (bits >> ((index + depth) % 8)) % 2 === 1
    const below = depth < 2 && isChosen ? selectionOf(field.type, bits >> 1, depth + 1) : ""
    return below ? [field.name + below] : []
  })
  return ` { __typename ${selected.join(" ")} }`
}

/** The arguments as literals of the document; references become texts in `resolvedQuery`. */
function literalArguments(args: Record<string, unknown>, shape: Shape): string {
  const fields = shape.kind === "object" ? shape.fields : {}
  const written = Object.entries(args).map(([name, value]) => `${name}: ${literalOf(value, fields[name]?.shape)}`)
  return written.length > 0 ? `(${written.join(", ")})` : ""
}

const marked = (ref: Ref) => `"@@${ref.kind}/${ref.n}/${ref.owner}@@"`

function literalOf(value: unknown, shape: Shape | undefined): string {
  if (value instanceof Ref) return marked(value)
  if (Array.isArray(value)) return `[${value.map((item) => literalOf(item, shape?.kind === "list" ? shape.item : undefined)).join(", ")}]`
  if (isPlain(value)) {
    const fields = shape?.kind === "object" ? shape.fields : {}
    return `{${Object.entries(value)
      .map(([name, item]) => `${name}: ${literalOf(item, fields[name]?.shape)}`)
      .join(", ")}}`
  }
  if (shape?.kind === "choice" && shape.isEnum && typeof value === "string") return value
  return JSON.stringify(value) ?? "null"
}

/** The document of an operation, with the values that its references name now. */
export const resolvedQuery = (query: string, named: (ref: Ref) => string): string =>
  query.replace(/@@(\w+)\/(\d+)\/(\w+)@@/g, (_all, kind, n, owner) => named(new Ref(kind, Number(n), owner)))
