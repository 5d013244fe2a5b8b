import { returnsChat } from "./chat.js"
import { routes } from "./kit/routes.js"

/** Routes for the work of a team with the chats of its inbox. */
export const chatInboxRoutes = routes("Inbox", {
  "POST /api/chats/{id}/read": { summary: "Marks a chat as read.", ...returnsChat("$id: UUID!", "markChatRead(id: $id)") },
  "POST /api/chats/{id}/unread": {
    summary: "Marks a chat as unread: customer messages since the last outgoing message count as unread, at least one.",
    ...returnsChat("$id: UUID!", "markChatUnread(id: $id)"),
  },
  "POST /api/chats/{id}/meta/labels": {
    summary: "Adds a label to a chat.",
    ...returnsChat("$id: UUID!, $label: String!", "addChatLabel(id: $id, label: $label)"),
    body: "fields",
  },
  "DELETE /api/chats/{id}/meta/labels/{label}": {
    summary: "Removes a label from a chat.",
    ...returnsChat("$id: UUID!, $label: String!", "removeChatLabel(id: $id, label: $label)"),
  },
  "PATCH /api/chats/{id}/folder": {
    summary: "Moves a chat to a folder; null removes it from its folder.",
    ...returnsChat("$id: UUID!, $folderId: UUID", "setChatFolder(id: $id, folderId: $folderId)"),
    body: "fields",
    requiredFields: ["folderId"],
  },
  "PUT /api/chats/{id}/tags": {
    summary: "Replaces the tags of a chat.",
    ...returnsChat("$id: UUID!, $tagIds: [UUID!]!", "setChatTags(id: $id, tagIds: $tagIds)"),
    body: "fields",
  },
  "POST /api/chats/{id}/tags": {
    summary: "Adds a tag to a chat.",
    ...returnsChat("$id: UUID!, $tagId: UUID!", "addChatTag(id: $id, tagId: $tagId)"),
    body: "fields",
  },
  "DELETE /api/chats/{id}/tags/{tagId}": {
    summary: "Removes a tag from a chat.",
    ...returnsChat("$id: UUID!, $tagId: UUID!", "removeChatTag(id: $id, tagId: $tagId)"),
  },
  "POST /api/chats/{id}/meta/comments": {
    summary: "Adds an internal comment to a chat.",
    ...returnsChat("$id: UUID!, $text: String!", "addChatComment(id: $id, text: $text)"),
    body: "fields",
  },
  "DELETE /api/chats/{id}/meta/comments/{commentId}": {
    summary: "Removes an internal comment from a chat.",
    ...returnsChat("$id: UUID!, $commentId: UUID!", "removeChatComment(id: $id, commentId: $commentId)"),
  },
})
