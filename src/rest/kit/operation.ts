import { type DocumentNode, type GraphQLField, type GraphQLInputType, type GraphQLSchema, Kind, typeFromAST } from "graphql"
import { type AccessRule, accessOf } from "../../context/access.js"
import type { OperationEngine, PreparedOperation } from "../../graphql/engine.js"
import type { Route } from "./routes.js"

/** A route with its prepared operation. */
export interface Operation {
  route: Route
  /** The schema that it runs on, with the words of REST. */
  schema: GraphQLSchema
  document: DocumentNode
  /** The root field of the operation. */
  root: GraphQLField<unknown, unknown>
  rule: AccessRule
  variables: Map<string, { type: GraphQLInputType; required: boolean }>
  run(context: unknown, variables: Record<string, unknown>): ReturnType<OperationEngine["run"]>
}

/** Prepares a route at start; throws when its operation does not fit the schema. */
export function prepareRoute(engine: OperationEngine, schema: GraphQLSchema, route: Route): Operation {
  const name = `${route.method} ${route.path}`
  const prepared = preparedFor(engine, schema, route.document, name)
  const { document, operation: definition } = prepared
  const [field] = definition.selectionSet.selections
  if (field?.kind !== Kind.FIELD || definition.selectionSet.selections.length !== 1)
    throw new Error(`${name}: the operation must have exactly one root field`)
  const root = schema.getRootType(definition.operation)!.getFields()[field.name.value]!
  const variables = new Map(
    (definition.variableDefinitions ?? []).map((variable) => [
      variable.variable.name.value,
      {
        type: typeFromAST(schema, variable.type) as GraphQLInputType,
        required: variable.type.kind === Kind.NON_NULL_TYPE && !variable.defaultValue,
      },
    ]),
  )
  const run: Operation["run"] = (context, values) => engine.run(prepared, context, values, "rest")
  return { route, schema, document, root, rule: accessOf(root)!.rule, variables, run }
}

function preparedFor(engine: OperationEngine, schema: GraphQLSchema, query: string, name: string): PreparedOperation {
  try {
    return engine.prepare(schema, { query })
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error })
  }
}
