import { answersChat } from "./chat.js"
import { routes } from "./kit/routes.js"

/** What a team does with the chats of its inbox. */
export const chatInboxRoutes = routes("Inbox", {
  "POST /api/chats/{id}/read": { does: "Mark the chat as read.", ...answersChat("$id: UUID!", "markChatRead(id: $id)") },
  "POST /api/chats/{id}/unread": {
    does: "Mark the chat as unread, back to our side's last message.",
    ...answersChat("$id: UUID!", "markChatUnread(id: $id)"),
  },
  "POST /api/chats/{id}/meta/labels": {
    does: "Mark the chat with a label.",
    ...answersChat("$id: UUID!, $label: String!", "addChatLabel(id: $id, label: $label)"),
    body: "fields",
  },
  "DELETE /api/chats/{id}/meta/labels/{label}": {
    does: "Take a label off the chat.",
    ...answersChat("$id: UUID!, $label: String!", "removeChatLabel(id: $id, label: $label)"),
  },
  "PATCH /api/chats/{id}/folder": {
    does: "Put the chat in a folder; null unfiles it.",
    ...answersChat("$id: UUID!, $folderId: UUID", "setChatFolder(id: $id, folderId: $folderId)"),
    body: "fields",
    needs: ["folderId"],
  },
  "PUT /api/chats/{id}/tags": {
    does: "Give the chat exactly these tags.",
    ...answersChat("$id: UUID!, $tagIds: [UUID!]!", "setChatTags(id: $id, tagIds: $tagIds)"),
    body: "fields",
  },
  "POST /api/chats/{id}/tags": {
    does: "Give the chat one more tag.",
    ...answersChat("$id: UUID!, $tagId: UUID!", "addChatTag(id: $id, tagId: $tagId)"),
    body: "fields",
  },
  "DELETE /api/chats/{id}/tags/{tagId}": {
    does: "Take a tag off the chat.",
    ...answersChat("$id: UUID!, $tagId: UUID!", "removeChatTag(id: $id, tagId: $tagId)"),
  },
  "POST /api/chats/{id}/meta/comments": {
    does: "Add an internal comment.",
    ...answersChat("$id: UUID!, $text: String!", "addChatComment(id: $id, text: $text)"),
    body: "fields",
  },
  "DELETE /api/chats/{id}/meta/comments/{commentId}": {
    does: "Remove an internal comment.",
    ...answersChat("$id: UUID!, $commentId: UUID!", "removeChatComment(id: $id, commentId: $commentId)"),
  },
})
