import { Entity, Filter, Index, PrimaryKey, Property, Unique } from "@mikro-orm/decorators/legacy"
import { Field, Int, ObjectType } from "type-graphql"
import { v7 } from "uuid"
import { clock } from "./kit/clock.js"
import { CompanyOwned } from "./kit/row.js"
import { UUID } from "./kit/scalars.js"
import { entityLimits } from "./limits.js"

/** An uploaded file: the type, size and digest of its content, and the sender's file name. */
export interface ArrivedFile {
  filename: string
  mimeType: string
  size: number
  sha256: string
}

@ObjectType({ description: "An uploaded file." })
@Entity()
@Unique({ properties: ["companyId", "id"] })
@Index({ name: "media_forgotten", expression: "create index media_forgotten on media (forget_at) where forget_at is not null" })
export class Media extends CompanyOwned {
  @Field(() => String, { description: "File name given by the sender, without folders." })
  @Property({ type: "text" })
  filename!: string

  @Field(() => String, { description: "Media type, detected from the content." })
  @Property({ type: "text" })
  mimeType!: string

  @Field(() => Int, { description: "Size in bytes." })
  @Property({ type: "integer" })
  size!: number

  @Property({ type: "text" })
  sha256!: string

  /** Key of the file in the storage. */
  @Property({ type: "text" })
  storageKey!: string

  /** When the file is removed, because no message or knowledge item uses it; null while one does. The row is the queue. */
  @Property({ type: "datetime", columnType: "timestamptz(3)", nullable: true })
  forgetAt: Date | null = null

  @Field(() => String, {
    description: "Signed URL of the content. It is valid for one hour, needs no credentials and supports byte ranges.",
  })
  url?: string

  /** Creates an uploaded file that nothing uses yet. */
  static arrived(companyId: string, { filename, mimeType, size, sha256 }: ArrivedFile): Media {
    const media = Object.assign(new Media(), { companyId, filename, mimeType, size, sha256 })
    media.storageKey = storageKeyOf(companyId, media.id)
    media.forgetAt = new Date(clock.now().getTime() + entityLimits.unattachedMediaSeconds * 1000)
    return media
  }

  /** Keeps the file, because a message or a knowledge item uses it. */
  attach() {
    this.forgetAt = null
  }
}

/** Size of all files of a company, kept by a database trigger in the transaction of its files, so that an upload does not add them up. */
@Entity()
@Filter({ name: "company", cond: (args) => ({ companyId: { $in: args["ids"] } }), default: true })
export class MediaTally {
  @PrimaryKey({ type: "uuid" })
  companyId!: string

  @Property({ type: "bigint", default: 0 })
  bytes: number = 0
}

@ObjectType({ description: "A file attached to a message." })
@Entity()
@Index({ properties: ["mediaId"] })
@Unique({ properties: ["messageId", "position"] })
@Filter({ name: "company", cond: (args) => ({ companyId: { $in: args["ids"] } }), default: true })
export class MessageMedia {
  @Field(() => UUID, { description: "Unique ID." })
  @PrimaryKey({ type: "uuid" })
  id: string = v7()

  @Property({ type: "uuid" })
  companyId!: string

  @Property({ type: "uuid" })
  messageId!: string

  @Field(() => UUID, { description: "ID of the uploaded file." })
  @Property({ type: "uuid" })
  mediaId!: string

  /** Position among the files of the message: 1, 2, 3 … */
  @Property({ type: "integer" })
  position!: number

  @Field(() => Media, { description: "The uploaded file." })
  media?: Media
}

/** The storage key of a file; it contains no text from clients. */
const storageKeyOf = (companyId: string, mediaId: string) => `${companyId}/${mediaId}`
