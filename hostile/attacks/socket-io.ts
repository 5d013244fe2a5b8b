import { setTimeout as sleep } from "node:timers/promises"
import { WebSocket } from "ws"
import { happens } from "../kit/answers.js"
import { post } from "../kit/company.js"
import type { Attack } from "./attack.js"

const handshake = "/socket.io/?EIO=4&transport="

/** Strangers that open connections of Socket.IO, connect in masses and send noise, and a client that does not read its events. */
export const socketIo: Attack = {
  title: "connections of Socket.IO that connect in masses, that send noise, and that do not read",
  isLoad: true,
  async run({ server, watch, attacker }, report) {
    const before = await watch.megabytes()
    const unread = await open(server.url)
    unread.send(`40${JSON.stringify({ token: attacker.token })}`)
    await happens(unread, "message")
    unread.pause()
    const cut = happens(unread, "close")

    const connects = Array(20_000).fill("40").join("\u001e")
    const floods = Array.from({ length: 40 }, () => flood(server.url, connects))
    const noise = Array.from({ length: 100 }, () => sendNoise(server.url))
    const handshakes = Array.from({ length: 1_500 }, () => fetch(`${server.url}${handshake}polling`).then(({ status }) => status))
    const statuses = await Promise.all(handshakes)
    await Promise.all([...floods, ...noise])
    const { id: chatId } = await post(`${server.url}/api/chats`, attacker.token, { messenger: "playground", fromId: "playground" })
    for (let n = 0; n < 1_500; n += 1) await post(`${server.url}/api/messages`, attacker.token, { chatId, text: "x".repeat(8_000) })
    const most = await watch.megabytes()
    unread.resume()
    const isCut = await Promise.race([cut.then(() => true), sleep(5_000, false)])

    report.note(
      `${statuses.filter((status) => status === 429).length} of 1500 handshakes were refused; ${(most - before).toFixed(0)} MB more memory`,
    )
    report.promise("handshakes are accepted, or refused with 429", others(statuses, [200, 429]))
    report.promise("the client that does not read is cut off", isCut ? [] : ["it is still connected"])
    report.promise("the server holds at most 250 MB for them", most - before > 250 ? [`${(most - before).toFixed(0)} MB`] : [])
  },
}

const others = (statuses: number[], expected: number[]) =>
  statuses.filter((status) => !expected.includes(status)).map((status) => `${status}`)

async function open(url: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace("http", "ws")}${handshake}websocket`)
  socket.on("error", () => {})
  await Promise.race([happens(socket, "message"), happens(socket, "close")])
  return socket
}

/** Sends as many packets as fit into one request. */
async function flood(url: string, packets: string) {
  const answer = await fetch(`${url}${handshake}polling`)
  if (answer.status !== 200) return void (await answer.text())
  const { sid } = JSON.parse((await answer.text()).slice(1))
  await fetch(`${url}${handshake}polling&sid=${sid}`, { method: "POST", body: packets }).catch(() => {})
}

async function sendNoise(url: string) {
  const socket = await open(url)
  for (const packet of ["40/nothing,", "40/ws,{", "42[", "451-[]", '42["connect"]', "9", "3", "x".repeat(60_000)])
    if (socket.readyState === WebSocket.OPEN) socket.send(packet)
  for (let n = 0; n < 200; n += 1) if (socket.readyState === WebSocket.OPEN) socket.send("40")
  await sleep(200)
  socket.terminate()
}
