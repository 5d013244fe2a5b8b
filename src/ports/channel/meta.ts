import { createHmac } from "node:crypto"
import { type Account, ChannelFailure, type HookRequest, type IncomingMessage } from "../channel.js"
import { hmacSignature, isSecret } from "../kit/signature.js"
import { type JsonObject, objectOf } from "../kit/untrusted-json.js"
import { callVendor } from "../kit/vendor-http.js"
import { portLimits } from "../limits.js"
import { failureOf } from "./meta-errors.js"

/** What the adapters of Meta's messengers need. */
export interface MetaOptions {
  /** Address of the Graph API, without its version. */
  baseUrl: string
}

const VERSION = "v25.0"

/** Header with the signature of a hook request. */
export const signatureHeader = "x-hub-signature-256"

/** Whether a request was signed with the secret of the connection's app. */
export function verify({ headers, body }: HookRequest, { credentials }: Account): boolean {
  const secret = credentials["appSecret"]
  return Boolean(secret) && isSecret(headers[signatureHeader], hmacSignature(body, secret!))
}

/** The response to Meta's question whether the hook is ours; null when the token is another. */
export function challenge(query: URLSearchParams, { credentials }: Account): string | null {
  const isOurs = isSecret(query.get("hub.verify_token") ?? undefined, credentials["verifyToken"] ?? "")
  return isOurs && query.get("hub.mode") === "subscribe" ? query.get("hub.challenge") : null
}

/** A sentence about credentials that no header or path can carry; null when they can be tried. */
export function faultOf(credentials: Account["credentials"]): string | null {
  const bad = Object.entries(credentials).find(([name, value]) => name !== "verifyToken" && !/^[\x21-\x7e]+$/.test(value))
  return bad ? `${bad[0]} must be printable ASCII without spaces` : null
}

/** A request to the Graph API. */
export interface GraphRequest {
  method?: "GET" | "POST" | "DELETE"
  query?: Record<string, string>
  json?: unknown
  form?: FormData
  /** Whether it sends a message, so that it must not be repeated when its outcome is not known. */
  isMessage?: boolean
  signal: AbortSignal
}

/** Sends requests to the Graph API for a connection. Throws `ChannelFailure`. */
export type Graph = (account: Account, path: string, request: GraphRequest) => Promise<JsonObject>

/** Requests to the Graph API at an address. */
export function graphOf({ baseUrl }: MetaOptions): Graph {
  const root = `${baseUrl.replace(/\/+$/, "")}/${VERSION}`
  return async ({ credentials }, path, { query, isMessage = false, form, ...request }) => {
    const token = credentials["accessToken"] ?? credentials["pageAccessToken"] ?? ""
    const secret = credentials["appSecret"] ?? ""
    const proof = createHmac("sha256", secret).update(token).digest("hex")
    const parameters = new URLSearchParams({ ...query, appsecret_proof: proof })
    try {
      const response = await callVendor("Meta", `${root}/${path}?${parameters}`, {
        ...request,
        headers: { authorization: `Bearer ${token}` },
        ...(form && { form, timeoutMs: portLimits.vendorUploadMs }),
      })
      const failure = failureOf(response, [token, secret, credentials["verifyToken"] ?? ""])
      if (failure) throw failure
      return objectOf(response.json)
    } catch (error) {
      throw isMessage ? error : repeatable(error)
    }
  }
}

/** A request that sends no message can be repeated, although its outcome is not known. */
function repeatable(error: unknown): unknown {
  if (!(error instanceof ChannelFailure) || error.options.kind !== "doubt") return error
  return new ChannelFailure(error.message, { ...error.options, kind: "retry" })
}

/** Thrown when Meta took a request and its response has no ID. */
export const unreadable = (kind: "retry" | "doubt") =>
  new ChannelFailure("Meta sent a response that cannot be read", { kind, code: "CHANNEL_UNAVAILABLE" })

/** Whether a URL is one of the configured address, which may be private. */
export const isOwn = (url: string, { baseUrl }: MetaOptions): boolean =>
  URL.canParse(url) && new URL(url).origin === new URL(baseUrl).origin

/** The ID of a part of ours that Meta repeats to us; undefined for what another sender may have written there. */
export const partIdOf = (value: unknown): string | undefined =>
  typeof value === "string" && /^[A-Za-z0-9-]{1,64}$/.test(value) ? value : undefined

/** The content of a message. */
export type Content = Pick<IncomingMessage, "text" | "files" | "isUnsupported">

/** A message that says of which kind it was, when this server does not understand it. */
export const unsupported = (type: string): Content => ({ text: `[unsupported: ${type}]`, files: [], isUnsupported: true })

/** Text in place of a location. */
export function locationText(latitude: number | null, longitude: number | null, names: (string | null)[]): string {
  return `[location] ${[latitude, longitude, ...names].filter((part) => part !== null).join(", ")}`.trimEnd()
}
