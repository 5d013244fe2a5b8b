import type { Logger } from "pino"
import type { Config } from "../config/config.js"
import type { Database } from "../database/connect.js"
import type { Replica } from "../database/replica.js"
import type { UnitServices } from "../database/unit-of-work.js"
import type { ScheduledJob } from "../entities/kit/row.js"
import type { SealingKeys } from "../entities/kit/sealed.js"
import type { EventSelections, LoggedEvent, Representer } from "../events/logged-event.js"
import type { AnswerProgress } from "../events/progress.js"
import type { Sequencer } from "../events/sequencer.js"
import type { EventStreamOptions } from "../events/stream.js"
import type { WakeUp } from "../events/wake-up.js"
import type { MediaUrls } from "../media/signed-url.js"
import type { Metrics } from "../observability/metrics.js"
import type { Channels } from "../ports/channel.js"
import type { Crawler } from "../ports/crawler.js"
import type { Embedding } from "../ports/embedding.js"
import type { Extractor } from "../ports/extractor.js"
import type { GuardedHttpClient } from "../ports/kit/guarded-http-client.js"
import type { McpClient } from "../ports/mcp.js"
import type { Storage } from "../ports/storage.js"
import type { TextModel } from "../ports/text-model.js"
import type { VoiceProvider } from "../ports/voice.js"
import type { FairTurns } from "./fair-turns.js"
import type { SigningSecrets } from "./json-web-token.js"
import type { RateLimits } from "./rate-limit.js"
import type { ReadBudget } from "./read-budget.js"

/** Starts jobs at their due times. The due time is stored on a row, so a lost start delays the work by at most one sweep. */
export interface JobScheduler {
  /** Never rejects: a sweep finds work whose start could not be scheduled. */
  schedule(wake: ScheduledJob): Promise<void>
  /** Throws when the job store does not answer. */
  ping(): Promise<void>
}

/** The services of the process, for requests, jobs and commands. A module above context/ adds its own by declaration merging. */
export interface Services extends UnitServices {
  config: Config
  secrets: SigningSecrets & SealingKeys
  log: Logger
  database: Database
  /** A standby on which lists may be read (`DATABASE_REPLICA_URL`). */
  replica?: Replica
  /** Configured text models first, the offline model last and always. */
  models: TextModel[]
  /** Providers of voice agents. */
  voices: VoiceProvider[]
  /** The messengers that customers write on. */
  channels: Channels
  /** Computes the vectors by which knowledge is searched. */
  embedding: Embedding
  /** HTTP client for addresses that companies choose; it refuses private networks. */
  httpClient: GuardedHttpClient
  /** HTTP client for the configured addresses of vendors, which may be private. */
  vendorHttpClient: GuardedHttpClient
  /** Fetches web pages for knowledge items. */
  crawler: Crawler
  /** Client of companies' MCP servers. */
  mcp: McpClient
  /** Extracts the text of documents. */
  extractor: Extractor
  /** Storage of uploaded files. */
  storage: Storage
  /** Folder into which uploads are streamed before they are stored. */
  arrivals: string
  /** Signs and verifies URLs of files. */
  mediaUrls: MediaUrls
  scheduler: JobScheduler
  sequencer: Sequencer
  wakeUp: WakeUp
  /** Limits of requests per minute. */
  limits: RateLimits
  /** Divides the time of this process among companies. */
  turns: FairTurns
  /** Bounds what the operations of a company read and have not sent yet. */
  reads: ReadBudget
  /** Prometheus metrics of this process. */
  metrics: Metrics
  /** Background work that a stop waits for. */
  running: { add(work: Promise<void>): Promise<void>; idle(): Promise<void> }
  /** Aborted when the process is asked to stop. */
  stopping: AbortSignal
  /** Returns the REST representation of a row. */
  represent: Representer
  /** Shows events with the selections of endpoints. */
  eventSelections: EventSelections
  /** Publishes the text of running answers to subscribers. */
  progress: AnswerProgress
  /** The cursor of the end of the event log. */
  endOfEventLog(): Promise<string>
  /** The events after a subscriber's cursor, then live events. */
  eventStream(options: EventStreamOptions): Promise<AsyncIterableIterator<LoggedEvent>>
}
