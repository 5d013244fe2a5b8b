import { Entity, Index, Unique } from "@mikro-orm/decorators/legacy"
import { ObjectType } from "type-graphql"
import { BadUserInput } from "../errors.js"
import { clock } from "./kit/clock.js"
import { codePoints } from "./kit/scalars.js"
import { KnowledgeChunk } from "./knowledge-chunk.js"
import { type KnowledgeKind, KnowledgeRow } from "./knowledge-row.js"
import { entityLimits } from "./limits.js"

/** The fields of an input that concern an item's content and its search. */
export interface KnowledgeInput {
  resourceContent?: string | null
  resourceUrl?: string | null
  fileId?: string | null
  isVector?: boolean | null
  chunkSize?: number | null
  chunkOverlap?: number | null
}

/** What an indexing stores on the item besides the chunks. */
export interface Indexed {
  chunkCount: number
  embeddingModel: string
}

/** The field that holds what an item of a kind is made from. */
const sources = { text: "resourceContent", url: "resourceUrl", file: "fileId" } as const satisfies Record<KnowledgeKind, string>

const bad = (path: string, message: string) => new BadUserInput(`${path} ${message}`, [{ path, message }])

@ObjectType({
  description: "A knowledge item of an assistant. It is given to the text model as a whole, or split into chunks that are searched.",
})
@Entity({ tableName: "knowledge" })
@Index({ properties: ["companyId", "assistantId"] })
@Unique({ properties: ["companyId", "id"] })
@Index({ name: "knowledge_of_file", expression: "create index knowledge_of_file on knowledge (file_id) where file_id is not null" })
@Index({
  name: "knowledge_index_due",
  expression: "create index knowledge_index_due on knowledge (index_due_at) where index_due_at is not null",
})
@Index({
  name: "knowledge_index_lease",
  expression: "create index knowledge_index_lease on knowledge (index_lease_until) where index_lease_until is not null",
})
export class Knowledge extends KnowledgeRow {
  /** Refuses what is not for an item of its kind: its content comes from one field, which is never empty. */
  mustTake(input: KnowledgeInput) {
    const own = sources[this.kind]
    for (const field of Object.values(sources)) {
      const given = input[field]
      if (given === undefined) continue
      if (field !== own && (given !== null || this[field] !== null)) throw bad(field, `is not for a ${this.kind} item`)
      if (field === own && given === null) throw bad(field, "must not be null")
    }
  }

  /** An input was applied: a changed source is forgotten, and the index is made again. */
  rewritten(input: KnowledgeInput, before: KnowledgeInput) {
    if (this.kind === "url") this.isVector = true
    if (this.kind !== "text" && this[sources[this.kind]] !== before[sources[this.kind]]) this.forgetSource()
    if (before.fileId && before.fileId !== this.fileId) this.leavesFile()
    this.mustBeWhole()
    if (!this.isVector) return this.forgetIndex()
    const named = [input[sources[this.kind]], input.chunkSize, input.chunkOverlap].some((value) => value !== undefined)
    if (named || this.indexStatus === null) this.expectIndexing()
  }

  /** The rules of the whole item, whichever of its fields were named. */
  private mustBeWhole() {
    const { kind, chunkSize, chunkOverlap } = this
    const source = this[sources[kind]]
    if (source === null) throw bad(sources[kind], `is required for a ${kind} item`)
    if (source.trim() === "") throw bad(sources[kind], "must not be empty")
    if (chunkSize < entityLimits.chunkSizeMin || chunkSize > entityLimits.chunkSizeMax)
      throw bad("chunkSize", `must be ${entityLimits.chunkSizeMin} to ${entityLimits.chunkSizeMax}`)
    const mostOverlap = chunkSize * entityLimits.chunkOverlapMaxShare
    if (chunkOverlap < 0 || chunkOverlap > mostOverlap) throw bad("chunkOverlap", `must be 0 to ${mostOverlap}, half of chunkSize`)
    this.mustFitTheModel()
  }

  /** Text that is given to the model as it is has to fit into the model's context. */
  private mustFitTheModel() {
    if (!this.isVector && codePoints(this.resourceContent ?? "") > entityLimits.knowledgeText)
      throw bad(sources[this.kind], `has more than ${entityLimits.knowledgeText} characters of text: make it searchable, isVector: true`)
  }

  /** Whether its file has to be read before it can be kept: the model is given its text. */
  get isUnread() {
    return this.kind === "file" && !this.isVector && this.resourceContent === null
  }

  /** The text of its page or file. */
  reads(text: string) {
    this.resourceContent = text
    this.mustFitTheModel()
  }

  /** The item does not use its file any more; the file is removed soon unless something else uses it. */
  leavesFile() {
    this.schedule({ job: "forget-media", companyId: this.companyId, id: this.id, at: clock.now() })
  }

  private forgetSource() {
    this.resourceContent = this.resourceEtag = this.resourceLastModified = null
  }

  /** Its page is read again. The present index stays searched meanwhile. */
  recrawl() {
    if (this.indexStatus !== "indexed") return this.expectIndexing()
    this.expectRun()
  }

  private expectIndexing() {
    this.indexStatus = "pending"
    this.indexError = null
    this.chunkCount = 0
    this.expectRun()
  }

  /** A running indexing is of the item as it was: it may store nothing, and its failures do not count. */
  private expectRun() {
    this.indexing.end()
    this.expectWork(this.indexing, clock.now())
  }

  /** It is not searched any more; its chunks go with the change. */
  private forgetIndex() {
    if (this.indexStatus !== null) {
      this.alsoInTransaction(async (em) => {
        await em.nativeDelete(KnowledgeChunk, { knowledgeId: this.id })
        return []
      })
    }
    this.indexStatus = this.indexError = this.indexGeneration = this.embeddingModel = null
    this.indexing.cancel()
    this.chunkCount = 0
  }

  /** The version that its page reported when it was read. */
  isOfVersion({ etag, lastModified }: { etag: string | null; lastModified: string | null }) {
    this.resourceEtag = etag
    this.resourceLastModified = lastModified
  }

  /** The index of this run is the one that is searched from now on. */
  indexed({ chunkCount, embeddingModel }: Indexed) {
    this.indexGeneration = this.indexing.runId
    this.indexStatus = "indexed"
    this.embeddingModel = embeddingModel
    this.chunkCount = chunkCount
    this.indexError = null
  }

  /** Its page has not changed since it was indexed. */
  unchanged() {
    this.indexError = null
  }

  /** It cannot be indexed. After a failed re-crawl the present index stays, with the reason in `indexError`. */
  failIndexing(reason: string) {
    if (this.indexStatus !== "indexed") this.indexStatus = "failed"
    this.indexError = reason
  }
}
