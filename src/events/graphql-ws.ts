import type { Server } from "node:http"
import {
  type DocumentNode,
  type ExecutionArgs,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  parse,
  subscribe,
  validate,
} from "graphql"
import type { Context as Connection, SubscribePayload } from "graphql-ws"
import { type Extra, useServer } from "graphql-ws/use/ws"
import { LRUCache } from "lru-cache"
import { v7 } from "uuid"
import { type WebSocket, WebSocketServer } from "ws"
import { isUuid } from "../entities/kit/scalars.js"
import { ApiError, describe } from "../errors.js"
import { limits } from "../limits.js"
import { authenticate, type Credentials, ExpiredCredentials } from "../schema/kit/authenticate.js"
import { compiled } from "../schema/kit/compiled.js"
import { companiesOf, type Identity } from "../schema/kit/identity.js"
import { refuseExcess } from "../schema/kit/operation-limits.js"
import type { Services } from "../schema/kit/services.js"
import { Viewer } from "../schema/kit/viewer.js"
import type { OpenSockets } from "./open-sockets.js"

/** Close codes of the contract, section 7. */
const unauthorized = 4401
const forbidden = 4403
/** The stock client comes back after it, unlike after 1011. */
const tryAgainLater = 1013

interface Opened extends Extra, Record<PropertyKey, unknown> {
  identity?: Identity
  companyId?: string | null
  leave?: () => void
}
type Open = Connection<Record<string, unknown>, Opened>

/** Serves graphql-transport-ws on `/graphql` and `/ws`; answers how to close every socket. */
export function serveSockets(http: Server, schema: GraphQLSchema, services: Services, sockets: OpenSockets, showError: ErrorView) {
  const wss = new WebSocketServer({
    noServer: true,
    maxPayload: limits.bodyBytes,
    handleProtocols: (offered) => offered.has("graphql-transport-ws") && "graphql-transport-ws",
  })
  const documents = new LRUCache<string, DocumentNode>({ max: limits.socketDocuments })
  const viewerOf = (open: Open) => viewerOn(services, open)

  const server = useServer<Record<string, unknown>, Opened>(
    {
      onConnect: (open) => connect(services, sockets, open as Open),
      onDisconnect: (open) => (open as Open).extra.leave?.(),
      async onSubscribe(open, _id, payload) {
        const viewer = viewerOf(open as Open)
        try {
          return prepared(schema, documents, payload, viewer)
        } catch (error) {
          return (Array.isArray(error) ? error : [error]).map((each) => showError(each, viewer.request))
        }
      },
      execute: (args: ExecutionArgs) =>
        compiled(schema, args.document, args.operationName ?? "")(args.contextValue, args.variableValues ?? {}),
      subscribe,
      onNext(open, _id, _payload, args, result) {
        if (!result.errors) return result
        const errors = result.errors.map((error) => showError(error, (args.contextValue as Viewer).request))
        // An event that could not be completed would be lost behind its cursor: the subscriber comes back and gets it whole.
        const isEvent = result.data !== undefined && getOperationAST(args.document, args.operationName)?.operation === "subscription"
        if (isEvent && errors.some(({ extensions }) => extensions["statusCode"] === 503))
          (open as Open).extra.socket.close(tryAgainLater, "Try again later; resume with after")
        return { ...result, errors }
      },
      onError(open, _id, _payload, errors) {
        const { request } = viewerOf(open as Open)
        return errors.map((error) => (error.extensions?.["requestId"] ? error : showError(error, request)))
      },
    },
    wss as never,
  )
  // graphql-ws writes a broken frame to the console, as an error of ours; it is the client's, and ws closes the socket by itself.
  wss.on("connection", (socket) => {
    socket.removeAllListeners("error").on("error", (error) => services.log.debug({ err: error }, "a socket sent a broken frame"))
  })
  http.on("upgrade", (request, socket, head) => {
    // From here on Node listens to the socket no more: without a listener, a client that resets the connection would end the process.
    socket.on("error", (error) => services.log.debug({ err: error }, "an upgrade was broken off"))
    // Not by URL, which throws at addresses that a stranger may well send; nobody would catch it here.
    const path = request.url?.split("?")[0]
    if (path !== "/graphql" && path !== "/ws") {
      // The client may never close its side.
      socket.once("finish", () => socket.destroy())
      return void socket.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    }
    wss.handleUpgrade(request, socket, head, (ws) => wss.emit("connection", ws, request))
  })
  return {
    /** Closes every socket with 1012: its client comes back, to another instance or to the next start, and resumes. */
    async close() {
      for (const socket of wss.clients) socket.close(1012, "Restarting; resume with after")
      await server.dispose()
    },
  }
}

/** Makes the error that a client is shown, and logs what is ours. */
export type ErrorView = (error: unknown, request: Viewer["request"]) => GraphQLError

async function connect(services: Services, sockets: OpenSockets, open: Open): Promise<boolean> {
  const socket = open.extra.socket as unknown as WebSocket
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
  Object.assign(open.extra, { identity, companyId, leave })
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

function viewerOn(services: Services, { extra }: Open): Viewer {
  const requestId = v7()
  const socket = extra.socket as unknown as WebSocket
  return new Viewer(services, extra.identity ?? { kind: "anonymous" }, {
    requestId,
    address: extra.request.socket.remoteAddress ?? "-",
    log: services.log.child({ requestId }),
    headers: {},
    socket: { companyId: extra.companyId ?? null, close: (code, reason) => socket.close(code, reason) },
  })
}

/** Parses, validates and measures an operation, as the HTTP door does; throws errors, alone or as a list. */
function prepared(
  schema: GraphQLSchema,
  documents: LRUCache<string, DocumentNode>,
  payload: SubscribePayload,
  viewer: Viewer,
): ExecutionArgs {
  const { query, operationName, variables } = payload
  const document = documents.get(query) ?? parse(query, { maxTokens: limits.graphqlTokens })
  if (!documents.has(query)) {
    const errors = validate(schema, document)
    if (errors.length > 0) throw errors
    documents.set(query, document)
  }
  const operation = getOperationAST(document, operationName)
  if (!operation) throw new GraphQLError("Say which operation to run: operationName names none of the document's")
  refuseExcess(schema, document, operation, variables ?? {})
  return { schema, document, operationName, variableValues: variables ?? {}, contextValue: viewer }
}
