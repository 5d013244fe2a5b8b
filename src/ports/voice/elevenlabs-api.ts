import { portLimits } from "../limits.js"
import { VoiceFailure } from "../voice.js"

/** A response of ElevenLabs of any status. */
export interface ApiResponse {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: a vendor's JSON, read field by field.
  json: any
  retryAfterMs: number
}

/** Thrown when there was no response; `isSent` when the request may have arrived. */
export class NoResponse extends VoiceFailure {
  constructor(
    message: string,
    readonly isSent: boolean,
  ) {
    super(message)
  }
}

/** Errors before a connection exists: the request cannot have arrived. */
const notConnected = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"])

/** Sends requests to ElevenLabs, each once: its own client would repeat even a dial. */
export class ElevenLabsApi {
  constructor(
    private readonly baseUrl: string,
    private readonly apiKey: string,
  ) {}

  /** Sends a request; throws `NoResponse` without a response. */
  async send(method: string, path: string, signal: AbortSignal, body?: unknown): Promise<ApiResponse> {
    const response = await this.fetch(method, path, signal, body)
    const text = await response.text().catch(() => {
      throw new NoResponse("ElevenLabs broke the connection", true)
    })
    return { status: response.status, json: jsonOf(text), retryAfterMs: retryAfterOf(response) }
  }

  /** Sends a request whose response must be a success; throws `VoiceFailure` for any other, null for 404 where that is allowed. */
  async ask(method: string, path: string, signal: AbortSignal, body?: unknown): Promise<ApiResponse["json"]> {
    const found = await this.find(method, path, signal, body)
    if (found === null) throw new VoiceFailure("ElevenLabs does not know what was asked for", true)
    return found
  }

  /** The same, which returns null for what ElevenLabs does not know. */
  async find(method: string, path: string, signal: AbortSignal, body?: unknown): Promise<ApiResponse["json"] | null> {
    const response = await this.send(method, path, signal, body)
    if (response.status === 404) return null
    if (response.status >= 200 && response.status < 300) return response.json ?? {}
    throw refusal(response)
  }

  /** The body of a response as a stream; null when there is none. */
  async stream(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
    const response = await this.fetch("GET", path, signal)
    if (response.status !== 200)
      throw refusal({ status: response.status, json: jsonOf(await response.text()), retryAfterMs: retryAfterOf(response) })
    return response.body
  }

  private async fetch(method: string, path: string, signal: AbortSignal, body?: unknown): Promise<Response> {
    const deadline = AbortSignal.timeout(portLimits.voiceRequestMs)
    try {
      return await fetch(`${this.baseUrl}/v1/convai${path}`, {
        method,
        headers: { "xi-api-key": this.apiKey, ...(body !== undefined && { "content-type": "application/json" }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: "error",
        signal: AbortSignal.any([signal, deadline]),
      })
    } catch (error) {
      const { code } = ((error as Error).cause ?? error) as { code?: string }
      if (code && notConnected.has(code)) throw new NoResponse("ElevenLabs could not be reached", false)
      throw new NoResponse(deadline.aborted ? "ElevenLabs did not answer in time" : "ElevenLabs broke the connection", true)
    }
  }
}

/** A refusal as a sentence with the vendor's words; a 4xx other than 408 and 429 is final. */
function refusal({ status, json, retryAfterMs }: ApiResponse): VoiceFailure {
  const isFinal = status >= 400 && status < 500 && status !== 408 && status !== 429
  return new VoiceFailure(`ElevenLabs answered ${status}${wordsOf(json)}`, isFinal, retryAfterMs)
}

/** The vendor's words of an error response, with a colon before them; empty when there are none. */
export function wordsOf(json: ApiResponse["json"]): string {
  const { detail } = json ?? {}
  const words = Array.isArray(detail) ? detail[0]?.msg : (detail?.message ?? json?.message)
  return typeof words === "string" ? `: ${words.slice(0, portLimits.voiceWordsCharacters)}` : ""
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const retryAfterOf = ({ headers }: Response) => (Number(headers.get("retry-after")) || 0) * 1000
