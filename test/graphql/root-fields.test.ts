import { readFileSync } from "node:fs"
import {
  buildSchema,
  type GraphQLField,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isSpecifiedScalarType,
} from "graphql"
import { root } from "../kit/house-rules.js"

const schema = buildSchema(readFileSync(`${root}schema.graphql`, "utf8"))

/** The contract's table, section 1: name, arguments in their order (a `?` where one may be absent), and the type of the field. */
const contract: Record<string, string[]> = {
  Query: [
    "me: Me!",
    "myCompanies: [Company!]!",
    "company(id): Company",
    "accessTokens(companyId): [AccessToken!]!",
    "auditEntries(companyId first? after?): AuditEntryConnection!",
    "textModels: [TextModel!]!",
    "assistants(companyId? folderId? q? skip? take? includeVariants?): AssistantPage!",
    "assistant(id): Assistant",
    "assistantFolders(companyId?): [AssistantFolder!]!",
    "assistantTools(assistantId? search? types? skip? take?): AssistantToolPage!",
    "assistantTool(id): AssistantTool",
    "outcomes(companyId? from? to? by? filters? filter? timeZone?): Outcomes!",
    "guardrailHits(companyId? from? to? where? filter? first? after?): GuardrailHitConnection!",
    "unansweredQuestions(companyId? assistantId? from? to? state? first? after?): UnansweredQuestionConnection!",
    "ratingRequest(chatId): RatingRequest",
    "stretches(companyId? chatId? from? to? filters? filter? first? after?): StretchConnection!",
    "toolCalls(toolId status? skip? take?): ToolCallPage!",
    "knowledgeItems(assistantId? search? skip? take?): KnowledgePage!",
    "knowledgeItem(id): Knowledge",
    "chats(companyId? where? filter? search? sortBy? sortOrder? messenger? sourceChannel? fromId? assistantId? managerId? unread? isUnderAiControl? first? after? skip?): ChatConnection!",
    "chat(id): Chat",
    "eventCursor: String!",
    "channels(companyId?): [Channel!]!",
    "chatFolders(companyId?): [ChatFolder!]!",
    "chatTags(companyId?): [ChatTag!]!",
    "messages(chatId first? after? skip?): MessageConnection!",
    "message(id): Message",
    "calls(companyId? where? filter? search? phone? assistantId? sortBy? sortOrder? skip? take?): CallPage!",
    "call(id): Call",
    "mcpServers(companyId?): [McpServer!]!",
    "mcpServer(id companyId?): McpServer",
    "eventWebhooks(companyId?): [EventWebhook!]!",
    "eventWebhook(id): EventWebhook",
    "eventDeliveries(webhookId status? type? skip? take?): EventDeliveryPage!",
  ],
  Mutation: [
    "signIn(email? password?): TokenPair!",
    "refreshSession(refreshToken): TokenPair!",
    "signOut: Boolean!",
    "createAccessToken(companyId name expiresAt? readOnly?): AccessToken!",
    "renameAccessToken(companyId id name): AccessToken!",
    "revokeAccessToken(companyId id): AccessToken!",
    "createAssistant(input): Assistant!",
    "updateAssistant(id input): Assistant!",
    "deleteAssistant(id): DeleteAssistantResult!",
    "copyAssistant(id input): Assistant!",
    "createAssistantFolder(input): AssistantFolder!",
    "updateAssistantFolder(id input): AssistantFolder!",
    "deleteAssistantFolder(id): DeleteResult!",
    "createAssistantTool(input): AssistantTool!",
    "updateAssistantTool(id input): AssistantTool!",
    "deleteAssistantTool(id): DeleteResult!",
    "testAssistantTool(id params?): ToolTestResult!",
    "answerToolCall(toolCallId output?): ToolCall!",
    "createMcpServer(input): McpServer!",
    "updateMcpServer(id input companyId?): McpServer!",
    "refreshMcpServer(id companyId?): McpServer!",
    "deleteMcpServer(id companyId?): DeleteResult!",
    "setAssistantMcpTools(assistantId tools): Assistant!",
    "setAssistantGuardrails(assistantId guardrails): Assistant!",
    "createKnowledgeItem(input): Knowledge!",
    "updateKnowledgeItem(id input): Knowledge!",
    "deleteKnowledgeItem(id): DeleteResult!",
    "queryKnowledge(input): KnowledgeMatches!",
    "createChat(input): Chat!",
    "updateChat(id input): Chat!",
    "deleteChat(id): DeleteResult!",
    "endStretch(chatId): Stretch!",
    "rateStretch(id rating text?): StretchRating!",
    "setRatingQuestion(channelId question?): Channel!",
    "closeUnansweredQuestion(id): ClosedQuestion!",
    "reopenUnansweredQuestion(id): ReopenedQuestion!",
    "setAiControl(id isUnderAiControl aiDisableReason?): Chat!",
    "assignAssistant(id assistantId): Chat!",
    "unassignAssistant(id): Chat!",
    // Nullable but required: null is a value.
    "assignManager(id managerId?): Chat!",
    "takeOverChat(id managerId?): Chat!",
    "markChatRead(id): Chat!",
    "markChatUnread(id): Chat!",
    "addChatLabel(id label): Chat!",
    "removeChatLabel(id label): Chat!",
    "setChatFolder(id folderId?): Chat!",
    "setChatTags(id tagIds): Chat!",
    "addChatTag(id tagId): Chat!",
    "removeChatTag(id tagId): Chat!",
    "addChatComment(id text): Chat!",
    "removeChatComment(id commentId): Chat!",
    "createChatFolder(input): ChatFolder!",
    "updateChatFolder(id input): ChatFolder!",
    "deleteChatFolder(id): DeleteResult!",
    "createChatTag(input): ChatTag!",
    "updateChatTag(id input): ChatTag!",
    "deleteChatTag(id): DeleteResult!",
    "createMessage(input): Message!",
    "retryMessage(id): Message!",
    "originateCall(assistantId input): Call!",
    "createEventWebhook(input): EventWebhook!",
    "updateEventWebhook(id input): EventWebhook!",
    "deleteEventWebhook(id): DeleteResult!",
    "redeliverEvent(webhookId deliveryId): EventDelivery!",
    "redeliverEvents(webhookId since until? onlyFailed?): RedeliverEventsResult!",
    "testEventWebhook(id): EventDelivery!",
    "rotateEventWebhookSecret(id): EventWebhook!",
    // The key is a separate argument: an upload has no input object.
    "uploadMedia(companyId? file idempotencyKey?): Media!",
  ],
  Subscription: ["events(companyId? chatId? types? after?): Event!", "answerProgress(chatId): AnswerProgress!"],
}

const signature = ({ name, args, type }: GraphQLField<unknown, unknown>) => {
  const shown = args.map((arg) => `${arg.name}${isRequiredArgument(arg) ? "" : "?"}`).join(" ")
  return `${name}${shown && `(${shown})`}: ${type}`
}

const cases = Object.entries(contract).flatMap(([type, fields]) => fields.map((field) => [type, field] as const))

describe("the root fields of the contract", () => {
  it.each(cases)("%s %s", (type, expected) => {
    const field = schema.getType(type)
    if (!isObjectType(field)) throw new Error(`There is no ${type}`)
    const found = field.getFields()[/^\w+/.exec(expected)![0]]
    expect(found && signature(found)).toBe(expected)
  })

  it("are all in this table", () => {
    const inTable = Object.entries(contract).map(([type, fields]) => [type, fields.map((field) => /^\w+/.exec(field)![0]).sort()])
    expect(Object.keys(contract).map((type) => [type, Object.keys(fieldsOf(type)).sort()])).toEqual(inTable)
  })

  it.each(cases.filter(([, field]) => field.includes("input")))("%s %s takes an input of its name", (type, field) => {
    const name = /^\w+/.exec(field)![0]
    const [input] = (schema.getType(type) as never as { getFields(): Record<string, GraphQLField<unknown, unknown>> })
      .getFields()
      [name]!.args.filter((arg) => arg.name === "input")
    expect(String(input!.type)).toBe(`${name[0]!.toUpperCase()}${name.slice(1)}Input!`)
  })
})

const fieldsOf = (name: string) => {
  const type = schema.getType(name)
  if (!isObjectType(type)) throw new Error(`There is no type ${name}`)
  return Object.fromEntries(Object.values(type.getFields()).map((field) => [field.name, String(field.type)]))
}

describe("the types of the contract", () => {
  it.each(["Chat", "Message", "AuditEntry"])("%ss are a Relay connection", (name) => {
    expect(fieldsOf(`${name}Connection`)).toEqual({
      edges: `[${name}Edge!]!`,
      nodes: `[${name}!]!`,
      pageInfo: "PageInfo!",
      totalCount: "Int",
    })
    expect(fieldsOf(`${name}Edge`)).toEqual({ cursor: "String!", node: `${name}!` })
    expect(fieldsOf("PageInfo")).toEqual({
      hasNextPage: "Boolean!",
      hasPreviousPage: "Boolean!",
      startCursor: "String",
      endCursor: "String",
    })
  })

  it("a deletion has the id and whether it happened", () => expect(fieldsOf("DeleteResult")).toEqual({ id: "UUID!", deleted: "Boolean!" }))

  it("an event has nine fields", () =>
    expect(Object.keys(fieldsOf("Event")).sort()).toEqual([
      "chat",
      "chatId",
      "createdAt",
      "guardrailHit",
      "id",
      "message",
      "payload",
      "stretch",
      "type",
    ]))

  const words: Record<string, string> = {
    Messenger:
      "INSTAGRAM TELEGRAM TELEGRAM_BOT MESSENGER WHATSAPP WHATSAPP_BUSINESS VIBER_ECHAT WHATSAPP_ECHAT CUSTOM_MESSENGER WIDGET PROM ROZETKA OLX DIRECTHUB SENDPULSE SITNIKS GMAIL RESEND PLAYGROUND",
    ChatType: "PRIVATE GROUP",
    AiDisableReason: "MANUAL AUTO",
    ChatSort: "LAST_MESSAGE_AT CREATED_AT",
    SortOrder: "ASC DESC",
    MessageRole: "USER ASSISTANT CUSTOMER SYSTEM",
    MessageType: "TEXT PHOTO VIDEO AUDIO DOCUMENT FUNCTION_CALL FUNCTION_CALL_OUTPUT",
    MessageStatus: "STORED QUEUED SENT DELIVERED READ FAILED CANCELLED",
    MemberRole: "OWNER ADMIN MEMBER",
    SubscriptionStatus: "ACTIVE TRIALING PAST_DUE CANCELED",
  }

  it.each(Object.entries(words))("%s has the words of the contract", (name, expected) => {
    const type = schema.getType(name)
    expect(isEnumType(type) && type.getValues().map((value) => value.name)).toEqual(expected.split(" "))
  })

  it("EventType has the events of chats and messages", () => {
    const type = schema.getType("EventType")
    const told = "MESSAGE_CREATED CHAT_CREATED CHAT_MODE_CHANGED MESSAGE_UPDATED CHAT_UPDATED CHAT_DELETED".split(" ")
    expect(isEnumType(type) && type.getValues().map((value) => value.name)).toEqual(expect.arrayContaining(told))
  })

  it("no argument and no input has a default, and no list holds nulls", () => {
    const found: string[] = []
    for (const type of Object.values(schema.getTypeMap())) {
      if (type.name.startsWith("__") || !(isObjectType(type) || isInputObjectType(type))) continue
      for (const field of Object.values(type.getFields())) {
        const list = getNullableType(field.type)
        if (isListType(list) && !isNonNullType(list.ofType)) found.push(`${type.name}.${field.name} holds nulls`)
        for (const given of "args" in field ? field.args : [field])
          if ("defaultValue" in given && given.defaultValue !== undefined)
            found.push(`${type.name}.${field.name}: ${given.name} has a default`)
      }
    }
    expect(found).toEqual([])
  })
})

/** Every part of the schema that can have a description, by its path. */
function* documented(): Generator<[path: string, description: string | null | undefined]> {
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith("__") || isSpecifiedScalarType(type)) continue
    yield [type.name, type.description]
    if (isEnumType(type)) for (const value of type.getValues()) yield [`${type.name}.${value.name}`, value.description]
    if (!isObjectType(type) && !isInputObjectType(type)) continue
    for (const field of Object.values(type.getFields())) {
      yield [`${type.name}.${field.name}`, field.description]
      if ("args" in field) for (const arg of field.args) yield [`${type.name}.${field.name}(${arg.name})`, arg.description]
    }
  }
}

describe("the descriptions of the schema", () => {
  it("stand on every type, field, argument, input field and enum value, as a sentence", () => {
    const parts = [...documented()]
    expect(parts.length).toBeGreaterThan(500)
    expect(parts.filter(([, description]) => !/^[A-Z].*\.$/s.test(description ?? ""))).toEqual([])
  })
})
