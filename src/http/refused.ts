import { maxHeaderSize, type Server, type ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { v7 } from "uuid"
import { ApiError, BadUserInput, toRestBody } from "../errors/errors.js"
import { httpLimits } from "./limits.js"

/** An error of Node's parser, with the piece of the connection in which it was found. */
type ParseError = NodeJS.ErrnoException & { rawPacket?: Buffer }

/** Answers requests that Node's parser refuses, which no handler sees, with the contract's error body, and closes their connections. */
export function answerRefused(http: Server) {
  /** The response to the last request of a connection. */
  const last = new WeakMap<Duplex, ServerResponse>()
  const refused = new WeakSet<Duplex>()
  http.on("request", (request, response) => last.set(request.socket, response))
  http.on("clientError", (error: ParseError, socket) => {
    // Of each further piece of a refused request.
    if (refused.has(socket)) return
    if (error.code === "ECONNRESET" || !socket.writable || !isNext(last.get(socket))) return void socket.destroy()
    refused.add(socket)
    socket.end(responseTo(errorOf(error), isHead(error)))
    // Not at once, so that the client reads the response also while it still sends.
    setTimeout(() => socket.destroy(), httpLimits.refusedRequestMs).unref()
  })
}

/** Whether a client takes what is sent now for the response to the refused request: there was none before, it was answered, or its body is the fault. */
function isNext(response: ServerResponse | undefined): boolean {
  if (!response) return true
  const { req, socket, headersSent, writableFinished } = response
  // A response has a socket when it is its turn.
  return writableFinished ? req.complete : socket !== null && !req.complete && !headersSent
}

/** Whether the refused request is a HEAD, whose response has no body. Known of a request that came in one piece. */
const isHead = ({ rawPacket }: ParseError) => rawPacket?.subarray(0, 5).toString("latin1") === "HEAD "

function errorOf({ code }: NodeJS.ErrnoException): ApiError {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new ApiError(408, "BAD_USER_INPUT", "The request took too long to arrive: send it again")
  if (code === "HPE_HEADER_OVERFLOW")
    return new ApiError(431, "BAD_USER_INPUT", `The address and the headers of a request can have ${maxHeaderSize} bytes together`)
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW")
    return new ApiError(413, "PAYLOAD_TOO_LARGE", "The extensions of the body's chunks are too large: send none")
  return new BadUserInput("The request is not valid HTTP: percent-encode its address, and check its method, headers and length")
}

function responseTo(error: ApiError, withoutBody: boolean): string {
  const requestId = v7()
  const body = toRestBody(error, requestId)
  const text = JSON.stringify(body)
  return [
    `HTTP/1.1 ${body.statusCode} ${body.error}`,
    `Date: ${new Date().toUTCString()}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Cache-Control: no-store",
    `X-Request-Id: ${requestId}`,
    "Connection: close",
    "",
    withoutBody ? "" : text,
  ].join("\r\n")
}
