import { ChannelFailure } from "../channel.js"
import { portLimits } from "../limits.js"
import { Deadline } from "./deadline.js"

/** A request to a vendor's API. */
export interface VendorRequest {
  method?: string
  headers?: Record<string, string>
  /** Sent as JSON. */
  json?: unknown
  /** Sent as multipart/form-data, or urlencoded. */
  form?: FormData | URLSearchParams
  /** Sent as it is, with a `content-type` in `headers`. */
  body?: string
  /** In milliseconds; default `vendorCallMs`. */
  timeoutMs?: number
  signal: AbortSignal
}

/** A vendor's response of any status. */
export interface VendorResponse {
  status: number
  headers: Headers
  /** Parsed JSON; undefined when the body is none. */
  json: unknown
  text: string
  /** The `Retry-After` header in milliseconds. */
  retryAfterMs?: number
}

/** Errors before a connection exists: the vendor cannot have received anything. */
const notConnected = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"])

/**
 * Sends one request to a vendor and reads its response. Throws `ChannelFailure`: `retry` when it cannot have arrived, `doubt` when it may
 * have. Messages name `vendor` and never the URL, which may contain a token.
 */
export async function callVendor(vendor: string, url: string, request: VendorRequest): Promise<VendorResponse> {
  const { method = "POST", headers = {}, json, form, body, timeoutMs = portLimits.vendorCallMs, signal } = request
  using deadline = new Deadline(timeoutMs, signal)
  try {
    const response = await fetch(url, {
      method,
      headers: { ...headers, ...(json !== undefined && { "content-type": "application/json" }) },
      ...(json !== undefined ? { body: JSON.stringify(json) } : form ? { body: form } : body !== undefined ? { body } : {}),
      redirect: "error",
      signal: deadline.signal,
    })
    const text = await response.text()
    const retryAfterMs = retryAfterOf(response.headers.get("retry-after"))
    return { status: response.status, headers: response.headers, json: jsonOf(text), text, ...(retryAfterMs !== null && { retryAfterMs }) }
  } catch (error) {
    const { code } = ((error as Error).cause ?? error) as { code?: string }
    if (code && notConnected.has(code))
      throw new ChannelFailure(`${vendor} could not be reached`, { kind: "retry", code: "CHANNEL_UNAVAILABLE" })
    const what = deadline.isOver ? `did not answer within ${timeoutMs / 1000} s` : "broke the connection before it answered"
    throw new ChannelFailure(`${vendor} ${what}`, { kind: "doubt", code: "CHANNEL_UNAVAILABLE" })
  }
}

/** Parsed JSON; undefined when the text is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A `Retry-After` in milliseconds: seconds or a date (RFC 9110, section 10.2.3); null for anything else. */
export function retryAfterOf(value: string | null): number | null {
  if (!value) return null
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isFinite(ms) && ms >= 0 ? ms : null
}
