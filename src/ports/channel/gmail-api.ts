import { LRUCache } from "lru-cache"
import { z } from "zod"
import { type Account, ChannelFailure, type FailureCode } from "../channel.js"
import { callVendor, type VendorRequest, type VendorResponse } from "../kit/vendor-http.js"
import { portLimits } from "../limits.js"

export interface GmailOptions {
  /** Address of the Gmail API, without a path. */
  baseUrl: string
  /** Address of Google's OAuth server, without a path. */
  oauthBaseUrl: string
}

const tokenFields = z.object({ access_token: z.string(), expires_in: z.number().catch(0), scope: z.string().optional() })
const profileFields = z.object({ emailAddress: z.string(), historyId: z.coerce.string() })
const tokenErrorFields = z.object({ error: z.string(), error_description: z.string().catch("") })
const errorFields = z.object({
  error: z.object({
    message: z.string().catch(""),
    status: z.string().optional(),
    errors: z.array(z.object({ reason: z.string().catch("") })).catch([]),
  }),
})

/** Scopes of which a connection needs one each: to read, and to send. */
const scopes = {
  "gmail.readonly": /\/auth\/gmail\.(readonly|modify)\b|mail\.google\.com/,
  "gmail.send": /\/auth\/gmail\.(send|compose|modify)\b|mail\.google\.com/,
}

/** Requests to Gmail with an access token, which is kept until it expires. */
export class GmailApi {
  private readonly root: string
  private readonly oauth: string
  private readonly tokens = new LRUCache<string, string>({ max: portLimits.gmailTokens })

  constructor({ baseUrl, oauthBaseUrl }: GmailOptions) {
    this.root = baseUrl.replace(/\/+$/, "")
    this.oauth = oauthBaseUrl.replace(/\/+$/, "")
  }

  /** Sends a request to a path of the mailbox and returns the response's JSON; throws ChannelFailure. */
  async call(path: string, account: Account, request: VendorRequest): Promise<unknown> {
    const response = await this.authorized(`${this.root}${path}`, account, request)
    if (response.status < 300 && response.json !== undefined) return response.json
    if (response.status < 300)
      throw new ChannelFailure("Gmail sent a response that cannot be read", { kind: "doubt", code: "CHANNEL_UNAVAILABLE" })
    throw failureOf(response)
  }

  /** Reads a path of the mailbox; null when it does not exist. */
  async read<T>(fields: z.ZodType<T>, path: string, account: Account, signal: AbortSignal): Promise<T | null> {
    const request = { method: "GET", timeoutMs: portLimits.vendorUploadMs, signal }
    const json = await this.call(`/gmail/v1/users/me/${path}`, account, request).catch((error) => {
      if (isMissing(error)) return null
      throw error
    })
    if (json === null) return null
    const { success, data } = fields.safeParse(json)
    if (success) return data
    throw new ChannelFailure("Gmail sent a response that cannot be read", { kind: "retry", code: "CHANNEL_UNAVAILABLE" })
  }

  /** The address of the mailbox, and the number of its last change. */
  async profile(account: Account, signal: AbortSignal): Promise<z.infer<typeof profileFields>> {
    const profile = await this.read(profileFields, "profile", account, signal)
    if (profile) return profile
    throw new ChannelFailure("404: The account has no mailbox", { kind: "permanent", code: "REFUSED" })
  }

  /** Asks for a new access token. Throws ChannelFailure when credentials are refused, or give too few rights. */
  async renew(account: Account, signal: AbortSignal): Promise<string> {
    const { clientId = "", clientSecret = "", refreshToken = "" } = account.credentials
    const form = new URLSearchParams({
      grant_type: "refresh_token",
      client_id: clientId,
      client_secret: clientSecret,
      refresh_token: refreshToken,
    })
    const response = await callVendor("Google", `${this.oauth}/token`, { form, signal }).catch((error) => {
      // Without a token no mail has left.
      if (!(error instanceof ChannelFailure)) throw error
      throw new ChannelFailure(error.message, { ...error.options, kind: "retry" })
    })
    const { data } = tokenFields.safeParse(response.json)
    if (response.status >= 300 || !data) throw tokenFailureOf(response)
    for (const [name, granted] of Object.entries(scopes))
      if (data.scope && !granted.test(data.scope)) throw refused(`The refresh token does not grant the scope ${name}`)
    const ttl = data.expires_in * 1000 - portLimits.gmailTokenEarlyMs
    if (ttl > 0) this.tokens.set(keyOf(account), data.access_token, { ttl })
    return data.access_token
  }

  /** A token may have been revoked before it expires: it is renewed once. */
  private async authorized(url: string, account: Account, request: VendorRequest): Promise<VendorResponse> {
    const sendWith = (token: string) =>
      callVendor("Gmail", url, { ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } })
    const kept = this.tokens.get(keyOf(account))
    const response = await sendWith(kept ?? (await this.renew(account, request.signal)))
    if (response.status !== 401 || !kept) return response
    this.tokens.delete(keyOf(account))
    return await sendWith(await this.renew(account, request.signal))
  }
}

/** Other credentials have other tokens. */
const keyOf = ({ connectionId, credentials: { clientId, clientSecret, refreshToken } }: Account) =>
  JSON.stringify([connectionId, clientId, clientSecret, refreshToken])

/** Whether Gmail has not, or no longer, what was asked for. */
export const isMissing = (error: unknown) => error instanceof ChannelFailure && error.message.startsWith("404: ")

const refused = (message: string) => new ChannelFailure(message, { kind: "credentials", code: "CREDENTIALS_REFUSED" })

function tokenFailureOf({ status, json, retryAfterMs }: VendorResponse): ChannelFailure {
  const { error, error_description: words } = tokenErrorFields.safeParse(json).data ?? { error: "no description", error_description: "" }
  const message = `${status}: ${[error, words].filter(Boolean).join(": ")}`
  const wait = retryAfterMs !== undefined && { retryAfterMs }
  if (status === 429) return new ChannelFailure(message, { kind: "retry", code: "RATE_LIMITED", ...wait })
  if (status >= 500 || status < 300) return new ChannelFailure(message, { kind: "retry", code: "CHANNEL_UNAVAILABLE", ...wait })
  if (status === 401 || /^(invalid_grant|invalid_client|unauthorized_client)$/.test(error)) return refused(message)
  return new ChannelFailure(message, { kind: "permanent", code: "REFUSED" })
}

function failureOf(response: VendorResponse): ChannelFailure {
  const { status } = response
  const { message: words = "no description", errors = [] } = errorFields.safeParse(response.json).data?.error ?? {}
  const reasons = errors.map(({ reason }) => reason)
  const retryAfterMs = response.retryAfterMs ?? retryAfterIn(words)
  const fail = (kind: "retry" | "permanent" | "credentials", code: FailureCode, more = {}) =>
    new ChannelFailure(`${status}: ${words}`, { kind, code, ...more })
  const wait = retryAfterMs !== undefined && { retryAfterMs }
  if (status === 429 || reasons.some((reason) => /ateLimitExceeded$/.test(reason))) return fail("retry", "RATE_LIMITED", wait)
  if (status >= 500) return fail("retry", "CHANNEL_UNAVAILABLE", wait)
  if (status === 401 || reasons.includes("insufficientPermissions")) return fail("credentials", "CREDENTIALS_REFUSED")
  if (/invalid to header|recipient address/i.test(words)) return fail("permanent", "RECIPIENT_UNREACHABLE")
  return fail("permanent", status === 413 || /too large/i.test(words) ? "CONTENT_REFUSED" : "REFUSED")
}

/** "User-rate limit exceeded.  Retry after 2026-11-22T10:00:00.000Z" */
function retryAfterIn(words: string): number | undefined {
  const at = Date.parse(/retry after (\S+Z)/i.exec(words)?.[1] ?? "")
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}
