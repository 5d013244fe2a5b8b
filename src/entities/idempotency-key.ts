import { Entity, Index, PrimaryKey, Property, Unique } from "@mikro-orm/decorators/legacy"
import { v7 } from "uuid"
import { clock } from "./kit/clock.js"

/** The stored response to a request with an idempotency key. */
@Entity()
@Unique({ properties: ["credential", "operation", "key"] })
@Index({ properties: ["createdAt"] })
export class IdempotencyKey {
  @PrimaryKey({ type: "uuid" })
  id: string = v7()

  /** ID of the user or of the access token that sent the request. */
  @Property({ type: "text" })
  credential!: string

  @Property({ type: "text" })
  operation!: string

  @Property({ type: "text" })
  key!: string

  /** SHA-256 of the request; another request with the same key is refused. */
  @Property({ type: "text" })
  request!: string

  /** The returned row, as it was at commit. */
  @Property({ type: "json" })
  payload: Record<string, unknown> = {}

  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  createdAt: Date = clock.now()
}
