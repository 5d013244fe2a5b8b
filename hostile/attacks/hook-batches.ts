import { whatsappEvent } from "../kit/hook-events.js"
import type { TestBed } from "../kit/test-bed.js"
import type { Attack } from "./attack.js"

const limits = { requests: 2, messages: 3_000, customers: 50 }
const requestBytes = 3_000_000

/** A company that signs requests as its vendor would, each with thousands of messages, of which many are not understood. */
export const hookBatches: Attack = {
  title: "genuine requests with thousands of messages each",
  isLoad: true,
  mustNotDelay: true,
  async run(bed, report) {
    const numbers = Array.from({ length: limits.requests }, (_, index) => index)
    const statuses = await Promise.all(numbers.map((number) => sent(bed, number)))
    report.promise("each is taken", statuses.filter((status) => status !== 200).map(String))
    const [{ stored, bytes }] = await bed.sql(
      `select (select count(*) from message where company_id = $1 and external_id like 'hostile-batch-%')::int as stored,
        (select coalesce(sum(length(item::text)), 0) from channel_item where company_id = $1 and external_id like 'hostile-batch-%')::float8 as bytes`,
      [bed.attacker.id],
    )
    const expected = limits.requests * limits.messages
    report.promise("each message is stored once", stored === expected ? [] : [`${stored} of ${expected}`])
    report.note(`${(bytes / 1e6).toFixed(1)} MB are kept of ${limits.requests} requests of ${requestBytes / 1e6} MB`)
    report.promise(
      "of what is not understood no more is kept than was sent",
      bytes <= 2 * limits.requests * requestBytes ? [] : [String(bytes)],
    )
  },
}

/** Sends one request of nearly the largest size; returns its status. */
async function sent({ server, attacker }: TestBed, number: number): Promise<number> {
  const hook = attacker.hooks["whatsapp-business"]
  const content = (index: number) => (index % 2 ? { type: "text", text: { body: `Batch ${index}` } } : { type: "hologram", hologram: {} })
  const messages = Array.from({ length: limits.messages }, (_, index) => ({
    id: `hostile-batch-${number}-${index}`,
    from: String(380_550_000_000 + number * 1_000 + (index % limits.customers)),
    ...content(index),
  }))
  const event = whatsappEvent(hook.accountId, { messages })
  const body = JSON.stringify({ ...event, padding: "x".repeat(requestBytes - JSON.stringify(event).length) })
  const headers = { "content-type": "application/json", ...hook.sign(body) }
  return (await fetch(`${server.url}${hook.path}`, { method: "POST", headers, body })).status
}
