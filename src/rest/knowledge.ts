import { routes } from "./kit/routes.js"

export const knowledgeRoutes = routes("Knowledge", {
  "GET /api/assistant-knowledge-new": {
    summary: "Lists knowledge items, newest first, without their content.",
    document: `query ($assistantId: UUID, $search: String, $skip: Int, $take: Int) {
      knowledgeItems(assistantId: $assistantId, search: $search, skip: $skip, take: $take) { nodes { ...Knowledge } totalCount } }`,
    page: "offset",
  },
  "POST /api/assistant-knowledge-new": {
    summary: "Creates a knowledge item of an assistant.",
    document: `mutation ($input: CreateKnowledgeItemInput!) { createKnowledgeItem(input: $input) { ...Knowledge } }`,
    body: "input",
    errorStatuses: [400],
  },
  "GET /api/assistant-knowledge-new/{id}": {
    summary: "Returns a knowledge item with its content and the state of its index.",
    document: `query ($id: UUID!) { knowledgeItem(id: $id) { ...Knowledge } }`,
    errorStatuses: [404],
  },
  "PATCH /api/assistant-knowledge-new/{id}": {
    summary: "Changes a knowledge item.",
    document: `mutation ($id: UUID!, $input: UpdateKnowledgeItemInput!) { updateKnowledgeItem(id: $id, input: $input) { ...Knowledge } }`,
    body: "input",
    errorStatuses: [400, 404],
  },
  "DELETE /api/assistant-knowledge-new/{id}": {
    summary: "Deletes a knowledge item and its index.",
    document: "mutation ($id: UUID!) { deleteKnowledgeItem(id: $id) { id deleted } }",
    errorStatuses: [404],
  },
  "POST /api/assistant-knowledge-new/query": {
    summary: "Searches the knowledge of an assistant; a search costs one embedding credit.",
    document: `mutation ($input: QueryKnowledgeInput!) {
      queryKnowledge(input: $input) { data { knowledgeId knowledgeName chunkId content position score } } }`,
    body: "input",
    errorStatuses: [400],
  },
})
