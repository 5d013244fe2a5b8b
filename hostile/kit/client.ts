import { Agent, type IncomingHttpHeaders, request as sendRequest } from "node:http"
import type { Company, CredentialName } from "./company.js"
import type { Judge } from "./judge.js"

/** A request as it is sent. */
export interface HttpRequest {
  /** What it is counted as: a root field, a route, or a kind of noise. */
  key: string
  credential: CredentialName
  method: string
  path: string
  headers: Record<string, string>
  body?: string | Buffer
}

/** A response. */
export interface HttpAnswer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** Parsed, where it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any shape.
  body: any
}

/** So long a response may take before it counts as missing. */
const patienceMs = 15_000

/** Sends the requests of a company to a server, and has each response judged. */
export class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32, scheduling: "fifo" })

  constructor(
    readonly url: string,
    readonly company: Company,
    readonly judge: Judge,
  ) {}

  /** Sends a request and returns its response; null when there was none, which is a fault. */
  async http(request: HttpRequest): Promise<HttpAnswer | null> {
    // Node writes the body of a GET without saying how long it is.
    const length: Record<string, string> = request.body === undefined ? {} : { "content-length": String(Buffer.byteLength(request.body)) }
    const headers = { ...this.company.headersOf(request.credential), ...length, ...request.headers }
    try {
      const answer = await this.exchange({ ...request, headers })
      this.judge.answer(request, answer)
      return answer
    } catch (error) {
      const sent = `${request.method} ${request.path.slice(0, 200)} ${JSON.stringify(headers).slice(0, 400)} ${String(request.body).slice(0, 200)}`
      this.judge.fault(request.key, `${String((error as Error).cause ?? error)} for ${sent}`)
      return null
    }
  }

  private exchange(request: HttpRequest, isRepeated = false): Promise<HttpAnswer> {
    const { hostname, port } = new URL(this.url)
    const { method, path, headers, body } = request
    return new Promise((resolve, reject) => {
      const sent = sendRequest({ hostname, port, method, path, headers, agent: this.#agent }, (response) => {
        const parts: Buffer[] = []
        response.on("data", (part) => parts.push(part))
        response.on("error", reject)
        response.on("end", () => {
          const text = Buffer.concat(parts).toString()
          const isJson = /json/.test(response.headers["content-type"] ?? "")
          try {
            const parsed = isJson && text ? JSON.parse(text) : null
            resolve({ status: response.statusCode!, headers: response.headers, text, body: parsed })
          } catch {
            reject(new Error(`${response.statusCode} is not the JSON that it says it is: ${text.slice(0, 100)}`))
          }
        })
      })
      const timer = setTimeout(() => sent.destroy(new Error(`no answer in ${patienceMs / 1000} s`)), patienceMs)
      sent.once("close", () => clearTimeout(timer))
      sent.on("error", (error: NodeJS.ErrnoException) => {
        // The server may close an idle connection at the moment when it is used again.
        const isStale = sent.reusedSocket && error.code === "ECONNRESET" && !isRepeated
        if (isStale) this.exchange(request, true).then(resolve, reject)
        else reject(error)
      })
      sent.end(body)
    })
  }

  close() {
    this.#agent.destroy()
  }
}
