import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import { parseArgs } from "node:util"
import { Webhook } from "standardwebhooks"

const usage = `npm run webhook:listen -- [--secret SECRET] [--port PORT] [--status STATUS]
Prints the events that arrive; with the endpoint's secret (whsec_…) it verifies them and answers 401 to others.`

const text = { type: "string" } as const
const print = (line: string) => void process.stdout.write(`${line}\n`)

/** Verifies a request as any receiver does (docs/event-webhooks.md); returns why it is refused, null when it is genuine. */
function whyRefused(body: string, { headers }: IncomingMessage, secret: string | undefined): string | null {
  if (secret === undefined) return null
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

async function main() {
  const { values } = parseArgs({ options: { secret: text, port: text, status: text } })
  const [port, status] = [Number(values.port ?? 0), Number(values.status ?? 204)]
  if (!Number.isInteger(port) || !Number.isInteger(status) || status < 200 || status > 599)
    throw new Error("PORT and STATUS are whole numbers")
  // Throws for a secret that is none.
  if (values.secret !== undefined) new Webhook(values.secret)
  const seen = new Set<string>()
  const server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString("utf8")
    const refused = whyRefused(body, request, values.secret)
    const id = String(request.headers["webhook-id"])
    const repeated = seen.has(id) ? ", again" : ""
    print(refused === null ? `${values.secret ? "verified" : "not verified"}${repeated} ${id} ${body}` : `refused ${id}: ${refused}`)
    if (refused === null) seen.add(id)
    response.writeHead(refused === null ? status : 401).end()
  })
  server.on("error", (error) => {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  })
  server.listen(port, "127.0.0.1", () => print(`Listening: http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message.trim()}\n${usage}\n`)
  process.exitCode = 1
})
