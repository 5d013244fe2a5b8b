import type { ReadMeter } from "../database/run-query.js"
import { BadUserInput, RateLimited } from "../errors/errors.js"
import type { TurnKind } from "./fair-turns.js"
import { contextLimits } from "./limits.js"

const { reads: limits } = contextLimits

const megabytes = limits.operationBytes / 2 ** 20

/**
 * What an operation reads from the database and sends, or one statement of a subscription or of durable work: more than its limit is refused.
 * Both are counted, because a response may contain a row many times, under many names.
 */
export class OperationReads implements ReadMeter {
  #bytes = 0
  /** Whether the operation is a mutation, which a client must not repeat when it may have been carried out. */
  isMutation = false
  /** Whether it only lists, so that what it reads may be a moment old. */
  mayBeOld = false
  /** Whether it was read on the replica. */
  isOld = false

  /** Begins an operation of the request. */
  begin(isMutation: boolean, mayBeOld: boolean) {
    Object.assign(this, { isMutation, mayBeOld, isOld: false })
  }

  /** `hold` gets the bytes that the operation holds; false when there is no room for them. */
  constructor(private readonly hold: (bytes: number) => boolean = () => true) {}

  take(bytes: number) {
    this.#bytes += bytes
    this.#check("The operation reads", this.#bytes)
  }

  /** Counts the response, which holds the rows that were read and more. */
  respond(response: unknown) {
    const bytes = sizeOf(response, limits.operationBytes)
    if (bytes > this.#bytes) this.#check("The response has", bytes)
    this.#bytes = Math.max(this.#bytes, bytes)
  }

  /** What was read has been sent, or is no longer needed. */
  forget() {
    this.#bytes = 0
    this.hold(0)
  }

  #check(what: string, bytes: number) {
    if (bytes > limits.operationBytes) {
      const message = `${what} more than ${megabytes} MB: ask for fewer rows or fields`
      throw new BadUserInput(this.isMutation ? `${message}. ${mayBeDone}` : message)
    }
    if (bytes <= limits.smallBytes || this.hold(bytes)) return
    const message = "Too many large responses at the same time"
    if (this.isMutation) throw new BadUserInput(`${message}. ${mayBeDone}`)
    throw new RateLimited(limits.retrySeconds, `${message}: read them, then try again`)
  }
}

const mayBeDone = "The mutation may have been carried out: read what it changed before you repeat it"

/** Characters of a value as JSON, nearly; counting ends beyond `limit`. */
function sizeOf(value: unknown, limit: number): number {
  if (typeof value === "string") return value.length + 2
  if (typeof value !== "object" || value === null) return 5
  let size = 2
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && size <= limit; index += 1) size += 1 + sizeOf(value[index], limit - size)
    return size
  }
  for (const key in value) {
    if (size > limit) break
    size += key.length + 4 + sizeOf((value as Record<string, unknown>)[key], limit - size)
  }
  return size
}

/**
 * Bounds what the large operations of a company hold in memory at the same time, from the first row until the response has left: its data and
 * its text. Small ones are never refused. As in `FairTurns`, the visitors of a company are counted apart from its members and tokens.
 */
export class ReadBudget {
  readonly #held = new Map<string, number>()

  /** Begins an operation; `end` is called when its response has left. */
  begin(companyId: string, kind: TurnKind): { reads: OperationReads; end: () => void } {
    const payer = `${companyId} ${kind}`
    let held = 0
    let isEnded = false
    const hold = (bytes: number) => {
      // One whose client is gone may still read.
      if (isEnded || bytes === held) return true
      const all = (this.#held.get(payer) ?? 0) - held + bytes
      if (bytes > held && all > limits.companyBytes) return false
      held = bytes
      if (all > 0) this.#held.set(payer, all)
      else this.#held.delete(payer)
      return true
    }
    const reads = new OperationReads(hold)
    const end = () => {
      reads.forget()
      isEnded = true
    }
    return { reads, end }
  }
}
