/** The REST representation of a type, in responses, event payloads and stored snapshots. */
export interface Resource {
  /** Fields as a GraphQL selection; `...Media` stands for the fields of that resource. */
  fields: string
  /** Fields that are always in the response, as null when a route does not include them. */
  nulls?: string[]
  /** Fields that expire: they are computed when the row is returned, and never stored. */
  expiring?: string[]
  /** Columns that are stored beside the fields, because fields that expire are computed from them. */
  stored?: string[]
}

const quotedMessage = `id companyId chatId sequence role type text source fromId status sentAt deliveredAt deliveryError externalId authorId
  sender { externalId name } contextId replyToMessageId mediaIds messageMedia { id mediaId media { ...Media } } sources { knowledgeId knowledgeName chunkId }
  functionCall { callId name arguments } functionCallOutput { callId output status } createdAt updatedAt`

/** A call in the list: everything but its replies. */
export const callSummary = `id companyId assistantId callerAssistantId workflowId status duration recordingUrl transcript dynamicVariables phoneNumber
  employeeName callDate source endedReason createdAt updatedAt`

/** The REST representation of each type, by its name in the schema. */
export const resources: Record<string, Resource> = {
  AccessToken: { fields: "id companyId name tokenPrefix createdAt updatedAt expiresAt readOnly lastUsedAt createdBy" },
  Assistant: {
    fields: `id companyId folderId name prompt greeting handOffMessage language textModelId temperature excludedTags isDraft draftOfId
      vaRegistration { provider voiceId phoneNumber firstMessage interruptible silenceTimeoutSeconds maxDurationSeconds }
      guardrails { ...GuardrailSettings } voiceAgentStatus createdAt updatedAt`,
  },
  // No route returns it; exports do.
  AssistantFolder: { fields: "id companyId name createdAt updatedAt" },
  AssistantMcpTool: { fields: "server { id name } name title description inputSchema state fault digest acceptedDigest tool { id name }" },
  // No route returns it; exports do.
  AskedQuestion: { fields: "id companyId assistantId chatId callId question askedAt createdAt updatedAt" },
  AssistantTool: {
    fields: `id companyId assistantId name description params type apiCallUrl httpMethod timeoutSeconds hasWebhookSecret disabled isSystem
      createdAt updatedAt`,
  },
  // No route returns it; exports do.
  AuditEntry: { fields: "id companyId actorKind actorId action subjectType subjectId changed address requestId createdAt" },
  Call: {
    fields: `${callSummary} replies { role text startSeconds endSeconds }`,
    expiring: ["recordingUrl"],
    stored: ["recordingId"],
  },
  Channel: { fields: "id companyId messenger name isActive assistantId config { externalId } createdAt updatedAt" },
  Chat: {
    fields: `id companyId messenger fromId externalId name accountName username phoneNumber chatType assistantId managerId folderId
      folder { ...ChatFolder } isUnderAiControl aiDisableReason needsAttention unreadCount lastReadAt lastMessageAt tags { ...ChatTag }
      meta { labels comments { id text authorId createdAt } sourceChannel } contextId createdAt updatedAt`,
    nulls: ["lastMessage", "assistant", "manager"],
  },
  ChatFolder: { fields: "id companyId name color createdAt updatedAt" },
  ChatTag: { fields: "id companyId name color createdAt updatedAt" },
  Company: {
    fields: `id name members { userId email name role } subscriptions { id plan status startsAt endsAt }
      voiceBalance embeddingCredits voiceLines createdAt updatedAt`,
  },
  EventDelivery: {
    fields: `id companyId webhookId eventId type status payload attempts { attemptedAt responseStatus responseBody latencyMs error }
      nextAttemptAt createdAt updatedAt`,
  },
  EventWebhook: {
    fields: "id companyId url types query disabled disabledReason ordered failingSince createdAt updatedAt",
  },
  GuardrailHit: {
    fields: "id companyId chatId callId messageId assistantId rule direction action reason excerpt createdAt updatedAt",
  },
  GuardrailSettings: {
    fields: `card { customer answer } iban { customer answer } email { customer answer } phone { customer answer countries }
      words { customer answer words patterns } links { customer answer hosts } sources { answer }
      length { customer answer customerMax answerMax } scope { customer answer outOfScope } onBlock sentence`,
  },
  Knowledge: {
    fields: `id companyId assistantId name kind resourceContent resourceUrl fileId file { ...Media }
      isVector chunkSize chunkOverlap indexStatus indexError chunkCount createdAt updatedAt`,
  },
  McpServer: {
    fields: `id companyId name url status reason hasCredentials tools { name title description inputSchema fault isGone digest }
      refreshedAt createdAt updatedAt`,
  },
  Me: { fields: "id email name createdAt updatedAt companies { id name role }" },
  Media: { fields: "id companyId filename mimeType size status url createdAt updatedAt", expiring: ["url"] },
  Message: { fields: `${quotedMessage} replyTo { ${quotedMessage} }` },
  Stretch: {
    fields: `id companyId chatId messenger assistantId startedAt endedAt endReason outcome reopened messages { customer assistant user }
      firstAnswerMs { ai people } medianAnswerMs { ai people } handedOffAt handOffReason personId returnedAt toolCalls toolFailures
      knowledgeSearches knowledgeMisses inputTokens outputTokens ratingAskedAt rating ratingText createdAt updatedAt`,
  },
  TokenPair: { fields: "accessToken refreshToken tokenType expiresIn" },
  ToolCall: { fields: "id toolId chatId callId params response responseStatus success status latencyMs error createdAt" },
  UnansweredQuestion: {
    fields: "id companyId assistantId question count firstAskedAt lastAskedAt closedAt asked { id question askedAt chatId callId }",
  },
  User: { fields: "id email name" },
}
