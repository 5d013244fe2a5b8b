import { Embedded, Entity, Filter, Index, PrimaryKey, Property, Unique } from "@mikro-orm/decorators/legacy"
import type { EntityManager } from "@mikro-orm/postgresql"
import { Field, Int, ObjectType } from "type-graphql"
import { clock } from "./kit/clock.js"
import { CompanyOwned, type DomainEvent } from "./kit/row.js"
import { words } from "./kit/words.js"
import { type WorkState, workState } from "./kit/work-state.js"
import { entityLimits } from "./limits.js"
import { Message, messageTypeOf } from "./message.js"
import { MessageMedia } from "./message-media.js"

/** An uploaded file: the type, size and digest of its content, and the sender's file name. */
export interface ArrivedFile {
  filename: string
  mimeType: string
  size: number
  sha256: string
}

/** State of a file's content. */
export const MediaStatusEnum = words("MediaStatus", "State of a file's content.", {
  ready: "The content can be read.",
  pending: "The customer sent the file over a channel, and the server is fetching it.",
  failed: "The file could not be fetched.",
})
export type MediaStatus = (typeof MediaStatusEnum)[string]

/** Where a file of a channel is fetched from. */
export interface MediaSource {
  channelId: string
  /** What the adapter needs to find the file; `{ text }` is its content. */
  reference: unknown
  /** Word for the file, for the text of a message that has lost it. */
  kind: string
}

/** The job that fetches a file of a channel. */
export const fetchMediaJob = "fetch-media"

const FetchState = workState(fetchMediaJob, {
  dueAt: "fetch_due_at",
  runId: "fetch_id",
  leaseUntil: "fetch_lease_until",
  failures: "fetch_failures",
})

@ObjectType({ description: "An uploaded file." })
@Entity()
@Index({
  name: "media_fetch_due",
  expression: "create index media_fetch_due on media (company_id, fetch_due_at) where fetch_due_at is not null",
})
@Index({
  name: "media_fetch_lease",
  expression: "create index media_fetch_lease on media (fetch_lease_until) where fetch_lease_until is not null",
})
@Unique({ properties: ["companyId", "id"] })
@Index({
  name: "media_of_visitor",
  expression: "create index media_of_visitor on media (company_id, visitor_chat_id, created_at) where visitor_chat_id is not null",
})
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

  @Field(() => MediaStatusEnum, { description: "State of the content; always READY for an upload." })
  @Property({ type: "text", default: "ready" })
  status: MediaStatus = "ready"

  @Field(() => String, {
    nullable: true,
    description:
      "Signed URL of the content. It is valid for one hour, needs no credentials and supports byte ranges. Null while the content cannot be read.",
  })
  url?: string | null

  /** Where the content is fetched from, of a file that a customer sent over a channel. */
  @Property({ type: "json", nullable: true })
  source: MediaSource | null = null

  /** The chat of the widget's visitor who uploaded the file, who alone may attach it, until another message of the company has it. */
  @Property({ type: "uuid", nullable: true })
  visitorChatId: string | null = null

  /** Work state of fetching the content. */
  @Embedded(() => FetchState, { prefix: false })
  fetching: WorkState = new FetchState()

  /** Creates an uploaded file that nothing uses yet; with the chat of the visitor who uploaded it. */
  static arrived(companyId: string, { filename, mimeType, size, sha256 }: ArrivedFile, visitorChatId: string | null = null): Media {
    const media = Object.assign(new Media(), { companyId, filename, mimeType, size, sha256, visitorChatId })
    media.storageKey = storageKeyOf(companyId, media.id)
    media.forgetAt = new Date(clock.now().getTime() + entityLimits.unattachedMediaSeconds * 1000)
    return media
  }

  /** Creates a file of a channel, whose content is fetched from now on. */
  static announced(companyId: string, filename: string, source: MediaSource): Media {
    const mimeType = "application/octet-stream"
    const media = Object.assign(new Media(), { companyId, filename, mimeType, size: 0, sha256: "", status: "pending", source })
    media.storageKey = storageKeyOf(companyId, media.id)
    media.expectWork(media.fetching, clock.now())
    return media
  }

  /** Stores what the fetched content is; the messages with the file change. */
  fetched({ filename, mimeType, size, sha256 }: ArrivedFile) {
    Object.assign(this, { filename, mimeType, size, sha256, status: "ready", source: null })
    this.alsoInTransaction((em) => fileChanged(em, this, null))
  }

  /** Marks the content as lost, for a reason that the messages with the file then state. */
  failFetching(reason: string) {
    Object.assign(this, { status: "failed", source: null })
    this.alsoInTransaction((em) => fileChanged(em, this, reason))
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

// Declared here, because a file refers to messages, which have files.
Field(() => Media, { description: "The uploaded file." })(MessageMedia.prototype, "media")

/** The storage key of a file; it contains no text from clients. */
const storageKeyOf = (companyId: string, mediaId: string) => `${companyId}/${mediaId}`

/** The messages with a file, whose content was fetched or lost, change with it. */
async function fileChanged(em: EntityManager, { id: mediaId, filename, mimeType }: Media, lostFor: string | null): Promise<DomainEvent[]> {
  const links = await em.find(MessageMedia, { mediaId })
  const messages = await em.find(Message, { id: { $in: links.map(({ messageId }) => messageId) } })
  for (const message of messages) {
    const isFirst = links.some(({ messageId, position }) => messageId === message.id && position === 1)
    if (lostFor) message.text = [message.text, `[attachment not available: ${filename}, ${lostFor}]`].filter(Boolean).join("\n")
    else if (isFirst) message.type = messageTypeOf(mimeType)
  }
  return messages.map(({ id, companyId, chatId }) => ({ type: "MESSAGE_UPDATED", companyId, chatId, payload: { row: "Message", id } }))
}
