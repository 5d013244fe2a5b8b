import { routes } from "./kit/routes.js"

export const chatFolderRoutes = routes("Chat folders", {
  "GET /api/chat-folders": {
    summary: "Lists chat folders, sorted by name.",
    document: `query ($companyId: UUID) { chatFolders(companyId: $companyId) { ...ChatFolder } }`,
    errorStatuses: [403],
  },
  "POST /api/chat-folders": {
    summary: "Creates a chat folder.",
    document: `mutation ($input: CreateChatFolderInput!) { createChatFolder(input: $input) { ...ChatFolder } }`,
    body: "input",
    errorStatuses: [400, 403],
  },
  "PATCH /api/chat-folders/{id}": {
    summary: "Changes the name or the color of a chat folder.",
    document: `mutation ($id: UUID!, $input: UpdateChatFolderInput!) { updateChatFolder(id: $id, input: $input) { ...ChatFolder } }`,
    body: "input",
    errorStatuses: [400, 404],
  },
  "DELETE /api/chat-folders/{id}": {
    summary: "Deletes a chat folder; its chats are kept, in no folder.",
    document: "mutation ($id: UUID!) { deleteChatFolder(id: $id) { id deleted } }",
    errorStatuses: [404],
  },
})
