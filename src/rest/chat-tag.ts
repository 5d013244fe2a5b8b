import { routes } from "./kit/routes.js"

export const chatTagRoutes = routes("Chat tags", {
  "GET /api/chat-tags": {
    does: "The dictionary of chat tags, by name.",
    run: `query ($companyId: UUID) { chatTags(companyId: $companyId) { ...ChatTag } }`,
    fails: [403],
  },
  "POST /api/chat-tags": {
    does: "Create a tag.",
    run: `mutation ($input: CreateChatTagInput!) { createChatTag(input: $input) { ...ChatTag } }`,
    body: "input",
    fails: [400, 403, 409],
  },
  "PATCH /api/chat-tags/{id}": {
    does: "Rename or recolor a tag.",
    run: `mutation ($id: UUID!, $input: UpdateChatTagInput!) { updateChatTag(id: $id, input: $input) { ...ChatTag } }`,
    body: "input",
    fails: [400, 404, 409],
  },
  "DELETE /api/chat-tags/{id}": {
    does: "Delete a tag; it is removed from every chat.",
    run: "mutation ($id: UUID!) { deleteChatTag(id: $id) { id deleted } }",
    fails: [404],
  },
})
