import { routes } from "./kit/routes.js"

export const assistantRoutes = routes("Assistants", {
  "GET /api/assistants-new": {
    does: "Lists assistants, most recently updated first.",
    run: `query ($companyId: UUID, $folderId: UUID, $q: String, $skip: Int, $take: Int, $includeVariants: Boolean) {
      assistants(companyId: $companyId, folderId: $folderId, q: $q, skip: $skip, take: $take, includeVariants: $includeVariants) {
        nodes { ...Assistant } totalCount } }`,
    page: "offset",
    fails: [403],
  },
  "POST /api/assistants-new": {
    does: "Creates an assistant.",
    run: `mutation ($input: CreateAssistantInput!) { createAssistant(input: $input) { ...Assistant } }`,
    body: "input",
    fails: [400, 403],
  },
  "GET /api/assistants-new/{id}": {
    does: "Returns an assistant.",
    run: `query ($id: UUID!) { assistant(id: $id) { ...Assistant } }`,
    fails: [404],
  },
  "PATCH /api/assistants-new/{id}": {
    does: "Changes an assistant.",
    run: `mutation ($id: UUID!, $input: UpdateAssistantInput!) { updateAssistant(id: $id, input: $input) { ...Assistant } }`,
    body: "input",
    fails: [400, 404],
  },
  "DELETE /api/assistants-new/{id}": {
    does: "Deletes an assistant; one with a voice agent is deleted after the agent has been removed. Its chats are kept, with AI off.",
    run: "mutation ($id: UUID!) { deleteAssistant(id: $id) { id deleted terminating } }",
    fails: [404],
  },
  "POST /api/assistants-new/{id}/copy": {
    does: "Copies an assistant with its tools and knowledge items, in one transaction.",
    run: `mutation ($id: UUID!, $input: CopyAssistantInput!) { copyAssistant(id: $id, input: $input) { ...Assistant } }`,
    body: "input",
    fails: [400, 404],
  },
})
