import pino from "pino"
import { Faults } from "../../simulate/kit/faults.js"
import { ResendVendor, type WrittenMail } from "../../simulate/vendors/resend.js"
import { MailReader } from "../../src/ports/channel/mail-reader.js"
import { resend } from "../../src/ports/channel/resend.js"
import { type Account, ChannelFailure, type Credentials, type Event, type Part } from "../../src/ports/channel.js"
import { type ChannelBed, failureOf, fileOf, going, itemsOf, partFor, pngOf, readItems, readMessage } from "./channel-bed.js"
import { channelSuite } from "./channel-suite.js"

interface ResendBed extends ChannelBed {
  vendor: ResendVendor
}

async function open(): Promise<ResendBed> {
  const vendor = await new ResendVendor({ faults: new Faults(), pauseMs: () => 1 }).listen()
  const webhook = vendor.addWebhook("https://platform.example/hooks/0")
  const account: Account = {
    companyId: "0199bbbb-0000-7000-8000-000000000000",
    connectionId: "0199aaaa-0000-7000-8000-000000000000",
    externalId: "support@shop.example",
    name: "Shop",
    credentials: { apiKey: vendor.apiKey, from: "Shop <support@shop.example>", webhookSecret: webhook.signing_secret },
  }
  const adapter = resend({ baseUrl: vendor.server.url }, mails)
  const write = (written: WrittenMail) => vendor.write({ subject: "Re: Hello", ...written })
  return {
    vendor,
    adapter,
    account,
    wrongCredentials: { apiKey: "re_not_the_key", from: "support@shop.example", webhookSecret: "whsec_bm90IHRoZSBzZWNyZXQ=" },
    faults: vendor.faults,
    customer: "ada@example.org",
    write: {
      text: (text) => write({ text }),
      picture: (bytes, text) => write({ text, files: [{ filename: "a.png", contentType: "image/png", bytes }] }),
      reply: (text, quoted) => write({ text, headers: { "in-reply-to": quoted } }),
    },
    async read(event) {
      const [reported] = adapter.parse(JSON.parse(JSON.stringify(event)), account)
      if (reported?.item.kind !== "reference") return reported ? [reported.item] : []
      const { reference } = JSON.parse(JSON.stringify(reported.item))
      // As the job of the server, which asks again; each time it waits longer, because it also waits for the process that reads the mail.
      const ask = async (timeoutMs = 200): Promise<Event[]> =>
        adapter.complete!(reference, account, AbortSignal.timeout(timeoutMs)).catch((error) => {
          if (timeoutMs < 100_000 && error instanceof ChannelFailure && error.options.kind !== "permanent") return ask(2 * timeoutMs)
          throw error
        })
      return (await ask()).map(({ item }) => item)
    },
    sign: (body) => vendor.headers(body),
    hooks: vendor.hooks,
    setHook: (url) => {
      webhook.endpoint = url
    },
    hookUrl: () => vendor.webhooks[0]?.endpoint ?? null,
    arrived: () =>
      vendor.sent.map(({ id, to, text, files, headers }) => ({
        chat: to,
        text,
        files: files.map(({ filename, bytes }) => ({ filename, bytes })),
        externalId: id,
        quoted: headers["In-Reply-To"] ?? null,
      })),
    block: () => void vendor.refused.add("ada@example.org"),
    close: () => vendor.close(),
  }
}

const mails = new MailReader(pino({ level: "silent" }))
afterAll(() => mails.close())

channelSuite("resend", {
  open,
  skips: {
    "its hook, and removes it": "the webhook of the bed was created by the operator; below is a test without one",
    "a changed text": "mail cannot be changed",
    "a kind that it does not know as a message that says so": "every mail has a text or a file",
    "a longer text not": "Resend has no limit of its own",
    "that the company is typing": "not shown in mail",
    "each event once, in order, from where the last poll ended": "Resend calls a webhook",
    "and reports a failure of the vendor": "Resend calls a webhook",
  },
})

describe("Resend", () => {
  let bed: ResendBed
  beforeEach(async () => {
    bed = await open()
  })
  afterEach(() => bed.close())
  const send = (more: Partial<Part> = {}) => bed.adapter.send(partFor(bed, more), bed.account, going())
  const messageOf = (written: WrittenMail) => readMessage(bed, bed.vendor.write(written))

  describe("connects", () => {
    const without = (): Account => ({ ...bed.account, credentials: { apiKey: bed.vendor.apiKey, from: "support@shop.example" } })

    it("with a webhook that it creates, in place of one that was left, and removes it", async () => {
      bed.vendor.webhooks.length = 0
      bed.vendor.addWebhook("https://platform.example/hooks/1")
      bed.vendor.addWebhook("https://another.example/hooks/1")
      const given = await bed.adapter.register(without(), "https://platform.example/hooks/1", going())
      const [other, created] = bed.vendor.webhooks
      expect(other).toMatchObject({ endpoint: "https://another.example/hooks/1" })
      expect(given).toEqual({ webhookSecret: created!.signing_secret, webhookId: created!.id })
      expect(created!.events).toEqual(["email.received", "email.delivered", "email.bounced", "email.failed", "email.suppressed"])
      const account = { ...without(), credentials: { ...without().credentials, ...given } }
      await bed.adapter.unregister(account, going())
      expect(bed.vendor.webhooks).toEqual([other])
    })

    it("without a webhook when the server has no public address, and leaves that of the operator", async () => {
      expect(await bed.adapter.register(without(), null, going())).toEqual({})
      expect(await bed.adapter.register(bed.account, "https://platform.example/hooks/1", going())).toEqual({})
      await bed.adapter.unregister(bed.account, going())
      expect(bed.vendor.webhooks).toHaveLength(1)
    })

    it("only with a verified domain", async () => {
      bed.vendor.domains[0]!.status = "pending"
      expect((await failureOf(bed.adapter.check(bed.account, going()))).message).toBe(
        "The domain shop.example of from is not verified with Resend: pending",
      )
      bed.vendor.domains.length = 0
      expect((await failureOf(bed.adapter.check(bed.account, going()))).options).toMatchObject({ kind: "permanent" })
    })

    it.each([
      [{ apiKey: "re_1", from: "Shop" }, "from"],
      [{ apiKey: "re_1", from: "a@shop.example, b@shop.example" }, "from"],
      [{ apiKey: "re_1", from: "a@shop.example", webhookSecret: "whsec_!" }, "webhookSecret"],
    ])("not with %j", (credentials, name) => {
      expect(bed.adapter.faultOf!(credentials as Credentials)).toMatch(new RegExp(`^${name} must be `))
    })
  })

  it("takes no request that was signed more than five minutes ago, or in the future", () => {
    const body = JSON.stringify(bed.write.text("Hello"))
    const verify = (minutes: number) => {
      const headers = bed.vendor.headers(body, new Date(Date.now() + minutes * 60_000))
      return bed.adapter.verify({ headers, body: Buffer.from(body) }, bed.account, new Date())
    }
    expect([-4, 4, -6, 6].map(verify)).toEqual([true, true, false, false])
  })

  describe("reads", () => {
    it("only mail for the connected address", () => {
      const kinds = (written: WrittenMail) => itemsOf(bed, bed.vendor.write(written)).map(({ kind }) => kind)
      expect(kinds({ to: ["sales@shop.example"] })).toEqual([])
      expect(kinds({ to: ["Shop <SUPPORT@shop.example>"], receivedFor: [] })).toEqual(["reference"])
      expect(kinds({ to: ["list@lists.example"], receivedFor: ["support@shop.example"] })).toEqual(["reference"])
    })

    it("a mail with its subject, its thread and its files", async () => {
      const bytes = Buffer.from("%PDF-1.7")
      const message = await messageOf({
        subject: "Invoice",
        messageId: "<m1@example.org>",
        html: "<p>Please <b>pay</b></p><blockquote type=cite>old</blockquote>",
        files: [
          { filename: "logo.png", contentType: "image/png", bytes: pngOf(), isInline: true },
          { filename: "invoice.pdf", contentType: "application/pdf", bytes },
        ],
      })
      expect(message).toEqual({
        kind: "message",
        chat: { externalId: "ada@example.org", name: "Ada Lovelace", isGroup: false },
        externalId: "<m1@example.org>",
        text: "Subject: Invoice\n\nPlease pay",
        files: [{ kind: "document", filename: "invoice.pdf", reference: { emailId: expect.any(String), id: expect.any(String) } }],
        quoted: null,
        data: { messageId: "<m1@example.org>", references: [], subject: "Invoice" },
      })
      const found = await bed.adapter.download(message.files[0]!.reference, bed.account, going())
      expect(found).toMatchObject({ filename: "invoice.pdf", isOwn: true })
      const gone = await failureOf(bed.adapter.download({ emailId: "x", id: "y" }, bed.account, going()))
      expect(gone.options).toMatchObject({ kind: "permanent" })
    })

    it("automatic mail, and its own not at all", async () => {
      expect(await messageOf({ text: "Away", headers: { "auto-submitted": "auto-replied" } })).toMatchObject({ isAutomatic: true })
      expect(await readItems(bed, bed.vendor.write({ from: "support@shop.example", text: "Hi" }))).toEqual([])
    })

    it("nothing from other events, and from those of other senders", async () => {
      await send()
      const mail = bed.vendor.sent[0]!
      expect(itemsOf(bed, { type: "contact.created", data: {} })).toEqual([])
      expect(itemsOf(bed, { type: "email.opened", data: { email_id: mail.id, from: mail.from } })).toEqual([])
      expect(itemsOf(bed, bed.vendor.report("email.delivered", { ...mail, from: "sales@shop.example" }))).toEqual([])
    })

    it("a mail that is gone as a failure", async () => {
      expect((await failureOf(bed.adapter.complete!({ emailId: "unknown" }, bed.account, going()))).message).toBe(
        "404: not_found: Email not found",
      )
    })
  })

  it("reports the result of a mail, by its ID and its part", async () => {
    const part = partFor(bed)
    const { externalId } = await bed.adapter.send(part, bed.account, going())
    const mail = bed.vendor.sent[0]!
    const named = { kind: "receipt", externalId, partId: part.id }
    const bounce = { message: "The mailbox does not exist", type: "Permanent", subType: "General" }
    expect(itemsOf(bed, bed.vendor.report("email.delivered", mail))).toEqual([{ ...named, status: "delivered" }])
    const failed = { ...named, status: "failed", errorCode: "RECIPIENT_UNREACHABLE" }
    expect(itemsOf(bed, bed.vendor.report("email.bounced", mail, { bounce }))).toEqual([{ ...failed, error: bounce.message }])
    const suppressed = { message: "Bounced before", type: "OnAccountSuppressionList" }
    expect(itemsOf(bed, bed.vendor.report("email.suppressed", mail, { suppressed }))).toEqual([{ ...failed, error: "Bounced before" }])
    const quota = itemsOf(bed, bed.vendor.report("email.failed", mail, { failed: { reason: "reached_daily_quota" } }))
    expect(quota).toEqual([{ ...failed, error: "reached_daily_quota", errorCode: "REFUSED" }])
  })

  describe("sends", () => {
    it("an answer in the thread of the last mail, which the customer's next answer names", async () => {
      const { data } = await messageOf({ subject: "Order 7", messageId: "<m1@example.org>", headers: { references: "<m0@example.org>" } })
      const part = partFor(bed, { last: { externalId: "<m1@example.org>", data: JSON.parse(JSON.stringify(data)) }, isByAssistant: true })
      const accepted = await bed.adapter.send(part, bed.account, going())
      const reference = `<${part.id}@shop.example>`
      const [mail] = bed.vendor.sent
      expect(mail).toMatchObject({ from: "Shop <support@shop.example>", subject: "Re: Order 7", html: "<p>Good day</p>" })
      expect(mail!.headers).toEqual({
        "X-Part-Id": part.id,
        "Auto-Submitted": "auto-replied",
        "In-Reply-To": "<m1@example.org>",
        References: `<m0@example.org> <m1@example.org> ${reference}`,
      })
      const references = `${mail!.headers["References"]} ${mail!.messageId}`
      const answer = await messageOf({ text: "Thanks", subject: "Re: Order 7", headers: { "in-reply-to": mail!.messageId, references } })
      expect(answer.quoted).toBe(part.messageId)

      await send({ last: { externalId: accepted.externalId, data: accepted.data } })
      expect(bed.vendor.sent[1]!.headers).toMatchObject({ "In-Reply-To": reference })
      expect(bed.vendor.sent[1]!.subject).toBe("Re: Order 7")
    })

    it("the first mail of a chat under the name of the connection", async () => {
      await send()
      expect(bed.vendor.sent[0]).toMatchObject({ subject: "Shop", headers: { References: expect.stringMatching(/^<\S+@shop.example>$/) } })
      expect(bed.vendor.sent[0]!.headers).not.toHaveProperty("In-Reply-To")
      expect(bed.vendor.sent[0]!.headers).not.toHaveProperty("Auto-Submitted")
    })

    it("several files in one mail, and files without a text", async () => {
      const files = [fileOf("image/png", "a.png", pngOf()), fileOf("application/pdf", "b.pdf", Buffer.from("%PDF"))]
      await send({ text: null, files })
      expect(bed.vendor.sent).toMatchObject([{ text: "a.png\nb.pdf", files: [{ filename: "a.png", contentType: "image/png" }, {}] }])
    })

    it("each part once, however often it is repeated", async () => {
      const part = partFor(bed)
      bed.faults.next("reset-after")
      await failureOf(bed.adapter.send(part, bed.account, going()))
      const { externalId } = await bed.adapter.send(part, bed.account, going())
      expect(bed.vendor.sent.map(({ id }) => id)).toEqual([externalId])
      const other = await failureOf(bed.adapter.send({ ...part, text: "Another" }, bed.account, going()))
      expect(other.message).toMatch(/^409: invalid_idempotent_request: /)
      expect(other.options.kind).toBe("permanent")
      bed.vendor.busyKeys.add(part.id)
      expect((await failureOf(bed.adapter.send(part, bed.account, going()))).options).toMatchObject({ kind: "retry" })
    })

    it("nothing to a chat without a mail address", async () => {
      for (const externalId of ["ada", "a@b.c, d@e.f", "Ada <a@b.c>", "a@b.c\r\nBcc: d@e.f"])
        expect((await failureOf(send({ chat: { externalId, isGroup: false } }))).options.code).toBe("RECIPIENT_UNREACHABLE")
      expect(bed.vendor.server.calls).toEqual([])
    })

    it.each([
      [429, "daily_quota_exceeded", "permanent", "RATE_LIMITED"],
      [429, "monthly_quota_exceeded", "permanent", "RATE_LIMITED"],
      [401, "restricted_api_key", "credentials", "CREDENTIALS_REFUSED"],
      [422, "validation_error", "permanent", "REFUSED"],
      [422, "invalid_attachment", "permanent", "CONTENT_REFUSED"],
      [503, "service_unavailable", "retry", "CHANNEL_UNAVAILABLE"],
    ])("a failure by %i %s as %s", async (status, name, kind, code) => {
      bed.vendor.server.answerNext({ status, json: { statusCode: status, name, message: `About ${bed.vendor.apiKey}` } })
      const failure = await failureOf(send())
      expect(failure.options).toMatchObject({ kind, code })
      expect(failure.message).toBe(`${status}: ${name}: About [key]`)
    })
  })
})
