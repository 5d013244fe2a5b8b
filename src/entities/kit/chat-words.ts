import { words } from "./words.js"

/** Why AI is off in a chat; only `auto` is turned on again by the server. */
export const AiDisableReasonEnum = words("AiDisableReason", "Why AI is off in a chat.", {
  manual: "A person or an integration turned AI off. It stays off until it is turned on.",
  auto: "The assistant handed the chat over or could not answer. AI is turned on again after about 10 minutes without activity.",
})
export type AiDisableReason = (typeof AiDisableReasonEnum)[string]

/** Why AI stopped answering in a chat. */
export const HandOffReasonEnum = words("HandOffReason", "Why AI stopped answering in a chat.", {
  assistant: "The assistant handed the chat over.",
  failure: "The assistant could not answer.",
  guardrail: "A guardrail of the assistant stopped a text.",
  person: "A person took the chat over, here or in the vendor's own app.",
  integration: "An integration turned AI off.",
  removed: "The assistant was deleted.",
})
export type HandOffReason = (typeof HandOffReasonEnum)[string]
export const handOffReasons = Object.values(HandOffReasonEnum)

/** Type of a chat; AI never answers in a group. */
export const ChatTypeEnum = words("ChatType", "Type of a chat.", {
  private: "With one customer.",
  group: "With a group; the assistant does not answer.",
})
export type ChatType = (typeof ChatTypeEnum)[string]
export const chatTypes = Object.values(ChatTypeEnum)

/** What decides whether a person has to answer a chat; a row that was read has what was selected. */
interface Attention {
  isUnderAiControl?: boolean
  aiDisableReason?: AiDisableReason | null
  isAttended?: boolean
}

/** Whether a person has to answer a chat: AI was turned off with reason `auto`, and nobody has written for the company since. */
export const needsAttention = ({ isUnderAiControl, aiDisableReason, isAttended }: Attention): boolean =>
  !isUnderAiControl && aiDisableReason === "auto" && !isAttended
