import type { MikroORM } from "@mikro-orm/postgresql"
import { type DocumentNode, type GraphQLObjectType, type GraphQLSchema, isObjectType, TypeInfo, visit, visitWithTypeInfo } from "graphql"
import { entities } from "../database/options.js"
import { columnsOf, readModelOf } from "../database/read-model.js"
import type { EntityName } from "../database/tables.js"
import { textReader } from "./texts.js"

/**
 * Lets the executor read plain fields as properties: type-graphql gives each a function, and a page has thousands of them. Field resolvers,
 * and fields with a middleware, keep theirs. Must run before the schema is built.
 */
export function skipDefaultResolvers() {
  const { fields, middlewares } = TypeGraphQLMetadataStorage
  for (const field of fields) {
    field.simple ??= !middlewares.some(({ target, fieldName }) => target === field.target && fieldName === field.name)
  }
}

/**
 * Checks that each field of an entity's type has a source: a column, a relation of its read model, or a field resolver, whose `@Needs` is
 * registered for planned reads. Throws an error that lists fields without a source. Fields of types that are no entities, such as pages,
 * are properties of what a resolver returns.
 */
export function checkObjectFields(schema: GraphQLSchema, orm: MikroORM): GraphQLSchema {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  const errors = Object.values(schema.getTypeMap()).flatMap((type) => {
    if (!isObjectType(type) || roots.includes(type)) return []
    readTextArguments(type)
    const { target } = TypeGraphQLMetadataStorage.objectTypes.find(({ name }) => name === type.name) ?? {}
    const entity = Object.entries(entities).find(([, each]) => each === target)?.[0] as EntityName | undefined
    return entity ? errorsOf(type, entity, orm) : []
  })
  if (errors.length > 0) throw new Error(errors.join("\n"))
  return schema
}

function errorsOf(type: GraphQLObjectType, entity: EntityName, orm: MikroORM): string[] {
  const model = readModelOf(entity)
  if (!model) return [`${type.name} is an entity without a read model: declare one with readModel("${entity}")`]
  const columns = columnsOf(orm, entity).of
  return Object.values(type.getFields()).flatMap(({ name, resolve }) => {
    const field = `${type.name}.${name}`
    if (!resolve) {
      if (columns.has(name) || model.relations[name]) return []
      return [`${field} has no source: it is no column of ${entity}, no relation of its read model, and has no @FieldResolver`]
    }
    if (model.relations[name]) return [`${field} is both a relation of the read model of ${entity} and a @FieldResolver: remove one`]
    model.resolverNeeds[name] = needsOf(type, name) ?? [...columns.keys()]
    return model.resolverNeeds[name]
      .filter((column) => !columns.has(column))
      .map((column) => `${field} needs ${column}, which is no column of ${entity}`)
  })
}

/** Reads `@Needs` of a field resolver from its method, because type-graphql does not copy it to a field that the class declares too. */
function needsOf(type: GraphQLObjectType, field: string): string[] | undefined {
  const { fieldResolvers, objectTypes } = TypeGraphQLMetadataStorage
  const { target } = objectTypes.find(({ name }) => name === type.name)!
  const resolver = fieldResolvers.find(({ schemaName, getObjectType }) => schemaName === field && getObjectType?.() === target)
  return resolver?.extensions?.["needs"] as string[] | undefined
}

/** Parses text arguments of field resolvers like those of root fields. */
function readTextArguments(type: GraphQLObjectType) {
  for (const field of Object.values(type.getFields())) {
    const { resolve, args } = field
    if (!resolve || args.length === 0) continue
    const readTexts = textReader(args)
    field.resolve = (root, given, context, info) => resolve(root, readTexts(given), context, info)
  }
}

/** Throws when a document selects a field resolver: stored events are represented without a request, in which resolvers run. */
export function refuseFieldResolvers(schema: GraphQLSchema, document: DocumentNode) {
  const types = new TypeInfo(schema)
  const enter = () => {
    const [type, field] = [types.getParentType(), types.getFieldDef()]
    if (field?.resolve && type !== schema.getQueryType())
      throw new Error(`${type!.name}.${field.name} is a @FieldResolver, which events cannot show: make it a relation of the read model`)
  }
  visit(document, visitWithTypeInfo(types, { Field: { enter } }))
}
