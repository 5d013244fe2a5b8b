import { routes } from "./kit/routes.js"

const path = "/api/companies/{companyId}/mcp-servers"

export const mcpServerRoutes = routes("MCP servers", {
  [`GET ${path}`]: {
    summary: "Lists the MCP servers of a company with their tools, newest first, without their credentials.",
    document: `query ($companyId: UUID!) { mcpServers(companyId: $companyId) { ...McpServer } }`,
    errorStatuses: [403],
  },
  [`POST ${path}`]: {
    summary: "Creates an MCP server and lists its tools; one that cannot be listed is stored, too, and its status says why.",
    document: `mutation ($companyId: UUID!, $name: String!, $url: URL!, $headers: JSON, $clientCredentials: McpClientCredentialsInput) {
      createMcpServer(input: { companyId: $companyId, name: $name, url: $url, headers: $headers, clientCredentials: $clientCredentials }) {
        ...McpServer } }`,
    body: "fields",
    errorStatuses: [400, 403],
  },
  [`GET ${path}/{id}`]: {
    summary: "Returns an MCP server with its tools, without its credentials.",
    document: "query ($companyId: UUID!, $id: UUID!) { mcpServer(id: $id, companyId: $companyId) { ...McpServer } }",
    errorStatuses: [403, 404],
  },
  [`PATCH ${path}/{id}`]: {
    summary: "Changes an MCP server; its tools are listed again when its URL or its credentials are given.",
    document: `mutation ($companyId: UUID!, $id: UUID!, $input: UpdateMcpServerInput!) {
      updateMcpServer(id: $id, input: $input, companyId: $companyId) { ...McpServer } }`,
    body: "input",
    errorStatuses: [400, 403, 404, 409],
  },
  [`DELETE ${path}/{id}`]: {
    summary: "Deletes an MCP server, its tools of all assistants and the log of their calls.",
    document: "mutation ($companyId: UUID!, $id: UUID!) { deleteMcpServer(id: $id, companyId: $companyId) { id deleted } }",
    errorStatuses: [403, 404],
  },
  [`POST ${path}/{id}/refresh`]: {
    summary: "Lists the tools of an MCP server now, besides each hour.",
    document: "mutation ($companyId: UUID!, $id: UUID!) { refreshMcpServer(id: $id, companyId: $companyId) { ...McpServer } }",
    errorStatuses: [403, 404],
  },
  "GET /api/assistants/{assistantId}/mcp-tools": {
    summary: "Lists the tools of all MCP servers of the company, each with its state for an assistant.",
    document: "query ($assistantId: UUID!) { assistant(id: $assistantId) { mcpTools { ...AssistantMcpTool } } }",
    field: "mcpTools",
    errorStatuses: [404],
  },
  "PUT /api/assistants/{assistantId}/mcp-tools": {
    summary: "Enables exactly these tools of MCP servers for an assistant, as they are now, and switches all others off.",
    document: `mutation ($assistantId: UUID!, $tools: [McpToolInput!]!) {
      setAssistantMcpTools(assistantId: $assistantId, tools: $tools) { mcpTools { ...AssistantMcpTool } } }`,
    body: "fields",
    field: "mcpTools",
    errorStatuses: [400, 404],
  },
})
