/** Limits that schema/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const schemaLimits = {
  /** Longest name of a message template; ours, that of WhatsApp. */
  templateName: 512,
  /** Longest code of a template's language; ours. */
  templateLanguage: 20,
  /** Longest question for a rating; ours. */
  ratingQuestion: 200,
  /** Longest text with a rating; ours. */
  ratingText: 2_000,
  /** Page size of messages (Limits table). */
  messagePageDefault: 30,
  /** Longest name of an assistant folder; ours, the same as of a chat folder. */
  assistantFolderName: 80,
  /** Longest prompt of an assistant. */
  assistantPrompt: 32_000,
  /** Names in `excludedTags`; ours. */
  excludedTags: 1_000,
  /** Longest greeting of an assistant. */
  assistantGreeting: 2_000,
  /** Longest language tag of an assistant; ours, the length that BCP 47 requires software to support. */
  languageTag: 35,
  /** Longest name of a voice provider, and of a provider's voice; ours. */
  voiceName: 100,
  /** Longest first message of a call; ours, the same as of a greeting. */
  voiceFirstMessage: 2_000,
  /** Longest silence after which a call ends (the shortest is 1); ours. */
  voiceSilenceMaxSeconds: 600,
  /** Default silence after which a call ends; ours. */
  voiceSilenceDefaultSeconds: 30,
  /** Longest call (the shortest is 1); ours. */
  voiceDurationMaxSeconds: 4 * 60 * 60,
  /** Default maximum duration of a call; ours. */
  voiceDurationDefaultSeconds: 600,
  /** Highest temperature; the lowest is 0. */
  temperatureMax: 2,
  /** Longest name of a tool (`^[A-Za-z0-9_-]{1,64}$`). */
  toolName: 64,
  /** Longest description of a tool. */
  toolDescription: 1_024,
  /** Shortest time limit of a tool's endpoint. */
  toolTimeoutMinSeconds: 1,
  /** Longest time limit of a tool's endpoint. */
  toolTimeoutMaxSeconds: 60,
  /** Longest address of a tool; ours. */
  toolUrl: 2_000,
  /** Longest secret of a tool; ours. */
  toolSecret: 500,
  /** Longest text of a knowledge item that is searched; ours, as much as fits in a request body. */
  knowledgeSearchedText: 1_000_000,
  /** Longest name of a knowledge item. */
  knowledgeName: 200,
  /** Maximum number of chunks that a knowledge query returns. */
  knowledgeQueryTakeMax: 50,
  /** Conditions of one filter. */
  filterConditions: 100,
  /** Values of one condition. */
  filterValues: 1_000,
  /** Longest name of a chat folder. */
  chatFolderName: 80,
  /** Longest `query` of an endpoint for events; ours. */
  eventQuery: 10_000,
  /** Longest name of an MCP server; ours. */
  mcpServerName: 80,
  /** Longest name of a tool at its MCP server (MCP, 2025-11-25). */
  mcpToolName: 128,
  /** Most headers for an MCP server; ours. */
  mcpHeaders: 20,
  /** Longest value of such a header and longest client credential; ours, enough for a long token. */
  mcpCredential: 8_000,
} as const
