import type { FragmentOf } from "gql.tada"
import { graphql } from "../kit/graphql.js"

const assistantFields = graphql(`
  fragment AssistantFields on Assistant {
    id companyId name prompt greeting handOffMessage language textModelId temperature isDraft excludedTags voiceAgentStatus voiceAgentError
    vaRegistration { provider voiceId phoneNumber firstMessage interruptible silenceTimeoutSeconds maxDurationSeconds }
  }
`)
const knowledgeFields = graphql(
  `fragment KnowledgeFields on Knowledge { id name kind resourceUrl isVector indexStatus indexError chunkCount }`,
)
const toolFields = graphql(`
  fragment ToolFields on AssistantTool {
    id name description params type apiCallUrl httpMethod timeoutSeconds hasWebhookSecret disabled isSystem mcpState
  }
`)
const mcpToolFields = graphql(
  `fragment McpToolFields on AssistantMcpTool {
    server { id } name title description inputSchema state fault digest acceptedDigest tool { ...ToolFields }
  }`,
  [toolFields],
)

export type Assistant = FragmentOf<typeof assistantFields>
export type Knowledge = FragmentOf<typeof knowledgeFields>
export type Tool = FragmentOf<typeof toolFields>
export type McpTool = FragmentOf<typeof mcpToolFields>

export const assistantsQuery = graphql(
  `query Assistants($companyId: UUID!, $q: String) { assistants(companyId: $companyId, q: $q, take: 100) { nodes { id name isDraft } totalCount } }`,
)
export const assistantQuery = graphql(
  `query Assistant($id: UUID!) { assistant(id: $id) { ...AssistantFields } textModels { id name provider } }`,
  [assistantFields],
)
export const createAssistant = graphql(
  `mutation CreateAssistant($input: CreateAssistantInput!) { createAssistant(input: $input) { ...AssistantFields } }`,
  [assistantFields],
)
export const updateAssistant = graphql(
  `mutation UpdateAssistant($id: UUID!, $input: UpdateAssistantInput!) { updateAssistant(id: $id, input: $input) { ...AssistantFields } }`,
  [assistantFields],
)

/** For a draft: voice settings are not copied. */
export const copyAssistant = graphql(
  `mutation CopyAssistant($id: UUID!, $input: CopyAssistantInput!) { copyAssistant(id: $id, input: $input) { id } }`,
)
export const deleteAssistant = graphql(`mutation DeleteAssistant($id: UUID!) { deleteAssistant(id: $id) { id deleted } }`)

export const knowledgeQuery = graphql(
  `query KnowledgeItems($assistantId: UUID!) { knowledgeItems(assistantId: $assistantId, take: 100) { nodes { ...KnowledgeFields } totalCount } }`,
  [knowledgeFields],
)
export const createKnowledge = graphql(
  `mutation CreateKnowledge($input: CreateKnowledgeItemInput!) { createKnowledgeItem(input: $input) { ...KnowledgeFields } }`,
  [knowledgeFields],
)
export const knowledgeItemQuery = graphql(`query KnowledgeItem($id: UUID!) { knowledgeItem(id: $id) { id name resourceContent } }`)
export const updateKnowledge = graphql(
  `mutation UpdateKnowledge($id: UUID!, $input: UpdateKnowledgeItemInput!) { updateKnowledgeItem(id: $id, input: $input) { ...KnowledgeFields } }`,
  [knowledgeFields],
)
export const deleteKnowledge = graphql(`mutation DeleteKnowledge($id: UUID!) { deleteKnowledgeItem(id: $id) { id deleted } }`)
export const queryKnowledge = graphql(
  `mutation QueryKnowledge($input: QueryKnowledgeInput!) {
    queryKnowledge(input: $input) { data { knowledgeId knowledgeName chunkId content position score } }
  }`,
)

/** Tools of MCP servers have a list of their own: the server decides what they are. */
export const toolsQuery = graphql(
  `query Tools($assistantId: UUID!) {
    assistantTools(assistantId: $assistantId, types: [WEBHOOK_ACTION, WEBHOOK_INIT, WEBHOOK_POSTCALL, WEBHOOK_CLIENT], take: 100) {
      nodes { ...ToolFields } totalCount
    }
  }`,
  [toolFields],
)
export const createTool = graphql(
  `mutation CreateTool($input: CreateAssistantToolInput!) { createAssistantTool(input: $input) { ...ToolFields } }`,
  [toolFields],
)
export const updateTool = graphql(
  `mutation UpdateTool($id: UUID!, $input: UpdateAssistantToolInput!) { updateAssistantTool(id: $id, input: $input) { ...ToolFields } }`,
  [toolFields],
)
export const deleteTool = graphql(`mutation DeleteTool($id: UUID!) { deleteAssistantTool(id: $id) { id deleted } }`)
export const testTool = graphql(
  `mutation TestTool($id: UUID!, $params: JSON) { testAssistantTool(id: $id, params: $params) { success status latencyMs body error } }`,
)
export const toolCallsQuery = graphql(
  `query ToolCalls($toolId: UUID!) {
    toolCalls(toolId: $toolId, take: 20) { nodes { id chatId params response responseStatus status latencyMs error createdAt } totalCount }
  }`,
)
export const mcpToolsQuery = graphql(
  `query McpTools($assistantId: UUID!, $companyId: UUID!) {
    mcpServers(companyId: $companyId) { id name status reason }
    assistant(id: $assistantId) { mcpTools { ...McpToolFields } }
  }`,
  [mcpToolFields],
)
export const setMcpTools = graphql(
  `mutation SetMcpTools($assistantId: UUID!, $tools: [McpToolInput!]!) { setAssistantMcpTools(assistantId: $assistantId, tools: $tools) { id } }`,
)
/** A chat is assigned to a draft by a change of its field alone: what assigns an assistant refuses drafts. */
export const assignForTrial = graphql(
  `mutation AssignForTrial($id: UUID!, $assistantId: UUID!) {
    updateChat(id: $id, input: { assistantId: $assistantId, isUnderAiControl: true }) { id assistantId }
  }`,
)
export const createPlayground = graphql(`mutation CreatePlayground($input: CreateChatInput!) { createChat(input: $input) { id } }`)
