import { words } from "./words.js"

/** Why AI is off: a person decided, or the assistant gave up. Only the second comes back by itself. */
export const aiDisableReasons = ["manual", "auto"] as const
export type AiDisableReason = (typeof aiDisableReasons)[number]
export const AiDisableReasonEnum = words("AiDisableReason", "Why AI is off: a person decided, or the assistant gave up.", aiDisableReasons)

/** Whether a chat is with one customer or a group; AI never answers in a group. */
export const chatTypes = ["private", "group"] as const
export type ChatType = (typeof chatTypes)[number]
export const ChatTypeEnum = words("ChatType", "Whether a chat is with one customer or a group.", chatTypes)
