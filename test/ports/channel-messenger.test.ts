import { MessengerVendor } from "../../simulate/vendors/messenger.js"
import { messenger } from "../../src/ports/channel/messenger.js"
import type { Incoming, Part } from "../../src/ports/channel.js"
import { failureOf, fileOf, going, itemsOf, partFor, pngOf } from "./channel-bed.js"
import { channelSuite } from "./channel-suite.js"
import { hoursAgo, type MessagingBed, messagingBed, messagingSkips, PSID } from "./kit/meta-bed.js"

const PAGE = "682498302938465"
const unsupported = { attachments: [{ type: "appointment_booking", payload: { booking_id: "1" } }] }
const open = () => messagingBed(new MessengerVendor({ pauseMs: () => 1 }), PAGE, messenger, unsupported)

channelSuite("messenger", { open, skips: messagingSkips })

describe("Messenger", () => {
  let bed: MessagingBed
  beforeEach(async () => {
    bed = await open()
  })
  afterEach(() => bed.close())
  const send = (more: Partial<Part> = {}) => bed.adapter.send(partFor(bed, more), bed.account, going())
  const lastRequest = () => bed.vendor.sent.at(-1)!.request

  it("finds the page of the token, and asks it to report", async () => {
    expect(await bed.adapter.check(bed.account, going())).toEqual({ pageId: PAGE, accountId: PAGE })
    const checked = { ...bed.account, credentials: { ...bed.account.credentials, pageId: PAGE } }
    await bed.adapter.register(checked, null, going())
    expect(bed.vendor.subscribed).toEqual([
      ...["messages", "messaging_postbacks", "message_echoes", "message_deliveries", "message_reads", "message_edits"],
    ])
    expect(bed.vendor.server.calls.at(-1)!.path).toBe(`/v25.0/${PAGE}/subscribed_apps`)
    await bed.adapter.unregister(checked, going())
    expect(bed.vendor.subscribed).toBeNull()
  })

  it("a wrong app secret is found by the check", async () => {
    const wrong = { ...bed.account, credentials: { ...bed.account.credentials, appSecret: "another" } }
    const failure = await failureOf(bed.adapter.check(wrong, going()))
    expect(failure).toMatchObject({
      message: "100: Invalid appsecret_proof provided in the API argument",
      options: { kind: "credentials", code: "CREDENTIALS_REFUSED" },
    })
  })

  it("a message carries its part ID, and its echo and receipts name it", async () => {
    bed.vendor.callbackUrl = "http://127.0.0.1:9/hook"
    bed.vendor.subscribed = ["messages"]
    const part = partFor(bed, { quoted: null })
    const { externalId } = await bed.adapter.send(part, bed.account, going())
    expect(lastRequest()).toEqual({
      recipient: { id: PSID },
      messaging_type: "RESPONSE",
      message: { text: "Good day", metadata: part.id },
    })
    bed.vendor.read(bed.vendor.sent[0]!)
    // The hook is not there: each lane sends its first event again and again.
    await new Promise((resolve) => setImmediate(resolve))
    const reported = new Set(bed.vendor.hooks.attempts.map(({ body }) => body))
    const items = [...reported].flatMap((body): Incoming[] => itemsOf(bed, JSON.parse(body)))
    expect(items).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: "message", isEcho: true, partId: part.id, externalId, chat: { externalId: PSID } }),
        { kind: "receipt", status: "delivered", externalId, customer: PSID },
        { kind: "receipt", status: "delivered", customer: PSID, upTo: expect.any(Number) },
        { kind: "receipt", status: "read", customer: PSID, upTo: expect.any(Number) },
      ]),
    )
  })

  it("a file is uploaded and sent by its ID", async () => {
    await send({ text: null, files: [fileOf("application/pdf", "invoice.pdf", Buffer.from("%PDF-1.7"))] })
    const attachment = { type: "file", payload: { attachment_id: expect.stringMatching(/^\d+$/) } }
    expect(lastRequest()["message"]).toEqual({ attachment, metadata: expect.any(String) })
  })

  it("an upload whose outcome is not known has sent nothing", async () => {
    bed.faults.next({ fault: "reset-after", on: "message_attachments" })
    const failure = await failureOf(send({ text: null, files: [fileOf("image/png", "a.png", pngOf())] }))
    expect(failure.options).toEqual({ kind: "retry", code: "CHANNEL_UNAVAILABLE" })
    expect(bed.vendor.sent).toEqual([])
  })

  describe("after a day", () => {
    const wroteHoursAgo = (hours: number) => {
      bed.vendor.customers.get(PSID)!.wroteAt = hoursAgo(hours).getTime()
      return { customerWroteAt: hoursAgo(hours) }
    }

    it.each([23.9, 24.1, 167.9])("a person may write after %d hours", async (hours) => {
      await send(wroteHoursAgo(hours))
      expect(lastRequest()).toMatchObject(
        hours > 24 ? { messaging_type: "MESSAGE_TAG", tag: "HUMAN_AGENT" } : { messaging_type: "RESPONSE" },
      )
    })

    it.each([
      ["a person, after a week", 168.1, { isByPerson: true }],
      ["the assistant", 24.1, { isByPerson: false, isByAssistant: true }],
      ["an integration", 24.1, { isByPerson: false }],
    ])("%s is refused", async (_name, hours, by) => {
      const failure = await failureOf(send({ ...wroteHoursAgo(hours), ...by }))
      expect(failure).toMatchObject({
        message: "10/2018278: This message is sent outside of allowed window.",
        options: { kind: "permanent", code: "WINDOW_CLOSED" },
      })
      expect(bed.vendor.sent).toEqual([])
    })
  })

  it("nobody else can be written to", async () => {
    const failure = await failureOf(send({ chat: { externalId: "1", isGroup: false } }))
    expect(failure).toMatchObject({ message: "100/2018001: No matching user found", options: { code: "RECIPIENT_UNREACHABLE" } })
  })

  it("a message that was taken with a response that cannot be read is in doubt", async () => {
    bed.vendor.server.answerNext({ body: "<html>" })
    const failure = await failureOf(send())
    expect(failure.options).toEqual({ kind: "doubt", code: "CHANNEL_UNAVAILABLE" })
  })

  it("the customer's name is asked for", async () => {
    expect(await bed.adapter.profile!(PSID, bed.account, going())).toEqual({ name: "Ada Lovelace" })
    const failure = await failureOf(bed.adapter.profile!("1", bed.account, going()))
    expect(failure.options).toMatchObject({ kind: "permanent" })
  })

  it("a file is read without the token, and only Meta's address may be private", async () => {
    expect(await bed.adapter.download({ url: "https://cdn.fbsbx.com/1.pdf" }, bed.account, going())).toEqual({
      url: "https://cdn.fbsbx.com/1.pdf",
      isOwn: false,
    })
    expect(await bed.adapter.download({ url: `${bed.vendor.server.url}/files/1/a` }, bed.account, going())).toMatchObject({ isOwn: true })
    expect(await bed.adapter.download({ url: "no URL" }, bed.account, going())).toMatchObject({ isOwn: false })
  })
})
