import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { happens } from "../kit/wait.js"
import { world } from "../kit/world.js"

const { acme, rest } = world()
const started: ChildProcess[] = []
afterEach(() => {
  for (const child of started.splice(0)) child.kill()
})

/** Runs the command; `line` waits for its next line. */
function listen(...args: string[]) {
  const child = spawn(process.execPath, ["dist/simulate/webhook-listen.js", ...args], { stdio: ["ignore", "pipe", "pipe"] })
  started.push(child)
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  return { child, line: async () => (await lines.next()).value as string }
}

describe("npm run webhook:listen", () => {
  it("prints the events that arrive, verifies them, and says when one is repeated", async () => {
    const open = listen()
    const url = /(http\S+)/.exec(await open.line())![1]!
    const { body: endpoint } = await rest
      .as(acme.token)
      .post("/api/event-webhooks", { url, types: ["MESSAGE_CREATED"] })
      .expect(201)
    const test = async () => (await rest.as(acme.token).post(`/api/event-webhooks/${endpoint.id}/test`).expect(201)).body
    const delivery = await test()
    expect(delivery).toMatchObject({ status: "succeeded", attempts: [{ responseStatus: 204 }] })
    expect(await open.line()).toMatch(new RegExp(`^not verified ${delivery.eventId} \\{"id":"${delivery.eventId}"`))

    const verifying = listen("--secret", endpoint.secret)
    const again = /(http\S+)/.exec(await verifying.line())![1]!
    await rest.as(acme.token).patch(`/api/event-webhooks/${endpoint.id}`, { url: again }).expect(200)
    const verified = await test()
    expect(await verifying.line()).toMatch(new RegExp(`^verified ${verified.eventId} `))
    const path = `/api/event-webhooks/${endpoint.id}/deliveries/${verified.id}/redeliver`
    await rest.as(acme.token).post(path).expect(201)
    expect(await verifying.line()).toMatch(new RegExp(`^verified, again ${verified.eventId} `))

    expect((await fetch(again, { method: "POST", headers: { "webhook-id": "forged" }, body: "{}" })).status).toBe(401)
    expect(await verifying.line()).toMatch(/^refused forged: /)
  })

  it.each([[["--port", "x"]], [["--secret", "whsec_!"]], [["--status", "99"]], [["--unknown"]]])("refuses %j", async (args) => {
    const { child } = listen(...args)
    const [code] = await happens("the command has ended", once(child, "close"))
    expect(code).toBe(1)
  })
})
