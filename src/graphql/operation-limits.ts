import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  Lexer,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  Source,
  TokenKind,
  visit,
} from "graphql"
import { refuseUnstorable } from "../context/refuse-nul.js"
import { BadUserInput } from "../errors/errors.js"
import { rootLimits } from "../limits.js"
import { graphqlLimits } from "./limits.js"

/** Fragments of a document, by name. */
export const fragmentsOf = (document: DocumentNode): Map<string, FragmentDefinitionNode> =>
  new Map(document.definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [])))

/** Measures each selection set once, because measuring a fragment at each spread could take exponential time. A cycle measures `nothing`. */
export function onceEach<T, Rest extends unknown[]>(nothing: T, measure: (set: SelectionSetNode, ...rest: Rest) => T) {
  const known = new Map<SelectionSetNode, T>()
  return (set: SelectionSetNode, ...rest: Rest): T => {
    const found = known.get(set)
    if (found !== undefined) return found
    known.set(set, nothing)
    const measured = measure(set, ...rest)
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
  const inside = (node: Exclude<SelectionNode, { kind: Kind.FIELD }>, measure: (set: SelectionSetNode) => number) => {
    const set = node.kind === Kind.INLINE_FRAGMENT ? node.selectionSet : fragments.get(node.name.value)?.selectionSet
    return set ? measure(set) : 0
  }
  const depthIn = (node: SelectionNode) => {
    if (node.kind !== Kind.FIELD) return inside(node, depthOf)
    if (node.name.value.startsWith("__")) return 0
    return 1 + (node.selectionSet ? depthOf(node.selectionSet) : 0)
  }
  const depthOf: (set: SelectionSetNode) => number = onceEach(0, (set) => Math.max(0, ...set.selections.map(depthIn)))
  const widthOf: (set: SelectionSetNode) => number = onceEach(0, (set) =>
    set.selections.reduce((sum, node) => sum + (node.kind === Kind.FIELD ? 1 : inside(node, widthOf)), 0),
  )
  const depth = depthOf(operation.selectionSet)
  if (depth > graphqlLimits.graphqlDepth)
    throw new BadUserInput(`The operation nests ${depth} levels, more than ${graphqlLimits.graphqlDepth}`)
  const rootFields = widthOf(operation.selectionSet)
  if (rootFields > graphqlLimits.graphqlRootFields)
    throw new BadUserInput(`The operation has ${rootFields} root fields, more than ${graphqlLimits.graphqlRootFields}`)
}
