import {
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  Kind,
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
} from "graphql"
import { type AccessRule, accessOf } from "../../context/access.js"
import type { OperationEngine, PreparedOperation, Transport } from "../../graphql/engine.js"
import { limitedType } from "../../graphql/texts.js"
import type { Route } from "./routes.js"

/** A document of the server's own with one root field, prepared to run with variables that a request fills. */
export interface DeclaredOperation {
  /** The schema that it runs on, with the words of REST. */
  schema: GraphQLSchema
  document: DocumentNode
  kind: PreparedOperation["operation"]["operation"]
  /** The root field of the operation. */
  root: GraphQLField<unknown, unknown>
  rule: AccessRule
  variables: Map<string, { type: GraphQLInputType; required: boolean }>
  run(context: unknown, variables: Record<string, unknown>): ReturnType<OperationEngine["run"]>
}

/** A route with its prepared operation. */
export interface Operation extends DeclaredOperation {
  route: Route
}

/** Prepares a route at start; throws when its operation does not fit the schema. */
export const prepareRoute = (engine: OperationEngine, schema: GraphQLSchema, route: Route): Operation => ({
  route,
  ...declaredOperation(engine, schema, route.document, "rest", `${route.method} ${route.path}`),
})

/** Prepares a document at start; throws when it does not fit the schema. `name` is that of its declaration, for the error. */
export function declaredOperation(
  engine: OperationEngine,
  schema: GraphQLSchema,
  query: string,
  transport: Transport,
  name: string,
): DeclaredOperation {
  const prepared = preparedFor(engine, schema, query, name)
  const { document, operation: definition } = prepared
  const [field] = definition.selectionSet.selections
  if (field?.kind !== Kind.FIELD || definition.selectionSet.selections.length !== 1)
    throw new Error(`${name}: the operation must have exactly one root field`)
  const root = schema.getRootType(definition.operation)!.getFields()[field.name.value]!
  const places = placesOf({ schema, document })
  const variables = new Map(
    (definition.variableDefinitions ?? []).map(({ variable: { name }, type, defaultValue }) => [
      name.value,
      {
        type: limitedType(places.get(name.value)?.at, typeFromAST(schema, type) as GraphQLInputType),
        required: type.kind === Kind.NON_NULL_TYPE && !defaultValue,
      },
    ]),
  )
  const run: Operation["run"] = (context, values) => engine.run(prepared, context, values, transport)
  return { schema, document, kind: definition.operation, root, rule: accessOf(root)!.rule, variables, run }
}

function preparedFor(engine: OperationEngine, schema: GraphQLSchema, query: string, name: string): PreparedOperation {
  try {
    return engine.prepare(schema, { query })
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error })
  }
}

/** Where a variable is passed to: an argument, or a field of an input object, with those beside it. */
export interface VariablePlace {
  at: GraphQLArgument | GraphQLInputField
  beside: readonly (GraphQLArgument | GraphQLInputField)[]
  isArgument: boolean
}

/** The places of the variables of an operation, by name. */
export function placesOf({ schema, document }: Pick<DeclaredOperation, "schema" | "document">): Map<string, VariablePlace> {
  const places = new Map<string, VariablePlace>()
  const types = new TypeInfo(schema)
  visit(
    document,
    visitWithTypeInfo(types, {
      Argument({ value }) {
        const at = types.getArgument()
        if (value.kind === Kind.VARIABLE && at)
          places.set(value.name.value, { at, beside: (types.getDirective() ?? types.getFieldDef())!.args, isArgument: true })
      },
      ObjectField({ name, value }) {
        const parent = getNamedType(types.getParentInputType())
        if (value.kind !== Kind.VARIABLE || !isInputObjectType(parent)) return
        const fields = parent.getFields()
        places.set(value.name.value, { at: fields[name.value]!, beside: Object.values(fields), isArgument: false })
      },
    }),
  )
  return places
}

/** The value of the root field of a result; throws its first error. */
export function rootValue({ data, errors }: Awaited<ReturnType<DeclaredOperation["run"]>>): unknown {
  const [error] = errors ?? []
  if (error) throw error
  return data?.[Object.keys(data)[0]!]
}
