import { words } from "./words.js"

/** Who answered in a stretch that has ended (contract, section 12). */
export const StretchOutcomeEnum = words("StretchOutcome", "Who answered the customer in a stretch that has ended.", {
  AI_ALONE: "Only AI answered.",
  AI_THEN_PERSON: "AI and a person answered.",
  PERSON_ALONE: "Only people answered.",
  UNANSWERED: "Nobody answered.",
})
export type StretchOutcome = (typeof StretchOutcomeEnum)[string]
export const stretchOutcomes = Object.values(StretchOutcomeEnum)

/** Why a stretch ended. */
export const StretchEndReasonEnum = words("StretchEndReason", "Why a stretch ended.", {
  QUIET: "Nobody wrote for STRETCH_QUIET_HOURS.",
  PERSON: "A person or an integration ended it.",
  CHAT_DELETED: "The chat was deleted.",
})
export type StretchEndReason = (typeof StretchEndReasonEnum)[string]
