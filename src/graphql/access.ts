import { type GraphQLFieldConfig, type GraphQLObjectType, type GraphQLResolveInfo, type GraphQLSchema } from "graphql"
import { Extensions } from "type-graphql"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { readModelOf } from "../database/read-model.js"
import { Row } from "../entities/kit/row.js"
import { Forbidden, Unauthenticated } from "../errors.js"
import { readTexts, showTextsAsStrings } from "./text-arguments.js"

/**
 * Who may use a root field.
 * `public`: anyone. `user`: a signed-in person; an access token is refused. `company`: a person or an access token. `manager`: a person who
 * is owner or admin of the company in `companyId`. `visitor`: a person, an access token, or a widget's visitor in their own chat.
 */
export type AccessRule = "public" | "user" | "company" | "manager" | "visitor"

interface AccessExtension {
  rule: AccessRule
  /** `manual`: the mutation opens its transactions itself (several with waiting between them, or one statement); else it runs in one. */
  transaction: "auto" | "manual"
}

/** Gives a root field its access rule; a root field without one stops the server from starting. */
export const Access = (rule: AccessRule, options: { transaction?: "manual" } = {}) =>
  Extensions({ access: { rule, transaction: options.transaction ?? "auto" } satisfies AccessExtension })

/** Throws unless the viewer may use a field with this rule and these arguments. */
export function authorize(rule: AccessRule, context: RequestContext, args: Record<string, unknown>) {
  mustBeKnown(rule, context)
  if (rule !== "manager" || context.identity.kind !== "user") return
  const role = context.identity.roles.get(args["companyId"] as string)
  if (role !== "owner" && role !== "admin") throw new Forbidden("Only an owner or admin of the company may manage its access tokens")
}

/** The part of the rule that needs no arguments: who the viewer is. */
export function mustBeKnown(rule: AccessRule, context: RequestContext) {
  const { kind } = context.identity
  if (rule === "public") return
  if (kind === "anonymous") throw new Unauthenticated()
  if (kind === "visitor" && rule !== "visitor")
    throw new Forbidden("A visitor's token reads the messages and events of its own chat, nothing else")
  if ((rule === "user" || rule === "manager") && kind !== "user")
    throw new Unauthenticated("This needs a signed-in user, not an access token")
}

/** The access rule of a root field. */
export const accessOf = (field: { extensions?: unknown } | undefined): AccessExtension | undefined =>
  (field?.extensions as { access?: AccessExtension } | undefined)?.access

/** Walks the root fields, refuses one without a rule, and wraps each: rule first, and every mutation as one unit of work. */
export function guardRootFields(schema: GraphQLSchema): GraphQLSchema {
  const unguarded: string[] = []
  for (const type of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]) {
    if (type) showTextsAsStrings(type)
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
  const isUnit = type === schema.getMutationType() && access.transaction === "auto"
  const declared = type.getFields()[(field as unknown as { name: string }).name]!.args
  field.resolve = (root, given, context, info) => {
    mustBeKnown(access.rule, context)
    const args = readTexts(declared, given)
    authorize(access.rule, context, args)
    if (!isUnit) return resolve(root, args, context, info)
    return context.transaction(async (tx) => {
      const result = await resolve(root, args, tx, info)
      await tx.unit.flush()
      return presented(result, tx, info)
    })
  }
}

/** A mutation that returns a row answers through the same planned read as a query, inside its transaction. */
async function presented(result: unknown, context: RequestContext, info: GraphQLResolveInfo) {
  if (!(result instanceof Row)) return result
  const model = readModelOf(result.constructor.name)
  if (!model) return result
  return context.reader.byId(model, result.id, selectionOf(info))
}
