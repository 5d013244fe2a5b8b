import Router, { type RouterContext } from "@koa/router"
import { mustBeKnown } from "../context/access.js"
import type { RequestInfo } from "../context/request-context.js"
import type { Services } from "../context/services.js"
import { ApiError, BadUserInput, describe, toRestBody } from "../errors/errors.js"
import { McpHandler } from "../mcp/handler.js"
import type { Tool } from "../mcp/kit/tool.js"
import { readBody } from "./body.js"
import { mustBeKnownOrigin } from "./origin.js"
import { currentRequest, type RequestContexts, refuse } from "./request.js"
import { serverVersion } from "./version.js"

/** Headers that the protocol defines, and those by which the SDK negotiates. */
const protocolHeaders = ["accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"]

/** Codes of JSON-RPC for what is refused before a message is read. */
const rpcCodes = { malformed: -32700, invalid: -32600, unknownMethod: -32601, fault: -32603, refused: -32000 }

/** An error of JSON-RPC that answers one message. */
class RpcError extends ApiError {
  constructor(
    statusCode: number,
    readonly rpcCode: number,
    message: string,
    readonly id: unknown = null,
  ) {
    super(statusCode, statusCode === 404 ? "NOT_FOUND" : "BAD_USER_INPUT", message)
  }
}

/** `POST /mcp`: the platform as a server of the Model Context Protocol. It keeps no session, so that any instance answers. */
export function mcpRouter(tools: Tool[], requestContexts: RequestContexts, { config }: Pick<Services, "config">): Router {
  const faults = new WeakMap<RequestInfo, Error>()
  const handler = new McpHandler(tools, serverVersion, (error) => {
    const request = currentRequest.getStore()
    if (request) faults.set(request, error)
    request?.log.debug({ reason: error.message }, "MCP message refused")
  })
  return new Router().post("/mcp", async (ctx) => {
    const request: RequestInfo = ctx.state["request"]
    try {
      mustBeKnownOrigin(config, ctx)
      const context = await requestContexts.contextOf(ctx)
      mustBeKnown("company", context)
      const message = await readMessage(ctx)
      const headers = Object.fromEntries(protocolHeaders.flatMap((name) => (ctx.get(name) ? [[name, ctx.get(name)]] : [])))
      const response = await handler.answer(context, headers, message)
      // Read to its end before the headers are sent, because the operation adds some.
      const text = await response.text()
      if (response.status >= 500) throw faults.get(request) ?? new Error(`The SDK answered with ${response.status}`)
      send(ctx, response.status, response.headers.get("Content-Type"), text)
    } catch (error) {
      sendError(ctx, error)
    }
  })
}

/** Reads the body as one message; throws for a batch, which would be many operations under one count of the rate limit. */
async function readMessage(ctx: RouterContext): Promise<unknown> {
  const message = await readBody(ctx)
  if (Array.isArray(message)) throw new RpcError(400, rpcCodes.invalid, "Send one message in a request: batches are not supported")
  const { method, id } = message as { method?: unknown; id?: unknown }
  // The tools change only with the version of the server, so a subscription would be an open response without content.
  if (method === "subscriptions/listen") throw new RpcError(404, rpcCodes.unknownMethod, "There are no subscriptions here", id)
  return message
}

function send(ctx: RouterContext, status: number, type: string | null, text: string) {
  ctx.body = text ? Buffer.from(text) : null
  ctx.status = status
  if (text && type) ctx.set("Content-Type", type)
}

/** Sends an error as JSON-RPC; `data` is the error body of the API. */
function sendError(ctx: RouterContext, error: unknown) {
  const { requestId }: RequestInfo = ctx.state["request"]
  const { statusCode, message } = describe(error)
  refuse(ctx, error)
  const isBad = ctx.get("Authorization") || ctx.get("X-Access-Token")
  if (statusCode === 401) ctx.set("WWW-Authenticate", isBad ? 'Bearer error="invalid_token"' : "Bearer")
  const body = {
    jsonrpc: "2.0",
    id: idOf(error),
    error: { code: rpcCodeOf(error, statusCode), message, data: toRestBody(error, requestId) },
  }
  send(ctx, statusCode, "application/json; charset=utf-8", JSON.stringify(body))
}

const idOf = (error: unknown) => (error instanceof RpcError && ["string", "number"].includes(typeof error.id) ? error.id : null)

function rpcCodeOf(error: unknown, statusCode: number): number {
  if (error instanceof RpcError) return error.rpcCode
  if (statusCode === 500) return rpcCodes.fault
  return statusCode === 400 && !(error instanceof BadUserInput) ? rpcCodes.malformed : rpcCodes.refused
}
