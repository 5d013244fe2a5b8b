import { type GraphQLFieldConfig, type GraphQLObjectType, type GraphQLResolveInfo, type GraphQLSchema } from "graphql"
import { type AccessExtension, accessOf, authorize, mustBeAbleToWrite, mustBeKnown } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { readModelOf } from "../database/read-model.js"
import { Row } from "../entities/kit/row.js"
import { textReader } from "./texts.js"

/** Wraps every root field: it checks the access rule, and runs a mutation in one transaction. Throws for a root field without a rule. */
export function guardRootFields(schema: GraphQLSchema): GraphQLSchema {
  const unguarded: string[] = []
  for (const type of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]) {
    for (const field of Object.values(type?.getFields() ?? {})) {
      const access = accessOf(field)
      if (!access) unguarded.push(`${type!.name}.${field.name}`)
      else guard(schema, type!, field as unknown as GraphQLFieldConfig<unknown, RequestContext>, access)
    }
  }
  if (unguarded.length > 0) throw new Error(`Every root field needs an access rule, @Access(…); without one: ${unguarded.join(", ")}`)
  return schema
}

function guard(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  field: GraphQLFieldConfig<unknown, RequestContext>,
  access: AccessExtension,
) {
  const resolve = field.resolve!
  if (type === schema.getSubscriptionType()) {
    const subscribe = field.subscribe!
    field.subscribe = (root, args, context, info) => {
      authorize(access.rule, context, args)
      return subscribe(root, args, context, info)
    }
    return
  }
  const isMutation = type === schema.getMutationType()
  const runsInTransaction = isMutation && access.transaction === "auto"
  const { name } = field as unknown as { name: string }
  const readTexts = textReader(type.getFields()[name]!.args)
  field.resolve = (root, given, context, info) => {
    mustBeKnown(access.rule, context)
    if (isMutation) mustBeAbleToWrite(context)
    const args = readTexts(given)
    authorize(access.rule, context, args)
    if (!isMutation) return resolve(root, args, context, info)
    const acting = context.acting(name)
    if (!runsInTransaction) return resolve(root, args, acting, info)
    return acting.transaction(async (tx) => {
      const result = await resolve(root, args, tx, info)
      await tx.unit.flush()
      return readResult(result, tx, info)
    })
  }
}

/** Reads the row that a mutation returns with the same planned read as a query, in the transaction. */
async function readResult(result: unknown, context: RequestContext, info: GraphQLResolveInfo) {
  if (!(result instanceof Row)) return result
  const model = readModelOf(result.constructor.name)
  if (!model) return result
  return context.reader.byId(model, result.id, selectionOf(info))
}
