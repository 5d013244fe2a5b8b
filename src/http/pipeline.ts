import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { httpLimits } from "./limits.js"

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Handles the requests of a connection one after the other, each when the response to the one before has left. Node would handle all that a
 * client pipelines at once, and hold all responses while the client does not read them.
 */
export function oneAtATime(handle: Handle): Handle {
  const connections = new WeakMap<Socket, (() => void)[]>()
  return (request, response) => {
    const { socket } = request
    const start = () => {
      response.once("close", next)
      handle(request, response)
    }
    const next = () => {
      const following = waiting.shift()
      if (socket.destroyed || !following) return void connections.delete(socket)
      if (socket.isPaused()) socket.resume()
      following()
    }
    const known = connections.get(socket)
    const waiting = known ?? []
    if (!known) {
      connections.set(socket, waiting)
      return start()
    }
    waiting.push(start)
    if (waiting.length >= httpLimits.pipelinedRequests) socket.pause()
  }
}
