import {
  type FieldNode,
  GraphQLIncludeDirective,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getDirectiveValues,
  type SelectionSetNode,
} from "graphql"
import type { Selection } from "../database/read-model.js"

/** The selection of a field, with fragments expanded and @include and @skip applied. */
export function selectionOf(info: GraphQLResolveInfo): Selection {
  const selection: Selection = {}
  for (const node of info.fieldNodes) if (node.selectionSet) collect(node.selectionSet, info, selection)
  return selection
}

function collect(set: SelectionSetNode, info: GraphQLResolveInfo, into: Selection) {
  for (const node of set.selections) {
    if (!isIncluded(node as FieldNode, info)) continue
    if (node.kind === "Field") {
      if (node.name.value.startsWith("__")) continue
      into[node.name.value] ??= {}
      if (node.selectionSet) collect(node.selectionSet, info, into[node.name.value]!)
    } else {
      const fragment = node.kind === "InlineFragment" ? node : info.fragments[node.name.value]
      if (fragment) collect(fragment.selectionSet, info, into)
    }
  }
}

function isIncluded(node: FieldNode, info: GraphQLResolveInfo) {
  if (!node.directives?.length) return true
  if (getDirectiveValues(GraphQLSkipDirective, node, info.variableValues)?.["if"] === true) return false
  return getDirectiveValues(GraphQLIncludeDirective, node, info.variableValues)?.["if"] !== false
}

/** The selection of the rows of a connection, merged from `nodes` and `edges { node }`. */
export function nodesOf(selection: Selection): Selection {
  return { ...selection["edges"]?.["node"], ...selection["nodes"] }
}
