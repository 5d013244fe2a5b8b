import { routes } from "./kit/routes.js"

export const knowledgeRoutes = routes("Knowledge", {
  "GET /api/assistant-knowledge-new": {
    does: "Lists knowledge items, newest first, without their content.",
    run: `query ($assistantId: UUID, $search: String, $skip: Int, $take: Int) {
      knowledgeItems(assistantId: $assistantId, search: $search, skip: $skip, take: $take) { nodes { ...Knowledge } totalCount } }`,
    page: "offset",
  },
  "POST /api/assistant-knowledge-new": {
    does: "Creates a knowledge item of an assistant.",
    run: `mutation ($input: CreateKnowledgeItemInput!) { createKnowledgeItem(input: $input) { ...Knowledge } }`,
    body: "input",
    fails: [400],
  },
  "GET /api/assistant-knowledge-new/{id}": {
    does: "Returns a knowledge item with its content and the state of its index.",
    run: `query ($id: UUID!) { knowledgeItem(id: $id) { ...Knowledge } }`,
    fails: [404],
  },
  "PATCH /api/assistant-knowledge-new/{id}": {
    does: "Changes a knowledge item.",
    run: `mutation ($id: UUID!, $input: UpdateKnowledgeItemInput!) { updateKnowledgeItem(id: $id, input: $input) { ...Knowledge } }`,
    body: "input",
    fails: [400, 404],
  },
  "DELETE /api/assistant-knowledge-new/{id}": {
    does: "Deletes a knowledge item and its index.",
    run: "mutation ($id: UUID!) { deleteKnowledgeItem(id: $id) { id deleted } }",
    fails: [404],
  },
  "POST /api/assistant-knowledge-new/query": {
    does: "Searches the knowledge of an assistant; a search costs one embedding credit.",
    run: `mutation ($input: QueryKnowledgeInput!) {
      queryKnowledge(input: $input) { data { knowledgeId knowledgeName chunkId content position score } } }`,
    body: "input",
    fails: [400],
  },
})
