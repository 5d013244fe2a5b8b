import { routes } from "./kit/routes.js"

export const messageRoutes = routes("Messages", {
  "GET /api/messages": {
    does: "Lists the messages of a chat, newest first; nextCursor continues with older ones. Without take, cursor and skip, returns all messages.",
    run: `query ($chatId: UUID!, $first: Int, $after: String, $skip: Int, $withTotal: Boolean = true) {
      messages(chatId: $chatId, first: $first, after: $after, skip: $skip) {
        nodes { ...Message } totalCount @include(if: $withTotal) pageInfo { hasNextPage endCursor } } }`,
    rename: { first: "take", after: "cursor", withTotal: "withCount" },
    page: "connection",
    whole: true,
    fails: [400, 403],
  },
  "POST /api/messages": {
    does: "Stores a message and queues it for delivery.",
    run: `mutation ($input: CreateMessageInput!) { createMessage(input: $input) { ...Message } }`,
    body: "input",
    idempotent: true,
    fails: [400, 403],
  },
  "GET /api/messages/{id}": {
    does: "Returns a message with its chat.",
    run: `query ($id: UUID!) { message(id: $id) { ...Message chat { id companyId messenger fromId name } } }`,
    fails: [404],
  },
})
