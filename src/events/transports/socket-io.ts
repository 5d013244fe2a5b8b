import type { IncomingMessage, ServerResponse } from "node:http"
import { Server as EngineServer, type Socket as EngineSocket } from "engine.io"
import { OperationTypeNode } from "graphql"
import { type DefaultEventsMap, type ExtendedError, type Namespace, Server, type Socket } from "socket.io"
import { v7 } from "uuid"
import { admit } from "../../context/admission.js"
import { credentialOf, type Identity } from "../../context/identity.js"
import { addressKey } from "../../context/rate-limit.js"
import type { Services } from "../../context/services.js"
import {
  ApiError,
  BadUserInput,
  describe,
  Forbidden,
  MethodNotAllowed,
  RateLimited,
  toRestBody,
  Unauthenticated,
} from "../../errors/errors.js"
import { SampledLog } from "../../observability/sampled-log.js"
import { eventLimits } from "../limits.js"
import type { LoggedEvent } from "../logged-event.js"
import { EventBatches } from "./event-batches.js"
import type { CloseCause, OpenSockets } from "./open-sockets.js"
import { readsTooSlowly, SocketIoConnection } from "./socket-io-connection.js"
import { companyIdIn, companyOf, credentialsOf, cursorOf } from "./socket-io-handshake.js"
import { closeSpread } from "./spread.js"
import { refuseUpgrade, type UpgradeHandler } from "./upgrades.js"

/** What the server knows of the socket of a client in a namespace. */
interface SocketFacts {
  identity: Identity
  companyId: string
  events: AsyncIterableIterator<LoggedEvent>
  /** Whether it has received everything that it missed. */
  isLive: boolean
  connection: SocketIoConnection
  /** Releases what the socket uses. */
  session: Disposable
}
type EventSocket = Socket<DefaultEventsMap, DefaultEventsMap, DefaultEventsMap, SocketFacts>
type EventNamespace = Namespace<DefaultEventsMap, DefaultEventsMap, DefaultEventsMap, SocketFacts>

/** The methods of its requests; OPTIONS is answered by CORS. */
const methods = ["GET", "POST", "OPTIONS"]

/** Sends the events of a company over Socket.IO, on the namespaces `/` and `/ws` (contract, section 7). */
export class SocketIo implements UpgradeHandler {
  readonly #io = new Server({ connectTimeout: eventLimits.socketIoConnectMs, serveClient: false })
  readonly #engine: EngineServer
  readonly #connections = new Map<EngineSocket, SocketIoConnection>()
  /** Connections without a namespace, by client address. */
  readonly #unopened = new Map<string, Set<SocketIoConnection>>()
  readonly #log: SampledLog
  #isClosing = false

  constructor(
    private readonly services: Pick<Services, "config" | "database" | "log" | "secrets" | "limits" | "metrics" | "eventStream">,
    private readonly sockets: OpenSockets,
    private readonly addressOf: (request: IncomingMessage) => string,
    corsSeconds: number,
  ) {
    this.#log = new SampledLog(services.log)
    const { corsOrigins } = services.config
    this.#engine = new EngineServer({
      maxHttpBufferSize: eventLimits.socketIoMessageBytes,
      pingInterval: eventLimits.socketIoPingMs,
      pingTimeout: eventLimits.socketIoPingAnswerMs,
      perMessageDeflate: false,
      // As of other responses, compression is the proxy's work.
      httpCompression: false,
      cors: { origin: corsOrigins.includes("*") ? "*" : [...corsOrigins], methods, maxAge: corsSeconds },
    })
    this.#io.bind(this.#engine)
    this.#engine.on("connection", (engine: EngineSocket) => this.onConnection(engine))
    this.#engine.on("connection_error", ({ message }) =>
      this.#log.line("debug", "a request of Socket.IO was refused", { err: new Error(message) }),
    )
    for (const name of ["/", "/ws"]) this.serve(this.#io.of(name))
  }

  /** Handles a request of a client that polls. */
  handle(request: IncomingMessage, response: ServerResponse) {
    const refusal = methods.includes(request.method!) ? this.refusalOf(request) : new MethodNotAllowed(methods.join(", "))
    const requestId = v7()
    response.setHeader("X-Request-Id", requestId)
    if (!refusal) return this.#engine.handleRequest(request as never, response)
    const headers = { ...refusal.headers, "Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store" }
    response.writeHead(refusal.statusCode, headers).end(JSON.stringify(toRestBody(refusal, requestId)))
  }

  upgrade: UpgradeHandler["upgrade"] = (request, socket, head) => {
    const refusal = this.refusalOf(request)
    if (refusal) refuseUpgrade(socket, refusal)
    else this.#engine.handleUpgrade(request as never, socket, head)
  }

  /** Asks the clients to come back, a few at a time, and resolves when all connections are closed. */
  async close() {
    this.#isClosing = true
    const open = [...this.#connections.values()]
    await closeSpread(open, (connection) => connection.end())
    await Promise.all(open.map(({ closed }) => closed))
    await this.#io.close()
  }

  /** Why a handshake is refused before it begins; null for one that is not, and for requests of open connections. */
  private refusalOf(request: IncomingMessage): ApiError | null {
    // Engine.IO, too, takes the last of several.
    if (new URLSearchParams(request.url!.split("?")[1]).getAll("sid").at(-1)) return null
    if (this.#isClosing) return closed()
    const unopened = this.#unopened.get(addressKey(this.addressOf(request)))?.size ?? 0
    return unopened < eventLimits.socketIoUnopened ? null : new RateLimited(1, "Too many connections of this address wait for a namespace")
  }

  private onConnection(engine: EngineSocket) {
    const address = this.addressOf(engine.request)
    const connection = new SocketIoConnection(engine, address, (reason) => {
      this.#log.line("info", reason)
      if (reason === readsTooSlowly) this.services.metrics.socketsCut.inc({ transport: "socket.io" })
    })
    this.#connections.set(engine, connection)
    const key = addressKey(address)
    this.#unopened.set(key, (this.#unopened.get(key) ?? new Set()).add(connection))
    void connection.closed.then(() => {
      this.#connections.delete(engine)
      this.forgetUnopened(connection)
    })
  }

  private forgetUnopened(connection: SocketIoConnection) {
    const key = addressKey(connection.address)
    const unopened = this.#unopened.get(key)
    unopened?.delete(connection)
    if (unopened?.size === 0) this.#unopened.delete(key)
  }

  private serve(namespace: EventNamespace) {
    const batches = new EventBatches(namespace)
    namespace.use((socket, next) => {
      this.open(socket).then(
        () => next(),
        (error) => this.refuse(socket, error, next),
      )
    })
    namespace.on("connection", (socket) => {
      const { connection, session } = socket.data
      this.forgetUnopened(connection)
      socket.on("disconnect", () => session[Symbol.dispose]())
      socket.on("join", (...given) => void this.join(socket, given))
      void this.sendEvents(socket, batches)
    })
  }

  /** Checks the credentials of a socket and begins its events; throws what the client is told. */
  private async open(socket: EventSocket) {
    const connection = this.connectionOf(socket.conn)
    if (!connection?.isOpen) throw closed()
    const namespace = socket.nsp.name
    if (!connection.enter(namespace)) throw new BadUserInput("This connection is in the namespace already")
    using session = new DisposableStack()
    session.defer(() => connection.leave(namespace))
    const auth = socket.handshake.auth as Record<string, unknown>
    const identity = await admit(this.services, credentialsOf(socket.handshake), { address: connection.address, headers: {} })
    if (identity.kind === "anonymous") throw new Unauthenticated()
    if (identity.kind === "visitor") throw new Forbidden("A visitor's token subscribes over graphql-ws, to the events of its own chat")
    const companyId = companyOf(identity, auth["companyId"])
    const after = cursorOf(auth["lastEventId"])
    session.defer(this.sockets.operations.of(identity)(OperationTypeNode.SUBSCRIPTION))
    const data = { identity, companyId, connection, isLive: false } as SocketFacts
    data.events = await this.services.eventStream({
      companyIds: [companyId],
      after,
      onSlow: () => connection.cut(readsTooSlowly),
      onCaughtUp: () => {
        data.isLive = true
      },
    })
    session.defer(() => void data.events.return?.())
    session.defer(this.sockets.enter(identity, (cause) => close(socket, connection, cause), companyId))
    if (!connection.isOpen) throw closed()
    data.session = session.move()
    connection.keep(namespace, data.session)
    socket.data = data
  }

  /** Tells a client why it is refused; one that is refused does not try again by itself, unless its connection is closed. */
  private refuse({ conn }: EventSocket, error: unknown, next: (error: ExtendedError) => void) {
    const { statusCode, code, message, unexpected } = describe(error)
    if (unexpected) this.services.log.error({ err: error }, "a socket could not be opened")
    const refusal = Object.assign(new Error(message), { data: { statusCode, code } })
    const connection = this.connectionOf(conn)
    if (statusCode !== 503 || !connection) return next(refusal)
    connection.end()
    void connection.closed.then(() => next(refusal))
  }

  private connectionOf(engine: EventSocket["conn"]) {
    return this.#connections.get(engine as unknown as EngineSocket)
  }

  private async sendEvents(socket: EventSocket, batches: EventBatches) {
    const { events, connection } = socket.data
    try {
      for await (const event of events) {
        // Live events are sent at once, up to the limit of what a client may leave unread.
        if (!socket.data.isLive) await connection.readable()
        if (!socket.connected) return
        await batches.send(event, socket.id)
      }
    } catch (error) {
      const isUnavailable = describe(error).statusCode === 503
      this.#log.line(isUnavailable ? "info" : "error", "the events of a socket could not be read", { err: error })
      // The client comes back and resumes.
      connection.end()
    }
  }

  /** Answers the event `join`: a socket has the events of its company from the beginning, and of no other. */
  private async join({ data: { identity, companyId } }: EventSocket, given: unknown[]) {
    const answer = given.pop()
    if (typeof answer !== "function") return
    try {
      await this.services.limits.credential.count(credentialOf(identity)!, {})
      const [asked] = given
      const named = companyIdIn(asked instanceof Object && "companyId" in asked ? asked.companyId : asked)
      if (named && named !== companyId) throw new Forbidden("This socket has the events of another company")
      answer({ ok: true })
    } catch (error) {
      const { statusCode, code, unexpected } = describe(error)
      if (unexpected) this.services.log.error({ err: error }, "a socket could not join")
      answer({ statusCode, code })
    }
  }
}

const closed = () => new ApiError(503, "SERVICE_UNAVAILABLE", "The connection was closed: connect again")

/** After these causes a client is told not to come back; after the others it does. */
const final: CloseCause[] = ["revoked", "company lost"]

function close(socket: EventSocket, connection: SocketIoConnection, cause: CloseCause) {
  if (!final.includes(cause)) return connection.end()
  // Other namespaces of the connection have credentials of their own.
  socket.disconnect()
  if (connection.isUnused) connection.end()
}
