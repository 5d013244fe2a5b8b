import { BridgeVendor } from "../../simulate/vendors/bridge.js"
import { bridge } from "../../src/ports/channel/bridge.js"
import { type Account, BadEvent, type Credentials, type Part } from "../../src/ports/channel.js"
import { GuardedHttpClient } from "../../src/ports/kit/guarded-http-client.js"
import { type ChannelBed, failureOf, fileOf, going, itemsOf, messageOf, partFor, pngOf } from "./channel-bed.js"
import { channelSuite } from "./channel-suite.js"

interface BridgeBed extends ChannelBed {
  vendor: BridgeVendor
}

const clients: GuardedHttpClient[] = []
afterAll(() => {
  for (const client of clients) client.close()
})

async function open(): Promise<BridgeBed> {
  const vendor = await new BridgeVendor({ pauseMs: () => 1 }).listen()
  const httpClient = new GuardedHttpClient(true)
  clients.push(httpClient)
  const account: Account = {
    companyId: "0199bbbb-0000-7000-8000-000000000000",
    connectionId: "0199aaaa-0000-7000-8000-000000000000",
    externalId: "shop",
    name: "Shop",
    credentials: { deliveryUrl: vendor.deliveryUrl, secret: vendor.secret },
  }
  const chat = { externalId: "ada", name: "Ada" }
  return {
    vendor,
    adapter: bridge({ httpClient, replies: "any" }),
    account,
    wrongCredentials: { deliveryUrl: vendor.deliveryUrl, secret: "another secret" },
    faults: vendor.faults,
    customer: "ada",
    write: {
      text: (text) => vendor.write({ chat, text }),
      picture: (bytes, text) => vendor.write({ chat, text, media: [vendor.upload(bytes, "a.png", "image/png")] }),
      reply: (text, replyToMessageId) => vendor.write({ chat, text, replyToMessageId }),
    },
    edit: (event, text) => vendor.send({ event: "edit", messageId: (event as { messageId: string }).messageId, text }, "ada"),
    sign: vendor.sign,
    hooks: vendor.hooks,
    hookUrl: () => vendor.hook,
    setHook: (url) => {
      vendor.hook = url
    },
    arrived: () =>
      vendor.delivered.map(({ chat, text, media, externalId, replyToMessageId }) => ({
        chat: chat.externalId,
        text,
        files: media.map(({ filename, url }) => ({ filename, bytes: Buffer.from(url.split(",")[1]!, "base64") })),
        externalId,
        quoted: replyToMessageId,
      })),
    close: () => vendor.close(),
  }
}

const none = "the bridge calls nothing to connect"
channelSuite("bridge", {
  open,
  skips: {
    "not with others, and says the vendor's code and words without secrets": none,
    "its hook, and removes it": none,
    "a kind that it does not know as a message that says so": "another body is refused",
    "a longer text not": "a refusal of the connector has no code that tells its reason",
    "that the company is typing": "the protocol has no typing",
    "a customer who cannot be reached": "the protocol has no words for it",
    "credentials that stopped working, without showing them": "every refusal of the connector is of the message",
    "each event once, in order, from where the last poll ended": "the connector calls the hook",
    "and reports a failure of the vendor": "the connector calls the hook",
  },
})

describe("the bridge", () => {
  let bed: BridgeBed
  beforeEach(async () => {
    bed = await open()
  })
  afterEach(() => bed.close())

  const chat = { externalId: "ada" }
  const send = (more: Partial<Part> = {}) => bed.adapter.send(partFor(bed, more), bed.account, going())

  describe("reads", () => {
    it("a message with everything", () => {
      const whole = { externalId: "ada", name: "Ada", username: "ada_l", phoneNumber: "+380441234567", chatType: "group" }
      const media = [{ url: "https://files.example/a.png", filename: "a.png" }, { url: "http://files.example/b" }]
      expect(itemsOf(bed, { messageId: "m1", chat: whole, text: " Hi ", media, replyToMessageId: "m0" })).toEqual([
        {
          kind: "message",
          chat: { externalId: "ada", name: "Ada", username: "ada_l", phoneNumber: "+380441234567", isGroup: true },
          externalId: "m1",
          text: " Hi ",
          files: [
            { kind: "file", reference: media[0], filename: "a.png" },
            { kind: "file", reference: media[1], filename: null },
          ],
          quoted: "m0",
        },
      ])
    })

    it("a message without what may be absent or null, which leaves the stored chat as it is", () => {
      const nulls = { text: null, replyToMessageId: null, event: null }
      const media = [{ url: "https://files.example/a.png", filename: null }]
      const message = messageOf(bed, { messageId: "m1", chat: { ...chat, name: null, chatType: null }, media, ...nulls })
      expect(message.chat).toEqual({ externalId: "ada" })
      expect(message).toMatchObject({ text: null, quoted: null })
    })

    it.each([
      [
        { event: "echo", messageId: "m1", chat, text: "Hi" },
        { kind: "message", isEcho: true, text: "Hi", externalId: "m1" },
      ],
      [
        { event: "edit", messageId: "m1", text: "Ho" },
        { kind: "edit", chat: null, externalId: "m1", text: "Ho" },
      ],
      [
        { event: "delete", messageId: "m1" },
        { kind: "deletion", chat: null, externalId: "m1" },
      ],
      [
        { event: "receipt", externalId: "b1", status: "read" },
        { kind: "receipt", externalId: "b1", status: "read" },
      ],
      [
        { event: "receipt", messageId: "m1", status: "delivered" },
        { kind: "receipt", messageId: "m1", status: "delivered" },
      ],
      [
        { event: "receipt", messageId: "m1", status: "failed", error: "No such number" },
        { status: "failed", error: "No such number", errorCode: "REFUSED" },
      ],
    ])("%j", (body, item) => {
      expect(bed.adapter.parse(body, bed.account)).toMatchObject([{ account: null, item }])
    })

    const long = "x".repeat(501)
    const file = { url: "https://files.example/a" }
    it.each<[unknown, string[]]>([
      [[], [""]],
      [{}, ["messageId", "chat"]],
      [{ messageId: "", chat, text: "Hi" }, ["messageId"]],
      [{ messageId: long, chat, text: "Hi" }, ["messageId"]],
      [{ messageId: "a\0b", chat, text: "Hi" }, ["messageId"]],
      [{ messageId: 7, chat, text: "Hi" }, ["messageId"]],
      [{ messageId: "m1", chat: { ...chat, name: long }, text: "Hi" }, ["chat.name"]],
      [{ messageId: "m1", chat: {}, text: "Hi" }, ["chat.externalId"]],
      [{ messageId: "m1", chat: { ...chat, chatType: "hall" }, text: "Hi" }, ["chat.chatType"]],
      [{ messageId: "m1", chat }, ["text"]],
      [{ messageId: "m1", chat, text: "  ", media: [] }, ["text"]],
      [{ messageId: "m1", chat, text: 7 }, ["text"]],
      [{ messageId: "m1", chat, media: [{ url: "ftp://files.example/a" }] }, ["media.0.url"]],
      [{ messageId: "m1", chat, media: [file, { url: "files" }] }, ["media.1.url"]],
      [{ messageId: "m1", chat, media: Array(11).fill(file) }, ["media"]],
      [{ event: "typing", messageId: "m1" }, ["event"]],
      [{ event: "edit", messageId: "m1" }, ["text"]],
      [{ event: "delete" }, ["messageId"]],
      [{ event: "receipt", status: "read" }, ["externalId"]],
      [{ event: "receipt", externalId: "b1", status: "queued" }, ["status"]],
    ])("%j not, and says where it is wrong", (body, paths) => {
      let refused: unknown
      try {
        bed.adapter.parse(body, bed.account)
      } catch (error) {
        refused = error
      }
      expect(refused).toBeInstanceOf(BadEvent)
      expect((refused as BadEvent).details).toEqual(paths.map((path) => ({ path, message: expect.stringMatching(/^(must |or )\w/) })))
    })
  })

  describe("sends", () => {
    it("one signed request with the text and all files", async () => {
      const files = [fileOf("image/png", "a.png", pngOf()), fileOf("application/pdf", "b.pdf", Buffer.from("%PDF"))]
      const part = partFor(bed, { files, quoted: { externalId: "m0", data: null } })
      expect(await bed.adapter.send(part, bed.account, going())).toEqual({ externalId: "bridge-1" })
      const [call] = bed.vendor.server.calls
      expect(call!.headers).toMatchObject({ "content-type": "application/json", ...bed.vendor.sign(call!.body.toString()) })
      expect(call!.json).toEqual({
        messageId: part.messageId,
        chat: { externalId: "ada", fromId: "shop" },
        text: "Good day",
        media: files.map(({ url, mimeType, filename }) => ({ url, mimeType, filename })),
        replyToMessageId: "m0",
      })
    })

    it("a message without text and quotation as null", async () => {
      await send({ text: null, files: [fileOf("image/png", "a.png", pngOf())] })
      expect(bed.vendor.server.calls[0]!.json).toMatchObject({ text: null, replyToMessageId: null })
    })

    it("a message again under the same ID, so that the connector takes it once", async () => {
      const part = partFor(bed)
      bed.vendor.faults.next("reset-after")
      await failureOf(bed.adapter.send(part, bed.account, going()))
      expect(await bed.adapter.send(part, bed.account, going())).toEqual({ externalId: "bridge-1" })
      expect(bed.vendor.delivered).toHaveLength(1)
    })

    it.each([
      [{ status: 204, body: "" }, null],
      [{ json: {} }, null],
      [{ body: "ok" }, null],
      [{ json: { externalId: 7 } }, null],
      [{ status: 202, json: { externalId: " b7 " } }, "b7"],
    ])("and takes the response %j", async (answer, externalId) => {
      bed.vendor.server.answerNext(answer)
      expect(await send()).toEqual({ externalId })
    })
  })

  describe("reports", () => {
    it.each([
      [408, "retry", "CHANNEL_UNAVAILABLE"],
      [425, "retry", "CHANNEL_UNAVAILABLE"],
      [429, "retry", "RATE_LIMITED"],
      [500, "retry", "CHANNEL_UNAVAILABLE"],
      [503, "retry", "CHANNEL_UNAVAILABLE"],
      [302, "permanent", "REFUSED"],
      [400, "permanent", "REFUSED"],
      [401, "permanent", "REFUSED"],
      [404, "permanent", "REFUSED"],
      [410, "permanent", "REFUSED"],
      [422, "permanent", "REFUSED"],
    ])("status %d as %s %s with the connector's words and time to wait", async (status, kind, code) => {
      bed.vendor.server.answerNext({ status, headers: { "retry-after": "9", location: "/elsewhere" }, body: `No\0\n ${"n".repeat(300)}` })
      const failure = await failureOf(send())
      expect(failure.message).toBe(`${status}: No ${"n".repeat(197)}`)
      expect(failure.options).toEqual({ kind, code, ...(kind === "retry" && { retryAfterMs: 9000 }) })
    })

    it("an address of a private network, which it never calls", async () => {
      const httpClient = new GuardedHttpClient(false)
      clients.push(httpClient)
      const failure = await failureOf(bridge({ httpClient, replies: "any" }).send(partFor(bed), bed.account, going()))
      expect(failure.options).toEqual({ kind: "permanent", code: "REFUSED" })
      expect(failure.message).toBe("The address is not on the public internet")
      expect(bed.vendor.server.calls).toEqual([])
    })
  })

  it.each([
    [{ deliveryUrl: "https://connector.example/in", secret: "s" }, null],
    [{ deliveryUrl: "connector.example/in", secret: "s" }, "deliveryUrl must be an absolute http or https URL"],
    [{ deliveryUrl: "file:///etc/passwd", secret: "s" }, "deliveryUrl must be an absolute http or https URL"],
    [{ secret: "s" }, "deliveryUrl must be an absolute http or https URL"],
    [{ deliveryUrl: "https://connector.example/in", secret: "" }, "secret must not be empty"],
    [{ deliveryUrl: "https://connector.example/in" }, "secret must not be empty"],
  ])("takes the credentials %j: %s", (credentials, fault) => {
    expect(bed.adapter.faultOf!(credentials as Credentials)).toBe(fault)
  })
})
