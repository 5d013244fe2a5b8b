import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { batch, type Customer } from "../../simulate/vendors/meta.js"
import { WhatsAppVendor } from "../../simulate/vendors/whatsapp-business.js"
import { whatsappBusiness } from "../../src/ports/channel/whatsapp-business.js"
import type { Incoming, Part } from "../../src/ports/channel.js"
import { type ChannelBed, failureOf, fileOf, going, itemsOf, messageOf, partFor, pngOf } from "./channel-bed.js"
import { channelSuite } from "./channel-suite.js"
import { arrivedOf, hoursAgo } from "./kit/meta-bed.js"

const ada: Customer = { id: "16505551234", userId: "US.13491208655302741918", name: "Ada Lovelace", username: "ada" }

interface WhatsAppBed extends ChannelBed {
  vendor: WhatsAppVendor
}

async function open(checksHook = false): Promise<WhatsAppBed> {
  const vendor = await new WhatsAppVendor({ checksHook, pauseMs: () => 1 }).listen()
  vendor.customers.set(ada.id, { ...ada, wroteAt: Date.now() })
  const { phoneNumberId, appSecret, verifyToken, token: accessToken } = vendor
  const credentials = { accessToken, phoneNumberId, appSecret, verifyToken }
  const idOf = (event: unknown) =>
    (event as { entry: [{ changes: [{ value: { messages: [{ id: string }] } }] }] }).entry[0].changes[0].value.messages[0].id
  const text = (body: string) => ({ type: "text", text: { body } })
  return {
    vendor,
    adapter: whatsappBusiness({ baseUrl: vendor.server.url }),
    account: {
      companyId: "0199bbbb-0000-7000-8000-000000000000",
      connectionId: "0199aaaa-0000-7000-8000-000000000000",
      externalId: "15550783881",
      name: "Shop",
      credentials,
    },
    wrongCredentials: { ...credentials, accessToken: "not-the-token" },
    faults: vendor.faults,
    customer: ada.id,
    write: {
      text: (body) => vendor.write(ada, text(body)),
      picture: (bytes, caption) => {
        const id = vendor.upload({ type: "image/png", filename: "a.png", bytes })
        return vendor.write(ada, { type: "image", image: { id, mime_type: "image/png", caption } })
      },
      reply: (body, id) => vendor.write(ada, { ...text(body), context: { from: "15550783881", id } }),
      unsupported: () => vendor.write(ada, { type: "unsupported", unsupported: { type: "poll" }, errors: [{ code: 131051 }] }),
    },
    edit: (event, body) => vendor.write(ada, { type: "edit", edit: { original_message_id: idOf(event), message: text(body) } }),
    sign: (body) => vendor.sign(body),
    hooks: vendor.hooks,
    hookUrl: () => vendor.hookUrl(),
    arrived: () => vendor.sent.map(arrivedOf),
    block: () => {
      vendor.customers.get(ada.id)!.isBlocked = true
    },
    typing: () => vendor.typing,
    close: () => vendor.close(),
  }
}

channelSuite("whatsapp-business", {
  open,
  skips: {
    "each event once, in order, from where the last poll ended": "there is a hook only",
    "and reports a failure of the vendor": "there is a hook only",
  },
})

describe("WhatsApp Business", () => {
  let bed: WhatsAppBed
  beforeEach(async () => {
    bed = await open(true)
  })
  afterEach(() => bed.close())
  const send = (more: Partial<Part> = {}) => bed.adapter.send(partFor(bed, more), bed.account, going())
  const lastRequest = () => bed.vendor.sent.at(-1)!.request
  /** What the stand-in has tried to tell the hook. */
  const reported = () =>
    [...new Set(bed.vendor.hooks.attempts.map(({ body }) => body))].flatMap((body): Incoming[] => itemsOf(bed, JSON.parse(body)))

  describe("connecting", () => {
    const hookThat = async (answers: (query: URLSearchParams) => string | null) => {
      const server = createServer((request, response) => {
        const text = answers(new URL(request.url!, "http://hook").searchParams)
        response.writeHead(text === null ? 401 : 200, { "content-type": "text/plain" }).end(text)
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, close: () => server.close() }
    }

    it("Meta asks the hook, which the adapter answers", async () => {
      const hook = await hookThat((query) => bed.adapter.challenge!(query, bed.account))
      await bed.adapter.register(bed.account, hook.url, going())
      hook.close()
      expect(bed.vendor.hookUrl()).toBe(hook.url)
    })

    it("a hook that answers otherwise is refused with Meta's words", async () => {
      const hook = await hookThat(() => "something else")
      const failure = await failureOf(bed.adapter.register(bed.account, hook.url, going()))
      hook.close()
      expect(failure).toMatchObject({
        message: expect.stringMatching(/^2200: Callback verification failed/),
        options: { kind: "permanent" },
      })
      expect(bed.vendor.hookUrl()).toBeNull()
    })

    it("without a public address nothing is asked", async () => {
      await bed.adapter.register(bed.account, null, going())
      expect(bed.vendor.server.calls).toEqual([])
    })

    it("a number that the token does not reach is refused", async () => {
      const other = { ...bed.account, credentials: { ...bed.account.credentials, phoneNumberId: "777" } }
      expect((await failureOf(bed.adapter.check(other, going()))).message).toMatch(/^100\/33: Unsupported request/)
      expect(bed.adapter.faultOf!({ ...bed.account.credentials, phoneNumberId: "+1 555" })).toBe(
        "phoneNumberId must be printable ASCII without spaces",
      )
      expect(bed.adapter.faultOf!({ ...bed.account.credentials, phoneNumberId: "../me" })).toBe("phoneNumberId must be digits")
    })
  })

  describe("sending", () => {
    it("a text has its part ID, which its statuses repeat", async () => {
      bed.vendor.callbackUrl = "http://127.0.0.1:9/hook"
      const part = partFor(bed)
      const { externalId } = await bed.adapter.send(part, bed.account, going())
      expect(lastRequest()).toEqual({
        messaging_product: "whatsapp",
        to: ada.id,
        type: "text",
        text: { body: "Good day" },
        biz_opaque_callback_data: part.id,
      })
      const status = { kind: "receipt", externalId, partId: part.id, customer: ada.id }
      expect(reported()).toEqual([
        { ...status, status: "sent" },
        { ...status, status: "delivered" },
      ])
    })

    it("a status can arrive before the response", async () => {
      const hook = createServer((_request, response) => void response.end())
      await new Promise<void>((resolve) => hook.listen(0, "127.0.0.1", resolve))
      bed.vendor.callbackUrl = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`
      bed.vendor.reportsFirst = true
      const { externalId } = await send()
      hook.close()
      expect(reported()).toMatchObject([{ externalId }, { externalId }])
      expect(bed.vendor.hooks.attempts.map(({ status }) => status)).toEqual([200, 200])
    })

    it("someone whose number is hidden gets it by their ID", async () => {
      await send({ chat: { externalId: ada.userId!, isGroup: false } })
      expect(lastRequest()).toMatchObject({ recipient: ada.userId })
      expect(lastRequest()).not.toHaveProperty("to")
    })

    it("a group gets it as a group", async () => {
      bed.vendor.groups.add("Y2FwaV9ncm91cDox")
      await send({ chat: { externalId: "Y2FwaV9ncm91cDox", isGroup: true } })
      expect(lastRequest()).toMatchObject({ recipient_type: "group", to: "Y2FwaV9ncm91cDox" })
    })

    it("a document keeps its name, and an audio file has no caption", async () => {
      await send({ text: "Paid", files: [fileOf("application/pdf", "invoice.pdf", Buffer.from("%PDF-1.7"))] })
      expect(lastRequest()["document"]).toEqual({ id: expect.any(String), caption: "Paid", filename: "invoice.pdf" })
      await send({ text: "Listen", files: [fileOf("audio/ogg", "a.ogg", Buffer.from("OggS."))] })
      expect(lastRequest()["audio"]).toEqual({ id: expect.any(String) })
    })

    it.each([
      ["text/csv", "prices.csv", "text/plain", "document"],
      ["audio/x-m4a", "note.m4a", "audio/mp4", "audio"],
    ])("%s is sent by the name that WhatsApp knows", async (type, filename, known, kind) => {
      expect(bed.adapter.capabilities.mediaTypes).toContain(type)
      await send({ text: null, files: [fileOf(type, filename, Buffer.from("a,b"))] })
      expect(bed.vendor.sent.at(-1)).toMatchObject({ file: { type: known, filename }, request: { type: kind } })
    })

    it("a type or a size that WhatsApp does not take is refused", async () => {
      const refused = async (type: string, bytes: Buffer) =>
        (await failureOf(send({ text: null, files: [fileOf(type, "a", bytes)] }))).options
      expect(await refused("image/webp", Buffer.from("RIFF"))).toEqual({ kind: "permanent", code: "CONTENT_REFUSED" })
      const { mediaBytes } = bed.adapter.capabilities
      expect(await refused("image/png", Buffer.alloc(mediaBytes.image! + 1))).toEqual({ kind: "permanent", code: "CONTENT_REFUSED" })
    })

    it("an upload whose outcome is not known has sent nothing", async () => {
      bed.faults.next({ fault: "reset-after", on: "/media" })
      const failure = await failureOf(send({ files: [fileOf("image/png", "a.png", pngOf())] }))
      expect(failure.options).toEqual({ kind: "retry", code: "CHANNEL_UNAVAILABLE" })
    })

    it("a message that was taken with a response that cannot be read is in doubt", async () => {
      bed.vendor.server.answerNext({ json: {} })
      const failure = await failureOf(send())
      expect(failure.options).toEqual({ kind: "doubt", code: "CHANNEL_UNAVAILABLE" })
    })
  })

  describe("after a day", () => {
    beforeEach(() => {
      bed.vendor.customers.get(ada.id)!.wroteAt = hoursAgo(24.1).getTime()
    })

    it("a text is refused", async () => {
      const failure = await failureOf(send())
      expect(failure.message).toMatch(/^131047: Re-engagement message: Message failed to send because more than 24 hours/)
      expect(failure.options).toEqual({ kind: "permanent", code: "WINDOW_CLOSED" })
    })

    it("a text can also be taken and fail later", async () => {
      bed.vendor.callbackUrl = "http://127.0.0.1:9/hook"
      bed.vendor.failsLater = true
      const { externalId } = await send()
      expect(reported()).toMatchObject([
        {
          kind: "receipt",
          status: "failed",
          externalId,
          errorCode: "WINDOW_CLOSED",
          error: expect.stringMatching(/^131047: Re-engagement/),
        },
      ])
    })

    it("a template is sent", async () => {
      const components = [{ type: "body", parameters: [{ type: "text", text: "42" }] }]
      await send({ text: null, template: { name: "order_ready", language: "en_US", components } })
      expect(lastRequest()).toMatchObject({
        type: "template",
        template: { name: "order_ready", language: { code: "en_US" }, components },
      })
      await send({ text: null, template: { name: "order_ready", language: "en_US", components: null } })
      expect(lastRequest()["template"]).toEqual({ name: "order_ready", language: { code: "en_US" } })
    })

    it("a template that Meta has not approved is refused", async () => {
      const failure = await failureOf(send({ text: null, template: { name: "order_ready", language: "uk" } }))
      expect(failure).toMatchObject({
        message: expect.stringMatching(/^132001: /),
        options: { kind: "permanent", code: "CONTENT_REFUSED" },
      })
    })
  })

  it("typing is shown with a message of the customer, and without one nothing is asked", async () => {
    await bed.adapter.typing!({ externalId: ada.id, lastExternalId: null }, bed.account, going())
    expect(bed.vendor.server.calls).toEqual([])
    const { externalId } = messageOf(bed, bed.write.text("Hi"))
    await bed.adapter.typing!({ externalId: ada.id, lastExternalId: externalId }, bed.account, going())
    expect(bed.vendor.server.calls.at(-1)!.json).toEqual({
      ...{ messaging_product: "whatsapp", status: "read", message_id: externalId, typing_indicator: { type: "text" } },
    })
  })

  it("a file is read with the token, and only Meta's address may be private", async () => {
    const id = bed.vendor.upload({ type: "image/png", filename: "a.png", bytes: pngOf() })
    expect(await bed.adapter.download({ id }, bed.account, going())).toEqual({
      url: `${bed.vendor.server.url}/files/${id}/a.png`,
      headers: { authorization: `Bearer ${bed.vendor.token}` },
      isOwn: true,
    })
    expect((await failureOf(bed.adapter.download({ id: "1" }, bed.account, going()))).options.kind).toBe("permanent")
  })

  it("several events in one request are read in their order", () => {
    const bob: Customer = { id: "16505550000", name: "Bob" }
    const text = (body: string) => ({ type: "text", text: { body } })
    const events = [bed.vendor.write(ada, text("one")), bed.vendor.write(bob, text("two")), bed.vendor.echo(bob.id, text("three"))]
    expect(itemsOf(bed, batch(events))).toMatchObject([
      { text: "one", chat: { externalId: ada.id, alsoKnownAs: [ada.userId], name: "Ada Lovelace", username: "ada" } },
      { text: "two", chat: { externalId: bob.id, name: "Bob" } },
      { text: "three", chat: { externalId: bob.id }, isEcho: true },
    ])
  })
})
