import { routes } from "./kit/routes.js"

export const assistantToolRoutes = routes("Assistant tools", {
  "GET /api/assistant-tools-new": {
    summary: "Lists tools of assistants, newest first.",
    document: `query ($assistantId: UUID, $search: String, $skip: Int, $take: Int) {
      assistantTools(assistantId: $assistantId, search: $search, skip: $skip, take: $take) { nodes { ...AssistantTool } totalCount } }`,
    page: "offset",
  },
  "POST /api/assistant-tools-new": {
    summary: "Creates a tool of an assistant.",
    document: `mutation ($input: CreateAssistantToolInput!) { createAssistantTool(input: $input) { ...AssistantTool } }`,
    body: "input",
    errorStatuses: [400],
  },
  "GET /api/assistant-tools-new/{id}": {
    summary: "Returns a tool, without its secret.",
    document: `query ($id: UUID!) { assistantTool(id: $id) { ...AssistantTool } }`,
    errorStatuses: [404],
  },
  "PATCH /api/assistant-tools-new/{id}": {
    summary: "Changes a tool.",
    document: `mutation ($id: UUID!, $input: UpdateAssistantToolInput!) { updateAssistantTool(id: $id, input: $input) { ...AssistantTool } }`,
    body: "input",
    errorStatuses: [400, 404],
  },
  "DELETE /api/assistant-tools-new/{id}": {
    summary: "Deletes a tool and the log of its calls.",
    document: "mutation ($id: UUID!) { deleteAssistantTool(id: $id) { id deleted } }",
    errorStatuses: [400, 404],
  },
  "POST /api/assistant-tools-new/{id}/test": {
    summary: "Sends a real request to the endpoint of a tool, signed like those of the assistant, and returns the result.",
    document:
      "mutation ($id: UUID!, $params: JSON) { testAssistantTool(id: $id, params: $params) { success status latencyMs body error } }",
    body: "fields",
    errorStatuses: [400, 404],
  },
  "GET /api/assistant-tools-new/{id}/logs": {
    summary: "Lists the calls of a tool, newest first, with statistics over all of them.",
    document: `query ($id: UUID!, $status: ToolCallStatus, $skip: Int, $take: Int) {
      toolCalls(toolId: $id, status: $status, skip: $skip, take: $take) { nodes { ...ToolCall } totalCount
        stats { total success error pending successRate averageLatencyMs } } }`,
    page: "offset",
    errorStatuses: [404],
  },
})
