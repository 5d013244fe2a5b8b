import { routes } from "./kit/routes.js"

export const chatFolderRoutes = routes("Chat folders", {
  "GET /api/chat-folders": {
    does: "Folders of the inbox, by name.",
    run: `query ($companyId: UUID) { chatFolders(companyId: $companyId) { ...ChatFolder } }`,
    fails: [403],
  },
  "POST /api/chat-folders": {
    does: "Create a folder.",
    run: `mutation ($input: CreateChatFolderInput!) { createChatFolder(input: $input) { ...ChatFolder } }`,
    body: "input",
    fails: [400, 403],
  },
  "PATCH /api/chat-folders/{id}": {
    does: "Rename or recolor a folder.",
    run: `mutation ($id: UUID!, $input: UpdateChatFolderInput!) { updateChatFolder(id: $id, input: $input) { ...ChatFolder } }`,
    body: "input",
    fails: [400, 404],
  },
  "DELETE /api/chat-folders/{id}": {
    does: "Delete a folder; its chats are kept, unfiled.",
    run: "mutation ($id: UUID!) { deleteChatFolder(id: $id) { id deleted } }",
    fails: [404],
  },
})
