import { type FieldNode, Kind, type OperationDefinitionNode, parse, type SelectionSetNode } from "graphql"
import { type Resource, resources } from "../resources.js"

/** Returns the resource of a type; throws when it has none. */
export function resourceOf(type: string): Resource {
  if (!Object.hasOwn(resources, type)) throw new Error(`src/rest/resources.ts has no entry for ${type}`)
  return resources[type]!
}

/** Replaces each `...Type` of a document with the fields of that resource. */
export const withFields = (text: string): string => text.replace(/\.\.\.(\w+)/g, (_spread, type) => withFields(resourceOf(type).fields))

/** Fields that a response contains as null: those of the resources in the root field, or in the `nodes` of its page. */
export function nullsOf(text: string): string[] {
  const operation = parse(text).definitions[0] as OperationDefinitionNode
  const { selectionSet } = operation.selectionSet.selections[0] as FieldNode
  const nodes = fieldsIn(selectionSet).find(({ name }) => name.value === "nodes")
  return [...new Set([...spreadsIn(selectionSet), ...spreadsIn(nodes?.selectionSet)].flatMap((type) => resourceOf(type).nulls ?? []))]
}

/** Fields that a selection names directly. */
export const fieldsIn = (set: SelectionSetNode | undefined): FieldNode[] =>
  (set?.selections ?? []).filter((node): node is FieldNode => node.kind === Kind.FIELD)

/** Resources that a selection spreads. */
export const spreadsIn = (set: SelectionSetNode | undefined): string[] =>
  (set?.selections ?? []).flatMap((node) => (node.kind === Kind.FRAGMENT_SPREAD ? [node.name.value] : []))
