import type { EntityManager } from "@mikro-orm/postgresql"
import { GuardrailHit } from "../entities/guardrail-hit.js"
import type { Finding } from "./guard.js"

/** A finding with the message that it is about: of the customer, or null for the answer. */
export interface PlacedFinding extends Finding {
  messageId: string | null
}

/** Where texts were hit: a chat or a call, and the message that was stored as the answer. */
export interface HitPlace {
  companyId: string
  chatId: string | null
  callId: string | null
  assistantId: string
  answerId: string | null
}

/** Records hits in the transaction that stores the answer, each with its event. */
export function recordHits(em: EntityManager, { answerId, ...place }: HitPlace, findings: PlacedFinding[]): void {
  for (const { messageId, ...finding } of findings) {
    const ofMessage = finding.direction === "answer" ? answerId : messageId
    em.persist(Object.assign(new GuardrailHit(), place, finding, { messageId: ofMessage }).recorded())
  }
}
