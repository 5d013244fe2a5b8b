import { routes } from "./kit/routes.js"

const includes = { lastMessage: "withLastMessage", assistant: "withAssistant", manager: "withManager" }
const { lastMessage: _onListsOnly, ...peopleIncludes } = includes
const lastMessage = `lastMessage @include(if: $withLastMessage) { ...Message }`
const people = `assistant @include(if: $withAssistant) { ...Assistant } manager @include(if: $withManager) { ...User }`

/** A mutation that answers the chat. */
const change = (declared: string, call: string) => `mutation (${declared}) { ${call} { ...Chat } }`

/** The part of a route that changes a chat and answers it. */
export const answersChat = (declared: string, call: string) => ({ run: change(declared, call), fails: [400, 404] })

export const chatRoutes = routes("Chats", {
  "GET /api/chats/messengers": {
    does: "Active channel connections.",
    run: "query ($companyId: UUID) { channels(companyId: $companyId) { ...Channel } }",
    fails: [403],
  },
  "GET /api/chats": {
    does: "Chats by most recent activity.",
    run: `query ($first: Int, $after: String, $skip: Int, $filter: String, $search: String, $sortBy: ChatSort, $companyId: UUID, $messenger: Messenger, $sourceChannel: String, $fromId: String,
      $assistantId: UUID, $managerId: String, $unread: Boolean, $isUnderAiControl: Boolean, $sortOrder: SortOrder, $withTotal: Boolean = true,
      $withLastMessage: Boolean!, $withAssistant: Boolean!, $withManager: Boolean!) {
      chats(first: $first, after: $after, skip: $skip, companyId: $companyId, messenger: $messenger, sourceChannel: $sourceChannel,
        fromId: $fromId, assistantId: $assistantId, managerId: $managerId, unread: $unread, isUnderAiControl: $isUnderAiControl,
        sortOrder: $sortOrder, filter: $filter, search: $search, sortBy: $sortBy) {
        nodes { ...Chat ${lastMessage} ${people} } totalCount @include(if: $withTotal) pageInfo { hasNextPage endCursor } } }`,
    rename: { first: "take", after: "cursor", withTotal: "withCount" },
    include: includes,
    page: "connection",
    fails: [400, 403],
  },
  "POST /api/chats": {
    does: "Create a chat; nothing is sent to the customer.",
    run: change("$input: CreateChatInput!", "createChat(input: $input)"),
    body: "input",
    idempotent: true,
    fails: [400, 403, 409],
  },
  "GET /api/chats/{id}": {
    does: "A chat without its messages.",
    run: `query ($id: UUID!, $withAssistant: Boolean!, $withManager: Boolean!) { chat(id: $id) { ...Chat ${people} } }`,
    include: peopleIncludes,
    fails: [400, 404],
  },
  "PATCH /api/chats/{id}": {
    does: "Change a chat, without the business rules.",
    ...answersChat("$id: UUID!, $input: UpdateChatInput!", "updateChat(id: $id, input: $input)"),
    body: "input",
  },
  "DELETE /api/chats/{id}": {
    does: "Delete a chat with its messages, on this side only.",
    run: "mutation ($id: UUID!) { deleteChat(id: $id) { id deleted } }",
    fails: [404],
  },
  "PATCH /api/chats/{id}/ai-control": {
    does: "Turn AI on or off; off is always allowed.",
    run: `mutation ($id: UUID!, $isUnderAiControl: Boolean!, $aiDisableReason: AiDisableReason) {
      setAiControl(id: $id, isUnderAiControl: $isUnderAiControl, aiDisableReason: $aiDisableReason) { id isUnderAiControl aiDisableReason } }`,
    body: "fields",
    fails: [400, 403, 404],
  },
  "PATCH /api/chats/{id}/assign-assistant": {
    does: "Give the chat to an assistant and turn AI on.",
    ...answersChat("$id: UUID!, $assistantId: UUID!", "assignAssistant(id: $id, assistantId: $assistantId)"),
    body: "fields",
  },
  "PATCH /api/chats/{id}/unassign-assistant": {
    does: "Take the assistant off the chat; the AI flag stays as it is.",
    ...answersChat("$id: UUID!", "unassignAssistant(id: $id)"),
  },
})
