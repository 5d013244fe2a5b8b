import { routes } from "./kit/routes.js"

export const assistantToolRoutes = routes("Assistant tools", {
  "GET /api/assistant-tools-new": {
    does: "Tools, newest first.",
    run: `query ($assistantId: UUID, $search: String, $skip: Int, $take: Int) {
      assistantTools(assistantId: $assistantId, search: $search, skip: $skip, take: $take) { nodes { ...AssistantTool } totalCount } }`,
    page: "offset",
  },
  "POST /api/assistant-tools-new": {
    does: "Give an assistant a tool.",
    run: `mutation ($input: CreateAssistantToolInput!) { createAssistantTool(input: $input) { ...AssistantTool } }`,
    body: "input",
    fails: [400],
  },
  "GET /api/assistant-tools-new/{id}": {
    does: "A tool; its secret is never shown.",
    run: `query ($id: UUID!) { assistantTool(id: $id) { ...AssistantTool } }`,
    fails: [404],
  },
  "PATCH /api/assistant-tools-new/{id}": {
    does: "Change a tool.",
    run: `mutation ($id: UUID!, $input: UpdateAssistantToolInput!) { updateAssistantTool(id: $id, input: $input) { ...AssistantTool } }`,
    body: "input",
    fails: [400, 404],
  },
  "DELETE /api/assistant-tools-new/{id}": {
    does: "Delete a tool and the log of its calls.",
    run: "mutation ($id: UUID!) { deleteAssistantTool(id: $id) { id deleted } }",
    fails: [400, 404],
  },
  "POST /api/assistant-tools-new/{id}/test": {
    does: "Send a real request to the tool's address, signed as the assistant's are, and see what it answers.",
    run: "mutation ($id: UUID!, $params: JSON) { testAssistantTool(id: $id, params: $params) { success status latencyMs body error } }",
    body: "fields",
    fails: [400, 404],
  },
  "GET /api/assistant-tools-new/{id}/logs": {
    does: "Calls of a tool, newest first, with sums over all of them.",
    run: `query ($id: UUID!, $status: ToolCallStatus, $skip: Int, $take: Int) {
      toolCalls(toolId: $id, status: $status, skip: $skip, take: $take) { nodes { ...ToolCall } totalCount
        stats { total success error pending successRate averageLatencyMs } } }`,
    page: "offset",
    fails: [404],
  },
})
