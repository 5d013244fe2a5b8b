import { createServer } from "node:http"
import { text } from "node:stream/consumers"
import { type WebSocket, WebSocketServer } from "ws"

// Raw ws: sends what is posted to every socket, as the payload of the protocol's message for the socket's subscription.
const server = createServer(async (request, response) => {
  if (request.method === "POST") {
    const payload = await text(request)
    for (const [socket, id] of subscribers) socket.send(`{"id":"${id}","type":"next","payload":${payload}}`)
  }
  response.end("{}")
})
const subscribers = new Map<WebSocket, string>()

new WebSocketServer({ server, perMessageDeflate: false }).on("connection", (socket, request) => {
  subscribers.set(socket, new URL(request.url!, "http://reference").searchParams.get("id")!)
  socket.on("close", () => subscribers.delete(socket))
})
server.listen(Number(process.env["PORT"]), "127.0.0.1")
