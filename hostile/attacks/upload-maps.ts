import { connect } from "node:net"
import { happens, otherThan, type Told, toldBy, withToken } from "../kit/answers.js"
import type { Attack } from "./attack.js"

const paths = [
  "toString.call",
  "hasOwnProperty.call",
  "__proto__.polluted",
  "constructor.prototype.polluted",
  "variables.list.push.call",
  "variables.__proto__.x",
]
const operations = JSON.stringify({
  query: "mutation ($file: Upload!) { uploadMedia(file: $file) { id } }",
  variables: { file: null, list: [] },
})

/** Maps of multipart requests that lead into the prototypes of the process, and upgrades that are refused, cut and reset. */
export const uploadMaps: Attack = {
  title: "maps of uploads that name built-in functions, and upgrades that are reset",
  async run({ server, attacker }, report) {
    const many = Array.from({ length: 10_000 }, (_, index) => `variables.v${index}`)
    const maps = [...paths.map((path) => ["variables.file", path]), many]
    const answers: Told[] = []
    for (const map of maps) {
      const form = new FormData()
      form.append("operations", operations)
      form.append("map", JSON.stringify({ 0: map }))
      form.append("0", new Blob(["x"]), "x.txt")
      answers.push(await toldBy(await fetch(`${server.url}/graphql`, { method: "POST", headers: withToken(attacker), body: form })))
    }
    report.promise("each map is refused", otherThan(["BAD_USER_INPUT"], answers))
    for (const path of ["/graphql", "/ws", "/socket.io", "/socket.io/?EIO=4&transport=websocket", "//["])
      await Promise.all(Array.from({ length: 100 }, () => reset(server.url, path)))
  },
}

async function reset(url: string, path: string) {
  const socket = connect(Number(new URL(url).port), "127.0.0.1")
  socket.on("error", () => {})
  await Promise.race([happens(socket, "connect"), happens(socket, "close")])
  const key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n`)
  socket.resetAndDestroy()
}
