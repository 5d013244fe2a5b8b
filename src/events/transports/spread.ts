import { setTimeout as sleep } from "node:timers/promises"
import { eventLimits } from "../limits.js"

/** Closes sockets a few at a time, so that their clients do not all come back at once; a few sockets take no time. */
export async function closeSpread<Socket>(sockets: Socket[], close: (socket: Socket) => void) {
  const atOnce = Math.ceil((sockets.length * eventLimits.stopStepMs) / eventLimits.stopSpreadMs)
  for (let at = 0; at < sockets.length; at += atOnce) {
    if (at > 0) await sleep(eventLimits.stopStepMs)
    for (const socket of sockets.slice(at, at + atOnce)) close(socket)
  }
}
