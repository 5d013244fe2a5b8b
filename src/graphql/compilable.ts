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

const refuseIf = (isOutside: boolean | undefined) => {
  if (isOutside) throw new NotCompilable()
}

/**
 * Rewrites a valid operation into the part of GraphQL in which graphql-jit answers as graphql-js does: no fragments, and each field a node
 * of its own. `needed` are variables that must have a value, with whether they have a default. Null for an operation outside this part,
 * which docs/decisions/compiled-execution.md describes.
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
    // After a field that failed and must not be null, graphql-js runs no more of a mutation; the compiler runs the rest.
    refuseIf(operation.operation === "mutation" && selections.length > 1)
    const definition = { ...operation, selectionSet: { kind: Kind.SELECTION_SET as const, selections } }
    return { document: { kind: Kind.DOCUMENT as const, definitions: [definition] }, needed: rewriting.needed }
  } catch (error) {
    if (error instanceof NotCompilable) return null
    throw error
  }
}

/** The compiler writes a default into its source text as JSON. */
const checkDefault = (value: unknown) => refuseIf(value !== undefined && !isDeepStrictEqual(value, JSON.parse(JSON.stringify(value))))

/** The compiler follows an input that has itself as a field without end, and knows no @oneOf. */
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
  #count = 0

  constructor(
    document: DocumentNode,
    private readonly operation: OperationDefinitionNode,
  ) {
    this.#fragments = fragmentsOf(document)
  }

  /** The fields of a selection set, in the order in which graphql-js answers them. */
  fields(set: SelectionSetNode, type: GraphQLObjectType, outer: DirectiveNode[] = [], seen = new Set<string>(), into: FieldNode[] = []) {
    for (const node of set.selections) {
      const directives = this.conditions([...outer, ...(node.directives ?? [])])
      if (node.kind === Kind.FIELD) {
        const key = (node.alias ?? node.name).value
        // The compiler puts a key where it first stands, whether it is included there or not.
        refuseIf(into.some((other) => other.directives?.length && (other.alias ?? other.name).value === key))
        // It joins the names on a path by "_" to one name, which may be that of another path.
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

  /** The compiler reads one @skip and one @include of a field, and takes null for false. */
  conditions(directives: DirectiveNode[]) {
    refuseIf(new Set(directives.map(({ name }) => name.value)).size < directives.length)
    for (const argument of directives.flatMap((directive) => directive.arguments ?? [])) this.need(argument.value)
    return directives
  }

  field(node: FieldNode, type: GraphQLObjectType): FieldNode {
    refuseIf(++this.#count > graphqlLimits.compiledFields)
    if (node.name.value === "__typename") return node
    // Introspection.
    refuseIf(node.name.value.startsWith("__"))
    const field = type.getFields()[node.name.value]!
    for (const { name, value } of node.arguments ?? []) {
      const argument = field.args.find((each) => each.name === name.value)!
      if (value.kind !== Kind.VARIABLE) this.literal(value, argument.type)
      // A null for an argument that must not be null and has a default: the compiler's error does not tell whose fault it is.
      else if (isNonNullType(argument.type)) this.need(value)
    }
    const named = getNamedType(field.type)
    if (!node.selectionSet) return node
    // Of an interface, a union or a type that looks at its values the compiler neither waits for the type nor says what is wrong.
    if (!isObjectType(named) || named.isTypeOf) throw new NotCompilable()
    return { ...node, selectionSet: { kind: Kind.SELECTION_SET, selections: this.fields(node.selectionSet, named) } }
  }

  literal(node: ValueNode, type: GraphQLInputType) {
    const bare = getNullableType(type)
    // The compiler says null for what is absent.
    if (node.kind === Kind.VARIABLE) this.need(node)
    else if (isListType(bare)) {
      for (const item of node.kind === Kind.LIST ? node.values : [node]) this.literal(item, bare.ofType)
    } else if (isInputObjectType(bare) && node.kind === Kind.OBJECT) {
      for (const field of node.fields) this.literal(field.value, bare.getFields()[field.name.value]!.type)
    } else if (isScalarType(bare)) {
      // The compiler knows no variables inside a scalar's own literal, and writes its value into its source text: as JSON, and with texts of
      // its own ("__MAGIC_…") that stand for code. A client that sends one of them would have its own code run.
      refuseIf(bare.parseLiteral.length > 1 || node.kind === Kind.OBJECT || node.kind === Kind.LIST)
      const value: unknown = valueFromAST(node, bare)
      refuseIf(typeof value === "string" ? value.includes("__") : typeof value === "object" && value !== null && !(value instanceof Date))
    }
  }

  /** A variable without which, or with null for which, graphql-js answers otherwise. */
  need(node: ValueNode) {
    if (node.kind !== Kind.VARIABLE) return
    const declared = this.operation.variableDefinitions!.find(({ variable }) => variable.name.value === node.name.value)!
    if (declared.type.kind !== Kind.NON_NULL_TYPE) this.needed.set(node.name.value, declared.defaultValue !== undefined)
  }
}
