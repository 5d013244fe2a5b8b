import type { Logger } from "pino"
import type { Config } from "../config.js"
import type { Database } from "../database/connect.js"
import type { ScheduledJob } from "../entities/kit/row.js"
import type { LoggedEvent, Representer } from "../events/logged-event.js"
import type { AnswerProgress } from "../events/progress.js"
import type { EventStreamOptions } from "../events/stream.js"
import type { VectorSearch } from "../knowledge/vectors.js"
import type { MediaUrls } from "../media/signed-url.js"
import type { Crawler } from "../ports/crawler.js"
import type { Embedding } from "../ports/embedding.js"
import type { Extractor } from "../ports/extractor.js"
import type { GuardedHttpClient } from "../ports/kit/guarded-http-client.js"
import type { Storage } from "../ports/storage.js"
import type { TextModel } from "../ports/text-model.js"
import type { VoiceProvider } from "../ports/voice.js"
import type { SignInLimit } from "./sign-in-limit.js"

/** Tells every instance that something in the database is worth a look; the database stays the truth. */
export interface WakeUp {
  publish(topic: WakeUpTopic, message: string): Promise<void>
  /** Hears every message of a topic, those of this instance too; answers how to stop. */
  subscribe(topic: WakeUpTopic, hear: (message: string) => void): () => void
}
export type WakeUpTopic = "events" | "credentials" | "watched" | "progress"

/** Wakes jobs at their time. What is due stands on a row; losing a wake-up costs at most one sweep. */
export interface JobScheduler {
  /** Never fails: what cannot be woken is found by a sweep. */
  schedule(wake: ScheduledJob): Promise<void>
  /** Throws when the queue behind it does not answer. */
  ping(): Promise<void>
}

/** The event log's side for writers: called after a commit that wrote event rows. */
export interface Sequencer {
  /** Has the committed events placed soon; resolves when they were, and their readers woken. */
  poke(): Promise<void>
}

/** Everything a request, a job or a command can reach besides its own input. */
export interface Services {
  config: Config
  secrets: { jwtSecret: string; encryptionKey: Buffer }
  log: Logger
  database: Database
  /** Configured text models first, the offline model last and always. */
  models: TextModel[]
  /** Where assistants can have a voice. */
  voices: VoiceProvider[]
  /** Makes the vectors that knowledge is searched by. */
  embedding: Embedding
  /** Finds the chunks whose vectors are closest to a query's. */
  vectors: VectorSearch
  /** The guarded way to addresses that customers choose. */
  httpClient: GuardedHttpClient
  /** Fetches pages that customers choose. */
  crawler: Crawler
  /** Reads documents that customers send or choose. */
  extractor: Extractor
  /** Where uploaded files are kept … */
  storage: Storage
  /** … the folder in which they arrive … */
  arrivals: string
  /** … and the addresses at which they are read. */
  mediaUrls: MediaUrls
  scheduler: JobScheduler
  sequencer: Sequencer
  wakeUp: WakeUp
  signInLimit: SignInLimit
  /** Work beside requests and jobs. */
  running: { add(work: Promise<void>): Promise<void>; idle(): Promise<void> }
  /** Aborts when the process is asked to stop. */
  stopping: AbortSignal
  /** Makes the REST representation of a row. */
  represent: Representer
  /** The words of running answers, for whoever watches. */
  progress: AnswerProgress
  /** Everything a subscriber missed after its cursor, then live. */
  eventStream(wish: EventStreamOptions): Promise<AsyncIterableIterator<LoggedEvent>>
}
