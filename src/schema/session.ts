import { Field, Int, ObjectType } from "type-graphql"
import { MemberRoleEnum } from "../entities/company.js"
import { UUID } from "../entities/kit/scalars.js"
import { User } from "../entities/user.js"

@ObjectType({ description: "What a session is held by: a short-lived token for requests, and one to get the next pair with." })
export class TokenPair {
  @Field(() => String, { description: "JWT for the Authorization header." })
  accessToken!: string

  @Field(() => String, { description: "Used once, for the next pair." })
  refreshToken!: string

  @Field(() => String, { description: "Bearer." })
  tokenType!: string

  @Field(() => Int, { description: "Life of the access token, in seconds." })
  expiresIn!: number
}

@ObjectType({ description: "A company of the signed-in user." })
export class Membership {
  @Field(() => UUID, { description: "The company." })
  id!: string

  @Field(() => String, { description: "Its name." })
  name!: string

  @Field(() => MemberRoleEnum, { description: "What the user may do in it." })
  role!: string
}

@ObjectType({ description: "The signed-in user." })
export class Me extends User {
  @Field(() => [Membership], { description: "The companies of which the user is a member." })
  companies!: Membership[]
}
