/** Every number of the specification and of the contract that assistant/ enforces, and its own ones. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const assistantLimits = {
  /** Largest `params` of a tool, as JSON; ours, many times what a model can use. */
  toolParamsBytes: 32 * 1024,
  /** How long a tool's `params` may take to be understood … */
  toolParamsMs: 1_000,
  /** … and a call's arguments to be checked by them; ours. A pattern, or a reference to itself, could go on for ever. */
  toolArgumentsMs: 200,
  /** Compiled `params` that are kept; ours. */
  toolValidators: 500,
  /** Most faults of a call's arguments that are told; ours. */
  toolArgumentFaults: 10,
  /** Chats that are unfiled, or freed of a tag or an assistant, in one transaction. */
  detachBatch: 1_000,
  /** Chats with a running turn, or an answer on its way, that lose their assistant in one transaction; ours. */
  busyChatBatch: 50,
  /** Most messages of the window that are shown to the model, the newest ones; ours, so that a flood does not end in a request that no model takes. */
  contextMessages: 500,
  /** Most hand-offs and returns that the model is told of; ours. */
  contextNotes: 10,
  /** … which it gives this often. */
  turnRenewMs: 3_000,
  /** How often the worker of a voice agent gives it; ours. */
  voiceRenewMs: 20_000,
  /** How long a voice provider may take to make, change or remove an agent; ours, and well within the lease. */
  voiceProviderMs: 30_000,
  /** Rounds of tool calls in one turn; after them the model answers without tools. */
  toolRounds: 8,
  /** Time for tool calls in one turn; after it the model answers without tools. */
  turnSeconds: 60,
  /** Most tools that a model is offered; ours, as of the vendors. */
  offeredTools: 128,
  /** Most tags that a model is offered to suggest; ours. */
  suggestedTags: 200,
  /** Most that is read of an integrator's answer. */
  toolResponseReadBytes: 256 * 1024,
  /** Most of an integrator's answer that the model is shown. */
  toolResponseShownBytes: 16 * 1024,
  /** How often the words of a running answer are told at most; ours. */
  progressMs: 250,
} as const
