import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { OrderBook } from "../../simulate/mcp/order-book.js"
import { type Demo, prepareDemo } from "../../src/admin/demo.js"
import { clock } from "../../src/entities/kit/clock.js"
import type { RunningServer } from "../../src/server.js"
import { until } from "../../test/kit/wait.js"
import { normalized } from "./normal.js"
import { Player, type Recording } from "./player.js"
import { play } from "./story.js"

/** The time at which the recorded server starts: the past of its demo, and with it each number, depends on the day of the week. */
export const recordedAt = new Date("2026-01-30T09:00:00.000Z")

/** Variables of the recorded server's environment. */
export const recordedWith = { REPLY_DEBOUNCE_MS: "0", REPLY_MAX_WAIT_MS: "0", ALLOW_PRIVATE_NETWORK: "true", LOG_LEVEL: "silent" }

/** Stops the clock of this process at the start of a recording. */
export function stopClock() {
  clock.stop()
  clock.advance(recordedAt.getTime() - clock.now().getTime())
}

/** Records a request of each route to a server with an empty database, which began with the clock stopped. */
export async function record({ services, port }: RunningServer): Promise<Recording> {
  const demo = await prepareDemo(services)
  if (!demo) throw new Error("The database of the examples is not empty")
  const ungrouped = "select 1 from asked_question where group_id is null limit 1"
  await until("the questions of the past are grouped", async () => (await services.database.pool.query(ungrouped)).rows.length === 0)
  const url = `http://127.0.0.1:${port}`
  const [shop, orderBook] = await Promise.all([startShop(), OrderBook.start()])
  try {
    const player = new Player(url, () => clock.advance(1_000))
    await play(player, { demo, shopUrl: shop.url, orderBookUrl: orderBook.url })
    return normalized(
      player.recording,
      publicNames(demo, {
        [url]: "https://chat.example.com",
        [orderBook.url]: "https://mcp.shop.example.com",
        [shop.url]: "https://shop.example.com",
      }),
    )
  } finally {
    await Promise.all([shop.close(), orderBook.close()])
  }
}

const publicNames = (demo: Demo, addresses: Record<string, string>) => ({
  ...addresses,
  [demo.password]: "password of the owner",
  [demo.token]: "amp_4Xb2mKq7Tz9RwJc5VnHs8LdPf3GyAe6U",
})

/** The company's own server: it answers a tool, and takes events. */
async function startShop() {
  const http = createServer((_request, response) => {
    response.setHeader("Content-Type", "application/json").end(JSON.stringify({ order: 1042, state: "on its way" }))
  })
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      http.close(() => resolve())
      http.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, close }
}
