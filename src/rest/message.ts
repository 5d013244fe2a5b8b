import { routes } from "./kit/routes.js"
import { mediaFields } from "./media.js"

const own = `id companyId chatId sequence role type text source fromId status sentAt deliveredAt deliveryError externalId authorId contextId
  replyToMessageId messageMedia { id mediaId media { ${mediaFields} } } sources { knowledgeId knowledgeName chunkId }
  functionCall { callId name arguments } functionCallOutput { callId output status } createdAt updatedAt`

/** A message as REST shows it, with the quoted one. */
export const messageFields = `${own} replyTo { ${own} }`

export const messageRoutes = routes("Messages", {
  "GET /api/messages": {
    does: "Messages of a chat, newest first; nextCursor loads older ones. Without take, cursor and skip: all of them.",
    run: `query ($chatId: UUID!, $first: Int, $after: String, $skip: Int, $withTotal: Boolean = true) {
      messages(chatId: $chatId, first: $first, after: $after, skip: $skip) {
        nodes { ${messageFields} } totalCount @include(if: $withTotal) pageInfo { hasNextPage endCursor } } }`,
    rename: { first: "take", after: "cursor", withTotal: "withCount" },
    page: "connection",
    whole: true,
    fails: [400, 403],
  },
  "POST /api/messages": {
    does: "Store a message and queue it for delivery.",
    run: `mutation ($input: CreateMessageInput!) { createMessage(input: $input) { ${messageFields} } }`,
    body: "input",
    idempotent: true,
    fails: [400, 403],
  },
  "GET /api/messages/{id}": {
    does: "A message with its chat.",
    run: `query ($id: UUID!) { message(id: $id) { ${messageFields} chat { id companyId messenger fromId name } } }`,
    fails: [404],
  },
})
