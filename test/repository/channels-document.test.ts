import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import pino from "pino"
import { callFaults, hookFaults } from "../../simulate/kit/faults.js"
import { readConfig } from "../../src/config/config.js"
import { deliveredByEvent, messengers } from "../../src/entities/channel.js"
import { bridge } from "../../src/ports/channel/bridge.js"
import type { Capabilities } from "../../src/ports/channel.js"
import { channels } from "../../src/ports/index.js"
import { GuardedHttpClient } from "../../src/ports/kit/guarded-http-client.js"
import { promised } from "../kit/promise.js"
import { type Receiver, receiver } from "../kit/receiver.js"
import { happens } from "../kit/wait.js"
import { failureOf, fileOf, going, partFor } from "../ports/channel-bed.js"

const text = readFileSync("docs/channels.md", "utf8")
const httpClient = new GuardedHttpClient(true)
afterAll(() => httpClient.close())

/** The rows of the table of messengers. */
const rows = [...text.matchAll(/^\| `([\w-]+)` \| (native|bridge|this server) \|(.+)\|$/gm)].map(([, messenger, way, rest]) => ({
  messenger: messenger!,
  way: way!,
  cells: rest!.split("|").map((cell) => cell.trim()),
}))

describe("docs/channels.md", () => {
  it("has every messenger once", () => {
    expect(rows.map(({ messenger }) => messenger).toSorted()).toEqual(messengers.toSorted())
  })

  it("describes messengers whose messages are sent by an adapter, but for those that deliver by events", () => {
    const { adapter } = channels(readConfig({}), httpClient, pino({ level: "silent" }))
    expect(messengers.filter((each) => adapter(each) === null)).toEqual(deliveredByEvent)
  })

  it("says of each messenger what its capabilities are", () => {
    const { capabilities } = channels(readConfig({}), httpClient, pino({ level: "silent" }))
    const shown = ({ replies, captionLength, textLength, windowHours, receipts, typing }: Capabilities) => [
      ...[replies, String(captionLength), String(textLength), windowHours === null ? "-" : `${windowHours} h`],
      ...[receipts.join(", ") || "-", typing ? "yes" : "-"],
    ]
    for (const { messenger, cells } of rows)
      expect([messenger, ...cells.slice(0, 6)]).toEqual([messenger, ...shown(capabilities(messenger))])
  })

  it("names every fault", () => {
    const table = text.slice(text.indexOf("| Fault |"))
    for (const fault of [...Object.keys(callFaults), ...Object.keys(hookFaults)]) expect(table).toContain(`\`${fault}\``)
  })
})

describe("docs/examples/bridge-connector.js", () => {
  let connector: ChildProcess
  let hook: Receiver
  let messenger: Receiver
  let deliveryUrl: string
  const secret = "s3cret"
  beforeEach(async () => {
    ;[hook, messenger] = [await receiver(), await receiver()]
    const env = { HOOK_URL: hook.url, MESSENGER_URL: messenger.url, SECRET: secret, PORT: "0", PAUSE_MS: "1" }
    connector = spawn(process.execPath, ["docs/examples/bridge-connector.js"], { env })
    const [line] = await happens("the connector prints a line", once(connector.stdout!, "data"))
    deliveryUrl = /deliveryUrl: (\S+)/.exec(String(line))![1]!
  })
  afterEach(async () => {
    connector.kill()
    await Promise.all([hook.close(), messenger.close()])
  })

  const adapter = bridge({ httpClient, replies: "any" })
  const account = () => ({
    companyId: "0199bbbb-0000-7000-8000-000000000000",
    connectionId: "c",
    externalId: "shop",
    name: "Shop",
    credentials: { deliveryUrl, secret },
  })

  promised("passes customers' messages on, signed, in order, until they are stored", async () => {
    hook.answer(() => [503, 202, 202][hook.requests.length - 1] ?? 500)
    for (const text of ["one", "two"]) {
      const body = JSON.stringify({ id: text, user: "ada", name: "Ada", text })
      const { status } = await fetch(new URL("/messages", deliveryUrl), { method: "POST", body })
      expect(status).toBe(202)
    }
    await hook.arrived(3)
    expect(hook.requests.every((request) => adapter.verify(request, account(), new Date()))).toBe(true)
    const items = hook.requests.map(({ body }) => adapter.parse(JSON.parse(body.toString()), account())[0]!.item)
    const message = (text: string) => ({ kind: "message", externalId: text, text, chat: { externalId: "ada", name: "Ada" } })
    expect(items).toMatchObject([message("one"), message("one"), message("two")])
  })

  it("delivers a message once, however often it comes, and fails as long as the messenger does", async () => {
    const file = fileOf("image/png", "a.png", Buffer.from("x"))
    const part = { ...partFor({ customer: "ada" }), files: [file] }
    messenger.answer(500)
    expect((await failureOf(adapter.send(part, account(), going()))).options).toMatchObject({ kind: "retry" })
    messenger.answer({ json: { id: "sms-1" } })
    expect(await adapter.send(part, account(), going())).toEqual({ externalId: "sms-1" })
    expect(await adapter.send(part, account(), going())).toEqual({ externalId: "sms-1" })
    const sent = { to: "ada", text: "Good day", files: [file.url] }
    expect(messenger.requests.map(({ body }) => JSON.parse(body.toString()))).toEqual([sent, sent])
  })

  it("refuses what the platform did not sign", async () => {
    const forged = { ...account(), credentials: { deliveryUrl, secret: "guessed" } }
    const failure = await failureOf(adapter.send(partFor({ customer: "ada" }), forged, going()))
    expect(failure.message).toBe('401: {"error":"wrong signature"}')
    expect(messenger.requests).toEqual([])
  })
})
