import {
  type DocumentNode,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  parse,
  typeFromAST,
  validate,
} from "graphql"
import { type AccessRule, accessOf } from "../../context/access.js"
import { compiled, type Run } from "../../graphql/compiled.js"
import type { Route } from "./routes.js"

/** A route whose operation was parsed, validated and compiled, once, at start. */
export interface Operation {
  route: Route
  document: DocumentNode
  /** The one root field, by its name in the schema. */
  root: GraphQLField<unknown, unknown>
  rule: AccessRule
  variables: Map<string, { type: GraphQLInputType; required: boolean }>
  run: Run
}

/** Prepares a route; throws when its operation does not fit the schema, so that a stale table stops the start. */
export function prepare(schema: GraphQLSchema, route: Route): Operation {
  const document = parse(route.run)
  const errors = validate(schema, document)
  const name = `${route.method} ${route.path}`
  if (errors.length > 0) throw new Error(`${name}: ${errors.map((error) => error.message).join("; ")}`)
  const definition = document.definitions.find((each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION)!
  const [field] = definition.selectionSet.selections
  if (field?.kind !== Kind.FIELD || definition.selectionSet.selections.length !== 1) throw new Error(`${name}: one root field, please`)
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
  return { route, document, root, rule: accessOf(root)!.rule, variables, run: compiled(schema, document) }
}
