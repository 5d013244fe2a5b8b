import { createHmac } from "node:crypto"
import type { Services } from "../context/services.js"
import type { AssistantTool } from "../entities/assistant-tool.js"
import { clock } from "../entities/kit/clock.js"
import { CannotUnseal } from "../entities/kit/sealed.js"
import { storableJson, storableText } from "../entities/kit/storable.js"
import type { ToolOutcome } from "../entities/tool-call.js"
import { GuardedRequestError, type GuardedRequestOptions, type GuardedResponse } from "../ports/kit/guarded-http-client.js"
import { assistantLimits } from "./limits.js"

/** The arguments of a call, checked against the tool's `params`. */
export type ToolArguments = Record<string, unknown>

/** Methods whose arguments are in the query string. */
const inQuery = ["GET", "DELETE"]

/**
 * Calls a tool's endpoint with exactly one request, signed over the bytes that are sent (specification, Calls made by the service to an
 * integrator). Whatever the endpoint does is an outcome, and so is a tool that cannot be called; neither throws.
 */
export async function callWebhook(
  services: Pick<Services, "httpClient" | "secrets" | "log">,
  tool: AssistantTool,
  callId: string,
  args: ToolArguments,
  signal?: AbortSignal,
): Promise<ToolOutcome> {
  const begin = performance.now()
  const took = () => Math.round(performance.now() - begin)
  try {
    const { url, request } = requestOf(tool, callId, args, tool.secret(services.secrets))
    const answer = await services.httpClient.request(url, { ...request, ...(signal && { signal }) })
    return outcomeOf(answer, took())
  } catch (error) {
    return failed(whyNot(services, tool, error), took())
  }
}

const failed = (error: string, latencyMs: number): ToolOutcome => ({ success: false, status: null, latencyMs, body: null, error })

/** Why there was no response, as a sentence; unexpected faults are rethrown. */
function whyNot({ log }: Pick<Services, "log">, { id: toolId, companyId }: AssistantTool, error: unknown): string {
  if (error instanceof GuardedRequestError) return error.message
  if (!(error instanceof CannotUnseal)) throw error
  log.error({ err: error, toolId, companyId }, `the secret of a tool ${error.message}`)
  return `The tool's secret ${error.message}: give it again`
}

function requestOf(tool: AssistantTool, callId: string, args: ToolArguments, secret: string | null) {
  if (!tool.apiCallUrl || !tool.httpMethod) throw new GuardedRequestError("The tool has no URL or no HTTP method", "refused")
  const method = tool.httpMethod
  const url = new URL(tool.apiCallUrl)
  const hasBody = !inQuery.includes(method)
  // The existing query stays unchanged: it may be signed.
  if (!hasBody) url.search = [url.search.slice(1), new URLSearchParams(queryOf(args)).toString()].filter(Boolean).join("&")
  const body = hasBody ? JSON.stringify(args) : undefined
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    "User-Agent": "Service-Platform-API/1.0",
    "X-Tool-Call-Id": callId,
    "X-Timestamp": String(Math.floor(clock.now().getTime() / 1000)),
  }
  if (secret !== null) {
    // Headers are bytes: a secret beyond Latin-1 is sent as UTF-8, and the signature uses the same bytes.
    headers["Authorization"] = Buffer.from(`Basic ${secret}`, "utf8").toString("latin1")
    if (body !== undefined) headers["X-Signature"] = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`
  }
  const request: GuardedRequestOptions = {
    method,
    headers,
    timeoutMs: tool.timeoutSeconds * 1000,
    maxBytes: assistantLimits.toolResponseReadBytes,
    ...(body !== undefined && { body }),
  }
  return { url, request }
}

/** Arguments as a query string: nested ones are JSON text, arrays repeat their key (contract, section 6). */
function queryOf(args: ToolArguments): [string, string][] {
  const asText = (value: unknown) => (value !== null && typeof value === "object" ? JSON.stringify(value) : String(value))
  return Object.entries(args).flatMap(([name, value]) =>
    Array.isArray(value) ? value.map((item): [string, string] => [name, asText(item)]) : [[name, asText(value)] as [string, string]],
  )
}

function outcomeOf({ status, body }: GuardedResponse, latencyMs: number): ToolOutcome {
  const success = status >= 200 && status < 300
  const error = success ? null : `The endpoint answered with status ${status}`
  return { success, status, latencyMs, body: readable(body), error }
}

/** The response as JSON, else as text; null when it is empty. */
function readable(bytes: Buffer): unknown {
  if (bytes.length === 0) return null
  // A cut response may end inside a character, which the decoder drops.
  const text = new TextDecoder().decode(bytes, { stream: true })
  try {
    const value: unknown = JSON.parse(text)
    return value === null ? null : (storableJson(value) ?? storableText(text))
  } catch {
    return storableText(text)
  }
}

/** The outcome as the model receives it, cut to the limit (contract, section 6). */
export function shownToModel({ success, status, body, error }: ToolOutcome): unknown {
  if (!success)
    return { error: error ?? "The operation failed", ...(status !== null && { status }), ...(body != null && { response: cut(body) }) }
  return cut(body) ?? { success: true }
}

function cut(body: unknown): unknown {
  const text = typeof body === "string" ? body : JSON.stringify(body)
  const bytes = Buffer.from(text ?? "")
  if (bytes.length <= assistantLimits.toolResponseShownBytes) return body
  return new TextDecoder().decode(bytes.subarray(0, assistantLimits.toolResponseShownBytes), { stream: true })
}
