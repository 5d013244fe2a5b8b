import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { connect } from "../../src/database/connect.js"
import { until } from "../kit/wait.js"

/** A message of PostgreSQL's that asks for authentication: its kind, and what belongs to it. */
function authentication(kind: number, content: string): Buffer {
  const message = Buffer.alloc(9 + content.length)
  message.write("R")
  message.writeInt32BE(8 + content.length, 1)
  message.writeInt32BE(kind, 5)
  message.write(content, 9)
  return message
}

it("a connection for which there is no password is closed, since PostgreSQL would keep it for a minute", async () => {
  const open = new Set<Socket>()
  let connections = 0
  // As PostgreSQL asks by SCRAM-SHA-256: which mechanisms it knows, and then for a proof of the password.
  const requests = [authentication(10, "SCRAM-SHA-256\0\0"), authentication(11, "r=nonce,s=c2FsdA==,i=4096")]
  const server = createServer((socket) => {
    connections += 1
    open.add(socket)
    const left = [...requests]
    socket.on("data", () => left.length > 0 && socket.write(left.shift()!))
    socket.on("error", () => {})
    socket.on("close", () => open.delete(socket))
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const message = expect.stringContaining("wants a password: DATABASE_URL has none")
  await expect(connect(`postgres://platform@127.0.0.1:${port}/platform`)).rejects.toMatchObject({ message })
  await until("the connection is closed", () => open.size === 0)
  expect(connections).toBe(1)
  server.close()
})
