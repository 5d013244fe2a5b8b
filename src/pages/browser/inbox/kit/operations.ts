import type { FragmentOf, ResultOf } from "gql.tada"
import { graphql } from "./graphql.js"

const chatFields = graphql(`
  fragment ChatFields on Chat {
    id companyId messenger name username phoneNumber accountName assistantId managerId folderId isUnderAiControl aiDisableReason unreadCount
    lastMessageAt createdAt needsAttention
    assistant { id name }
    manager { id name }
    folder { id name }
    tags { id name color }
    lastMessage { id text role type }
  }
`)

const messageFields = graphql(`
  fragment MessageFields on Message {
    id chatId sequence createdAt role type text status deliveryError
    author { id name }
    replyTo { id text role }
    messageMedia { id media { id filename mimeType url } }
    sources { knowledgeId knowledgeName }
    functionCall { callId name arguments }
    functionCallOutput { callId output status }
  }
`)

const commentFields = graphql(`fragment CommentFields on Chat { id meta { comments { id text authorId createdAt } } }`)

export type Chat = FragmentOf<typeof chatFields>
export type Message = FragmentOf<typeof messageFields>

export const meQuery = graphql(`query Me { me { id name email companies { id name role } } }`)
/** What the choices of a company's inbox consist of. */
export const choicesQuery = graphql(
  `query Choices($companyId: UUID!) {
    company(id: $companyId) { id members { id userId name } }
    chatFolders(companyId: $companyId) { id name }
    chatTags(companyId: $companyId) { id name color }
  }`,
)

export const chatsQuery = graphql(
  `query Chats($companyId: UUID!, $search: String, $where: ChatWhere, $first: Int, $after: String) {
    chats(companyId: $companyId, search: $search, where: $where, first: $first, after: $after) {
      nodes { ...ChatFields } pageInfo { hasNextPage endCursor }
    }
  }`,
  [chatFields],
)
export const chatQuery = graphql(`query Chat($id: UUID!) { chat(id: $id) { ...ChatFields ...CommentFields } }`, [chatFields, commentFields])
export const messagesQuery = graphql(
  `query Messages($chatId: UUID!, $first: Int, $after: String) {
    messages(chatId: $chatId, first: $first, after: $after) { nodes { ...MessageFields } pageInfo { hasNextPage endCursor } }
  }`,
  [messageFields],
)
export const messageQuery = graphql(`query Message($id: UUID!) { message(id: $id) { ...MessageFields } }`, [messageFields])

export const cursorQuery = graphql("query EventCursor { eventCursor }")
export const eventsSubscription = graphql(
  `subscription Events($companyId: UUID!, $after: String) {
    events(companyId: $companyId, after: $after) { id type payload chat { ...ChatFields ...CommentFields } message { ...MessageFields } }
  }`,
  [chatFields, commentFields, messageFields],
)
export const progressSubscription = graphql(
  `subscription Progress($chatId: UUID!) { answerProgress(chatId: $chatId) { turnId text done } }`,
)

export const createMessage = graphql(
  `mutation CreateMessage($input: CreateMessageInput!) { createMessage(input: $input) { ...MessageFields } }`,
  [messageFields],
)
export const retryMessage = graphql(`mutation RetryMessage($id: UUID!) { retryMessage(id: $id) { ...MessageFields } }`, [messageFields])
export const takeOver = graphql(
  `mutation TakeOver($id: UUID!, $managerId: UUID!) { takeOverChat(id: $id, managerId: $managerId) { ...ChatFields } }`,
  [chatFields],
)
export const giveBack = graphql(`mutation GiveBack($id: UUID!) { setAiControl(id: $id, isUnderAiControl: true) { ...ChatFields } }`, [
  chatFields,
])
export const assignManager = graphql(
  `mutation AssignManager($id: UUID!, $managerId: UUID) { assignManager(id: $id, managerId: $managerId) { id managerId manager { id name } } }`,
)
export const renameChat = graphql(
  `mutation RenameChat($id: UUID!, $name: String) { updateChat(id: $id, input: { name: $name }) { id name } }`,
)
export const setChatFolder = graphql(
  `mutation SetChatFolder($id: UUID!, $folderId: UUID) { setChatFolder(id: $id, folderId: $folderId) { id folderId folder { id name } } }`,
)
export const addChatLabel = graphql(
  `mutation AddChatLabel($id: UUID!, $label: String!) { addChatLabel(id: $id, label: $label) { id companyId tags { id name color } } }`,
)
export const removeChatLabel = graphql(
  `mutation RemoveChatLabel($id: UUID!, $label: String!) { removeChatLabel(id: $id, label: $label) { id tags { id name color } } }`,
)
export const addChatComment = graphql(
  `mutation AddChatComment($id: UUID!, $text: String!) { addChatComment(id: $id, text: $text) { ...CommentFields } }`,
  [commentFields],
)
export const removeChatComment = graphql(
  `mutation RemoveChatComment($id: UUID!, $commentId: UUID!) { removeChatComment(id: $id, commentId: $commentId) { ...CommentFields } }`,
  [commentFields],
)
export const markChatRead = graphql(`mutation MarkChatRead($id: UUID!) { markChatRead(id: $id) { id unreadCount } }`)
export const markChatUnread = graphql(`mutation MarkChatUnread($id: UUID!) { markChatUnread(id: $id) { id unreadCount } }`)

/** What the command palette finds. */
export const paletteQuery = graphql(
  `query Palette($companyId: UUID!, $text: String!) {
    assistants(companyId: $companyId, q: $text, take: 5) { nodes { id name } totalCount }
    chats(companyId: $companyId, search: $text, first: 8) {
      nodes { id name accountName username phoneNumber messenger } pageInfo { hasNextPage endCursor }
    }
  }`,
)
export const callsQuery = graphql(
  `query Calls($companyId: UUID!, $phone: PhoneNumber!) {
    calls(companyId: $companyId, phone: $phone, take: 20) { nodes { id callDate status duration endedReason transcript recordingUrl } totalCount }
  }`,
)

/** A chat with the comments of the team. */
export type ChatWithComments = NonNullable<ResultOf<typeof chatQuery>["chat"]>
export type Me = ResultOf<typeof meQuery>["me"]
export type Choices = ResultOf<typeof choicesQuery>
