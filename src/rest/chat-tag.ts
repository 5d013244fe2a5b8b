import { routes } from "./kit/routes.js"

export const chatTagRoutes = routes("Chat tags", {
  "GET /api/chat-tags": {
    does: "Lists chat tags, sorted by name.",
    run: `query ($companyId: UUID) { chatTags(companyId: $companyId) { ...ChatTag } }`,
    fails: [403],
  },
  "POST /api/chat-tags": {
    does: "Creates a chat tag.",
    run: `mutation ($input: CreateChatTagInput!) { createChatTag(input: $input) { ...ChatTag } }`,
    body: "input",
    fails: [400, 403, 409],
  },
  "PATCH /api/chat-tags/{id}": {
    does: "Changes the name or the color of a chat tag.",
    run: `mutation ($id: UUID!, $input: UpdateChatTagInput!) { updateChatTag(id: $id, input: $input) { ...ChatTag } }`,
    body: "input",
    fails: [400, 404, 409],
  },
  "DELETE /api/chat-tags/{id}": {
    does: "Deletes a chat tag and removes it from all chats.",
    run: "mutation ($id: UUID!) { deleteChatTag(id: $id) { id deleted } }",
    fails: [404],
  },
})
