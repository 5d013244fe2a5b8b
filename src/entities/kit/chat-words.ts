import { words } from "./words.js"

/** Why AI is off in a chat; only `auto` is turned on again by the server. */
export const AiDisableReasonEnum = words("AiDisableReason", "Why AI is off in a chat.", {
  manual: "A person or an integration turned AI off. It stays off until it is turned on.",
  auto: "The assistant handed the chat over or could not answer. AI is turned on again after about 10 minutes without activity.",
})
export type AiDisableReason = (typeof AiDisableReasonEnum)[string]

/** Type of a chat; AI never answers in a group. */
export const ChatTypeEnum = words("ChatType", "Type of a chat.", {
  private: "With one customer.",
  group: "With a group; the assistant does not answer.",
})
export type ChatType = (typeof ChatTypeEnum)[string]
export const chatTypes = Object.values(ChatTypeEnum)
