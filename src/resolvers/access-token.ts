import type { GraphQLResolveInfo } from "graphql"
import { Arg, Ctx, Info, Mutation, Query, Resolver } from "type-graphql"
import type { Viewer } from "../context/request-context.js"
import { selectionOf } from "../context/selection.js"
import { AccessToken } from "../entities/access-token.js"
import { Trimmed, UUID } from "../entities/kit/scalars.js"
import { NotFound } from "../errors.js"
import { Access } from "../graphql/access.js"
import { limits } from "../limits.js"
import { accessTokenSource } from "../schema/access-token.js"

const TokenName = Trimmed({ max: limits.accessTokenName })

async function active(viewer: Viewer, companyId: string, id: string) {
  const token = await viewer.find(AccessToken, id, "Access token")
  if (token.companyId !== companyId || token.revokedAt) throw new NotFound("Access token")
  return token
}

@Resolver()
export class AccessTokenResolver {
  @Access("manager")
  @Query(() => [AccessToken], { description: "The company's access tokens that work, without their values." })
  accessTokens(@Ctx() viewer: Viewer, @Info() info: GraphQLResolveInfo, @Arg("companyId", () => UUID) companyId: string) {
    return viewer.reader.list(
      accessTokenSource,
      selectionOf(info),
      (query) => query.where("t.revoked_at", "is", null).orderBy("t.created_at", "desc").orderBy("t.id", "desc"),
      [companyId],
    )
  }

  @Access("manager")
  @Mutation(() => AccessToken, { description: "Creates an access token; its value is in this answer alone." })
  createAccessToken(@Ctx() viewer: Viewer, @Arg("companyId", () => UUID) companyId: string, @Arg("name", () => TokenName) name: string) {
    const token = AccessToken.issue(companyId, name, viewer.userId)
    viewer.em.persist(token)
    // A plain copy, since the value is on no column that a planned read could find again.
    return { ...token }
  }

  @Access("manager")
  @Mutation(() => AccessToken, { description: "Renames an access token." })
  async renameAccessToken(
    @Ctx() viewer: Viewer,
    @Arg("companyId", () => UUID) companyId: string,
    @Arg("id", () => UUID) id: string,
    @Arg("name", () => TokenName) name: string,
  ) {
    const token = await active(viewer, companyId, id)
    token.name = name
    return token
  }

  @Access("manager", { steps: true })
  @Mutation(() => AccessToken, { description: "Revokes an access token, for good and at once." })
  async revokeAccessToken(@Ctx() viewer: Viewer, @Arg("companyId", () => UUID) companyId: string, @Arg("id", () => UUID) id: string) {
    const revoked = await viewer.change(async (within) => {
      const token = await active(within, companyId, id)
      token.revoke()
      return token
    })
    // Its open sockets are told after the commit, so that none of them comes back in between.
    await viewer.services.wakeUp.publish("credentials", revoked.id)
    return { ...revoked }
  }
}
