import "reflect-metadata"
import { MapperKind, mapSchema } from "@graphql-tools/utils"
import type { MikroORM } from "@mikro-orm/postgresql"
import { type GraphQLEnumType, GraphQLScalarType, type GraphQLSchema, Kind, specifiedDirectives } from "graphql"
import { buildSchemaSync } from "type-graphql"
import { BadUserInput } from "../errors/errors.js"
import { oncePer } from "../once-per.js"
import { AccessTokenResolver } from "../resolvers/access-token.js"
import { AnswerProgressResolver } from "../resolvers/answer-progress.js"
import { AssistantResolver } from "../resolvers/assistant.js"
import { AssistantFolderResolver } from "../resolvers/assistant-folder.js"
import { AssistantToolResolver } from "../resolvers/assistant-tool.js"
import { AuditEntryResolver } from "../resolvers/audit-entry.js"
import { CallResolver } from "../resolvers/call.js"
import { ChannelResolver } from "../resolvers/channel.js"
import { ChatResolver } from "../resolvers/chat.js"
import { ChatFolderResolver } from "../resolvers/chat-folder.js"
import { ChatInboxResolver } from "../resolvers/chat-inbox.js"
import { ChatListResolver } from "../resolvers/chat-list.js"
import { ChatTagResolver } from "../resolvers/chat-tag.js"
import { CompanyResolver, MemberResolver } from "../resolvers/company.js"
import { EventResolver } from "../resolvers/event.js"
import { EventDeliveryResolver } from "../resolvers/event-delivery.js"
import { EventWebhookResolver } from "../resolvers/event-webhook.js"
import { GuardrailResolver } from "../resolvers/guardrail.js"
import { KnowledgeResolver } from "../resolvers/knowledge.js"
import { KnowledgeQueryResolver } from "../resolvers/knowledge-query.js"
import { McpServerResolver } from "../resolvers/mcp-server.js"
import { MediaResolver } from "../resolvers/media.js"
import { MessageResolver } from "../resolvers/message.js"
import { OutcomeResolver } from "../resolvers/outcome.js"
import { RatingResolver } from "../resolvers/rating.js"
import { SessionResolver } from "../resolvers/session.js"
import { StretchResolver } from "../resolvers/stretch.js"
import { ToolCallResolver } from "../resolvers/tool-call.js"
import { UnansweredQuestionResolver } from "../resolvers/unanswered-question.js"
import { guardRootFields } from "./guard.js"
import { checkObjectFields, skipDefaultResolvers } from "./object-fields.js"
import { describeRootTypes, documentArguments } from "./schema-docs.js"
import { exposeTexts, lengthDirective } from "./texts.js"

type Resolver = new () => object

/** The resolvers of all features: root fields and field resolvers. */
export const resolvers: [Resolver, ...Resolver[]] = [
  SessionResolver,
  CompanyResolver,
  MemberResolver,
  AccessTokenResolver,
  AssistantResolver,
  AssistantFolderResolver,
  AssistantToolResolver,
  ToolCallResolver,
  KnowledgeResolver,
  KnowledgeQueryResolver,
  ChannelResolver,
  ChatFolderResolver,
  ChatTagResolver,
  ChatInboxResolver,
  ChatListResolver,
  ChatResolver,
  MessageResolver,
  RatingResolver,
  StretchResolver,
  UnansweredQuestionResolver,
  OutcomeResolver,
  GuardrailResolver,
  McpServerResolver,
  MediaResolver,
  CallResolver,
  EventResolver,
  EventWebhookResolver,
  EventDeliveryResolver,
  AnswerProgressResolver,
  AuditEntryResolver,
]

/** Builds the schema with every root field behind its access rule; throws when a rule is missing or a field of an entity has no source. */
export function buildPlatformSchema(orm: MikroORM): GraphQLSchema {
  skipDefaultResolvers()
  documentArguments()
  const schema = buildSchemaSync({
    resolvers,
    directives: [...specifiedDirectives, lengthDirective],
    validate: false,
    // type-graphql requires it; subscriptions read the event log instead.
    pubSub: { publish: neverPublish, subscribe: neverPublish },
  })
  describeRootTypes(schema)
  exposeTexts(schema)
  return guardRootFields(checkObjectFields(schema, orm))
}

let built: { from: Resolver[]; schema: GraphQLSchema } | undefined

/** The schema of this process, built for its first server; it is built again only when other resolvers are declared. */
export function platformSchema(orm: MikroORM): GraphQLSchema {
  const isBuilt = built?.from.length === resolvers.length && built.from.every((resolver, index) => resolver === resolvers[index])
  if (!built || !isBuilt) built = { schema: buildPlatformSchema(orm), from: [...resolvers] }
  return built.schema
}

function neverPublish(): never {
  throw new Error("Events are rows of the log; nothing publishes them")
}

/** The same schema with the REST words of enums: `telegram-bot` instead of `TELEGRAM_BOT`. */
export const inRestWords = oncePer((schema: GraphQLSchema) => mapSchema(schema, { [MapperKind.ENUM_TYPE]: restEnum as never }))

function restEnum(type: GraphQLEnumType): GraphQLScalarType {
  const list = type.getValues().map((value) => value.value as string)
  const parse = (value: unknown) => {
    if (typeof value === "string" && list.includes(value)) return value
    throw new BadUserInput(`must be one of ${list.join(", ")}`)
  }
  return new GraphQLScalarType({
    name: type.name,
    description: type.description,
    extensions: {
      jsonSchema: { type: "string", enum: list },
      restWords: Object.fromEntries(type.getValues().map(({ name, value }) => [name, value])),
    },
    serialize: (value) => value,
    parseValue: parse,
    parseLiteral: (node) => parse(node.kind === Kind.STRING || node.kind === Kind.ENUM ? node.value : undefined),
  })
}
