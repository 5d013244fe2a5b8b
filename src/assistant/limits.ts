/** Limits that assistant/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const assistantLimits = {
  /** Largest `params` of a tool as JSON, in bytes. */
  toolParamsBytes: 64 * 1024,
  /** Most levels of subschemas in a tool's `params`, which are the first level. */
  toolParamsLevels: 10,
  /** Most subschemas of a tool's `params`. */
  toolParamsSubschemas: 200,
  /** Tools of an assistant; ours, more than models accept. */
  assistantTools: 200,
  /** Size of the `params` of all tools of an assistant, in bytes; ours. */
  assistantParamsBytes: 2 * 1024 * 1024,
  /** Knowledge items of an assistant that the model receives as a whole; ours. */
  wholeItems: 500,
  /** Characters of these items in all; ours, about a large context. */
  wholeCharacters: 1_000_000,
  /** Time for one task of a schema process, in milliseconds: to compile `params`, or to check a call's arguments. */
  schemaTaskMs: 1_000,
  /** Time to analyse one pattern of a tool's `params`, in milliseconds; ours, within `schemaTaskMs`. */
  schemaPatternMs: 500,
  /** Schema processes; ours: one company uses one, the other is for all others. */
  schemaProcesses: 2,
  /** Time of schema processes that a company may use in a minute, in milliseconds; ours, some thousand checks of arguments. */
  schemaBudgetMs: 10_000,
  /** Heap of a schema process, in megabytes; ours. */
  schemaHeapMb: 64,
  /** How long a schema process may take to start, and to load the analysis of patterns, in milliseconds; ours. */
  schemaStartMs: 30_000,
  /** How long an idle schema process is kept, in milliseconds; ours. */
  schemaIdleMs: 60_000,
  /** Results of checks of `params` that are cached; ours. */
  toolParamsResults: 2_000,
  /** Compiled `params` that the server, and each schema process, caches; ours. */
  toolValidators: 500,
  /** Characters of the `params` whose compiled form a schema process caches, in all; ours: code takes up to 70 times as much memory. */
  toolValidatorsCharacters: 300_000,
  /** Characters that a small schema counts as there at least; ours, since its compiled form takes 20 KB. */
  toolValidatorCharacters: 1_000,
  /** Longest `params` that may be plain, in characters of JSON; ours, so that the cache is small. */
  plainCharacters: 16 * 1024,
  /** Most keywords, properties and values of an enum in plain `params`; ours, so that they compile in a few milliseconds. */
  plainWeight: 300,
  /** Largest product of the weight of plain `params` and the size of the arguments that are checked in the server itself; ours, at most a few milliseconds. */
  plainWork: 20_000,
  /** Characters of a string that count like one value in the size of arguments; ours. */
  plainStringCharacters: 64,
  /** Most faults of a call's arguments that are reported; ours. */
  toolArgumentFaults: 10,
  /** Chats with a running turn, or an answer on its way, that lose their assistant in one transaction; ours. */
  busyChatBatch: 50,
  /** Most messages of the window that are shown to the model, the newest ones; ours, so that a flood does not exceed what models accept. */
  contextMessages: 500,
  /** Most hand-offs and returns in the model's notes; ours. */
  contextNotes: 10,
  /** Assistants whose configuration an instance keeps in memory between turns; ours. */
  rememberedAssistants: 1_000,
  /** Characters of these configurations in all; ours. */
  rememberedCharacters: 8_000_000,
  /** How often the lease of a turn is renewed, in milliseconds. */
  turnRenewMs: 3_000,
  /** How often the lease of a voice agent's work is renewed, in milliseconds; ours. */
  voiceRenewMs: 20_000,
  /** Pause before the removal of a voice agent asks again whether its calls have ended, in milliseconds; ours. */
  liveCallsPollMs: 2_000,
  /** How much longer an agent waits for a tool than this server does, in seconds. */
  voiceToolMarginSeconds: 5,
  /** Longest silence and longest call of an agent without voice settings, in seconds. */
  voiceDefaults: { silenceTimeoutSeconds: 30, maxDurationSeconds: 600 },
  /** Timeout of a voice provider's request, in milliseconds; ours, well within the lease. */
  voiceProviderMs: 30_000,
  /** Most rounds of tool calls in one turn; after them the model answers without tools. */
  toolRounds: 8,
  /** Time for tool calls in one turn, in seconds; after it the model answers without tools. */
  turnSeconds: 60,
  /** How often the log is asked whether a client has answered on a call, in milliseconds; ours. */
  clientPollMs: 250,
  /** Most tools that a model is offered; ours, as of the vendors. */
  offeredTools: 128,
  /** Most tags that a model is offered to suggest; ours. */
  suggestedTags: 200,
  /** Most bytes that are read of an integrator's response. */
  toolResponseReadBytes: 256 * 1024,
  /** Most bytes of an integrator's response that the model is shown. */
  toolResponseShownBytes: 16 * 1024,
  /** Shortest interval between two progress messages of an answer, in milliseconds; ours. */
  progressMs: 250,
} as const
