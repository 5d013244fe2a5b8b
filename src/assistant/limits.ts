/** Limits that assistant/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const assistantLimits = {
  /** Largest `params` of a tool as JSON, in bytes; ours, many times what a model can use. */
  toolParamsBytes: 32 * 1024,
  /** CPU time to compile a tool's `params`, in milliseconds; ours. */
  toolParamsMs: 1_000,
  /** CPU time to check a call's arguments, in milliseconds; ours. */
  toolArgumentsMs: 200,
  /** Compiled `params` that are cached; ours. */
  toolValidators: 500,
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
  /** Timeout of a voice provider's request, in milliseconds; ours, well within the lease. */
  voiceProviderMs: 30_000,
  /** Most rounds of tool calls in one turn; after them the model answers without tools. */
  toolRounds: 8,
  /** Time for tool calls in one turn, in seconds; after it the model answers without tools. */
  turnSeconds: 60,
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
