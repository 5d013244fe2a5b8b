import { io, type ManagerOptions, type SocketOptions } from "socket.io-client"
import { endOfLog, type HeardEvent } from "./sockets.js"
import { happens } from "./wait.js"
import type { World } from "./world.js"

/** The options of a client. Without `lastEventId` it gets everything that is committed from now on; `null` sends none. */
export interface SocketIoOptions {
  namespace?: "/" | "/ws"
  /** Default: polling first, then an upgrade. */
  transport?: "polling" | "websocket"
  companyId?: unknown
  lastEventId?: unknown
  /** The whole `auth`, or a function that makes it, instead of the above. */
  auth?: object | ((send: (auth: object) => void) => void)
  headers?: Record<string, string>
  url?: string
  /** Whether it comes back by itself. Default: no. */
  returns?: boolean
}

/**
 * Connects the standard client of Socket.IO.
 * @example const client = await socketIo(w, acme.token); await acme.message({ chatId }); const [event] = await client.take(1)
 */
export async function socketIo(world: World, credential: string | null, options: SocketIoOptions = {}) {
  const { namespace = "/", transport, companyId, lastEventId = await endOfLog(world), headers, returns = false } = options
  const auth = { ...(credential && { token: credential }), ...(companyId !== undefined && { companyId }), lastEventId }
  const settings: Partial<ManagerOptions & SocketOptions> = {
    auth: (options.auth as object | undefined) ?? auth,
    forceNew: true,
    reconnection: returns,
    reconnectionDelay: 20,
    reconnectionDelayMax: 50,
    ...(transport && { transports: [transport] }),
    ...(headers && { extraHeaders: headers }),
  }
  const socket = io((options.url ?? world.url) + namespace, settings)
  const heard: HeardEvent[] = []
  const waiting: (() => void)[] = []
  socket.onAny((name: string, event: HeardEvent, ...more: unknown[]) => {
    if (name !== event.type || more.length > 0) throw new Error(`The event ${name} has other arguments`)
    heard.push(event)
    for (const wake of waiting.splice(0)) wake()
  })
  const disconnected = new Promise<string>((resolve) => socket.once("disconnect", resolve))
  const outcome = new Promise<"connected" | Refusal>((resolve) => {
    socket.once("connect", () => resolve("connected"))
    socket.once("connect_error", (error) => {
      const { data } = error as Error & { data?: Refusal["data"] }
      resolve({ message: error.message, data, active: socket.active })
    })
  })
  let taken = 0
  const look = () => ({ isConnected: socket.connected, count: heard.length, types: heard.slice(-10).map(({ type }) => type) })
  const has = async (total: number) => {
    while (heard.length < total) await new Promise<void>((resolve) => waiting.push(resolve))
  }
  return {
    socket,
    /** All received events. */
    heard,
    /** Whether it is connected, or the refusal. */
    outcome: () => happens("the client of Socket.IO is connected or refused", outcome, look),
    /** The reason of the first disconnection. */
    disconnected: () => happens("the client of Socket.IO is disconnected", disconnected, look),
    /** The next events. */
    async take(count: number): Promise<HeardEvent[]> {
      taken += count
      await happens(`the client of Socket.IO has ${taken} events`, has(taken), look)
      return heard.slice(taken - count, taken)
    },
    /** Name of the transport in use. */
    transport: () => socket.io.engine.transport.name,
    stop: () => void socket.disconnect(),
  }
}

/** A `connect_error`, and whether the client goes on trying. */
export interface Refusal {
  message: string
  data: { statusCode: number; code: string } | undefined
  active: boolean
}
