import { routes } from "./kit/routes.js"

export const messageRoutes = routes("Messages", {
  "GET /api/messages": {
    summary:
      "Lists the messages of a chat, newest first; nextCursor continues with older ones. Without take, cursor and skip, returns all messages.",
    document: `query ($chatId: UUID!, $first: Int, $after: String, $skip: Int, $withTotal: Boolean = true) {
      messages(chatId: $chatId, first: $first, after: $after, skip: $skip) {
        nodes { ...Message } totalCount @include(if: $withTotal) pageInfo { hasNextPage endCursor } } }`,
    rename: { first: "take", after: "cursor", withTotal: "withCount" },
    page: "connection",
    streamsAll: true,
    errorStatuses: [400, 403],
  },
  "POST /api/messages": {
    summary: "Stores a message and queues it for delivery.",
    document: `mutation ($input: CreateMessageInput!) { createMessage(input: $input) { ...Message } }`,
    body: "input",
    idempotent: true,
    errorStatuses: [400, 403],
  },
  "GET /api/messages/{id}": {
    summary: "Returns a message with its chat.",
    document: `query ($id: UUID!) { message(id: $id) { ...Message chat { id companyId messenger fromId name } } }`,
    errorStatuses: [404],
  },
})
