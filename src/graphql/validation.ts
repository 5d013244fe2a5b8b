import { isNativeError } from "node:util/types"
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  parse,
  type SelectionSetNode,
  validate,
} from "graphql"
import { BadUserInput } from "../errors/errors.js"
import { rootLimits } from "../limits.js"
import { timed } from "../observability/longest-turns.js"
import { withCurrentNames } from "./earlier-names.js"
import { rulesOf } from "./hidden-schema.js"
import { checkNesting, fragmentsOf } from "./operation-limits.js"

/** A document that is not valid against the schema. */
export class InvalidDocument extends Error {
  constructor(readonly errors: readonly GraphQLError[]) {
    super(errors.map((error) => error.message).join("; "))
  }
}

/** Parses a document; throws for one with too many tokens or levels of brackets. */
export function parseDocument(query: string): DocumentNode {
  return withinStack(() => {
    checkNesting(query)
    return timed("parse", () => withCurrentNames(parse(query, { maxTokens: rootLimits.graphqlTokens })))
  })
}

/** Returns the errors of a document by the rules of validation; those of a server that hides its schema forbid introspection. */
export const validationErrors = (schema: GraphQLSchema, document: DocumentNode, hidesSchema: boolean): readonly GraphQLError[] =>
  withinStack(() => validate(schema, document, rulesOf(hidesSchema)))

/** Runs work that recurses over a document; throws the client's error when the document overflows the stack. */
export function withinStack<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    // Not by instanceof, because modules may run in a context of their own.
    if (isNativeError(error) && error.name === "RangeError") throw new BadUserInput("The document nests too deeply")
    throw error
  }
}

/** A fragment on the path of the search, and which of its spreads is followed. */
interface Step {
  fragment: FragmentDefinitionNode
  spreads: FragmentSpreadNode[]
  next: number
}

/**
 * Throws for a fragment that spreads itself, directly or through others. Other rules of validation follow spreads by recursion, so that they
 * could overflow the stack of a circle. This search visits each spread once and does not recurse.
 */
export function refuseCircles(document: DocumentNode) {
  const fragments = fragmentsOf(document)
  const visited = new Set<FragmentDefinitionNode>()
  const indexes = new Map<FragmentDefinitionNode, number>()
  const path: Step[] = []
  const enter = (fragment: FragmentDefinitionNode) => {
    visited.add(fragment)
    indexes.set(fragment, path.length)
    path.push({ fragment, spreads: spreadsIn(fragment.selectionSet), next: 0 })
  }
  for (const first of fragments.values()) {
    if (!visited.has(first)) enter(first)
    for (let step = path.at(-1); step; step = path.at(-1)) {
      const spread = step.spreads[step.next]
      step.next += 1
      if (!spread) {
        indexes.delete(step.fragment)
        path.pop()
        continue
      }
      const fragment = fragments.get(spread.name.value)
      const index = fragment && indexes.get(fragment)
      if (index !== undefined) throw new InvalidDocument([circleError(path.slice(index), spread)])
      if (fragment && !visited.has(fragment)) enter(fragment)
    }
  }
}

/** The error that graphql-js reports for a circle, with the spread that closes it. */
function circleError(circle: Step[], spread: FragmentSpreadNode) {
  const others = circle.slice(1).map(({ fragment }) => `"${fragment.name.value}"`)
  const through = others.length > 0 ? ` via ${others.join(", ")}` : ""
  return new GraphQLError(`Cannot spread fragment "${spread.name.value}" within itself${through}.`, { nodes: [spread] })
}

/** The spreads in a selection set, on all its levels. */
function spreadsIn(root: SelectionSetNode): FragmentSpreadNode[] {
  const spreads: FragmentSpreadNode[] = []
  const sets = [root]
  for (let set = sets.pop(); set; set = sets.pop())
    for (const node of set.selections) {
      if (node.kind === Kind.FRAGMENT_SPREAD) spreads.push(node)
      else if (node.selectionSet) sets.push(node.selectionSet)
    }
  return spreads
}
