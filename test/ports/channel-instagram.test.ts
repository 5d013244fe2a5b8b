import { InstagramVendor } from "../../simulate/vendors/instagram.js"
import { instagram } from "../../src/ports/channel/instagram.js"
import type { Part } from "../../src/ports/channel.js"
import { failureOf, fileOf, going, itemsOf, messageOf, partFor, pngOf } from "./channel-bed.js"
import { channelSuite } from "./channel-suite.js"
import { hoursAgo, type MessagingBed, messagingBed, messagingSkips, PSID } from "./kit/meta-bed.js"

const IGID = "17841400000000000"
const open = () => messagingBed(new InstagramVendor({ pauseMs: () => 1 }), IGID, instagram, { is_unsupported: true })

channelSuite("instagram", { open, skips: messagingSkips })

describe("Instagram", () => {
  let bed: MessagingBed
  beforeEach(async () => {
    bed = await open()
  })
  afterEach(() => bed.close())
  const send = (more: Partial<Part> = {}) => bed.adapter.send(partFor(bed, more), bed.account, going())
  const lastRequest = () => bed.vendor.sent.at(-1)!.request

  it("finds the account that is linked to the page of the token", async () => {
    expect(await bed.adapter.check(bed.account, going())).toEqual({ pageId: bed.vendor.pageId, accountId: IGID })
    await bed.adapter.register(bed.account, null, going())
    expect(bed.vendor.subscribed).toContain("messages")
    await bed.adapter.unregister(bed.account, going())
    expect(bed.vendor.subscribed).toBeNull()
  })

  it("a message carries no part ID, which Instagram does not take", async () => {
    await send()
    expect(lastRequest()).toEqual({ recipient: { id: PSID }, messaging_type: "RESPONSE", message: { text: "Good day" } })
  })

  it("the length of a text is counted in bytes", async () => {
    await send({ text: "ї".repeat(500) })
    const failure = await failureOf(send({ text: "ї".repeat(501) }))
    expect(failure.options).toEqual({ kind: "permanent", code: "CONTENT_REFUSED" })
  })

  it("a file is uploaded for Instagram", async () => {
    await send({ text: null, files: [fileOf("image/png", "a.png", pngOf())] })
    const upload = bed.vendor.server.calls.find(({ path }) => path.endsWith("/message_attachments"))!
    expect((await upload.form()).get("platform")).toBe("instagram")
    expect(bed.adapter.capabilities.mediaTypes).not.toContain("image/webp")
  })

  it("a person may write for a week", async () => {
    bed.vendor.customers.get(PSID)!.wroteAt = hoursAgo(100).getTime()
    await send({ customerWroteAt: hoursAgo(100) })
    expect(lastRequest()).toMatchObject({ messaging_type: "MESSAGE_TAG", tag: "HUMAN_AGENT" })
    const failure = await failureOf(send({ customerWroteAt: hoursAgo(100), isByPerson: false, isByAssistant: true }))
    expect(failure).toMatchObject({
      message: "10/2534022: This message is sent outside of allowed window.",
      options: { kind: "permanent", code: "WINDOW_CLOSED" },
    })
  })

  it("nobody else can be written to", async () => {
    const failure = await failureOf(send({ chat: { externalId: "1", isGroup: false } }))
    expect(failure).toMatchObject({ message: "100/2534014: No matching user found", options: { code: "RECIPIENT_UNREACHABLE" } })
  })

  it("the customer's name and username are asked for", async () => {
    expect(await bed.adapter.profile!(PSID, bed.account, going())).toEqual({ name: "Ada Lovelace", username: "ada" })
  })

  it("a message that the customer has read is named", async () => {
    const { externalId } = await send()
    const event = bed.vendor.read(bed.vendor.sent[0]!)
    expect(itemsOf(bed, event)).toEqual([{ kind: "receipt", status: "read", externalId, customer: PSID }])
  })

  it("a message that the customer took back is deleted", async () => {
    const { externalId } = messageOf(bed, bed.write.text("Hi"))
    const event = (bed.vendor as InstagramVendor).remove(PSID, externalId)
    expect(itemsOf(bed, event)).toEqual([{ kind: "deletion", chat: { externalId: PSID }, externalId }])
  })
})
