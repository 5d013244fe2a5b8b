import type { Server } from "node:http"
import type { ExecutionArgs, GraphQLError, GraphQLSchema } from "graphql"
import { type Context as Connection, makeServer } from "graphql-ws"
import { v7 } from "uuid"
import { WebSocketServer } from "ws"
import { authenticate, type Credentials, ExpiredCredentials } from "../../context/authenticate.js"
import { companiesOf, credentialOf, type Identity } from "../../context/identity.js"
import { RequestContext } from "../../context/request-context.js"
import type { Services } from "../../context/services.js"
import { isUuid } from "../../entities/kit/scalars.js"
import { ApiError, describe } from "../../errors.js"
import { type OperationEngine, type PreparedOperation, shownErrors } from "../../graphql/engine.js"
import { rootLimits } from "../../limits.js"
import { SampledLog } from "../../observability/sampled-log.js"
import type { OpenSockets } from "./open-sockets.js"
import { type SocketFacts, serveSocket, tryAgainLater } from "./socket.js"
import { type BeginOperation, endingWith, SocketOperations } from "./socket-operations.js"

/** Close codes of the contract, section 7. */
const unauthorized = 4401
const forbidden = 4403

interface Opened extends SocketFacts {
  identity?: Identity
  companyId?: string | null
  begin?: BeginOperation
  leave?: () => void
}
type Open = Connection<Record<string, unknown>, Opened>

/** The value that `onSubscribe` passes on in graphql-ws. */
interface Prepared extends ExecutionArgs {
  prepared: PreparedOperation
  contextValue: RequestContext
  variableValues: Record<string, unknown>
  /** Ends the count of the operation. */
  end(): void
}

/** Serves graphql-transport-ws on `/graphql` and `/ws`; returns a function that closes every socket. */
export function serveSockets(http: Server, schema: GraphQLSchema, engine: OperationEngine, services: Services, sockets: OpenSockets) {
  const wss = new WebSocketServer({
    noServer: true,
    maxPayload: rootLimits.bodyBytes,
    handleProtocols: (offered) => offered.has("graphql-transport-ws") && "graphql-transport-ws",
  })
  const contextOf = (open: Open) => contextOn(services, open)

  const operations = new SocketOperations()
  const log = new SampledLog(services.log)
  const server = makeServer<Record<string, unknown>, Opened>({
    onConnect: (open) => connect(services, sockets, operations, open),
    onDisconnect: (open) => open.extra.leave?.(),
    async onSubscribe(open, _id, payload) {
      const contextValue = contextOf(open)
      const variableValues = payload.variables ?? {}
      try {
        // Like a request: otherwise one socket would avoid the limit of its credential.
        await services.limits.credential.count(credentialOf(contextValue.identity)!, contextValue.request.headers)
        const prepared = engine.prepare(schema, payload)
        engine.check(prepared, variableValues)
        const { document, operation } = prepared
        const end = open.extra.begin!(operation.operation)
        return { schema, document, operationName: operation.name?.value, variableValues, contextValue, prepared, end } satisfies Prepared
      } catch (error) {
        return shownErrors(error, contextValue.request)
      }
    },
    async execute(args) {
      const { prepared, contextValue, variableValues, end } = args as Prepared
      try {
        return await engine.run(prepared, contextValue, variableValues, "graphql-ws")
      } catch (error) {
        return { errors: [error as GraphQLError] }
      } finally {
        end()
      }
    },
    async subscribe(args) {
      const { prepared, contextValue, variableValues, end } = args as Prepared
      try {
        const results = await engine.subscribe(prepared, contextValue, variableValues, "graphql-ws")
        if (Symbol.asyncIterator in results) return endingWith(results, end)
        end()
        return results
      } catch (error) {
        end()
        return { errors: [error as GraphQLError] }
      }
    },
    onNext(open, _id, _payload, args, result) {
      if (!result.errors) return result
      const errors = shownErrors(result.errors, (args.contextValue as RequestContext).request)
      // An event that could not be completed would be lost after its cursor: the subscriber reconnects and receives it in full.
      const isEvent = result.data !== undefined && (args as Prepared).prepared.operation.operation === "subscription"
      if (isEvent && errors.some(({ extensions }) => extensions["statusCode"] === 503))
        open.extra.socket.close(tryAgainLater, "Try again later; resume with after")
      return { ...result, errors }
    },
    onError(open, _id, _payload, errors) {
      const { request } = contextOf(open)
      return errors.flatMap((error) => (error.extensions?.["requestId"] ? error : shownErrors(error, request)))
    },
  })
  wss.on("connection", (socket, request) => serveSocket(server, { socket, request }, log))
  http.on("upgrade", (request, socket, head) => {
    // Node no longer listens to the socket: without a listener, a client that resets the connection would end the process.
    socket.on("error", (error) => log.line("debug", "the client ended an upgrade", error))
    // Not parsed with URL, whose exception for a malformed path would not be caught here.
    const path = request.url?.split("?")[0]
    if (path !== "/graphql" && path !== "/ws") {
      // The client may never close its half of the connection.
      socket.once("finish", () => socket.destroy())
      return void socket.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    }
    wss.handleUpgrade(request, socket, head, (ws) => wss.emit("connection", ws, request))
  })
  return {
    /** Closes every socket with 1012, after which its client reconnects, to this or another instance, and resumes. */
    async close() {
      for (const socket of wss.clients) socket.close(1012, "Restarting; resume with after")
      await new Promise((resolve) => wss.close(resolve))
    },
  }
}

async function connect(
  services: Pick<Services, "database" | "log" | "secrets">,
  sockets: OpenSockets,
  operations: SocketOperations,
  open: Open,
): Promise<boolean> {
  const { socket } = open.extra
  const refuse = (code: number, reason: string) => {
    socket.close(code, reason)
    return false
  }
  const parameters = open.connectionParams ?? {}
  let identity: Identity
  try {
    identity = await authenticate(services, credentials(parameters))
  } catch (error) {
    if (error instanceof ExpiredCredentials) return refuse(forbidden, "The token has expired")
    const { statusCode } = describe(error)
    if (statusCode === 503) return refuse(tryAgainLater, "Try again later")
    if (error instanceof ApiError) return refuse(unauthorized, "Unauthorized")
    services.log.error({ err: error }, "a socket could not be opened")
    return refuse(1011, "Something went wrong on our side")
  }
  if (identity.kind === "anonymous") return refuse(unauthorized, "Unauthorized")
  const companyId = askedCompany(parameters)
  if (companyId !== null && !companiesOf(identity).includes(companyId)) return refuse(forbidden, "This company is not yours")
  const leave = sockets.enter(identity, (code, reason) => socket.close(code, reason), companyId)
  Object.assign(open.extra, { identity, companyId, leave, begin: operations.of(identity) })
  return true
}

const text = (value: unknown) => (typeof value === "string" ? value : null)

function credentials(parameters: Record<string, unknown>): Credentials {
  return {
    accessToken: text(parameters["accessToken"]),
    authorization: text(parameters["authorization"]) ?? text(parameters["Authorization"]),
  }
}

/** The company in `auth: { companyId }`; a malformed one is out of reach like a foreign one. */
function askedCompany(parameters: Record<string, unknown>): string | null {
  const auth = parameters["auth"] as { companyId?: unknown } | undefined
  if (auth?.companyId == null) return null
  return isUuid(auth.companyId) ? auth.companyId.toLowerCase() : "malformed"
}

function contextOn(services: Services, { extra }: Open): RequestContext {
  const requestId = v7()
  return new RequestContext(services, extra.identity ?? { kind: "anonymous" }, {
    requestId,
    address: extra.request.socket.remoteAddress ?? "-",
    log: services.log.child({ requestId }),
    headers: {},
    socket: { companyId: extra.companyId ?? null, close: (code, reason) => extra.socket.close(code, reason) },
  })
}
