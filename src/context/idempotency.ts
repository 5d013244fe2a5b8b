import { createHash } from "node:crypto"
import type { PlainRow, Selection } from "../database/read-model.js"
import { readModelOf } from "../database/read-model.js"
import { readSnapshot } from "../database/snapshot.js"
import type { UnitOfWork } from "../database/unit-of-work.js"
import { IdempotencyKey, shownBy } from "../entities/idempotency-key.js"
import { clock } from "../entities/kit/clock.js"
import { codePoints } from "../entities/kit/scalars.js"
import { BadUserInput, Conflict, IdempotencyKeyReused } from "../errors/errors.js"
import { credentialOf } from "./identity.js"
import { contextLimits } from "./limits.js"
import type { RequestContext } from "./request-context.js"
import { withMedia } from "./snapshot.js"

/** An input that may have an idempotency key. */
export interface Keyed {
  idempotencyKey?: string | null
}

const tryLock = { name: "try-idempotency-lock", text: "select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free" }

/**
 * Does work once per credential, operation and key, in the transaction of the work: a repetition within 24 hours gets the stored response,
 * another request with the key is refused, and so is a repetition while the first request runs (contract, section 1).
 */
export async function idempotent<T extends { id: string }>(
  context: RequestContext,
  unit: UnitOfWork,
  type: string,
  input: Keyed,
  work: () => Promise<T>,
): Promise<T | PlainRow> {
  const { idempotencyKey: key, ...request } = input
  if (!key) return work()
  const length = codePoints(key)
  if (length > contextLimits.idempotencyKeyCharacters)
    throw new BadUserInput(`The idempotency key must be at most ${contextLimits.idempotencyKeyCharacters} characters`)
  const identity = { credential: credentialOf(context.identity)!, operation: `create${type}`, key }
  const [lock] = await unit.run(tryLock, [JSON.stringify(identity)])
  if (!lock!["free"]) throw new Conflict("The first request with this Idempotency-Key is still running")
  const digest = createHash("sha256").update(JSON.stringify(request)).digest("hex")
  const known = await unit.em.findOne(IdempotencyKey, identity)
  if (known && known.createdAt.getTime() > clock.now().getTime() - contextLimits.idempotencySeconds * 1000) {
    if (known.request !== digest) throw new IdempotencyKeyReused()
    context.request.headers["Idempotency-Replayed"] = "true"
    return readSnapshot(known.payload)!.row
  }
  const result = await work()
  const row = known ?? Object.assign(new IdempotencyKey(), identity)
  Object.assign(row, { request: digest, createdAt: clock.now() })
  unit.em.persist(row)
  unit.snapshotAtCommit(row, type, result.id)
  return result
}

const forget = { name: "forget-answers", text: `delete from idempotency_key where ${shownBy} = any($1::text[])` }

/** Deletes the stored responses that show these chats, their messages, or these files, which are deleted in the same transaction. */
export async function forgetAnswers(tx: RequestContext, ids: string[]): Promise<void> {
  await tx.run(forget, [ids])
}

/** Adds the selected fields that a stored response lacks. */
export async function completed(context: RequestContext, type: string, row: { id: string }, selection: Selection): Promise<PlainRow> {
  const missing = Object.fromEntries(Object.entries(selection).filter(([field]) => !(field in row)))
  const shown = withMedia(row, (id) => context.services.mediaUrls.of(id))
  const [whole] = await context.reader.complete(readModelOf(type)!, [shown], missing)
  return whole!
}
