import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  visit,
} from "graphql"
import { type ComplexityEstimator, getComplexity } from "graphql-query-complexity"
import { refuseNulIn } from "../context/refuse-nul.js"
import { BadUserInput } from "../errors.js"
import { schemaLimits } from "../schema/limits.js"
import { graphqlLimits } from "./limits.js"

/** What was found within the limits, by document: operations with the variables that their cost hangs on. Each is measured once. */
const passed = new WeakMap<DocumentNode, { costly: string[]; known: Set<string> }>()

/** Refuses an operation that holds NUL or is too deep, too wide or too costly, before any of it runs (contract, section 1). */
export function refuseExcess(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Record<string, unknown>,
) {
  refuseNulIn(variables)
  const { costly, known } = passed.get(document) ?? { costly: costlyVariables(document), known: new Set() }
  const key = JSON.stringify([operation.name?.value, ...costly.map((name) => variables[name])])
  if (known.has(key)) return
  refuseNul(document)
  const { depth, rootFields } = measure(document, operation)
  if (depth > graphqlLimits.graphqlDepth)
    throw new BadUserInput(`The operation nests ${depth} levels, more than ${graphqlLimits.graphqlDepth}`)
  if (rootFields > graphqlLimits.graphqlRootFields)
    throw new BadUserInput(`The operation has ${rootFields} root fields, more than ${graphqlLimits.graphqlRootFields}`)
  const cost = costOf(schema, document, operation, variables)
  // Execution refuses bad variables, in the right words; nothing was measured with them.
  if (cost === null) return
  if (cost > graphqlLimits.graphqlCost)
    throw new BadUserInput(`The operation could return ${cost} objects, more than ${graphqlLimits.graphqlCost}: ask for smaller pages`)
  // Who asks for ever other sizes is measured each time.
  if (known.size < graphqlLimits.costsKept && key.length < graphqlLimits.costKeyLength) known.add(key)
  passed.set(document, { costly, known })
}

/** The variables that the cost of a document hangs on: page sizes, and what is included. */
function costlyVariables(document: DocumentNode): string[] {
  const names = new Set<string>()
  const look = ({ name, value }: ArgumentNode) => {
    if (value.kind === Kind.VARIABLE && ["first", "take", "if"].includes(name.value)) names.add(value.name.value)
  }
  visit(document, { Argument: look })
  return [...names]
}

/** NUL is refused everywhere: PostgreSQL cannot store it. */
function refuseNul(document: DocumentNode) {
  visit(document, {
    StringValue(node) {
      refuseNulIn(node.value)
    },
  })
}

function measure(document: DocumentNode, operation: OperationDefinitionNode) {
  const fragments = new Map(
    document.definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each.selectionSet] as const] : [])),
  )
  // Measured once per fragment: documents that repeat fragments would otherwise cost more to measure than to run.
  const depths = new Map<SelectionSetNode, number>()
  const depthOf = (set: SelectionSetNode): number => {
    const known = depths.get(set)
    if (known !== undefined) return known
    const depth = Math.max(0, ...set.selections.map((node) => (node.kind === Kind.FIELD ? fieldDepth(node) : depthOf(insideOf(node)))))
    depths.set(set, depth)
    return depth
  }
  const fieldDepth = (node: FieldNode) => (node.name.value.startsWith("__") ? 0 : 1 + (node.selectionSet ? depthOf(node.selectionSet) : 0))
  const insideOf = (node: Exclude<SelectionSetNode["selections"][number], FieldNode>) =>
    node.kind === Kind.INLINE_FRAGMENT ? node.selectionSet : fragments.get(node.name.value)!
  const widths = new Map<SelectionSetNode, number>()
  const widthOf = (set: SelectionSetNode): number => {
    const known = widths.get(set)
    if (known !== undefined) return known
    const width = set.selections.reduce((sum, node) => sum + (node.kind === Kind.FIELD ? 1 : widthOf(insideOf(node))), 0)
    widths.set(set, width)
    return width
  }
  return { depth: depthOf(operation.selectionSet), rootFields: widthOf(operation.selectionSet) }
}

/** How many objects a field may return, counted by the sizes of its lists. */
const bySize: ComplexityEstimator = ({ field, args, childComplexity }) => {
  if (!isCompositeType(getNamedType(field.type))) return 0
  const isPage = field.args.some((arg) => arg.name === "first" || arg.name === "take")
  // A negative size is refused by the field itself; until then it must not pay for others.
  if (isPage) return 1 + Math.max(0, Number(args["first"] ?? args["take"] ?? schemaLimits.messagePageDefault)) * childComplexity
  // The items of a page are counted where its size stands.
  if (field.name === "nodes" || field.name === "edges" || !isListType(getNullableType(field.type))) return 1 + childComplexity
  return graphqlLimits.graphqlPlainListSize * (1 + childComplexity)
}

/** How many objects an operation could return; null when its variables are bad. */
function costOf(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode, variables: Record<string, unknown>) {
  try {
    return getComplexity({ schema, query: document, operationName: operation.name?.value, variables, estimators: [bySize] })
  } catch {
    return null
  }
}
