import { routes } from "./kit/routes.js"

export const chatTagRoutes = routes("Chat tags", {
  "GET /api/chat-tags": {
    summary: "Lists chat tags, sorted by name.",
    document: `query ($companyId: UUID) { chatTags(companyId: $companyId) { ...ChatTag } }`,
    errorStatuses: [403],
  },
  "POST /api/chat-tags": {
    summary: "Creates a chat tag.",
    document: `mutation ($input: CreateChatTagInput!) { createChatTag(input: $input) { ...ChatTag } }`,
    body: "input",
    errorStatuses: [400, 403, 409],
  },
  "PATCH /api/chat-tags/{id}": {
    summary: "Changes the name or the color of a chat tag.",
    document: `mutation ($id: UUID!, $input: UpdateChatTagInput!) { updateChatTag(id: $id, input: $input) { ...ChatTag } }`,
    body: "input",
    errorStatuses: [400, 404, 409],
  },
  "DELETE /api/chat-tags/{id}": {
    summary: "Deletes a chat tag and removes it from all chats.",
    document: "mutation ($id: UUID!) { deleteChatTag(id: $id) { id deleted } }",
    errorStatuses: [404],
  },
})
