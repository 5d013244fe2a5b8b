import { createHash } from "node:crypto"
import { LockMode } from "@mikro-orm/postgresql"
import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Mutation, Query, Resolver } from "type-graphql"
import { z } from "zod"
import { Access } from "../context/access.js"
import { verify } from "../context/json-web-token.js"
import { addressKey } from "../context/rate-limit.js"
import type { RequestContext } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import type { ReadModel } from "../database/read-model.js"
import { clock } from "../entities/kit/clock.js"
import { RefreshToken, Session, User } from "../entities/user.js"
import { BadUserInput, NotFound, Unauthenticated } from "../errors/errors.js"
import { companyReadModel, userReadModel } from "../schema/company.js"
import { Me, TokenPair } from "../schema/session.js"
import { isCorrectPassword } from "./kit/password.js"
import { issueTokenPair } from "./kit/tokens.js"

/** The read model of the signed-in user, who may belong to no company. */
const ownUserReadModel: ReadModel<"User"> = { ...userReadModel, scope: (query) => query }

const emailForm = z.email()

function readEmail(email: string | null | undefined, password: string | null | undefined) {
  const details = []
  const trimmed = email?.trim().toLowerCase() ?? ""
  if (!emailForm.safeParse(trimmed).success) details.push({ path: "email", message: "must be an email address" })
  if (!password) details.push({ path: "password", message: "must not be empty" })
  if (details.length > 0) throw new BadUserInput("Invalid email or password", details)
  return trimmed
}

@Resolver()
export class SessionResolver {
  @Access("user")
  @Query(() => Me, { description: "The signed-in user." })
  async me(@Ctx() context: RequestContext, @Info() info: GraphQLResolveInfo) {
    if (context.identity.kind !== "user") throw new Unauthenticated()
    const { userId, roles } = context.identity
    const selection = selectionOf(info)
    const [user] = await context.reader.list(ownUserReadModel, selection, (query) => query.where("t.id", "=", userId))
    if (!user) throw new NotFound("User")
    const companies = selection["companies"]
      ? await context.reader.list(companyReadModel, { id: {}, name: {} }, (query) => query.orderBy("t.name"))
      : []
    return { ...user, companies: companies.map((company) => ({ ...company, role: roles.get(company["id"]) })) }
  }

  @Access("public", { transaction: "manual" })
  @Mutation(() => TokenPair, {
    description: "Signs a user in; at most 10 attempts per minute are allowed per client address and per email address.",
  })
  async signIn(
    @Ctx() context: RequestContext,
    @Arg("email", () => String, { nullable: true, description: "Email address of the user; required." }) email?: string,
    @Arg("password", () => String, { nullable: true, description: "Password of the user; required." }) password?: string,
  ): Promise<TokenPair> {
    const { services, request } = context
    // The REST server counts an attempt before it reads the body.
    if (!request.attemptCounted) await services.limits.signIn.count(addressKey(request.address), request.headers)
    const digest = createHash("sha256")
      .update((email ?? "").trim().toLowerCase())
      .digest("hex")
    if (email) await services.limits.signIn.count(`email:${digest}`, request.headers)
    const address = readEmail(email, password)
    const user = await context.transaction((tx) => tx.em.findOne(User, { email: address }))
    if (!(await isCorrectPassword(user?.passwordHash, password!)) || !user) throw new Unauthenticated("Wrong email or password")
    return context.transaction(async (tx) => {
      const session = Object.assign(new Session(), { userId: user.id })
      tx.em.persist(session)
      return issueTokenPair(tx, session)
    })
  }

  @Access("public", { transaction: "manual" })
  @Mutation(() => TokenPair, { description: "Exchanges a refresh token for a new pair of tokens. A refresh token can be used once." })
  async refreshSession(
    @Ctx() context: RequestContext,
    @Arg("refreshToken", () => String, { description: "Refresh token of the latest pair." }) refreshToken: string,
  ): Promise<TokenPair> {
    const claims = verify(refreshToken, context.services.secrets, "refresh", clock.now())
    if (claims === "invalid" || claims === "expired") throw new BadUserInput("The refresh token is invalid or expired")
    const outcome = await context.transaction(async (tx) => {
      const session = await tx.em.findOne(Session, { id: claims.sid }, { lockMode: LockMode.PESSIMISTIC_WRITE })
      const token = await tx.em.findOne(RefreshToken, { id: claims.jti, sessionId: claims.sid })
      if (!session || session.endedAt || !token) return "unknown"
      const use = token.rotate()
      if (use === "rotated") return issueTokenPair(tx, session)
      // The session ends in this transaction, which commits: the error below must not undo it.
      if (use === "stolen") session.endedAt = clock.now()
      return use
    })
    if (outcome === "stolen") await context.services.wakeUp.publish("credentials", claims.sid)
    if (typeof outcome === "string") throw new Unauthenticated("The refresh token is no longer valid: sign in again")
    return outcome
  }

  @Access("user", { transaction: "manual" })
  @Mutation(() => Boolean, { description: "Ends the session, its tokens and its open sockets." })
  async signOut(@Ctx() context: RequestContext): Promise<boolean> {
    if (context.identity.kind !== "user") throw new Unauthenticated()
    const { sessionId } = context.identity
    await context.transaction(async (tx) => {
      const session = await tx.em.findOneOrFail(Session, { id: sessionId })
      session.endedAt ??= clock.now()
    })
    await context.services.wakeUp.publish("credentials", sessionId)
    return true
  }
}
