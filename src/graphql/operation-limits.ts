import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  Lexer,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  Source,
  TokenKind,
  TypeMetaFieldDef,
  type ValueNode,
  valueFromASTUntyped,
  visit,
} from "graphql"
import { refuseUnstorable } from "../context/refuse-nul.js"
import { BadUserInput } from "../errors.js"
import { rootLimits } from "../limits.js"
import { schemaLimits } from "../schema/limits.js"
import { graphqlLimits } from "./limits.js"

/** Values of an operation's variables, by name. */
export type Variables = Record<string, unknown>

type Measure = (set: SelectionSetNode, parent?: GraphQLNamedType) => number

/** Fragments of a document, by name. */
export const fragmentsOf = (document: DocumentNode): Map<string, FragmentDefinitionNode> =>
  new Map(document.definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [])))

/** Measures each selection set once, because measuring a fragment at each spread could take exponential time. A cycle counts 0. */
function onceEach(measure: Measure): Measure {
  const known = new Map<SelectionSetNode, number>()
  return (set, parent) => {
    const found = known.get(set)
    if (found !== undefined) return found
    known.set(set, 0)
    const measured = measure(set, parent)
    known.set(set, measured)
    return measured
  }
}

const opening: TokenKind[] = [TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]
const closing: TokenKind[] = [TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]

/** Throws for a text whose brackets nest so deeply that parsing or compiling it could overflow the stack. */
export function checkNesting(query: string) {
  const lexer = new Lexer(new Source(query))
  let depth = 0
  // A document with more tokens is refused when it is parsed.
  for (let tokens = 0; tokens <= rootLimits.graphqlTokens; tokens += 1) {
    const { kind } = lexer.advance()
    if (kind === TokenKind.EOF) return
    if (closing.includes(kind)) depth -= 1
    if (opening.includes(kind)) depth += 1
    if (depth > graphqlLimits.graphqlNesting)
      throw new BadUserInput(`The document nests more than ${graphqlLimits.graphqlNesting} levels of brackets`)
  }
}

/** Throws for an operation that contains NUL, is too deep or has too many root fields. It may be invalid: unknown names count 0. */
export function checkShape(document: DocumentNode, operation: OperationDefinitionNode) {
  visit(document, { StringValue: (node) => refuseUnstorable(node.value) })
  const fragments = fragmentsOf(document)
  const inside = (node: Exclude<SelectionNode, { kind: Kind.FIELD }>, measure: Measure) => {
    const set = node.kind === Kind.INLINE_FRAGMENT ? node.selectionSet : fragments.get(node.name.value)?.selectionSet
    return set ? measure(set) : 0
  }
  const depthIn = (node: SelectionNode) => {
    if (node.kind !== Kind.FIELD) return inside(node, depthOf)
    if (node.name.value.startsWith("__")) return 0
    return 1 + (node.selectionSet ? depthOf(node.selectionSet) : 0)
  }
  const depthOf: Measure = onceEach((set) => Math.max(0, ...set.selections.map(depthIn)))
  const widthOf: Measure = onceEach((set) =>
    set.selections.reduce((sum, node) => sum + (node.kind === Kind.FIELD ? 1 : inside(node, widthOf)), 0),
  )
  const depth = depthOf(operation.selectionSet)
  if (depth > graphqlLimits.graphqlDepth)
    throw new BadUserInput(`The operation nests ${depth} levels, more than ${graphqlLimits.graphqlDepth}`)
  const rootFields = widthOf(operation.selectionSet)
  if (rootFields > graphqlLimits.graphqlRootFields)
    throw new BadUserInput(`The operation has ${rootFields} root fields, more than ${graphqlLimits.graphqlRootFields}`)
}

/** Returns a function that computes how many objects an operation could return; it caches the cost of common page sizes. */
export function costOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): (variables: Variables) => number {
  // The cost depends on page sizes and on the conditions of @include and @skip.
  const names = new Set<string>()
  visit(document, {
    Argument({ name, value }) {
      if (value.kind === Kind.VARIABLE && ["first", "take", "if"].includes(name.value)) names.add(value.name.value)
    },
  })
  const listed = [...names]
  const known = new Map<string, number>()
  return (variables) => {
    const key = listed.length === 0 ? "" : JSON.stringify(variables, listed)
    const cost = known.get(key) ?? measureCost(schema, document, operation, variables)
    if (known.size < graphqlLimits.costsKept && key.length < graphqlLimits.costKeyLength) known.set(key, cost)
    return cost
  }
}

const metaFields = new Map([SchemaMetaFieldDef, TypeMetaFieldDef].map((field) => [field.name, field]))

/** Counts the objects that an operation could return, by the sizes of its lists. It may be invalid: unknown names count 0. */
function measureCost(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode, variables: Variables): number {
  const fragments = fragmentsOf(document)
  const given = (node: ValueNode): unknown => {
    if (node.kind !== Kind.VARIABLE) return valueFromASTUntyped(node)
    if (Object.hasOwn(variables, node.name.value)) return variables[node.name.value]
    const declared = operation.variableDefinitions?.find(({ variable }) => variable.name.value === node.name.value)
    return declared?.defaultValue && valueFromASTUntyped(declared.defaultValue)
  }
  const argument = (node: Pick<SelectionNode & { kind: Kind.FIELD }, "arguments">, name: string) => {
    const found = node.arguments?.find((each) => each.name.value === name)
    return found && given(found.value)
  }
  const isLeftOut = (node: SelectionNode) =>
    node.directives?.some(
      (each) =>
        (each.name.value === "skip" && argument(each, "if") === true) || (each.name.value === "include" && argument(each, "if") === false),
    )
  const costIn = (node: SelectionNode, parent?: GraphQLNamedType): number => {
    if (isLeftOut(node)) return 0
    if (node.kind !== Kind.FIELD) {
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value)
      if (!fragment) return 0
      return costOfSet(fragment.selectionSet, fragment.typeCondition ? schema.getType(fragment.typeCondition.name.value) : parent)
    }
    const name = node.name.value
    const field = metaFields.get(name) ?? (isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined)
    if (!field || !node.selectionSet) return 0
    const children = costOfSet(node.selectionSet, getNamedType(field.type))
    if (field.args.some((arg) => arg.name === "first" || arg.name === "take"))
      return 1 + pageSize(argument(node, "first") ?? argument(node, "take")) * children
    // The items of a page are counted at the field with its size.
    if (name === "nodes" || name === "edges" || !isListType(getNullableType(field.type))) return 1 + children
    return graphqlLimits.graphqlPlainListSize * (1 + children)
  }
  const costOfSet: Measure = onceEach((set, parent) => set.selections.reduce((sum, node) => sum + costIn(node, parent), 0))
  return costOfSet(operation.selectionSet, schema.getRootType(operation.operation) ?? undefined)
}

/** A size that the field will refuse counts as the default, so that a negative one cannot lower the cost. */
const pageSize = (size: unknown) => (typeof size === "number" && size >= 0 ? size : schemaLimits.messagePageDefault)
