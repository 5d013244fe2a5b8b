import { isDeepStrictEqual } from "node:util"
import {
  type ArgumentNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
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
  type VariableNode,
  valueFromAST,
} from "graphql"
import { graphqlLimits } from "./limits.js"
import { fragmentsOf } from "./operation-limits.js"

/** An operation for the compiler. */
export interface Compilable {
  document: DocumentNode
  /** Variables without which, or with null for which, graphql-js answers otherwise; true for those that have a default. */
  needed: ReadonlyMap<string, boolean>
}

/**
 * Rewrites a valid operation into the part of GraphQL in which graphql-jit answers as graphql-js does: without fragments, and each field a
 * node of its own. Answers null for an operation outside this part; docs/decisions/compiled-execution.md lists what that is.
 */
export function compilable(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Compilable | null {
  try {
    return new Rewriting(schema, document, operation).result()
  } catch (error) {
    if (error instanceof NotCompilable) return null
    throw error
  }
}

class NotCompilable extends Error {}

const refuseIf = (isOutside: boolean | undefined) => {
  if (isOutside) throw new NotCompilable()
}

class Rewriting {
  readonly #fragments
  readonly #needed = new Map<string, boolean>()
  #fields = 0
  #hasNestedResolver = false
  #hasUnderscore = false

  constructor(
    private readonly schema: GraphQLSchema,
    document: DocumentNode,
    private readonly operation: OperationDefinitionNode,
  ) {
    this.#fragments = fragmentsOf(document)
  }

  result(): Compilable {
    const { operation, schema } = this
    for (const { type, defaultValue } of operation.variableDefinitions ?? []) {
      const value = defaultValue && valueFromAST(defaultValue, typeFromAST(schema, type) as GraphQLInputType)
      // It becomes source text as JSON.
      refuseIf(value !== undefined && !isDeepStrictEqual(value, JSON.parse(JSON.stringify(value))))
    }
    const selectionSet = this.selected(operation.selectionSet, schema.getRootType(operation.operation) as GraphQLObjectType, 0)
    // The compiler goes on with the next field when one that must not be null has failed.
    refuseIf(operation.operation === "mutation" && selectionSet.selections.length > 1)
    // The compiler joins the names on a path by "_", and may take one field's information for another's.
    refuseIf(this.#hasUnderscore && this.#hasNestedResolver)
    return { document: { kind: Kind.DOCUMENT, definitions: [{ ...operation, selectionSet }] }, needed: this.#needed }
  }

  selected(set: SelectionSetNode, type: GraphQLObjectType, depth: number): SelectionSetNode {
    const selections: FieldNode[] = []
    this.collect(set, type, [], new Set(), selections, depth)
    const conditional = new Set<string>()
    for (const { alias, name, directives } of selections) {
      const key = (alias ?? name).value
      // The compiler puts a key where it first stands, even when it is not included there.
      refuseIf(conditional.has(key))
      if (directives?.length) conditional.add(key)
    }
    return { kind: Kind.SELECTION_SET, selections }
  }

  /** Puts the fields of a set into a list, in the order in which graphql-js answers them. */
  collect(
    set: SelectionSetNode,
    type: GraphQLObjectType,
    outer: readonly DirectiveNode[],
    seen: Set<string>,
    into: FieldNode[],
    depth: number,
  ) {
    for (const node of set.selections) {
      const directives = [...outer, ...(node.directives ?? [])]
      this.checkConditions(directives)
      if (node.kind === Kind.FIELD) {
        into.push(this.field(node, type, directives, depth))
        continue
      }
      const name = node.kind === Kind.FRAGMENT_SPREAD ? node.name.value : ""
      if (seen.has(name)) continue
      if (name && directives.length === 0) seen.add(name)
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : this.#fragments.get(name)!
      const condition = fragment.typeCondition && typeFromAST(this.schema, fragment.typeCondition)
      refuseIf(condition && condition !== type)
      this.collect(fragment.selectionSet, type, directives, seen, into, depth)
    }
  }

  field(node: FieldNode, type: GraphQLObjectType, directives: DirectiveNode[], depth: number): FieldNode {
    refuseIf(++this.#fields > graphqlLimits.compiledFields)
    const name = node.name.value
    const key = node.alias?.value ?? name
    if (name === "__typename" && key === name) return { ...node, directives }
    refuseIf(name.startsWith("__") || key.startsWith("__"))
    const field = type.getFields()[name]!
    if (key.includes("_")) this.#hasUnderscore = true
    if (field.resolve && depth > 0) this.#hasNestedResolver = true
    for (const argument of node.arguments ?? []) this.checkArgument(argument, field.args.find((arg) => arg.name === argument.name.value)!)
    const named = getNamedType(field.type)
    if (!node.selectionSet) return { ...node, directives }
    // Interfaces and unions, and types that look at their values: the compiler does not wait for what they say.
    if (!isObjectType(named) || named.isTypeOf) throw new NotCompilable()
    return { ...node, directives, selectionSet: this.selected(node.selectionSet, named, depth + 1) }
  }

  /** The compiler reads one @skip and one @include of a field, and takes null for false. */
  checkConditions(directives: DirectiveNode[]) {
    const names = directives.map(({ name }) => name.value)
    refuseIf(new Set(names).size < names.length)
    for (const { value } of directives.flatMap((directive) => directive.arguments ?? [])) if (value.kind === Kind.VARIABLE) this.need(value)
  }

  checkArgument({ value }: ArgumentNode, { type }: GraphQLArgument) {
    if (value.kind !== Kind.VARIABLE) this.checkLiteral(value, type)
    // An argument that has a default may be given a variable that is null; the compiler refuses it as if the server were at fault.
    else if (isNonNullType(type)) this.need(value)
  }

  checkLiteral(node: ValueNode, type: GraphQLInputType) {
    const bare = getNullableType(type)
    // The compiler says null for what is absent.
    if (node.kind === Kind.VARIABLE) return this.need(node)
    if (isListType(bare)) {
      for (const item of node.kind === Kind.LIST ? node.values : [node]) this.checkLiteral(item, bare.ofType)
    } else if (isInputObjectType(bare) && node.kind === Kind.OBJECT) {
      for (const field of node.fields) this.checkLiteral(field.value, bare.getFields()[field.name.value]!.type)
    } else if (isScalarType(bare)) {
      // The compiler knows no variables inside a scalar's own literal, and writes what the literal means into its source text: as JSON, and
      // with texts of its own ("__MAGIC_…") that stand for code. A client that sends one of them would have its code run.
      refuseIf(bare.parseLiteral.length > 1 || node.kind === Kind.OBJECT || node.kind === Kind.LIST)
      const value: unknown = valueFromAST(node, bare)
      refuseIf(typeof value === "string" ? value.includes("__") : typeof value === "object" && value !== null && !(value instanceof Date))
    }
  }

  need({ name: { value: name } }: VariableNode) {
    const { type, defaultValue } = this.operation.variableDefinitions!.find(({ variable }) => variable.name.value === name)!
    if (type.kind !== Kind.NON_NULL_TYPE) this.#needed.set(name, defaultValue !== undefined)
  }
}
