import { Agent, request } from "node:http"
import { textEvent } from "../kit/hook-events.js"
import type { TestBed } from "../kit/test-bed.js"
import type { Attack } from "./attack.js"

const limits = { seconds: 12, connections: 32, customers: 50 }

/** A vendor, or a connector, that sends as fast as it can. */
export const hookFlood: Attack = {
  title: "a flood of genuine messages from one connection",
  isLoad: true,
  mustNotDelay: true,
  async run(bed, report) {
    const statuses = await flood(bed)
    const shown = [...statuses].map(([status, times]) => `${times} ${status}`)
    report.note(`answers: ${shown.join(", ")}`)
    const accepted = statuses.get(202) ?? 0
    const rows = await bed.sql("select count(*)::int as n from message m where company_id = $1 and m.text like 'Flood %'", [
      bed.attacker.id,
    ])
    report.promise("what was accepted is stored once", rows[0].n === accepted ? [] : [`${accepted} accepted, ${rows[0].n} stored`])
    report.promise("some are accepted", accepted > 0 ? [] : [shown.join(", ")])
    report.promise(
      "the others are refused for their number",
      [...statuses.keys()].filter((status) => status !== 202 && status !== 429).map(String),
    )
  },
}

/** Sends over some connections for some seconds, each message when the one before was answered; returns how often each status came. */
async function flood({ server, attacker }: TestBed): Promise<Map<number, number>> {
  const hook = attacker.hooks["custom-messenger"]
  const { hostname, port } = new URL(server.url)
  const agent = new Agent({ keepAlive: true, maxSockets: limits.connections })
  const statuses = new Map<number, number>()
  const end = performance.now() + limits.seconds * 1_000
  let sent = 0
  const send = () => {
    sent += 1
    const body = JSON.stringify(textEvent("custom-messenger", hook, 800_000 + (sent % limits.customers), 800_000 + sent, `Flood ${sent}`))
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...hook.sign(body) }
    return new Promise<number>((resolve, reject) => {
      const sending = request({ hostname, port, path: hook.path, method: "POST", headers, agent }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode!))
      })
      sending.on("error", reject).end(body)
    })
  }
  const lane = async () => {
    while (performance.now() < end) {
      const status = await send()
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: limits.connections }, lane))
  agent.destroy()
  return statuses
}
