import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { setImmediate as turn } from "node:timers/promises"
import { delayArrivals } from "../kit/jitter.js"
import { happens } from "../kit/wait.js"

it("what arrives late keeps its order, and the end of a connection comes last", async () => {
  const end = delayArrivals(7)
  const timers = jest.spyOn(globalThis, "setTimeout")
  try {
    const server = createServer((socket) => socket.pipe(socket)).listen(0, "127.0.0.1")
    await happens("the server listens", once(server, "listening"))
    const client = connect((server.address() as AddressInfo).port, "127.0.0.1").setNoDelay()
    const echo = client.toArray()
    const lines = Array.from({ length: 300 }, (_, index) => `${index}\n`)
    for (const line of lines) {
      client.write(line)
      await turn()
    }
    client.end()
    expect(Buffer.concat(await happens("the connection has ended", echo)).toString()).toBe(lines.join(""))
    expect(timers.mock.calls.length).toBeGreaterThan(1)
    server.close()
  } finally {
    timers.mockRestore()
    end()
  }
})
