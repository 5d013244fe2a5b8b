import { Socket } from "node:net"

/** A chunk waits this long at most: longer than a statement or a request takes, so that what is under way at once ends in any order. */
const longestMs = 30

/** Every which chunk waits. */
const share = 1 / 3

/** The chunks of a socket that wait, or wait behind one that does. */
const waiting = new WeakMap<Socket, unknown[]>()

/**
 * Delays what arrives at the sockets of this process by chance: answers of the database, requests, responses and messages, each socket's in
 * their order. A test that relies on one of two being faster than the other fails, on a quiet machine too. The same seed gives the same row of
 * delays; which chunks they strike is up to the machine. Returns a function that ends it.
 */
export function delayArrivals(seed: number): () => void {
  const random = numbers(seed)
  const { push } = Socket.prototype
  Socket.prototype.push = function (this: Socket, chunk: unknown) {
    const before = waiting.get(this)
    if (!before && random() >= share) return push.call(this, chunk)
    if (before) before.push(chunk)
    else {
      const chunks = [chunk]
      waiting.set(this, chunks)
      setTimeout(() => {
        waiting.delete(this)
        for (const each of chunks) if (!this.destroyed) push.call(this, each)
      }, random() * longestMs)
    }
    return true
  }
  return () => {
    Socket.prototype.push = push
  }
}

/** Numbers from 0 to 1, by the generator of Park and Miller. */
function numbers(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
