import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Mutation, Query, Resolver } from "type-graphql"
import { Access } from "../context/access.js"
import type { RequestContext } from "../context/request-context.js"
import { mustHaveRoom } from "../context/room.js"
import { selectionOf } from "../context/selection.js"
import { AccessToken } from "../entities/access-token.js"
import { DateTime, Trimmed, UUID } from "../entities/kit/scalars.js"
import { entityLimits } from "../entities/limits.js"
import { NotFound } from "../errors/errors.js"
import { accessTokenReadModel } from "../schema/access-token.js"
import { IdArg } from "../schema/kit/arguments.js"

const TokenName = Trimmed({ max: entityLimits.accessTokenName })

async function active(context: RequestContext, companyId: string, id: string) {
  const token = await context.find(AccessToken, id, "Access token")
  if (token.companyId !== companyId || token.revokedAt) throw new NotFound("Access token")
  return token
}

@Resolver()
export class AccessTokenResolver {
  @Access("manager")
  @Query(() => [AccessToken], { description: "Access tokens of a company that were not revoked, without their values." })
  accessTokens(
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
    @Arg("companyId", () => UUID, { description: "ID of the company." }) companyId: string,
  ) {
    return context.reader.list(
      accessTokenReadModel,
      selectionOf(info),
      (query) => query.where("t.revoked_at", "is", null).orderBy("t.created_at", "desc").orderBy("t.id", "desc"),
      [companyId],
    )
  }

  @Access("manager")
  @Mutation(() => AccessToken, { description: "Creates an access token. Its value is returned only in this response." })
  async createAccessToken(
    @Ctx() context: RequestContext,
    @Arg("companyId", () => UUID, { description: "ID of the company." }) companyId: string,
    @Arg("name", () => TokenName, { description: "Display name of the access token." }) name: string,
    @Arg("expiresAt", () => DateTime, {
      nullable: true,
      description: "Time in the future from which the token is refused. Default: never.",
    })
    expiresAt?: Date | null,
    @Arg("readOnly", () => Boolean, { nullable: true, description: "Whether the token can only read. Default: false." })
    readOnly?: boolean | null,
  ) {
    await mustHaveRoom(context, AccessToken, companyId, "access tokens", { where: { revokedAt: null } })
    const token = AccessToken.issue(companyId, name, context.userId, { expiresAt, readOnly })
    context.em.persist(token)
    // A plain copy, because a planned read of the row could not find the value again: no column stores it.
    return { ...token }
  }

  @Access("manager")
  @Mutation(() => AccessToken, { description: "Renames an access token." })
  async renameAccessToken(
    @Ctx() context: RequestContext,
    @Arg("companyId", () => UUID, { description: "ID of the company." }) companyId: string,
    @IdArg("access token") id: string,
    @Arg("name", () => TokenName, { description: "Display name of the access token." }) name: string,
  ) {
    const token = await active(context, companyId, id)
    token.name = name
    return token
  }

  @Access("manager", { transaction: "manual" })
  @Mutation(() => AccessToken, { description: "Revokes an access token immediately and permanently." })
  async revokeAccessToken(
    @Ctx() context: RequestContext,
    @Arg("companyId", () => UUID, { description: "ID of the company." }) companyId: string,
    @IdArg("access token") id: string,
  ) {
    const revoked = await context.transaction(async (tx) => {
      const token = await active(tx, companyId, id)
      token.revoke()
      return token
    })
    // Published after the commit, so that a socket that is closed cannot authenticate with the token again.
    await context.services.wakeUp.publish("credentials", revoked.id)
    return { ...revoked }
  }
}
