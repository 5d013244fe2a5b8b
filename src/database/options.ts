import { fileURLToPath } from "node:url"
import { Migrator } from "@mikro-orm/migrations"
import { defineConfig, PostgreSqlDriver } from "@mikro-orm/postgresql"
import type { Pool } from "pg"
import { AccessToken } from "../entities/access-token.js"
import { Assistant } from "../entities/assistant.js"
import { AssistantFolder } from "../entities/assistant-folder.js"
import { AssistantTool } from "../entities/assistant-tool.js"
import { AssistantTurn } from "../entities/assistant-turn.js"
import { AuditEntry } from "../entities/audit-entry.js"
import { Call } from "../entities/call.js"
import { CallReport } from "../entities/call-report.js"
import { Channel } from "../entities/channel.js"
import { ChannelItem } from "../entities/channel-item.js"
import { ChannelMessage } from "../entities/channel-message.js"
import { Chat } from "../entities/chat.js"
import { ChatCount, ChatCountChange } from "../entities/chat-count.js"
import { ChatFolder } from "../entities/chat-folder.js"
import { ChatIdentity } from "../entities/chat-identity.js"
import { ChatTag, ChatTagging } from "../entities/chat-tag.js"
import { Company, Member, Subscription } from "../entities/company.js"
import { ControlChange } from "../entities/control-change.js"
import { Event, EventFanOut, EventLog } from "../entities/event.js"
import { EventDelivery } from "../entities/event-delivery.js"
import { EventWebhook } from "../entities/event-webhook.js"
import { GuardrailHit } from "../entities/guardrail-hit.js"
import { IdempotencyKey } from "../entities/idempotency-key.js"
import { Knowledge } from "../entities/knowledge.js"
import { KnowledgeChunk } from "../entities/knowledge-chunk.js"
import { McpServer } from "../entities/mcp-server.js"
import { McpTool } from "../entities/mcp-tool.js"
import { Media, MediaTally } from "../entities/media.js"
import { Message } from "../entities/message.js"
import { MessageMedia } from "../entities/message-media.js"
import { MessagePart } from "../entities/message-part.js"
import { OutcomeDay, OutcomeMonth, OutcomeMonthSum, OutcomeSum, OutcomeTime, OutcomeZone } from "../entities/outcome-day.js"
import { OutcomeDimensionSum, OutcomeDimensionTime } from "../entities/outcome-dimension.js"
import { AskedQuestion, QuestionGroup } from "../entities/question.js"
import { Stretch, StretchSetting } from "../entities/stretch.js"
import { ToolCall, ToolCallTally } from "../entities/tool-call.js"
import { RefreshToken, Session, User } from "../entities/user.js"
import { rootLimits } from "../limits.js"
import { auditSubscriber } from "./audit-trail.js"

/** Every entity by its name; `npm run generate` writes the types of their tables from it. */
export const entities = {
  Company,
  Member,
  Subscription,
  User,
  Session,
  RefreshToken,
  AccessToken,
  AssistantFolder,
  Assistant,
  AssistantTool,
  McpServer,
  McpTool,
  Knowledge,
  KnowledgeChunk,
  Channel,
  ChannelItem,
  ChannelMessage,
  ChatCount,
  ChatCountChange,
  ChatFolder,
  ChatIdentity,
  ChatTag,
  ChatTagging,
  Chat,
  ControlChange,
  Stretch,
  StretchSetting,
  AskedQuestion,
  QuestionGroup,
  GuardrailHit,
  OutcomeZone,
  OutcomeDay,
  OutcomeSum,
  OutcomeTime,
  OutcomeMonth,
  OutcomeMonthSum,
  OutcomeDimensionSum,
  OutcomeDimensionTime,
  AssistantTurn,
  ToolCall,
  ToolCallTally,
  Call,
  CallReport,
  Message,
  MessagePart,
  Media,
  MediaTally,
  MessageMedia,
  Event,
  EventLog,
  EventFanOut,
  EventWebhook,
  EventDelivery,
  IdempotencyKey,
  AuditEntry,
}

const migrations = fileURLToPath(new URL("../../migrations", import.meta.url))

/** Options of MikroORM, also used by its command line, which generates migrations. */
export const ormOptions = (url: string, log: (line: string) => void = () => {}, onPoolCreated: (pool: Pool) => void = () => {}) =>
  defineConfig({
    driver: PostgreSqlDriver,
    clientUrl: url,
    entities: Object.values(entities),
    extensions: [Migrator],
    subscribers: [auditSubscriber],
    // A misspelt name would be a new, empty database.
    ensureDatabase: false,
    pool: { min: 0, max: 10 },
    // Statements in one write do not wait for each other's results.
    driverOptions: {
      pipeline: true,
      connectionTimeoutMillis: rootLimits.databaseWaitMs,
      idle_in_transaction_session_timeout: rootLimits.idleTransactionMs,
      onPoolCreated,
    },
    discovery: { warnWhenNoEntities: false, checkDuplicateTableNames: true },
    allowGlobalContext: false,
    logger: log,
    schemaGenerator: { disableForeignKeys: false },
    migrations: {
      path: migrations,
      pathTs: migrations,
      emit: "ts",
      snapshot: true,
      snapshotName: ".snapshot",
      // The snapshot is the schema of the entities. Read from a database it would contain the hand-written references too, and the next
      // generated migration would drop them.
      snapshotOnMigrate: false,
      disableForeignKeys: false,
    },
  })
