import { mergeSchemas } from "@graphql-tools/schema"
import {
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  validate,
} from "graphql"
import type { OperationEngine } from "../../graphql/engine.js"
import { refuseFieldResolvers } from "../../graphql/object-fields.js"
import { oncePer } from "../../once-per.js"
import { resources } from "../resources.js"
import { fieldsIn, resourceOf, spreadsIn, withFields } from "./fragments.js"

/** The fields of a stored row, each with its own selection. */
interface Selection {
  [field: string]: Selection
}

interface Row {
  id: string
  [field: string]: unknown
}

type Represent = (row: Row) => unknown

const selections = new Map<string, Selection>()

/** The selection that is stored of a row: the fields of its REST representation that do not expire. */
export function snapshotOf(type: string): Selection {
  const known = selections.get(type)
  if (known) return known
  const selection = storedFields(type)
  selections.set(type, selection)
  return selection
}

/** The selection of a row's REST representation, with the fields that expire. */
export function shownOf(type: string): Selection {
  const { selectionSet } = parse(`{ ${resourceOf(type).fields} }`).definitions[0] as OperationDefinitionNode
  return selected(selectionSet, shownOf)
}

function storedFields(type: string): Selection {
  const { fields, expiring = [], stored = [] } = resourceOf(type)
  const { selectionSet } = parse(`{ ${fields} }`).definitions[0] as OperationDefinitionNode
  const lasting = Object.entries(selected(selectionSet, snapshotOf)).filter(([field]) => !expiring.includes(field))
  return Object.fromEntries([...lasting, ...stored.map((column) => [column, {}])])
}

const selected = (set: SelectionSetNode | undefined, ofType: (type: string) => Selection): Selection =>
  Object.assign(
    {},
    ...spreadsIn(set).map(ofType),
    ...fieldsIn(set).map((field) => ({ [field.name.value]: selected(field.selectionSet, ofType) })),
  )

/** The REST schema with a root field for each type of a resource, which returns the row that it is given. */
const withRepresentationFields = oncePer((restSchema: GraphQLSchema) => {
  const types = Object.keys(resources)
  const schema = mergeSchemas({
    schemas: [restSchema],
    typeDefs: `extend type Query { ${types.map((type) => `shown${type}: ${type}`).join(" ")} }`,
    resolvers: { Query: Object.fromEntries(types.map((type) => [`shown${type}`, (row: Row) => row])) },
  })
  const [error] = validate(schema, parse(`{ ${types.map(rootFieldOf).join(" ")} }`))
  if (error) throw new Error(`src/rest/resources.ts does not fit the schema: ${error.message}`)
  return schema
})

/** Returns a function that converts stored rows to their REST representation; `complete` adds the fields that are not stored. */
export function representer(
  engine: OperationEngine,
  restSchema: GraphQLSchema,
  complete: (row: Row) => Row,
): (type: string, row: Row) => unknown {
  const schema = withRepresentationFields(restSchema)
  // Types of events are prepared at start, which checks them; other types are prepared at their first row.
  const eventTypes = Object.keys(resources).filter((type) => eventFields(schema).some((field) => getNamedType(field.type).name === type))
  const prepared = new Map<string, Represent>(eventTypes.map((type) => [type, prepare(engine, schema, type)]))
  return (type, row) => {
    const represent = prepared.get(type) ?? prepare(engine, schema, type)
    prepared.set(type, represent)
    return represent(complete(row))
  }
}

const rootFieldOf = (type: string) => `shown${type} { ${withFields(resourceOf(type).fields)} }`

const eventFields = (schema: GraphQLSchema) => Object.values((schema.getType("Event") as GraphQLObjectType).getFields())

function prepare(engine: OperationEngine, schema: GraphQLSchema, type: string): Represent {
  const query = `{ ${rootFieldOf(type)} }`
  refuseFieldResolvers(schema, parse(query))
  const { run } = engine.prepare(schema, { query })
  const absent = Object.fromEntries((resourceOf(type).nulls ?? []).map((name) => [name, null]))
  return (row) => {
    // The row has every field, so the operation returns synchronously.
    const result = run({}, {}, row) as { data: Record<string, Row>; errors?: Error[] }
    if (result.errors?.[0]) throw result.errors[0]
    return { ...result.data[`shown${type}`], ...absent }
  }
}
