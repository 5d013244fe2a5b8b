// Written by `npm run generate` from the mapper's metadata.

/** The table and the stored properties of every entity. */
export interface StoredEntities {
  Company: { table: "company"; properties: "id" | "createdAt" | "updatedAt" | "name" | "voiceBalance" | "embeddingCredits" | "voiceLines"; texts: never }
  Member: { table: "member"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "userId" | "role"; texts: never }
  Subscription: { table: "subscription"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "plan" | "status" | "startsAt" | "endsAt"; texts: never }
  User: { table: "users"; properties: "id" | "createdAt" | "updatedAt" | "email" | "name" | "passwordHash"; texts: never }
  Session: { table: "session"; properties: "id" | "createdAt" | "updatedAt" | "userId" | "endedAt"; texts: never }
  RefreshToken: { table: "refresh_token"; properties: "id" | "sessionId" | "expiresAt" | "rotatedAt"; texts: never }
  AccessToken: { table: "access_token"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "name" | "tokenPrefix" | "digest" | "lastUsedAt" | "createdBy" | "revokedAt"; texts: never }
  AssistantFolder: { table: "assistant_folder"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "name"; texts: never }
  Assistant: { table: "assistant"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "folderId" | "name" | "prompt" | "greeting" | "language" | "textModelId" | "temperature" | "excludedTags" | "isDraft" | "draftOfId" | "vaRegistration" | "voiceAgentStatus" | "voiceAgentError" | "voiceAgentProvider" | "voiceAgentId" | "voiceDueAt" | "voiceWorkId" | "voiceLeaseUntil" | "voiceFailures"; texts: never }
  AssistantTool: { table: "assistant_tool"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "assistantId" | "name" | "description" | "params" | "type" | "apiCallUrl" | "httpMethod" | "timeoutSeconds" | "sealedSecret" | "disabled" | "isSystem"; texts: never }
  Knowledge: { table: "knowledge"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "assistantId" | "name" | "kind" | "resourceContent" | "resourceUrl" | "fileId" | "isVector" | "chunkSize" | "chunkOverlap" | "indexStatus" | "indexError" | "chunkCount" | "indexGeneration" | "embeddingModel" | "indexDueAt" | "indexRun" | "indexLeaseUntil" | "indexAttempts" | "resourceEtag" | "resourceLastModified"; texts: never }
  KnowledgeChunk: { table: "knowledge_chunk"; properties: "id" | "companyId" | "knowledgeId" | "assistantId" | "generation" | "position" | "content" | "contentHash" | "embedding" | "embeddingModel" | "tsv"; texts: never }
  Channel: { table: "channel"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "messenger" | "externalId" | "name" | "isActive" | "assistantId" | "credentials"; texts: never }
  ChatFolder: { table: "chat_folder"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "name" | "color"; texts: never }
  ChatTag: { table: "chat_tag"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "name" | "color"; texts: never }
  ChatTagging: { table: "chat_tagging"; properties: "chatId" | "tagId" | "companyId"; texts: never }
  Chat: { table: "chat"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "messenger" | "fromId" | "externalId" | "name" | "accountName" | "username" | "phoneNumber" | "chatType" | "assistantId" | "managerId" | "folderId" | "sourceChannel" | "isUnderAiControl" | "aiDisableReason" | "unreadCount" | "lastReadSequence" | "unreadExtra" | "lastReadAt" | "lastMessageAt" | "lastMessageId" | "recency" | "searchText" | "lastSequence" | "comments" | "contextId" | "quietSince" | "replyFirstAt" | "replyDueAt" | "turnId" | "turnLeaseUntil" | "turnFirstAt" | "turnFailures" | "turnIsFinal" | "turnRounds" | "openCalls"; texts: never }
  ControlChange: { table: "control_change"; properties: "id" | "companyId" | "chatId" | "isUnderAiControl" | "aiDisableReason" | "actorKind" | "actorId" | "createdAt"; texts: never }
  AssistantTurn: { table: "assistant_turn"; properties: "id" | "companyId" | "chatId" | "assistantId" | "model" | "rounds" | "inputTokens" | "outputTokens" | "latencyMs" | "outcome" | "startedAt" | "endedAt"; texts: never }
  ToolCall: { table: "tool_call"; properties: "id" | "companyId" | "toolId" | "chatId" | "callId" | "turnId" | "params" | "response" | "responseStatus" | "success" | "status" | "latencyMs" | "error" | "createdAt"; texts: never }
  ToolCallTally: { table: "tool_call_tally"; properties: "toolId" | "companyId" | "total" | "success" | "error" | "latencyMs" | "timed"; texts: "latencyMs" }
  Message: { table: "message"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "chatId" | "sequence" | "role" | "type" | "text" | "source" | "fromId" | "status" | "sentAt" | "deliveredAt" | "deliveryError" | "externalId" | "authorId" | "contextId" | "replyToMessageId" | "sources" | "functionCall" | "functionCallOutput"; texts: never }
  Media: { table: "media"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "filename" | "mimeType" | "size" | "sha256" | "storageKey" | "forgetAt"; texts: never }
  MessageMedia: { table: "message_media"; properties: "id" | "companyId" | "messageId" | "mediaId" | "position"; texts: never }
  Event: { table: "event"; properties: "id" | "position" | "companyId" | "chatId" | "type" | "payload" | "createdAt"; texts: "id" | "position" }
  EventLog: { table: "event_log"; properties: "id" | "lastPosition" | "clearedTo"; texts: "lastPosition" | "clearedTo" }
  IdempotencyKey: { table: "idempotency_key"; properties: "id" | "credential" | "operation" | "key" | "request" | "payload" | "createdAt"; texts: never }
}
