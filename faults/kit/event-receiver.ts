import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import { Webhook } from "standardwebhooks"
import { sleep } from "../../test/kit/campaign/wait.js"
import { post } from "./test-bed.js"

/** A request with an event that reached an endpoint. */
export interface Arrival {
  endpoint: string
  /** `webhook-id`. */
  id: string
  text: string
  /** Time from the creation of the event to the arrival. */
  afterMs: number
  /** Status of the response; null before it left. */
  status: number | null
}

/** The response to a request: a status after some time, or nothing at all. */
export type Answering = { status: number; afterMs: number } | "hang"

/** Endpoints of integrators on this machine, each with a path of its own. */
export class EventReceiver {
  readonly arrivals: Arrival[] = []
  /** Requests whose signature does not fit the secret of their endpoint. */
  readonly forged: string[] = []
  /** Requests that wait for their response, without those that hang. */
  inHands = 0
  answering: (arrival: Arrival) => Answering = () => ({ status: 200, afterMs: 0 })
  readonly #hanging: ServerResponse[] = []
  readonly #secrets = new Map<string, string>()

  private constructor(private readonly server: Server) {
    server.on("request", async (request, response) => {
      const at = Date.now()
      const body = await buffer(request).catch(() => null)
      if (!body) return
      const arrival = this.take(request.url!.slice(1), request.headers, body.toString(), at)
      const answer = this.answering(arrival)
      if (answer === "hang") return void this.#hanging.push(response)
      this.inHands += 1
      await sleep(answer.afterMs)
      this.inHands -= 1
      arrival.status = answer.status
      response.writeHead(answer.status).end()
    })
  }

  static async start() {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return new EventReceiver(server)
  }

  private take(endpoint: string, headers: IncomingHttpHeaders, body: string, at: number): Arrival {
    const { createdAt, payload } = JSON.parse(body)
    const arrival = { endpoint, id: String(headers["webhook-id"]), text: payload.text, afterMs: at - Date.parse(createdAt), status: null }
    this.arrivals.push(arrival)
    try {
      new Webhook(this.#secrets.get(endpoint)!).verify(body, headers as Record<string, string>)
    } catch (error) {
      this.forged.push(`${endpoint}, "${payload.text}": ${error}`)
    }
    return arrival
  }

  /** Registers an endpoint for the new messages of a company; returns its ID. */
  async register(serverUrl: string, token: string, endpoint: string): Promise<string> {
    const { port } = this.server.address() as AddressInfo
    const body = { url: `http://127.0.0.1:${port}/${endpoint}`, types: ["MESSAGE_CREATED"] }
    const made = await post(`${serverUrl}/api/event-webhooks`, token, body)
    if (made.status !== 201) throw new Error(`An endpoint was refused with ${made.status}: ${JSON.stringify(made.body)}`)
    this.#secrets.set(endpoint, made.body.secret)
    return made.body.id
  }

  /** Answers the requests that hang. */
  release() {
    for (const response of this.#hanging.splice(0)) response.end()
  }

  /** Names of the registered endpoints. */
  get endpoints(): string[] {
    return [...this.#secrets.keys()]
  }

  close() {
    this.server.closeAllConnections()
    this.server.close()
  }
}
