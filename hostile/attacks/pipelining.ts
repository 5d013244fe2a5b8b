import { once } from "node:events"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { post } from "../kit/company.js"
import { Ref } from "../kit/pools.js"
import type { Attack } from "./attack.js"

/** Thousands of requests on a connection whose answers nobody reads. */
export const pipelining: Attack = {
  title: "2,000 pipelined requests on each of five connections that nobody reads",
  isLoad: true,
  async run({ server, watch, attacker }, report) {
    const chatId = attacker.pools.valueOf(new Ref("Chat", 1))
    for (let n = 0; n < 20; n += 1) await post(`${server.url}/api/messages`, attacker.token, { chatId, text: "x".repeat(16_000) })
    const before = await watch.megabytes()
    const request = `GET /api/messages?chatId=${chatId}&take=20 HTTP/1.1\r\nHost: x\r\nX-Access-Token: ${attacker.token}\r\n\r\n`
    const sockets = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const socket = connect(Number(new URL(server.url).port), "127.0.0.1")
        socket.on("error", () => {})
        await once(socket, "connect")
        socket.pause()
        socket.write(request.repeat(2_000))
        return socket
      }),
    )
    let most = 0
    for (let look = 0; look < 12; look += 1) {
      most = Math.max(most, await watch.megabytes())
      await sleep(250)
    }
    for (const socket of sockets) socket.resetAndDestroy()
    report.note(`memory ${(most - before).toFixed(0)} MB above the level before, at most`)
    report.promise("the server holds at most 250 MB for them", most - before > 250 ? [`${(most - before).toFixed(0)} MB`] : [])
  },
}
