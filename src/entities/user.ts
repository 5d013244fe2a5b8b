import { Entity, Index, PrimaryKey, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, ObjectType } from "type-graphql"
import { v7 } from "uuid"
import { clock } from "./kit/clock.js"
import { Row } from "./kit/row.js"
import { entityLimits } from "./limits.js"

@ObjectType({ description: "A person who can sign in." })
@Entity({ tableName: "users" })
export class User extends Row {
  @Field(() => String, { description: "Email address, in lower case." })
  @Property({ type: "text" })
  @Unique()
  email!: string

  @Field(() => String, { description: "Name of the user." })
  @Property({ type: "text" })
  name!: string

  /** The argon2id hash; it is never returned to clients. */
  @Property({ type: "text", hidden: true })
  passwordHash!: string
}

/** A sign-in of a browser or a program; its tokens end with it. */
@Entity()
export class Session extends Row {
  @Property({ type: "uuid" })
  @Index()
  userId!: string

  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  endedAt: Date | null = null
}

/** A refresh token of a session, identified by its `jti`; it can be used once. */
@Entity()
export class RefreshToken {
  @PrimaryKey({ type: "uuid" })
  id: string = v7()

  @Property({ type: "uuid" })
  @Index()
  sessionId!: string

  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  @Index()
  expiresAt!: Date

  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  rotatedAt: Date | null = null

  /** Marks the token as used. A second use shortly afterwards is a race between two tabs; a later one counts as theft. */
  rotate(): "rotated" | "raced" | "stolen" {
    const now = clock.now()
    if (this.rotatedAt === null) {
      this.rotatedAt = now
      return "rotated"
    }
    return now.getTime() - this.rotatedAt.getTime() <= entityLimits.refreshReuseGraceMs ? "raced" : "stolen"
  }
}
