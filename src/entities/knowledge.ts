import { Entity, Index, Unique } from "@mikro-orm/decorators/legacy"
import { ObjectType } from "type-graphql"
import { BadUserInput } from "../errors/errors.js"
import { Audited } from "./kit/audited.js"
import { clock } from "./kit/clock.js"
import { codePoints } from "./kit/scalars.js"
import { KnowledgeChunk } from "./knowledge-chunk.js"
import { type KnowledgeKind, KnowledgeRow } from "./knowledge-row.js"
import { entityLimits } from "./limits.js"

/** Input fields for the content of an item and for its search. */
export interface KnowledgeInput {
  resourceContent?: string | null
  resourceUrl?: string | null
  fileId?: string | null
  isVector?: boolean | null
  chunkSize?: number | null
  chunkOverlap?: number | null
}

/** What an indexing run stores on the item, besides the chunks. */
export interface Indexed {
  chunkCount: number
  embeddingModel: string
}

/** The source field of each kind of item. */
const sources = { text: "resourceContent", url: "resourceUrl", file: "fileId" } as const satisfies Record<KnowledgeKind, string>

/** Properties that indexing changes; of a page or a file it also reads the text. */
const indexProperties = [
  "indexStatus",
  "indexError",
  "chunkCount",
  "indexGeneration",
  "embeddingModel",
  "indexing",
  "resourceEtag",
  "resourceLastModified",
] as const

const bad = (path: string, message: string) => new BadUserInput(`${path} ${message}`, [{ path, message }])

@ObjectType({
  description: "A knowledge item of an assistant. It is given to the text model as a whole, or split into chunks that are searched.",
})
@Entity({ tableName: "knowledge" })
@Index({ properties: ["companyId", "assistantId"] })
@Unique({ properties: ["companyId", "id"] })
@Index({ name: "knowledge_of_file", expression: "create index knowledge_of_file on knowledge (file_id) where file_id is not null" })
@Index({
  name: "knowledge_in_prompt",
  expression: "create index knowledge_in_prompt on knowledge (assistant_id) where not is_vector",
})
@Index({
  name: "knowledge_index_due",
  expression: "create index knowledge_index_due on knowledge (company_id, index_due_at) where index_due_at is not null",
})
@Index({
  name: "knowledge_index_lease",
  expression: "create index knowledge_index_lease on knowledge (index_lease_until) where index_lease_until is not null",
})
@Audited<Knowledge>({ internal: ({ kind }) => (kind === "text" ? indexProperties : [...indexProperties, "resourceContent"]) })
export class Knowledge extends KnowledgeRow {
  /** Throws for source fields of other kinds of items, and for a source that is null. */
  assertSourceFields(input: KnowledgeInput) {
    const own = sources[this.kind]
    for (const field of Object.values(sources)) {
      const given = input[field]
      if (given === undefined) continue
      if (field !== own && (given !== null || this[field] !== null)) throw bad(field, `is not for a ${this.kind} item`)
      if (field === own && given === null) throw bad(field, "must not be null")
    }
  }

  /** Called after an update: discards the text of a replaced source, and schedules indexing where the change requires it. */
  afterUpdate(input: KnowledgeInput, before: KnowledgeInput) {
    if (this.kind === "url") this.isVector = true
    if (this.kind !== "text" && this[sources[this.kind]] !== before[sources[this.kind]]) this.forgetSource()
    if (before.fileId && before.fileId !== this.fileId) this.scheduleFileRemoval()
    this.assertValid()
    if (!this.isVector) return this.forgetIndex()
    const named = [input[sources[this.kind]], input.chunkSize, input.chunkOverlap].some((value) => value !== undefined)
    if (named || this.indexStatus === null) this.expectIndexing()
  }

  /** Checks the rules that hold for every item, whichever fields were changed. */
  private assertValid() {
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

  /** Throws when text that the model receives as a whole is too long for its context. */
  private mustFitTheModel() {
    if (!this.isVector && codePoints(this.resourceContent ?? "") > entityLimits.knowledgeText)
      throw bad(sources[this.kind], `has more than ${entityLimits.knowledgeText} characters of text: make it searchable, isVector: true`)
  }

  /** Whether the text of the file must be extracted before the item is stored, because the model receives it as a whole. */
  get needsExtraction() {
    return this.kind === "file" && !this.isVector && this.resourceContent === null
  }

  /** Stores the text of the web page or of the file. */
  setText(text: string) {
    this.resourceContent = text
    this.mustFitTheModel()
  }

  /** Schedules the removal of the file, unless a message or another item uses it. */
  scheduleFileRemoval() {
    this.schedule({ job: "forget-media", companyId: this.companyId, id: this.id, at: clock.now() })
  }

  private forgetSource() {
    this.resourceContent = this.resourceEtag = this.resourceLastModified = null
  }

  /** Schedules a crawl of the web page; the current index stays in use until the new one is ready. */
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

  /** Schedules indexing. A running one used an older state of the item: it can store nothing, and its failures do not count. */
  private expectRun() {
    this.indexing.end()
    this.expectWork(this.indexing, clock.now())
  }

  /** Takes the item out of the search and deletes its chunks. */
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

  /** Stores the version that the web page reported. */
  setVersion({ etag, lastModified }: { etag: string | null; lastModified: string | null }) {
    this.resourceEtag = etag
    this.resourceLastModified = lastModified
  }

  /** Makes the index of this run the current one. */
  indexed({ chunkCount, embeddingModel }: Indexed) {
    this.indexGeneration = this.indexing.runId
    this.indexStatus = "indexed"
    this.embeddingModel = embeddingModel
    this.chunkCount = chunkCount
    this.indexError = null
  }

  /** Clears the error, because the web page has not changed since the last indexing. */
  unchanged() {
    this.indexError = null
  }

  /** Stores why indexing failed. After a failed crawl of an indexed item the current index stays. */
  failIndexing(reason: string) {
    if (this.indexStatus !== "indexed") this.indexStatus = "failed"
    this.indexError = reason
  }
}
