import {
  type DocumentNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
  type ValueNode,
  valueFromASTUntyped,
  visit,
} from "graphql"
import { BadUserInput } from "../errors/errors.js"
import { schemaLimits } from "../schema/limits.js"
import { graphqlLimits } from "./limits.js"
import { fragmentsOf, onceEach } from "./operation-limits.js"

/** Values of an operation's variables, by name. */
export type Variables = Record<string, unknown>

/** How much an operation could return: objects, and values of fields without selections, each name that a field has in the response. */
export interface Cost {
  objects: number
  values: number
}

const nothing: Cost = { objects: 0, values: 0 }
const oneValue: Cost = { objects: 0, values: 1 }
const sum = (a: Cost, b: Cost): Cost => ({ objects: a.objects + b.objects, values: a.values + b.values })

/** Throws for an operation that could return more than the limits. */
export function refuseCost({ objects, values }: Cost) {
  const { graphqlCost, graphqlValues } = graphqlLimits
  if (objects > graphqlCost)
    throw new BadUserInput(`The operation could return ${objects} objects, more than ${graphqlCost}: request smaller pages`)
  if (values > graphqlValues)
    throw new BadUserInput(`The operation could return ${values} values, more than ${graphqlValues}: request smaller pages or fewer fields`)
}

/** Returns a function that computes how much an operation could return; it caches the cost of common page sizes. */
export function costOf(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): (variables: Variables) => Cost {
  // The cost depends on page sizes and on the conditions of @include and @skip.
  const names = new Set<string>()
  visit(document, {
    Argument({ name, value }) {
      if (value.kind === Kind.VARIABLE && ["first", "take", "if"].includes(name.value)) names.add(value.name.value)
    },
  })
  const listed = [...names]
  const known = new Map<string, Cost>()
  return (variables) => {
    const key = listed.length === 0 ? "" : JSON.stringify(variables, listed)
    const cost = known.get(key) ?? measureCost(schema, document, operation, variables)
    if (known.size < graphqlLimits.costsKept && key.length < graphqlLimits.costKeyLength) known.set(key, cost)
    return cost
  }
}

const metaFields = new Map([SchemaMetaFieldDef, TypeMetaFieldDef].map((field) => [field.name, field]))

/** Counts what an operation could return, by the sizes of its lists. It may be invalid: unknown names count as little as they could. */
function measureCost(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode, variables: Variables): Cost {
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
  const costIn = (node: SelectionNode, parent?: GraphQLNamedType): Cost => {
    if (isLeftOut(node)) return nothing
    if (node.kind !== Kind.FIELD) {
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value)
      if (!fragment) return nothing
      return costOfSet(fragment.selectionSet, fragment.typeCondition ? schema.getType(fragment.typeCondition.name.value) : parent)
    }
    const name = node.name.value
    const field = metaFields.get(name) ?? (isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined)
    if (!field || !node.selectionSet) return oneValue
    const children = costOfSet(node.selectionSet, getNamedType(field.type))
    if (field.args.some((arg) => arg.name === "first" || arg.name === "take")) {
      const size = pageSize(argument(node, "first") ?? argument(node, "take"))
      return { objects: 1 + size * children.objects, values: size * children.values }
    }
    const values = children.values * introspected(schema, parent, name)
    // The items of a page are counted at the field with its size.
    if (name === "nodes" || name === "edges" || !isListType(getNullableType(field.type))) return { objects: 1 + children.objects, values }
    const size = graphqlLimits.graphqlPlainListSize
    return { objects: size * (1 + children.objects), values: size * values }
  }
  const costOfSet: (set: SelectionSetNode, parent?: GraphQLNamedType) => Cost = onceEach(nothing, (set, parent?: GraphQLNamedType) =>
    set.selections.reduce((total, node) => sum(total, costIn(node, parent)), nothing),
  )
  return costOfSet(operation.selectionSet, schema.getRootType(operation.operation) ?? undefined)
}

/** A size that the field will refuse counts as the default, so that a negative one cannot lower the cost. */
const pageSize = (size: unknown) => (typeof size === "number" && size >= 0 ? size : schemaLimits.messagePageDefault)

/**
 * How many times longer than a plain list those of the introspection are: that of all types, and the fields of a type that is selected by itself,
 * which may be a root type.
 */
function introspected(schema: GraphQLSchema, parent: GraphQLNamedType | undefined, name: string): number {
  const times = (length: number) => Math.ceil(length / graphqlLimits.graphqlPlainListSize)
  if (name === "types" && parent?.name === "__Schema") return times(Object.keys(schema.getTypeMap()).length)
  if (!["__type", "queryType", "mutationType", "subscriptionType"].includes(name)) return 1
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  return Math.max(1, ...roots.map((root) => times(Object.keys(root?.getFields() ?? {}).length)))
}
