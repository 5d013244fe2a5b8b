import { routes } from "./kit/routes.js"

const includes = { lastMessage: "withLastMessage", assistant: "withAssistant", manager: "withManager" }
const { lastMessage: _onListsOnly, ...peopleIncludes } = includes
const lastMessage = `lastMessage @include(if: $withLastMessage) { ...Message }`
const people = `assistant @include(if: $withAssistant) { ...Assistant } manager @include(if: $withManager) { ...User }`

/** A mutation that returns the chat. */
const change = (declared: string, call: string) => `mutation (${declared}) { ${call} { ...Chat } }`

/** Common part of routes that change a chat and return it. */
export const returnsChat = (declared: string, call: string) => ({ document: change(declared, call), errorStatuses: [400, 404] })

export const chatRoutes = routes("Chats", {
  "GET /api/chats/messengers": {
    summary: "Lists active channel connections.",
    document: "query ($companyId: UUID) { channels(companyId: $companyId) { ...Channel } }",
    errorStatuses: [403],
  },
  "GET /api/chats": {
    summary: "Lists chats, most recent activity first.",
    document: `query ($first: Int, $after: String, $skip: Int, $filter: String, $search: String, $sortBy: ChatSort, $companyId: UUID, $messenger: Messenger, $sourceChannel: String, $fromId: String,
      $assistantId: UUID, $managerId: String, $unread: Boolean, $isUnderAiControl: Boolean, $sortOrder: SortOrder, $withTotal: Boolean = true,
      $withLastMessage: Boolean!, $withAssistant: Boolean!, $withManager: Boolean!) {
      chats(first: $first, after: $after, skip: $skip, companyId: $companyId, messenger: $messenger, sourceChannel: $sourceChannel,
        fromId: $fromId, assistantId: $assistantId, managerId: $managerId, unread: $unread, isUnderAiControl: $isUnderAiControl,
        sortOrder: $sortOrder, filter: $filter, search: $search, sortBy: $sortBy) {
        nodes { ...Chat ${lastMessage} ${people} } totalCount @include(if: $withTotal) pageInfo { hasNextPage endCursor } } }`,
    rename: { first: "take", after: "cursor", withTotal: "withCount" },
    include: includes,
    page: "connection",
    errorStatuses: [400, 403],
  },
  "POST /api/chats": {
    summary: "Creates a chat; nothing is sent to the customer.",
    document: change("$input: CreateChatInput!", "createChat(input: $input)"),
    body: "input",
    idempotent: true,
    errorStatuses: [400, 403, 409],
  },
  "GET /api/chats/{id}": {
    summary: "Returns a chat, without its messages.",
    document: `query ($id: UUID!, $withAssistant: Boolean!, $withManager: Boolean!) { chat(id: $id) { ...Chat ${people} } }`,
    include: peopleIncludes,
    errorStatuses: [400, 404],
  },
  "PATCH /api/chats/{id}": {
    summary: "Changes a chat; the rules on groups, drafts and subscriptions are not applied.",
    ...returnsChat("$id: UUID!, $input: UpdateChatInput!", "updateChat(id: $id, input: $input)"),
    body: "input",
  },
  "DELETE /api/chats/{id}": {
    summary: "Deletes a chat with its messages on this server, not on the channel.",
    document: "mutation ($id: UUID!) { deleteChat(id: $id) { id deleted } }",
    errorStatuses: [404],
  },
  "PATCH /api/chats/{id}/ai-control": {
    summary: "Turns AI on or off in a chat; turning it off is always allowed.",
    document: `mutation ($id: UUID!, $isUnderAiControl: Boolean!, $aiDisableReason: AiDisableReason) {
      setAiControl(id: $id, isUnderAiControl: $isUnderAiControl, aiDisableReason: $aiDisableReason) { id isUnderAiControl aiDisableReason } }`,
    body: "fields",
    errorStatuses: [400, 403, 404],
  },
  "PATCH /api/chats/{id}/assign-assistant": {
    summary: "Assigns an assistant to a chat and turns AI on.",
    ...returnsChat("$id: UUID!, $assistantId: UUID!", "assignAssistant(id: $id, assistantId: $assistantId)"),
    body: "fields",
  },
  "PATCH /api/chats/{id}/unassign-assistant": {
    summary: "Removes the assistant from a chat; isUnderAiControl does not change.",
    ...returnsChat("$id: UUID!", "unassignAssistant(id: $id)"),
  },
})
