import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { setImmediate as turn } from "node:timers/promises"
import { HeldSession } from "../../src/database/embedded/held-session.js"
import { freePort } from "../kit/free-port.js"

/** Opens a session that fails, and returns why. No timer waits afterwards: it would open the session later, and nobody would close it. */
async function failed(port: number): Promise<string> {
  const timers = jest.spyOn(globalThis, "setTimeout")
  const cleared = jest.spyOn(globalThis, "clearTimeout")
  try {
    const reason = await HeldSession.open(`postgres://platform@127.0.0.1:${port}/platform`, async () => {}).catch(String)
    // The end of a connection is told after its error.
    for (let turns = 0; turns < 10; turns += 1) await turn()
    const ended = cleared.mock.calls.map(([timer]) => timer)
    expect(timers.mock.results.filter(({ value }) => !ended.includes(value)).length).toBe(0)
    return String(reason)
  } finally {
    timers.mockRestore()
    cleared.mockRestore()
  }
}

describe("a session that a start cannot open", () => {
  it("is not opened later when nothing listens", async () => {
    expect(await failed(await freePort())).toContain("ECONNREFUSED")
  })

  it("is not opened later when the database ends the connection, because it stops", async () => {
    const stopping = createServer((socket) => void socket.once("data", () => socket.destroy())).listen(0, "127.0.0.1")
    await once(stopping, "listening")
    expect(await failed((stopping.address() as AddressInfo).port)).toContain("Connection terminated")
    stopping.close()
    await once(stopping, "close")
  })
})
