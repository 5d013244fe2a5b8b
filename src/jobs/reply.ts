import { beginTurn, claimTurns } from "../assistant/claim.js"
import { assistantLimits } from "../assistant/limits.js"
import { answerChat, giveTurnUp, turnFailure } from "../assistant/turn.js"
import { Chat } from "../entities/chat.js"
import { doubling } from "../entities/kit/work-state.js"
import { entityLimits } from "../entities/limits.js"
import { defineWork } from "./kit/work.js"
import { jobLimits } from "./limits.js"

/** Answers a chat whose reply is due: its assistant takes a turn. */
export const reply = defineWork({
  name: "reply",
  entity: Chat,
  columns: "turn",
  lease: { ms: entityLimits.turnLeaseMs, renewMs: assistantLimits.turnRenewMs },
  retry: { tries: entityLimits.modelTries, pauseMs: doubling(entityLimits.modelRetryBaseMs) },
  slots: ({ turnsAtOnce }) => ({ instance: turnsAtOnce, company: Math.ceil(turnsAtOnce * jobLimits.turnCompanyShare) }),
  sweepSeconds: jobLimits.replySweepSeconds,
  claim: beginTurn,
  claimAtOnce: claimTurns,
  run: answerChat,
  failure: turnFailure,
  giveUp: giveTurnUp,
  holds: (chat, turnId) => chat.holdsTurn(turnId),
  undo: (chat, outcome) => chat.abortTurn(outcome),
  cost: (tx, turn) => turn.usage.write(tx.em, turn.id),
})
