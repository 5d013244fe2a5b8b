import { type FieldNode, Kind, type OperationDefinitionNode, parse, type SelectionSetNode } from "graphql"
import { type Resource, resources } from "../resources.js"

/** The entry of a type in the table of resources; throws when it has none. */
export function resourceOf(type: string): Resource {
  if (!Object.hasOwn(resources, type)) throw new Error(`src/rest/resources.ts has no entry for ${type}`)
  return resources[type]!
}

/** A document with the fields of a resource in place of each `...Type`. */
export const withFields = (text: string): string => text.replace(/\.\.\.(\w+)/g, (_spread, type) => withFields(resourceOf(type).fields))

/** The null fields of what a route's document answers: of the resource that its root field, or the `nodes` of its page, shows. */
export function nullsOf(text: string): string[] {
  const operation = parse(text).definitions[0] as OperationDefinitionNode
  const { selectionSet } = operation.selectionSet.selections[0] as FieldNode
  const nodes = fieldsIn(selectionSet).find(({ name }) => name.value === "nodes")
  return [...new Set([...spreadsIn(selectionSet), ...spreadsIn(nodes?.selectionSet)].flatMap((type) => resourceOf(type).nulls ?? []))]
}

/** The fields that a selection names itself. */
export const fieldsIn = (set: SelectionSetNode | undefined): FieldNode[] =>
  (set?.selections ?? []).filter((node): node is FieldNode => node.kind === Kind.FIELD)

/** The resources whose fields a selection shows. */
export const spreadsIn = (set: SelectionSetNode | undefined): string[] =>
  (set?.selections ?? []).flatMap((node) => (node.kind === Kind.FRAGMENT_SPREAD ? [node.name.value] : []))
