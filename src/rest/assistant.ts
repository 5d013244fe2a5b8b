import { routes } from "./kit/routes.js"

export const assistantRoutes = routes("Assistants", {
  "GET /api/assistants-new": {
    summary: "Lists assistants, most recently updated first.",
    document: `query ($companyId: UUID, $folderId: UUID, $q: String, $skip: Int, $take: Int, $includeVariants: Boolean) {
      assistants(companyId: $companyId, folderId: $folderId, q: $q, skip: $skip, take: $take, includeVariants: $includeVariants) {
        nodes { ...Assistant } totalCount } }`,
    page: "offset",
    errorStatuses: [403],
  },
  "POST /api/assistants-new": {
    summary: "Creates an assistant.",
    document: `mutation ($input: CreateAssistantInput!) { createAssistant(input: $input) { ...Assistant } }`,
    body: "input",
    errorStatuses: [400, 403],
  },
  "GET /api/assistants-new/{id}": {
    summary: "Returns an assistant.",
    document: `query ($id: UUID!) { assistant(id: $id) { ...Assistant } }`,
    errorStatuses: [404],
  },
  "PATCH /api/assistants-new/{id}": {
    summary: "Changes an assistant.",
    document: `mutation ($id: UUID!, $input: UpdateAssistantInput!) { updateAssistant(id: $id, input: $input) { ...Assistant } }`,
    body: "input",
    errorStatuses: [400, 404],
  },
  "DELETE /api/assistants-new/{id}": {
    summary: "Deletes an assistant; one with a voice agent is deleted after the agent has been removed. Its chats are kept, with AI off.",
    document: "mutation ($id: UUID!) { deleteAssistant(id: $id) { id deleted terminating } }",
    errorStatuses: [404],
  },
  "POST /api/assistants-new/{id}/copy": {
    summary: "Copies an assistant with its tools and knowledge items, in one transaction.",
    document: `mutation ($id: UUID!, $input: CopyAssistantInput!) { copyAssistant(id: $id, input: $input) { ...Assistant } }`,
    body: "input",
    errorStatuses: [400, 404],
  },
})
