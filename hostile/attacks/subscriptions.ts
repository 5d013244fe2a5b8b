import { setTimeout as sleep } from "node:timers/promises"
import { until } from "../../test/kit/campaign/wait.js"
import { openSession } from "../kit/answers.js"
import { post } from "../kit/company.js"
import { Ref } from "../kit/pools.js"
import type { Attack } from "./attack.js"

const query = "subscription ($after: String) { events(after: $after) { id type chat { id } payload } }"
const beginning = Buffer.from("e:0").toString("base64url")

/** Subscriptions without number on one socket, and a visitor who asks for the whole log. */
export const subscriptions: Attack = {
  title: "20,000 subscriptions on one socket, and a visitor who asks for the whole log",
  isLoad: true,
  async run({ server, attacker }, report) {
    // A credential of its own, since it reaches its limit of requests a minute.
    const { socket, received, subscribe } = await openSession(server.url, attacker.credentialOf("readToken")!)
    for (let n = 0; n < 20_000; n += 1) subscribe(`s${n}`, query)
    const refusals = () => received.filter(({ type }) => type === "error")
    await until(() => refusals().length >= 19_900 || socket.readyState !== socket.OPEN, 60_000)
    const chatId = attacker.pools.valueOf(new Ref("Chat", 0))
    for (let n = 0; n < 5; n += 1) await post(`${server.url}/api/messages`, attacker.token, { chatId, text: `Message ${n}` })
    await sleep(2_000)
    const events = received.filter(({ type }) => type === "next").length
    const errors = refusals()
    report.note(`${errors.length} subscriptions were refused, ${events} events were received`)
    report.promise(
      "all beyond a hundred are refused for their number",
      errors.length < 19_900 && socket.readyState === socket.OPEN ? [`only ${errors.length} were`] : [],
    )
    report.promise(
      "with the code that says so",
      errors.filter(({ payload }) => payload[0].extensions.code !== "RATE_LIMITED").map(({ payload }) => JSON.stringify(payload)),
    )
    socket.terminate()
    const visit = await post(`${server.url}/hooks/widget/${attacker.widgetId}`, null, { text: "Hello" })
    const visitor = await openSession(server.url, visit.visitorToken)
    for (let n = 0; n < 10; n += 1) visitor.subscribe(`v${n}`, query, { after: beginning })
    await sleep(1_000)
    const foreign = visitor.received.filter(({ type, payload }) => type === "next" && JSON.stringify(payload).includes(chatId))
    report.promise(
      "a visitor receives no event of another chat",
      foreign.map((message) => JSON.stringify(message)),
    )
    visitor.socket.terminate()
  },
}
