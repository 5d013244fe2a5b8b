import { type Cache, cacheExchange } from "@urql/exchange-graphcache"

/** Types whose objects belong to the object that names them. */
const embeddedTypes = [
  "AnswerPercentiles",
  "AnswerProgress",
  "AnswerTime",
  "Assistant",
  "AssistantMcpTool",
  "AssistantPage",
  "AssistantToolPage",
  "AuditEntryConnection",
  "CallPage",
  "ChannelCapabilities",
  "ChannelConfig",
  "ChatConnection",
  "ChatFolder",
  "ChatMeta",
  "ChatTag",
  "ClosedQuestion",
  "DeleteResult",
  "Event",
  "EventDeliveryAttempt",
  "EventDeliveryPage",
  "FunctionCall",
  "FunctionCallOutput",
  "KnowledgeMatch",
  "KnowledgeMatches",
  "KnowledgePage",
  "MessageConnection",
  "MessageSource",
  "OutcomeComparison",
  "OutcomeGroup",
  "OutcomeNumbers",
  "Outcomes",
  "PageInfo",
  "Percentiles",
  "RedeliverEventsResult",
  "ReopenedQuestion",
  "StretchConnection",
  "ToolCallPage",
  "ToolTestResult",
  // The same ID has other counts in another period.
  "UnansweredQuestion",
  "UnansweredQuestionConnection",
  "User",
  "VaRegistration",
]

/**
 * The normalized cache: new chats and messages are put at the beginning of their lists. Chats and messages are objects of their own; what they
 * name (users, assistants, folders, tags) belongs to them, since the cache reads all queries again that share an object with a new page.
 */
export const normalizedCache = () =>
  cacheExchange({
    keys: Object.fromEntries(embeddedTypes.map((name) => [name, () => null])),
    updates: {
      Mutation: {
        createMessage: (result, _args, store) => addMessage(store, result["createMessage"] as StoredMessage),
        // An assistant is no object of its own here, so the page that shows it is read again.
        updateAssistant: (_result, { id }, store) => store.invalidate("Query", "assistant", { id: id as string }),
        addChatLabel: (result, _args, store) => {
          const { companyId } = result["addChatLabel"] as { companyId: string }
          store.invalidate("Query", "chatTags", { companyId })
        },
      },
      Subscription: {
        events: (result, _args, store) => {
          const { type, payload, message, chat } = result["events"] as StoredEvent
          if (message) addMessage(store, message)
          if (chat) addChat(store, chat)
          if (type === "CHAT_DELETED") store.invalidate({ __typename: "Chat", id: payload.chatId! })
        },
      },
    },
    optimistic: {
      assignManager: ({ id, managerId }) => ({ __typename: "Chat", id, managerId }),
      markChatRead: ({ id }) => ({ __typename: "Chat", id, unreadCount: 0 }),
    },
  })

interface StoredMessage {
  __typename: "Message"
  id: string
  chatId: string
}

interface StoredEvent {
  type: string
  payload: { chatId?: string }
  message: StoredMessage | null
  chat: { __typename: "Chat"; id: string; companyId: string } | null
}

/** Puts a message at the beginning of its chat's list, if the list was read and has it not. */
function addMessage(store: Cache, { id, chatId }: StoredMessage) {
  addFirst(store, "messages", { __typename: "Message", id }, (args) => args["chatId"] === chatId)
}

/** Puts a chat into its company's lists; who shows a list leaves out what its filters exclude. Results of a search stay as they were found. */
function addChat(store: Cache, { id, companyId }: NonNullable<StoredEvent["chat"]>) {
  addFirst(store, "chats", { __typename: "Chat", id }, (args) => args["companyId"] === companyId && !args["search"])
}

function addFirst(
  store: Cache,
  field: string,
  entity: { __typename: string; id: string },
  isFor: (args: Record<string, unknown>) => boolean,
) {
  const key = store.keyOfEntity(entity)
  if (!key) return
  const pages = store.inspectFields("Query").filter(({ fieldName, arguments: args }) => fieldName === field && args && isFor(args))
  const lists = pages.map(({ fieldKey, arguments: args }) => {
    const page = store.resolve("Query", fieldKey) as string
    return { page, args: args!, nodes: store.resolve(page, "nodes") as string[] }
  })
  for (const { page, args, nodes } of lists) {
    if (args["after"]) continue
    const { after: _, ...list } = args
    const others = lists.filter((each) => isSameList(each.args, list))
    if (!others.some((each) => each.nodes.includes(key))) store.link(page, "nodes", [key, ...nodes])
  }
}

/** Whether a page belongs to a list: its arguments but the cursor are the list's. */
function isSameList({ after: _, ...args }: Record<string, unknown>, list: Record<string, unknown>) {
  return JSON.stringify(args) === JSON.stringify(list)
}
