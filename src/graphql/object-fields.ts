import type { MikroORM } from "@mikro-orm/postgresql"
import { type DocumentNode, type GraphQLObjectType, type GraphQLSchema, isObjectType, TypeInfo, visit, visitWithTypeInfo } from "graphql"
import { entities } from "../database/options.js"
import { columnsOf, readModelOf } from "../database/read-model.js"
import type { EntityName } from "../database/tables.js"
import { readTexts, showTextsAsStrings } from "./text-arguments.js"

/**
 * Lets the executor read plain fields by itself: type-graphql gives each a function, and a page has thousands of them. Field resolvers, and
 * fields with a middleware, keep theirs. Must run before the schema is built.
 */
export function readPropertiesDirectly() {
  const { fields, middlewares } = TypeGraphQLMetadataStorage
  for (const field of fields) {
    field.simple ??= !middlewares.some(({ target, fieldName }) => target === field.target && fieldName === field.name)
  }
}

/**
 * Finds out where each field of an entity's type comes from: a column, a relation of its read model, or a field resolver, whose `@Needs` the
 * planned reads go by from then on. Throws sentences about fields that come from nowhere. A type whose class is no entity, such as a page, is
 * a plain result: its fields are properties of what a resolver returns.
 */
export function checkObjectFields(schema: GraphQLSchema, orm: MikroORM): GraphQLSchema {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  const faults = Object.values(schema.getTypeMap()).flatMap((type) => {
    if (!isObjectType(type) || roots.includes(type)) return []
    readTextArguments(type)
    const { target } = TypeGraphQLMetadataStorage.objectTypes.find(({ name }) => name === type.name) ?? {}
    const entity = Object.entries(entities).find(([, each]) => each === target)?.[0] as EntityName | undefined
    return entity ? faultsOf(type, entity, orm) : []
  })
  if (faults.length > 0) throw new Error(faults.join("\n"))
  return schema
}

function faultsOf(type: GraphQLObjectType, entity: EntityName, orm: MikroORM): string[] {
  const model = readModelOf(entity)
  if (!model) return [`${type.name} is an entity: say where its rows come from, with readModel("${entity}")`]
  const columns = columnsOf(orm, entity).of
  return Object.values(type.getFields()).flatMap(({ name, resolve }) => {
    const field = `${type.name}.${name}`
    if (!resolve) {
      if (columns.has(name) || model.relations[name]) return []
      return [`${field} comes from nowhere: it is no column of ${entity}, no relation of its read model, and has no @FieldResolver`]
    }
    if (model.relations[name]) return [`${field} is both a relation of the read model of ${entity} and a @FieldResolver: remove one`]
    model.resolverNeeds[name] = needsOf(type, name) ?? [...columns.keys()]
    return model.resolverNeeds[name]
      .filter((column) => !columns.has(column))
      .map((column) => `${field} needs ${column}, which is no column of ${entity}`)
  })
}

/** What `@Needs` says above a field resolver. It stands with the method: where the field is also declared on its class, the field does not get it. */
function needsOf(type: GraphQLObjectType, field: string): string[] | undefined {
  const { fieldResolvers, objectTypes } = TypeGraphQLMetadataStorage
  const { target } = objectTypes.find(({ name }) => name === type.name)!
  const resolver = fieldResolvers.find(({ schemaName, getObjectType }) => schemaName === field && getObjectType?.() === target)
  return resolver?.extensions?.["needs"] as string[] | undefined
}

/** Text arguments of field resolvers are read like those of root fields. */
function readTextArguments(type: GraphQLObjectType) {
  showTextsAsStrings(type)
  for (const field of Object.values(type.getFields())) {
    const { resolve, args: declared } = field
    if (resolve && declared.length > 0)
      field.resolve = (root, args, context, info) => resolve(root, readTexts(declared, args), context, info)
  }
}

/** Throws where a document selects a field resolver: what an event keeps of a row is shown later, without a request. */
export function refuseFieldResolvers(schema: GraphQLSchema, document: DocumentNode) {
  const types = new TypeInfo(schema)
  const enter = () => {
    const [type, field] = [types.getParentType(), types.getFieldDef()]
    if (field?.resolve && type !== schema.getQueryType())
      throw new Error(`${type!.name}.${field.name} is a @FieldResolver, which events cannot show: make it a relation of the read model`)
  }
  visit(document, visitWithTypeInfo(types, { Field: { enter } }))
}
