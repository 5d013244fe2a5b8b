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

async function requestToken(sdk: McpSdk, { url, client }: McpAccount, exchange: Exchange): Promise<Token> {
  const { clientId, clientSecret, scope, issuer } = client!
  const fetchFn = exchange.fetch
  const provider = new sdk.ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer: issuer })
  try {
    const {
      authorizationServerUrl,
      authorizationServerMetadata: metadata,
      resourceMetadata,
    } = await sdk.discoverOAuthServerInfo(url, { fetchFn })
    if (!isSameIssuer(metadata?.issuer ?? authorizationServerUrl, issuer)) throw otherIssuer()
    const resource = await sdk.selectResourceURL(url, provider, resourceMetadata)
    const scopes = scope ?? resourceMetadata?.scopes_supported?.join(" ")
    const options = { fetchFn, ...(metadata && { metadata }), ...(resource && { resource }), ...(scopes && { scope: scopes }) }
    const { access_token: value, expires_in: life = portLimits.mcpTokenDefaultSeconds } = await sdk.fetchToken(
      provider,
      authorizationServerUrl,
      options,
    )
    return { value, until: performance.now() + Math.max(0, life - portLimits.mcpTokenMarginSeconds) * 1000 }
  } catch (error) {
    throw noToken(sdk, error, exchange)
  }
}

/** The secret is for one authorization server: an MCP server that names another one does not get it there. */
const otherIssuer = () =>
  new McpFailure("unauthorized", "The server names another authorization server than the issuer of the client credentials")

const isSameIssuer = (one: string, other: string) => one.replace(/\/$/, "") === other.replace(/\/$/, "")

function noToken(sdk: McpSdk, error: unknown, exchange: Exchange): McpFailure {
  if (error instanceof McpFailure) return error
  if (exchange.fault) return new McpFailure("unreachable", `The authorization server gave no token: ${exchange.fault.message}`)
  if (error instanceof sdk.OAuthError)
    return new McpFailure("unauthorized", `The authorization server refused the client credentials: ${short(error.code)}`)
  return new McpFailure("unauthorized", `No token for the client credentials: ${short(error instanceof Error ? error.message : "")}`)
}

/** Why a server answered with 401, and what its owner can do about it. */
export async function refusal(sdk: McpSdk, account: McpAccount, exchange: Exchange): Promise<McpFailure> {
  const say = (message: string) => new McpFailure("unauthorized", message, 401)
  if (account.client) return say("The server does not accept the token for the client credentials (status 401)")
  if (Object.keys(account.headers).length > 0) return say("The server does not accept the headers that are set (status 401)")
  const asked = await signInOf(sdk, account, exchange)
  if (!asked) return say("The server asks for credentials (status 401): set a header, such as Authorization")
  if (asked.allowsClients)
    return say(`The server asks for client credentials of ${asked.issuer} (OAuth): set clientCredentials with this issuer`)
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
