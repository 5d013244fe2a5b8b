import { hash } from "node:crypto"
import { LRUCache } from "lru-cache"
import { portLimits } from "../limits.js"
import { type McpAccount, McpFailure } from "../mcp.js"
import type { Exchange } from "./exchange.js"
import type { McpSdk } from "./sdk.js"

interface Token {
  value: string
  /** Time from which it is not used any more, in milliseconds since the start of the process. */
  until: number
}

/** Access tokens of the client credentials grant, kept in this process until they expire. */
export class McpTokens {
  readonly #known = new LRUCache<string, Token>({ max: portLimits.mcpTokens })

  /** The token for a server; undefined without client credentials. Throws `McpFailure` when the authorization server gives none. */
  async of(sdk: McpSdk, account: McpAccount, exchange: Exchange): Promise<string | undefined> {
    if (!account.client) return undefined
    const key = keyOf(account)
    const known = this.#known.get(key)
    if (known && known.until > performance.now()) return known.value
    const token = await requestToken(sdk, account, exchange)
    this.#known.set(key, token)
    return token.value
  }

  /** Forgets the token that a server has refused. */
  forget(account: McpAccount) {
    this.#known.delete(keyOf(account))
  }
}

/** A token belongs to one server and its credentials: changed ones need another. */
const keyOf = ({ id, url, client }: McpAccount) => hash("sha256", JSON.stringify([id, url, client]), "base64")

async function requestToken(sdk: McpSdk, account: McpAccount, exchange: Exchange): Promise<Token> {
  const { clientId, clientSecret, scope, issuer } = account.client!
  const provider = new sdk.ClientCredentialsProvider({
    clientId,
    clientSecret,
    ...(scope !== null && { scope }),
    ...(issuer !== null && { expectedIssuer: issuer }),
  })
  try {
    await sdk.auth(provider, { serverUrl: account.url, fetchFn: exchange.fetch, ...(scope !== null && { scope }) })
  } catch (error) {
    throw noToken(sdk, error, exchange)
  }
  const tokens = provider.tokens()
  if (!tokens) throw new McpFailure("unauthorized", "The authorization server gave no token for the client credentials")
  const seconds = tokens.expires_in ?? portLimits.mcpTokenDefaultSeconds
  const until = performance.now() + Math.max(0, seconds - portLimits.mcpTokenMarginSeconds) * 1000
  return { value: tokens.access_token, until }
}

function noToken(sdk: McpSdk, error: unknown, exchange: Exchange): McpFailure {
  if (exchange.fault) return new McpFailure("unreachable", `The authorization server gave no token: ${exchange.fault.message}`)
  if (error instanceof sdk.OAuthError)
    return new McpFailure("unauthorized", `The authorization server refused the client credentials: ${short(error.code)}`)
  if (error instanceof sdk.AuthorizationServerMismatchError)
    return new McpFailure("unauthorized", "The server names another authorization server than the issuer of the client credentials")
  return new McpFailure("unauthorized", `No token for the client credentials: ${short(error instanceof Error ? error.message : "")}`)
}

/** Why a server answered with 401, and what its owner can do about it. */
export async function refusal(sdk: McpSdk, account: McpAccount, exchange: Exchange): Promise<McpFailure> {
  const say = (message: string) => new McpFailure("unauthorized", message, 401)
  if (account.client) return say("The server does not accept the token for the client credentials (status 401)")
  if (Object.keys(account.headers).length > 0) return say("The server does not accept the headers that are set (status 401)")
  const asked = await signInOf(sdk, account, exchange)
  if (!asked) return say("The server asks for credentials (status 401): set a header, such as Authorization")
  if (asked.allowsClients) return say(`The server asks for client credentials of ${asked.issuer} (OAuth): set clientCredentials`)
  return say(
    `The server asks for a person's consent at ${asked.issuer} (OAuth), which is not supported: set the header Authorization with a token of the server, if it gives one`,
  )
}

/** What the server says about its authorization server (RFC 9728, RFC 8414); null when it says nothing. */
async function signInOf(sdk: McpSdk, { url }: McpAccount, exchange: Exchange) {
  const challenge = new Response(null, { headers: { "www-authenticate": exchange.challenge ?? "" } })
  const { resourceMetadataUrl } = sdk.extractWWWAuthenticateParams(challenge)
  try {
    const found = await sdk.discoverOAuthServerInfo(url, { fetchFn: exchange.fetch, ...(resourceMetadataUrl && { resourceMetadataUrl }) })
    const { authorizationServerMetadata: metadata, resourceMetadata } = found
    if (!metadata && !resourceMetadata) return null
    const grants = metadata?.grant_types_supported ?? []
    return { issuer: short(metadata?.issuer ?? found.authorizationServerUrl), allowsClients: grants.includes("client_credentials") }
  } catch {
    // What cannot be discovered is not said: the status alone is the reason.
    return null
  }
}

/** The begin of a text that a server has sent, in one line. */
export const short = (text: string) =>
  Array.from(text.replace(/\s+/g, " ").trim()).slice(0, portLimits.failureCharacters).join("") || "no reason given"
