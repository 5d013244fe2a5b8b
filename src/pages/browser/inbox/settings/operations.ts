import type { FragmentOf } from "gql.tada"
import { graphql } from "../kit/graphql.js"

const webhookFields = graphql(`
  fragment WebhookFields on EventWebhook { id url types query disabled disabledReason ordered failingSince secret }
`)
const deliveryFields = graphql(`
  fragment DeliveryFields on EventDelivery {
    id createdAt type status nextAttemptAt attempts { attemptedAt responseStatus responseBody latencyMs error }
  }
`)
const toolServerFields = graphql(`
  fragment ToolServerFields on McpServer { id name url hasCredentials status reason refreshedAt tools { id isGone } }
`)

export type Webhook = FragmentOf<typeof webhookFields>
export type Delivery = FragmentOf<typeof deliveryFields>
export type ToolServer = FragmentOf<typeof toolServerFields>

export const setRatingQuestion = graphql(
  `mutation SetRatingQuestion($id: UUID!, $question: String) { setRatingQuestion(channelId: $id, question: $question) { id ratingQuestion } }`,
)
export const tokensQuery = graphql(
  `query Tokens($companyId: UUID!) { accessTokens(companyId: $companyId) { id name tokenPrefix readOnly createdAt lastUsedAt expiresAt } }`,
)
export const createToken = graphql(
  `mutation CreateToken($companyId: UUID!, $name: String!, $readOnly: Boolean, $expiresAt: DateTime) {
    createAccessToken(companyId: $companyId, name: $name, readOnly: $readOnly, expiresAt: $expiresAt) { id token }
  }`,
)
export const revokeToken = graphql(
  `mutation RevokeToken($companyId: UUID!, $id: UUID!) { revokeAccessToken(companyId: $companyId, id: $id) { id revokedAt } }`,
)

export const webhooksQuery = graphql(`query Webhooks($companyId: UUID!) { eventWebhooks(companyId: $companyId) { ...WebhookFields } }`, [
  webhookFields,
])
export const createWebhook = graphql(
  `mutation CreateWebhook($input: CreateEventWebhookInput!) { createEventWebhook(input: $input) { ...WebhookFields } }`,
  [webhookFields],
)
export const updateWebhook = graphql(
  `mutation UpdateWebhook($id: UUID!, $input: UpdateEventWebhookInput!) { updateEventWebhook(id: $id, input: $input) { ...WebhookFields } }`,
  [webhookFields],
)
export const deleteWebhook = graphql(`mutation DeleteWebhook($id: UUID!) { deleteEventWebhook(id: $id) { id deleted } }`)
export const rotateSecret = graphql(`mutation RotateSecret($id: UUID!) { rotateEventWebhookSecret(id: $id) { ...WebhookFields } }`, [
  webhookFields,
])
export const testWebhook = graphql(`mutation TestWebhook($id: UUID!) { testEventWebhook(id: $id) { ...DeliveryFields } }`, [deliveryFields])
export const deliveriesQuery = graphql(
  `query Deliveries($webhookId: UUID!, $status: EventDeliveryStatus) {
    eventDeliveries(webhookId: $webhookId, status: $status, take: 50) { nodes { ...DeliveryFields } totalCount }
  }`,
  [deliveryFields],
)
export const redeliver = graphql(
  `mutation Redeliver($webhookId: UUID!, $deliveryId: UUID!) {
    redeliverEvent(webhookId: $webhookId, deliveryId: $deliveryId) { ...DeliveryFields }
  }`,
  [deliveryFields],
)

export const toolServersQuery = graphql(
  `query ToolServers($companyId: UUID!) { mcpServers(companyId: $companyId) { ...ToolServerFields } }`,
  [toolServerFields],
)
export const createToolServer = graphql(
  `mutation CreateToolServer($input: CreateMcpServerInput!) { createMcpServer(input: $input) { ...ToolServerFields } }`,
  [toolServerFields],
)
export const updateToolServer = graphql(
  `mutation UpdateToolServer($id: UUID!, $input: UpdateMcpServerInput!) { updateMcpServer(id: $id, input: $input) { ...ToolServerFields } }`,
  [toolServerFields],
)
export const refreshToolServer = graphql(`mutation RefreshToolServer($id: UUID!) { refreshMcpServer(id: $id) { ...ToolServerFields } }`, [
  toolServerFields,
])
export const deleteToolServer = graphql(`mutation DeleteToolServer($id: UUID!) { deleteMcpServer(id: $id) { id deleted } }`)

export const channelsQuery = graphql(
  `query Channels($companyId: UUID!) {
    channels(companyId: $companyId) { id name messenger isActive ratingQuestion problem queued lastInboundAt config { externalId } }
  }`,
)
export const membersQuery = graphql(
  `query Members($companyId: UUID!) { company(id: $companyId) { id name members { id name email role createdAt } } }`,
)
export const auditQuery = graphql(
  `query Audit($companyId: UUID!, $first: Int, $after: String) {
    auditEntries(companyId: $companyId, first: $first, after: $after) {
      nodes { id createdAt actorKind actorId action subjectType subjectId changed address } pageInfo { hasNextPage endCursor }
    }
  }`,
)
