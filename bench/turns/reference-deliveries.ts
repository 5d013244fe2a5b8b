import { Agent, request } from "node:http"
import type pg from "pg"
import { v7 } from "uuid"
import { signatureOf } from "./hook-request.js"
import { claimDelivery, recordDelivery } from "./reference-statements.js"

/** As many deliveries at once as an instance of ours runs. */
const deliveriesAtOnce = 100
const sweepMs = 500

/** Sends queued messages over the bridge: claims one, sends it, records it. */
export function runDeliveries(pool: pg.Pool, deliveryUrl: string) {
  const agent = new Agent({ keepAlive: true })
  let running = 0

  async function work(): Promise<void> {
    if (running >= deliveriesAtOnce) return
    running += 1
    try {
      for (;;) {
        const runId = v7()
        const { rows } = await pool.query({ name: "claim-delivery", text: claimDelivery, values: [runId] })
        if (rows.length === 0) return
        // More may be due.
        void work()
        const { id, text, chat_id: chatId, external_id: externalId, from_id: fromId } = rows[0]
        const body = JSON.stringify({ messageId: id, chat: { externalId, fromId }, text, media: [], replyToMessageId: null })
        const accepted = await post(body)
        const values = [id, chatId, runId, accepted.externalId]
        const { rowCount } = await pool.query({ name: "record-delivery", text: recordDelivery, values })
        if (rowCount !== 1) throw new Error("The delivery was lost")
      }
    } finally {
      running -= 1
    }
  }

  function post(body: string): Promise<{ externalId: string }> {
    const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body), "X-Signature": signatureOf(body) }
    return new Promise((resolve, reject) => {
      const sent = request(deliveryUrl, { method: "POST", agent, headers }, (response) => {
        const parts: Buffer[] = []
        response.on("data", (part) => parts.push(part))
        response.on("error", reject)
        response.on("end", () => {
          if (response.statusCode !== 200) return reject(new Error(`The connector answered ${response.statusCode}`))
          resolve(JSON.parse(Buffer.concat(parts).toString()))
        })
      })
      sent.on("error", reject)
      sent.end(body)
    })
  }

  setInterval(() => void work(), sweepMs)
}
