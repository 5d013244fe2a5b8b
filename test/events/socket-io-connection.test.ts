import { EventEmitter } from "node:events"
import type { Socket as EngineSocket } from "engine.io"
import { SocketIoConnection } from "../../src/events/transports/socket-io-connection.js"

/** A packet for several sockets, with the frame that it has for WebSockets. */
const packet = () => ({ data: "2[]", options: { compress: false, wsPreEncodedFrame: [Buffer.from("frame")] } })

function connectionBy(transport: object) {
  const engine = Object.assign(new EventEmitter(), { transport, readyState: "open" })
  const connection = new SocketIoConnection(engine as unknown as EngineSocket, "192.0.2.1", () => {})
  return { engine, connection }
}

it("a packet that waits for a client that polls keeps no frame of a WebSocket: its block of memory would wait, too", () => {
  const { engine } = connectionBy({ writable: false })
  const [waiting, shared] = [packet(), packet()]
  const { options } = waiting
  engine.emit("packetCreate", waiting)
  expect(waiting.options).toEqual({ compress: false, wsPreEncodedFrame: undefined })
  // Other sockets share the options.
  expect(options).toEqual(shared.options)
})

it.each([
  ["leaves at once", { writable: true }],
  ["waits for a WebSocket", { writable: false, socket: { bufferedAmount: 0 } }],
])("a packet that %s keeps its frame", (_name, transport) => {
  const { engine } = connectionBy(transport)
  const sent = packet()
  engine.emit("packetCreate", sent)
  expect(sent).toEqual(packet())
})
