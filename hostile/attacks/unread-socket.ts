import { setTimeout as sleep } from "node:timers/promises"
import { openSession } from "../kit/answers.js"
import { post } from "../kit/company.js"
import type { Attack } from "./attack.js"

/** A visitor whose socket sends queries with large results and reads none of them. */
export const unreadSocket: Attack = {
  title: "a visitor's socket that sends 900 queries and does not read",
  isLoad: true,
  async run({ server, watch, attacker }, report) {
    const { chatId, visitorToken } = await post(`${server.url}/hooks/widget/${attacker.widgetId}`, null, { text: "Hello" })
    for (let n = 0; n < 30; n += 1) await post(`${server.url}/api/messages`, attacker.token, { chatId, text: "x".repeat(16_000) })
    const before = await watch.megabytes()
    const { socket, received, subscribe } = await openSession(server.url, visitorToken)
    const closed = new Promise<number>((resolve) => socket.once("close", resolve))
    socket.pause()
    const query = `query { messages(chatId: "${chatId}", first: 30) { nodes { text } } }`
    for (let n = 0; n < 900; n += 1) subscribe(`q${n}`, query)
    let most = 0
    for (let look = 0; look < 20; look += 1) {
      most = Math.max(most, await watch.megabytes())
      await sleep(250)
    }
    socket.resume()
    const code = await Promise.race([closed, sleep(5_000, 0)])
    report.note(
      `${received.length} messages were received, closed with ${code}; memory ${(most - before).toFixed(0)} MB above the level before, at most`,
    )
    report.promise("the socket is closed because it reads too slowly", code === 1013 ? [] : [`closed with ${code}`])
    report.promise("the server holds at most 250 MB for it", most - before > 250 ? [`${(most - before).toFixed(0)} MB`] : [])
    socket.terminate()
  },
}
