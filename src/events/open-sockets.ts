import { clock } from "../entities/kit/clock.js"
import type { Identity } from "../schema/kit/identity.js"
import type { OpenWakeUp } from "./wake-up.js"

type Close = (code: number, reason: string) => void

/** Longest time that a timer can wait. */
const timerMaxMs = 2 ** 31 - 1

/** The open sockets of this process by their credentials, so that a revocation on any instance closes them at once. */
export class OpenSockets {
  #byCredential = new Map<string, Set<Close>>()

  constructor(wakeUp: OpenWakeUp) {
    wakeUp.subscribe("credentials", (id) => this.closeAll(this.#byCredential.get(id), 4401, "The credentials were revoked"))
    // A revocation may have been missed: everybody comes back and is looked up anew.
    wakeUp.onGap(() => {
      for (const closers of this.#byCredential.values()) this.closeAll(closers, 1012, "Come back and resume")
    })
  }

  /** Notes an open socket; it is closed with 4403 when its JWT ends. Answers how to forget it. */
  enter(identity: Identity, close: Close): () => void {
    const ids = credentialIds(identity)
    for (const id of ids) this.#byCredential.set(id, (this.#byCredential.get(id) ?? new Set()).add(close))
    const left =
      identity.kind === "user" || identity.kind === "visitor" ? identity.expiresAt.getTime() - clock.now().getTime() : timerMaxMs + 1
    const timer = left > timerMaxMs ? undefined : setTimeout(() => close(4403, "The token has expired"), Math.max(0, left))
    timer?.unref()
    return () => {
      clearTimeout(timer)
      for (const id of ids) this.forget(id, close)
    }
  }

  private forget(id: string, close: Close) {
    const closers = this.#byCredential.get(id)
    closers?.delete(close)
    if (closers?.size === 0) this.#byCredential.delete(id)
  }

  private closeAll(closers: Set<Close> | undefined, code: number, reason: string) {
    for (const close of [...(closers ?? [])]) close(code, reason)
  }
}

/** What can end a socket: its token, or its session, or a change to its user's memberships. */
function credentialIds(identity: Identity): string[] {
  if (identity.kind === "token") return [identity.tokenId]
  if (identity.kind === "user") return [identity.sessionId, identity.userId]
  return identity.kind === "visitor" ? [identity.chatId] : []
}
