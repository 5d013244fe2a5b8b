import { routes } from "./kit/routes.js"

export const chatFolderRoutes = routes("Chat folders", {
  "GET /api/chat-folders": {
    does: "Lists chat folders, sorted by name.",
    run: `query ($companyId: UUID) { chatFolders(companyId: $companyId) { ...ChatFolder } }`,
    fails: [403],
  },
  "POST /api/chat-folders": {
    does: "Creates a chat folder.",
    run: `mutation ($input: CreateChatFolderInput!) { createChatFolder(input: $input) { ...ChatFolder } }`,
    body: "input",
    fails: [400, 403],
  },
  "PATCH /api/chat-folders/{id}": {
    does: "Changes the name or the color of a chat folder.",
    run: `mutation ($id: UUID!, $input: UpdateChatFolderInput!) { updateChatFolder(id: $id, input: $input) { ...ChatFolder } }`,
    body: "input",
    fails: [400, 404],
  },
  "DELETE /api/chat-folders/{id}": {
    does: "Deletes a chat folder; its chats are kept, in no folder.",
    run: "mutation ($id: UUID!) { deleteChatFolder(id: $id) { id deleted } }",
    fails: [404],
  },
})
