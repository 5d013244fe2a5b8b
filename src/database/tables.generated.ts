// Written by `npm run generate` from the mapper's metadata.

/** The table and the stored properties of every entity. */
export interface StoredEntities {
  Company: { table: "company"; properties: "id" | "createdAt" | "updatedAt" | "name" | "voiceBalance" | "embeddingCredits" | "voiceLines"; texts: never; embedded: {  } }
  Member: { table: "member"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "userId" | "role"; texts: never; embedded: {  } }
  Subscription: { table: "subscription"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "plan" | "status" | "startsAt" | "endsAt"; texts: never; embedded: {  } }
  User: { table: "users"; properties: "id" | "createdAt" | "updatedAt" | "email" | "name" | "passwordHash"; texts: never; embedded: {  } }
  Session: { table: "session"; properties: "id" | "createdAt" | "updatedAt" | "userId" | "endedAt"; texts: never; embedded: {  } }
  RefreshToken: { table: "refresh_token"; properties: "id" | "sessionId" | "expiresAt" | "rotatedAt"; texts: never; embedded: {  } }
  AccessToken: { table: "access_token"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "name" | "tokenPrefix" | "digest" | "lastUsedAt" | "createdBy" | "revokedAt" | "expiresAt" | "readOnly"; texts: never; embedded: {  } }
  AssistantFolder: { table: "assistant_folder"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "name"; texts: never; embedded: {  } }
  Assistant: { table: "assistant"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "folderId" | "name" | "prompt" | "greeting" | "language" | "textModelId" | "temperature" | "excludedTags" | "isDraft" | "draftOfId" | "vaRegistration" | "voiceAgentStatus" | "voiceAgentError" | "voiceAgentProvider" | "voiceAgentId"; texts: never; embedded: { voice_due_at: "voice.dueAt"; voice_work_id: "voice.runId"; voice_lease_until: "voice.leaseUntil"; voice_failures: "voice.failures" } }
  AssistantTool: { table: "assistant_tool"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "assistantId" | "name" | "description" | "params" | "type" | "apiCallUrl" | "httpMethod" | "timeoutSeconds" | "sealedSecret" | "disabled" | "isSystem"; texts: never; embedded: {  } }
  Knowledge: { table: "knowledge"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "assistantId" | "name" | "kind" | "resourceContent" | "resourceUrl" | "fileId" | "isVector" | "chunkSize" | "chunkOverlap" | "indexStatus" | "indexError" | "chunkCount" | "indexGeneration" | "embeddingModel" | "resourceEtag" | "resourceLastModified"; texts: never; embedded: { index_due_at: "indexing.dueAt"; index_run: "indexing.runId"; index_lease_until: "indexing.leaseUntil"; index_attempts: "indexing.failures" } }
  KnowledgeChunk: { table: "knowledge_chunk"; properties: "id" | "companyId" | "knowledgeId" | "assistantId" | "generation" | "position" | "content" | "contentHash" | "embedding" | "embeddingModel" | "tsv"; texts: never; embedded: {  } }
  Channel: { table: "channel"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "messenger" | "externalId" | "name" | "isActive" | "assistantId" | "credentials"; texts: never; embedded: {  } }
  ChatFolder: { table: "chat_folder"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "name" | "color"; texts: never; embedded: {  } }
  ChatTag: { table: "chat_tag"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "name" | "color"; texts: never; embedded: {  } }
  ChatTagging: { table: "chat_tagging"; properties: "chatId" | "tagId" | "companyId"; texts: never; embedded: {  } }
  Chat: { table: "chat"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "messenger" | "fromId" | "externalId" | "name" | "accountName" | "username" | "phoneNumber" | "chatType" | "assistantId" | "managerId" | "folderId" | "sourceChannel" | "isUnderAiControl" | "aiDisableReason" | "unreadCount" | "lastReadSequence" | "unreadExtra" | "lastReadAt" | "lastMessageAt" | "lastMessageId" | "recency" | "searchText" | "lastSequence" | "comments" | "contextId" | "quietSince" | "replyFirstAt" | "turnFirstAt" | "turnIsFinal" | "turnRounds" | "openCalls"; texts: never; embedded: { reply_due_at: "turn.dueAt"; turn_id: "turn.runId"; turn_lease_until: "turn.leaseUntil"; turn_failures: "turn.failures" } }
  ControlChange: { table: "control_change"; properties: "id" | "companyId" | "chatId" | "isUnderAiControl" | "aiDisableReason" | "actorKind" | "actorId" | "createdAt"; texts: never; embedded: {  } }
  AssistantTurn: { table: "assistant_turn"; properties: "id" | "companyId" | "chatId" | "assistantId" | "model" | "rounds" | "inputTokens" | "outputTokens" | "latencyMs" | "outcome" | "startedAt" | "endedAt"; texts: never; embedded: {  } }
  ToolCall: { table: "tool_call"; properties: "id" | "companyId" | "toolId" | "chatId" | "callId" | "turnId" | "params" | "response" | "responseStatus" | "success" | "status" | "latencyMs" | "error" | "createdAt"; texts: never; embedded: {  } }
  ToolCallTally: { table: "tool_call_tally"; properties: "toolId" | "companyId" | "total" | "success" | "error" | "latencyMs" | "timed"; texts: "latencyMs"; embedded: {  } }
  Message: { table: "message"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "chatId" | "sequence" | "role" | "type" | "text" | "source" | "fromId" | "status" | "sentAt" | "deliveredAt" | "deliveryError" | "externalId" | "authorId" | "contextId" | "replyToMessageId" | "sources" | "functionCall" | "functionCallOutput"; texts: never; embedded: {  } }
  Media: { table: "media"; properties: "id" | "createdAt" | "updatedAt" | "companyId" | "filename" | "mimeType" | "size" | "sha256" | "storageKey" | "forgetAt"; texts: never; embedded: {  } }
  MediaTally: { table: "media_tally"; properties: "companyId" | "bytes"; texts: "bytes"; embedded: {  } }
  MessageMedia: { table: "message_media"; properties: "id" | "companyId" | "messageId" | "mediaId" | "position"; texts: never; embedded: {  } }
  Event: { table: "event"; properties: "id" | "position" | "companyId" | "chatId" | "type" | "payload" | "createdAt"; texts: "id" | "position"; embedded: {  } }
  EventLog: { table: "event_log"; properties: "id" | "lastPosition" | "clearedTo"; texts: "lastPosition" | "clearedTo"; embedded: {  } }
  IdempotencyKey: { table: "idempotency_key"; properties: "id" | "credential" | "operation" | "key" | "request" | "payload" | "createdAt"; texts: never; embedded: {  } }
}
