import { Field, Int, ObjectType } from "type-graphql"
import { MemberRoleEnum } from "../entities/company.js"
import { UUID } from "../entities/kit/scalars.js"
import { User } from "../entities/user.js"

@ObjectType({ description: "The tokens of a session: a short-lived access token for requests, and a refresh token for the next pair." })
export class TokenPair {
  @Field(() => String, { description: "JWT for the Authorization header." })
  accessToken!: string

  @Field(() => String, { description: "Token for refreshSession; it can be used once." })
  refreshToken!: string

  @Field(() => String, { description: "Always Bearer." })
  tokenType!: string

  @Field(() => Int, { description: "Lifetime of the access token, in seconds." })
  expiresIn!: number
}

@ObjectType({ description: "A company of the signed-in user, with the role of the user." })
export class Membership {
  @Field(() => UUID, { description: "ID of the company." })
  id!: string

  @Field(() => String, { description: "Name of the company." })
  name!: string

  @Field(() => MemberRoleEnum, { description: "Role of the user in the company." })
  role!: string
}

@ObjectType({ description: "The signed-in user." })
export class Me extends User {
  @Field(() => [Membership], { description: "Companies of which the user is a member." })
  companies!: Membership[]
}
