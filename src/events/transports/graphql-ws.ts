import type { IncomingMessage } from "node:http"
import type { ExecutionArgs, ExecutionResult, GraphQLError, GraphQLSchema } from "graphql"
import { type Context as Connection, makeServer } from "graphql-ws"
import { v7 } from "uuid"
import { WebSocketServer } from "ws"
import { beginOperation } from "../../context/admission.js"
import { authenticate, type Credentials, ExpiredCredentials } from "../../context/authenticate.js"
import { cacheOwnerOf, companiesOf, credentialOf, type Identity } from "../../context/identity.js"
import { RequestContext } from "../../context/request-context.js"
import type { Services } from "../../context/services.js"
import { isUuid } from "../../entities/kit/scalars.js"
import { ApiError, describe } from "../../errors/errors.js"
import { type OperationEngine, type PreparedOperation, shownErrors } from "../../graphql/engine.js"
import { rootLimits } from "../../limits.js"
import { timed } from "../../observability/longest-turns.js"
import { SampledLog } from "../../observability/sampled-log.js"
import { type EventResult, EventResults, sendingEvents } from "./event-results.js"
import type { CloseCause, OpenSockets } from "./open-sockets.js"
import { cutSocket, type SocketFacts, serveSocket, tryAgainLater } from "./socket.js"
import { type BeginOperation, EventExecutions } from "./socket-operations.js"
import { closeSpread } from "./spread.js"
import type { UpgradeHandler } from "./upgrades.js"

/** Close codes of the contract, section 7. */
const unauthorized = 4401
const forbidden = 4403
const closings: Record<CloseCause, [code: number, reason: string]> = {
  revoked: [unauthorized, "The credentials were revoked or have expired"],
  expired: [forbidden, "The token has expired"],
  "company lost": [forbidden, "This company is not yours any more"],
  "memberships changed": [1012, "Come back and resume"],
}

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
  /** Sends the result for an event of a subscription. */
  send(result: EventResult): Promise<void> | void
}

/** Serves graphql-transport-ws; returns the handler of its upgrades. `addressOf` gives the client's address. */
export function serveGraphqlWs(
  schema: GraphQLSchema,
  engine: OperationEngine,
  services: Services,
  sockets: OpenSockets,
  addressOf: (request: IncomingMessage) => string,
): UpgradeHandler {
  const wss = new WebSocketServer({
    noServer: true,
    maxPayload: rootLimits.bodyBytes,
    handleProtocols: (offered) => offered.has("graphql-transport-ws") && "graphql-transport-ws",
  })
  const contextOf = (open: Open) => contextOn(services, open)

  const executions = new EventExecutions()
  const eventResults = new EventResults()
  const log = new SampledLog(services.log)
  const server = makeServer<Record<string, unknown>, Opened>({
    onConnect: (open) => connect(services, sockets, open),
    onDisconnect: (open) => open.extra.leave?.(),
    async onSubscribe(open, id, payload) {
      const contextValue = contextOf(open)
      const variableValues = payload.variables ?? {}
      const { identity } = contextValue
      let leave = () => {}
      try {
        // Like a request: otherwise one socket would avoid the limit of its credential.
        await services.limits.credential.count(credentialOf(identity)!, contextValue.request.headers)
        const begun = await beginOperation(services, identity, open.extra.address)
        leave = begun.end
        const prepared = engine.prepareForClient(schema, engine.trusted?.resolve(payload) ?? payload, cacheOwnerOf(identity))
        engine.check(prepared, variableValues)
        const { document, operation } = prepared
        const endOperation = open.extra.begin!(operation.operation)
        // What a subscription reads is counted for each event by itself.
        if (operation.operation !== "subscription") contextValue.request.reads = begun.reads
        const end = () => {
          endOperation()
          leave()
        }
        const operationName = operation.name?.value
        const send = sendTo(open, id)
        return { schema, document, operationName, variableValues, contextValue, prepared, end, send } satisfies Prepared
      } catch (error) {
        leave()
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
      const { prepared, contextValue, variableValues, end, send } = args as Prepared
      try {
        const { identity } = contextValue
        const resultOf = eventResults.for(prepared, identity, variableValues)
        const started = await engine.subscribe(prepared, contextValue, variableValues, "graphql-ws")
        if ("events" in started) {
          const compute = (event: object) => executions.run(identity, async () => encoded(await started.run(event), contextValue))
          return sendingEvents(started.events, (event) => resultOf(event, () => compute(event)), send, end)
        }
        end()
        return started
      } catch (error) {
        end()
        return { errors: [error as GraphQLError] }
      }
    },
    onNext(_open, _id, _payload, args, result) {
      return result.errors ? { ...result, errors: shownErrors(result.errors, (args.contextValue as RequestContext).request) } : result
    },
    onError(open, _id, _payload, errors) {
      const { request } = contextOf(open)
      return errors.flatMap((error) => (error.extensions?.["requestId"] ? error : shownErrors(error, request)))
    },
  })
  wss.on("connection", (socket, request) => serveSocket(server, { socket, address: addressOf(request) }, log, services.metrics))
  return {
    upgrade: (request, socket, head) => wss.handleUpgrade(request, socket, head, (ws) => wss.emit("connection", ws, request)),
    /** Closes every socket with 1012, after which its client reconnects, to this or another instance, and resumes. */
    async close() {
      await closeSpread([...wss.clients], (socket) => socket.close(1012, "Restarting; resume with after"))
      await new Promise((resolve) => wss.close(resolve))
    },
  }
}

/** A result for an event as it is sent to each of its subscribers. */
function encoded(result: ExecutionResult, { request }: RequestContext): EventResult {
  const errors = result.errors && shownErrors(result.errors, request)
  const text = timed("serialize", () => JSON.stringify(errors ? { ...result, errors } : result))
  const bytes = Buffer.from(`${text}}`)
  return { bytes, isIncomplete: errors?.some(({ extensions }) => extensions["statusCode"] === 503) ?? false }
}

/** Sends the results for the events of a subscription, as the protocol's messages `next`. */
function sendTo({ extra }: Open, id: string) {
  const begin = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`)
  return ({ bytes, isIncomplete }: EventResult) => {
    // An event that could not be completed would be lost after its cursor: the subscriber reconnects and receives it in full.
    if (isIncomplete) extra.socket.close(tryAgainLater, "Try again later; resume with after")
    return extra.send(Buffer.concat([begin, bytes], begin.length + bytes.length))
  }
}

async function connect(services: Pick<Services, "database" | "log" | "secrets">, sockets: OpenSockets, open: Open): Promise<boolean> {
  const { socket } = open.extra
  const refuse = (code: number, reason: string) => {
    socket.close(code, reason)
    return false
  }
  const asked = credentials(open.connectionParams ?? {})
  let identity: Identity
  try {
    identity = await authenticate(services, asked)
  } catch (error) {
    if (error instanceof ExpiredCredentials) return refuse(forbidden, "The token has expired")
    const { statusCode } = describe(error)
    if (statusCode === 503) return refuse(tryAgainLater, "Try again later")
    if (error instanceof ApiError) return refuse(unauthorized, "Unauthorized")
    services.log.error({ err: error }, "a socket could not be opened")
    return refuse(1011, "Something went wrong on our side")
  }
  if (identity.kind === "anonymous") return refuse(unauthorized, "Unauthorized")
  const { companyId } = asked
  if (companyId !== null && !companiesOf(identity).includes(companyId)) return refuse(forbidden, "This company is not yours")
  const leave = sockets.enter(identity, (cause) => socket.close(...closings[cause]), companyId)
  Object.assign(open.extra, { identity, companyId, leave, begin: sockets.operations.of(identity) })
  return true
}

const text = (value: unknown) => (typeof value === "string" ? value : null)

/** Credentials and company in the connection parameters, whose names may be written in any case (contract, section 7). */
function credentials(parameters: Record<string, unknown>): Credentials & { companyId: string | null } {
  const given = new Map(Object.entries(parameters).map(([name, value]) => [name.toLowerCase(), value]))
  return {
    accessToken: text(given.get("accesstoken")) ?? text(given.get("x-access-token")),
    authorization: text(given.get("authorization")),
    companyId: askedCompany(given.get("auth")),
  }
}

/** The company in `auth: { companyId }`; a malformed one is out of reach like a foreign one. */
function askedCompany(auth: unknown): string | null {
  const { companyId } = (auth ?? {}) as { companyId?: unknown }
  if (companyId == null) return null
  return isUuid(companyId) ? companyId.toLowerCase() : "malformed"
}

function contextOn(services: Services, { extra }: Open): RequestContext {
  const requestId = v7()
  return new RequestContext(services, extra.identity ?? { kind: "anonymous" }, {
    requestId,
    address: extra.address,
    log: services.log.child({ requestId }),
    headers: {},
    socket: { companyId: extra.companyId ?? null, cut: () => cutSocket(extra.socket, services.metrics) },
  })
}
