import { Entity, Index, PrimaryKey, Property, Unique } from "@mikro-orm/decorators/legacy"
import { v7 } from "uuid"
import { clock } from "./kit/clock.js"

/** That a credential's request with a key was answered, and how. */
@Entity()
@Unique({ properties: ["credential", "operation", "key"] })
@Index({ properties: ["createdAt"] })
export class IdempotencyKey {
  @PrimaryKey({ type: "uuid" })
  id: string = v7()

  /** The user or the token that sent it. */
  @Property({ type: "text" })
  credential!: string

  @Property({ type: "text" })
  operation!: string

  @Property({ type: "text" })
  key!: string

  /** SHA-256 of the request, to know another request under the same key. */
  @Property({ type: "text" })
  request!: string

  /** The answered row, as it was at commit. */
  @Property({ type: "json" })
  payload: Record<string, unknown> = {}

  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  createdAt: Date = clock.now()
}
