import { Extensions } from "type-graphql"
import { Forbidden, Unauthenticated } from "../errors/errors.js"
import type { Identity } from "./identity.js"
import type { RequestContext } from "./request-context.js"

/**
 * Who may use a root field.
 * `public`: anyone. `user`: a signed-in person; an access token is refused. `company`: a person or an access token. `manager`: a person who
 * is owner or admin of the company in `companyId`. `visitor`: a person, an access token, or a widget's visitor in their own chat.
 */
export type AccessRule = "public" | "user" | "company" | "manager" | "visitor"

export interface AccessExtension {
  rule: AccessRule
  /** `manual`: the mutation opens its transactions itself (several with waiting between them, or one statement); else it runs in one. */
  transaction: "auto" | "manual"
}

/** Gives a root field its access rule; a root field without one stops the server from starting. */
export const Access = (rule: AccessRule, options: { transaction?: "manual" } = {}) =>
  Extensions({ access: { rule, transaction: options.transaction ?? "auto" } satisfies AccessExtension })

/** Throws unless the request's identity may use a field with this rule and these arguments. */
export function authorize(rule: AccessRule, context: RequestContext, args: Record<string, unknown>) {
  mustBeKnown(rule, context)
  if (rule !== "manager" || context.identity.kind !== "user") return
  const role = context.identity.roles.get(args["companyId"] as string)
  if (role !== "owner" && role !== "admin")
    throw new Forbidden("Only an owner or admin of the company may manage its access tokens and read its audit trail")
}

/** Throws unless the caller may manage these integrations of a company: its access tokens, and people who are its owner or an admin. */
export function mustManageIntegrations({ identity }: RequestContext, companyId: string, what = "its event webhooks") {
  if (!isManager(identity, companyId)) throw new Forbidden(`Only an owner or admin of the company, or an access token, may manage ${what}`)
}

/** The companies in reach whose integrations the caller may manage, or the named one; throws when there is none. */
export function managedCompanies(context: RequestContext, companyId?: string | null): string[] {
  const managed = context.reach(companyId).filter((id) => isManager(context.identity, id))
  if (managed.length === 0) mustManageIntegrations(context, companyId ?? "")
  return managed
}

function isManager(identity: Identity, companyId: string): boolean {
  if (identity.kind !== "user") return identity.kind === "token"
  return ["owner", "admin"].includes(identity.roles.get(companyId) ?? "")
}

/** The part of the rule that needs no arguments: the kind of identity. */
export function mustBeKnown(rule: AccessRule, context: RequestContext) {
  const { kind } = context.identity
  if (rule === "public") return
  if (kind === "anonymous") throw new Unauthenticated()
  if (kind === "visitor" && rule !== "visitor")
    throw new Forbidden("A visitor's token reads the messages and events of its own chat, uploads files for it and rates it, nothing else")
  if ((rule === "user" || rule === "manager") && kind !== "user")
    throw new Unauthenticated("This needs a signed-in user, not an access token")
}

/** Throws for a read-only access token, which runs no mutation and no REST method but GET and HEAD. */
export function mustBeAbleToWrite({ identity }: RequestContext) {
  if (isReadOnly(identity)) throw new Forbidden("This access token is read-only")
}

/** Whether an identity is that of a read-only access token. */
export const isReadOnly = (identity: Identity): boolean => identity.kind === "token" && identity.readOnly

/** The access rule of a root field. */
export const accessOf = (field: { extensions?: unknown } | undefined): AccessExtension | undefined =>
  (field?.extensions as { access?: AccessExtension } | undefined)?.access
