import { type GraphQLFieldConfig, type GraphQLObjectType, type GraphQLResolveInfo, type GraphQLSchema } from "graphql"
import { Extensions } from "type-graphql"
import type { Viewer } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { sourceOf } from "../database/read-model.js"
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
  /** Several units with waiting between them, or one statement: the mutation is not wrapped in a unit. */
  steps: boolean
}

/** Gives a root field its access rule; a root field without one stops the server from starting. */
export const Access = (rule: AccessRule, options: { steps?: boolean } = {}) =>
  Extensions({ access: { rule, steps: options.steps ?? false } satisfies AccessExtension })

/** Throws unless the viewer may use a field with this rule and these arguments. */
export function authorize(rule: AccessRule, viewer: Viewer, args: Record<string, unknown>) {
  mustBeKnown(rule, viewer)
  if (rule !== "manager" || viewer.identity.kind !== "user") return
  const role = viewer.identity.roles.get(args["companyId"] as string)
  if (role !== "owner" && role !== "admin") throw new Forbidden("Only an owner or admin of the company may manage its access tokens")
}

/** The part of the rule that needs no arguments: who the viewer is. */
export function mustBeKnown(rule: AccessRule, viewer: Viewer) {
  const { kind } = viewer.identity
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
      else guard(schema, type!, field as unknown as GraphQLFieldConfig<unknown, Viewer>, access)
    }
  }
  if (unguarded.length > 0) throw new Error(`Every root field needs an access rule, @Access(…); without one: ${unguarded.join(", ")}`)
  return schema
}

function guard(schema: GraphQLSchema, type: GraphQLObjectType, field: GraphQLFieldConfig<unknown, Viewer>, access: AccessExtension) {
  const resolve = field.resolve!
  if (type === schema.getSubscriptionType()) {
    const subscribe = field.subscribe!
    field.subscribe = (root, args, viewer, info) => {
      authorize(access.rule, viewer, args)
      return subscribe(root, args, viewer, info)
    }
    return
  }
  const isUnit = type === schema.getMutationType() && !access.steps
  const declared = type.getFields()[(field as unknown as { name: string }).name]!.args
  field.resolve = (root, given, viewer, info) => {
    mustBeKnown(access.rule, viewer)
    const args = readTexts(declared, given)
    authorize(access.rule, viewer, args)
    if (!isUnit) return resolve(root, args, viewer, info)
    return viewer.change(async (within, unit) => {
      const result = await resolve(root, args, within, info)
      await unit.settle()
      return presented(result, within, info)
    })
  }
}

/** A mutation that returns a row answers through the same planned read as a query, inside its transaction. */
async function presented(result: unknown, viewer: Viewer, info: GraphQLResolveInfo) {
  if (!(result instanceof Row)) return result
  const source = sourceOf(result.constructor.name)
  if (!source) return result
  const [row] = await viewer.reader.list(source, selectionOf(info), (query) => query.where("t.id", "=", result.id))
  return row
}
