import { isDeepStrictEqual } from "node:util"
import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  typeFromAST,
  type ValueNode,
  valueFromAST,
} from "graphql"
import { graphqlLimits } from "./limits.js"
import { fragmentsOf } from "./operation-limits.js"

class NotCompilable extends Error {}

const refuseIf = (isUnsupported: boolean | undefined) => {
  if (isUnsupported) throw new NotCompilable()
}

/**
 * Rewrites a valid operation into the subset of GraphQL for which graphql-jit returns the same results as graphql-js: no fragments, and one
 * node per field. `needed` are variables that must have a value, with whether they have a default; `fields` is the number of its fields. Null for an operation outside the
 * subset, which docs/decisions/compiled-execution.md describes.
 */
export function compilable(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode) {
  const rewriting = new Rewriting(document, operation)
  try {
    for (const { type: node, defaultValue } of operation.variableDefinitions ?? []) {
      const type = typeFromAST(schema, node) as GraphQLInputType
      checkInput(type)
      if (defaultValue) checkDefault(valueFromAST(defaultValue, type))
    }
    const selections = rewriting.fields(operation.selectionSet, schema.getRootType(operation.operation)!)
    // After the failure of a field that must not be null, graphql-js stops the mutation; the compiled code would run the other fields.
    refuseIf(operation.operation === "mutation" && selections.length > 1)
    const definition = { ...operation, selectionSet: { kind: Kind.SELECTION_SET as const, selections } }
    return { document: { kind: Kind.DOCUMENT as const, definitions: [definition] }, needed: rewriting.needed, fields: rewriting.count }
  } catch (error) {
    if (error instanceof NotCompilable) return null
    throw error
  }
}

/** Refuses defaults that JSON cannot represent, because the compiler writes them into its source text as JSON. */
const checkDefault = (value: unknown) => refuseIf(value !== undefined && !isDeepStrictEqual(value, JSON.parse(JSON.stringify(value))))

/** Refuses recursive inputs, in which the compiler does not terminate, and @oneOf, which it does not support. */
function checkInput(type: GraphQLInputType, outer: readonly GraphQLInputType[] = []) {
  const named = getNamedType(type)
  if (!isInputObjectType(named)) return
  refuseIf(named.isOneOf || outer.includes(named))
  for (const field of Object.values(named.getFields())) {
    checkDefault(field.defaultValue)
    checkInput(field.type, [...outer, named])
  }
}

class Rewriting {
  readonly needed = new Map<string, boolean>()
  readonly #fragments
  count = 0

  constructor(
    document: DocumentNode,
    private readonly operation: OperationDefinitionNode,
  ) {
    this.#fragments = fragmentsOf(document)
  }

  /** The fields of a selection set, in the order of graphql-js's result. */
  fields(set: SelectionSetNode, type: GraphQLObjectType, outer: DirectiveNode[] = [], seen = new Set<string>(), into: FieldNode[] = []) {
    for (const node of set.selections) {
      const directives = this.conditions([...outer, ...(node.directives ?? [])])
      if (node.kind === Kind.FIELD) {
        const key = (node.alias ?? node.name).value
        // The compiler places a key at its first occurrence, even if that one is skipped.
        refuseIf(into.some((other) => other.directives?.length && (other.alias ?? other.name).value === key))
        // The compiler joins the names of a path with "_", so two paths could get the same name.
        refuseIf(key.includes("_") && key !== "__typename")
        into.push({ ...this.field(node, type), directives })
        continue
      }
      const name = node.kind === Kind.FRAGMENT_SPREAD ? node.name.value : ""
      if (seen.has(name)) continue
      if (name && directives.length === 0) seen.add(name)
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : this.#fragments.get(name)!
      refuseIf(fragment.typeCondition && fragment.typeCondition.name.value !== type.name)
      this.fields(fragment.selectionSet, type, directives, seen, into)
    }
    return into
  }

  /** Refuses repeated directives, of which the compiler reads only one; conditions need a value, because it takes null for false. */
  conditions(directives: DirectiveNode[]) {
    refuseIf(new Set(directives.map(({ name }) => name.value)).size < directives.length)
    for (const argument of directives.flatMap((directive) => directive.arguments ?? [])) this.need(argument.value)
    return directives
  }

  field(node: FieldNode, type: GraphQLObjectType): FieldNode {
    refuseIf(++this.count > graphqlLimits.compiledFields)
    if (node.name.value === "__typename") return node
    // Introspection.
    refuseIf(node.name.value.startsWith("__"))
    const field = type.getFields()[node.name.value]!
    for (const { name, value } of node.arguments ?? []) {
      const argument = field.args.find((each) => each.name === name.value)!
      if (value.kind !== Kind.VARIABLE) this.literal(value, argument.type)
      // The compiler's error for null in a non-null argument with a default does not say whether the client caused it.
      else if (isNonNullType(argument.type)) this.need(value)
    }
    const named = getNamedType(field.type)
    if (!node.selectionSet) return node
    // For interfaces, unions and types with isTypeOf, the compiler neither awaits the type nor reports errors.
    if (!isObjectType(named) || named.isTypeOf) throw new NotCompilable()
    return { ...node, selectionSet: { kind: Kind.SELECTION_SET, selections: this.fields(node.selectionSet, named) } }
  }

  literal(node: ValueNode, type: GraphQLInputType) {
    const bare = getNullableType(type)
    // The compiler passes null for an absent variable.
    if (node.kind === Kind.VARIABLE) this.need(node)
    else if (isListType(bare)) {
      for (const item of node.kind === Kind.LIST ? node.values : [node]) this.literal(item, bare.ofType)
    } else if (isInputObjectType(bare) && node.kind === Kind.OBJECT) {
      for (const field of node.fields) this.literal(field.value, bare.getFields()[field.name.value]!.type)
    } else if (isScalarType(bare)) {
      // The compiler does not support variables inside a scalar's literal. It writes the literal's value into its source text as JSON, with
      // its own markers ("__MAGIC_…") for code: a client that sends such a marker would inject code.
      refuseIf(bare.parseLiteral.length > 1 || node.kind === Kind.OBJECT || node.kind === Kind.LIST)
      const value: unknown = valueFromAST(node, bare)
      refuseIf(typeof value === "string" ? value.includes("__") : typeof value === "object" && value !== null && !(value instanceof Date))
    }
  }

  /** Records a variable for which graphql-js answers differently when it is absent or null. */
  need(node: ValueNode) {
    if (node.kind !== Kind.VARIABLE) return
    const declared = this.operation.variableDefinitions!.find(({ variable }) => variable.name.value === node.name.value)!
    if (declared.type.kind !== Kind.NON_NULL_TYPE) this.needed.set(node.name.value, declared.defaultValue !== undefined)
  }
}
