import { routes } from "./kit/routes.js"

export const assistantRoutes = routes("Assistants", {
  "GET /api/assistants-new": {
    does: "Assistants, most recently updated first.",
    run: `query ($companyId: UUID, $folderId: UUID, $q: String, $skip: Int, $take: Int, $includeVariants: Boolean) {
      assistants(companyId: $companyId, folderId: $folderId, q: $q, skip: $skip, take: $take, includeVariants: $includeVariants) {
        nodes { ...Assistant } totalCount } }`,
    page: "offset",
    fails: [403],
  },
  "POST /api/assistants-new": {
    does: "Create an assistant.",
    run: `mutation ($input: CreateAssistantInput!) { createAssistant(input: $input) { ...Assistant } }`,
    body: "input",
    fails: [400, 403],
  },
  "GET /api/assistants-new/{id}": {
    does: "An assistant's configuration.",
    run: `query ($id: UUID!) { assistant(id: $id) { ...Assistant } }`,
    fails: [404],
  },
  "PATCH /api/assistants-new/{id}": {
    does: "Change an assistant.",
    run: `mutation ($id: UUID!, $input: UpdateAssistantInput!) { updateAssistant(id: $id, input: $input) { ...Assistant } }`,
    body: "input",
    fails: [400, 404],
  },
  "DELETE /api/assistants-new/{id}": {
    does: "Delete an assistant; with a voice agent it disappears when that is torn down. Its chats are kept, AI off.",
    run: "mutation ($id: UUID!) { deleteAssistant(id: $id) { id deleted terminating } }",
    fails: [404],
  },
  "POST /api/assistants-new/{id}/copy": {
    does: "Copy an assistant with its tools and its knowledge, all or nothing.",
    run: `mutation ($id: UUID!, $input: CopyAssistantInput!) { copyAssistant(id: $id, input: $input) { ...Assistant } }`,
    body: "input",
    fails: [400, 404],
  },
})
