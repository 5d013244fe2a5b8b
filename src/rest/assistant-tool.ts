import { routes } from "./kit/routes.js"

export const assistantToolRoutes = routes("Assistant tools", {
  "GET /api/assistant-tools-new": {
    does: "Lists tools of assistants, newest first.",
    run: `query ($assistantId: UUID, $search: String, $skip: Int, $take: Int) {
      assistantTools(assistantId: $assistantId, search: $search, skip: $skip, take: $take) { nodes { ...AssistantTool } totalCount } }`,
    page: "offset",
  },
  "POST /api/assistant-tools-new": {
    does: "Creates a tool of an assistant.",
    run: `mutation ($input: CreateAssistantToolInput!) { createAssistantTool(input: $input) { ...AssistantTool } }`,
    body: "input",
    fails: [400],
  },
  "GET /api/assistant-tools-new/{id}": {
    does: "Returns a tool, without its secret.",
    run: `query ($id: UUID!) { assistantTool(id: $id) { ...AssistantTool } }`,
    fails: [404],
  },
  "PATCH /api/assistant-tools-new/{id}": {
    does: "Changes a tool.",
    run: `mutation ($id: UUID!, $input: UpdateAssistantToolInput!) { updateAssistantTool(id: $id, input: $input) { ...AssistantTool } }`,
    body: "input",
    fails: [400, 404],
  },
  "DELETE /api/assistant-tools-new/{id}": {
    does: "Deletes a tool and the log of its calls.",
    run: "mutation ($id: UUID!) { deleteAssistantTool(id: $id) { id deleted } }",
    fails: [400, 404],
  },
  "POST /api/assistant-tools-new/{id}/test": {
    does: "Sends a real request to the endpoint of a tool, signed like those of the assistant, and returns the result.",
    run: "mutation ($id: UUID!, $params: JSON) { testAssistantTool(id: $id, params: $params) { success status latencyMs body error } }",
    body: "fields",
    fails: [400, 404],
  },
  "GET /api/assistant-tools-new/{id}/logs": {
    does: "Lists the calls of a tool, newest first, with statistics over all of them.",
    run: `query ($id: UUID!, $status: ToolCallStatus, $skip: Int, $take: Int) {
      toolCalls(toolId: $id, status: $status, skip: $skip, take: $take) { nodes { ...ToolCall } totalCount
        stats { total success error pending successRate averageLatencyMs } } }`,
    page: "offset",
    fails: [404],
  },
})
