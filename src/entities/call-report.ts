import { Entity, Index, PrimaryKey, Property, Unique } from "@mikro-orm/decorators/legacy"
import { v7 } from "uuid"
import { clock } from "./kit/clock.js"
import { StorableJson } from "./kit/storable.js"

/** A report of a voice provider about a call that is not known yet, because it came before the answer to the dial. It has no company. */
@Entity()
@Unique({ name: "call_report_once", properties: ["provider", "providerCallId", "kind"] })
@Index({ properties: ["expiresAt"] })
export class CallReport {
  @PrimaryKey({ type: "uuid" })
  id: string = v7()

  /** Name of the voice provider. */
  @Property({ type: "text" })
  provider!: string

  /** The provider's ID of the call. */
  @Property({ type: "text" })
  providerCallId!: string

  /** What is reported; the provider may report each kind several times. */
  @Property({ type: "text" })
  kind!: string

  /** The facts, as the adapter read them. */
  @Property({ type: StorableJson })
  facts: unknown = {}

  /** When it is deleted. */
  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  expiresAt!: Date

  @Property({ type: "datetime", columnType: "timestamptz(3)" })
  createdAt: Date = clock.now()
}
