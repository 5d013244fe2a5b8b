import { once } from "node:events"
import { connect } from "node:net"
import { promised } from "../kit/promise.js"
import { serverProcess } from "../kit/server-process.js"
import { happens, until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, gql, rest } = w

/** A raw connection; the client reads only when the test does. */
async function opened() {
  const socket = connect(Number(new URL(w.url).port), "127.0.0.1")
  await happens("the server accepts the connection", once(socket, "connect"))
  return socket.pause()
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Access-Token: ${acme.token}\r\n\r\n`

/** Reads until as many responses have begun; returns their statuses. */
async function statusesOf(socket: Awaited<ReturnType<typeof opened>>, count: number) {
  const statuses: string[] = []
  let rest = ""
  socket.setEncoding("latin1")
  for await (const part of socket) {
    const text = rest + part
    statuses.push(...[...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status!))
    rest = text.slice(-12)
    if (/HTTP\/1\.1 \d{3} /.test(rest)) rest = ""
    if (statuses.length >= count) return statuses
  }
  return statuses
}

it("pipelined requests are handled while their responses are read, and all are answered", async () => {
  const chat = await acme.chat()
  const input = `input: { chatId: "${chat.id}", text: "${"x".repeat(16_000)}" }`
  await gql(acme.token, `mutation { ${Array.from({ length: 20 }, (_, index) => `m${index}: createMessage(${input}) { id }`)} }`)
  const handled = jest.spyOn(w.services.limits.credential, "count")
  const socket = await opened()
  // 32 MB of responses.
  socket.write(get(`/api/messages?chatId=${chat.id}&take=20`).repeat(100))
  await rest.as(acme.owner.jwt).get("/api/chats").expect(200)
  expect(handled.mock.calls.length).toBeLessThan(40)
  expect(await statusesOf(socket, 100)).toEqual(Array.from({ length: 100 }, () => "200"))
  expect(handled.mock.calls.length).toBe(101)
  handled.mockRestore()
  socket.destroy()
})

promised("more of them than may wait are all answered too, in their order", async () => {
  const socket = await opened()
  const paths = Array.from({ length: 500 }, (_, index) => (index % 2 ? "/health/live" : "/api/nothing"))
  socket.write(paths.map(get).join(""))
  expect(await statusesOf(socket, 500)).toEqual(paths.map((_, index) => (index % 2 ? "200" : "404")))
  socket.destroy()
})

it("a body after other requests is read", async () => {
  const socket = await opened()
  const body = JSON.stringify({ name: "Pipelined" })
  const head = `POST /api/chat-folders HTTP/1.1\r\nHost: x\r\nX-Access-Token: ${acme.token}\r\nContent-Type: application/json\r\n`
  const [first, second] = [body.slice(0, 5), body.slice(5)]
  socket.write(`${get("/api/chats").repeat(300)}${head}Content-Length: ${body.length}\r\n\r\n${first}`)
  await rest.as(acme.owner.jwt).get("/api/chats").expect(200)
  socket.write(second)
  expect((await statusesOf(socket, 301)).at(-1)).toBe("201")
  socket.destroy()
})

it("a client that resets its connection leaves nothing to do", async () => {
  const socket = await opened()
  socket.on("error", () => {})
  socket.write(get("/api/chats").repeat(300))
  await rest.as(acme.owner.jwt).get("/api/chats").expect(200)
  socket.resetAndDestroy()
  await rest.as(acme.owner.jwt).get("/api/chats").expect(200)
})

it("at a stop each response is the last one of its connection, so that a proxy that keeps connections does not hold the stop up", async () => {
  const server = await w.another()
  const { port } = new URL(server.url)
  const socket = connect(Number(port), "127.0.0.1").setEncoding("latin1")
  let received = ""
  socket.on("data", (part) => (received += part))
  const body = JSON.stringify({ name: "Last" })
  const head = `POST /api/chat-folders HTTP/1.1\r\nHost: x\r\nX-Access-Token: ${acme.token}\r\nContent-Type: application/json\r\n`
  socket.write(`${head}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`)
  await until("the server asks for the body", () => received.includes("100 Continue"))
  const stopped = server.stop()
  await until("the server accepts no more connections", () =>
    fetch(`${server.url}/health/live`).then(
      () => false,
      () => true,
    ),
  )
  const ended = once(socket, "end")
  socket.write(body)
  await ended
  expect(received).toMatch(/^HTTP\/1\.1 201 [\s\S]*\r\nConnection: close\r\n/m)
  await stopped
})

it("at a stop the connections that wait to be accepted are answered", async () => {
  const server = await serverProcess(w)
  const { port } = new URL(server.url)
  // The system opens the connections; the process learns of them together with the signal.
  server.freeze(true)
  const sockets = Array.from({ length: 60 }, () => connect(Number(port), "127.0.0.1").setEncoding("latin1"))
  await Promise.all(sockets.map((socket) => happens("the server accepts the connection", once(socket, "connect"))))
  const answers = sockets.map(async (socket) => {
    socket.write(get("/health/live"))
    const [text] = await happens("the server answers", once(socket, "data"))
    return text.slice(0, 15)
  })
  const stopped = server.stop()
  server.freeze(false)
  expect(await Promise.all(answers)).toEqual(sockets.map(() => "HTTP/1.1 200 OK"))
  for (const socket of sockets) socket.destroy()
  await stopped
})
