import { Entity, Index, PrimaryKey, Property, Unique } from "@mikro-orm/decorators/legacy"
import { v7 } from "uuid"
import { clock } from "./kit/clock.js"

/** What a stored response shows: the chat, also of a message, or the file. */
export const shownBy = "coalesce(payload #>> '{message,chatId}', payload #>> '{chat,id}', payload #>> '{media,id}')"

/** The stored response to a request with an idempotency key. */
@Entity()
@Index({ name: "idempotency_key_shown", expression: `create index idempotency_key_shown on idempotency_key ((${shownBy}))` })
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
