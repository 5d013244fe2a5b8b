import pino from "pino"
import { Faults } from "../../simulate/kit/faults.js"
import { GmailVendor, type WrittenMail } from "../../simulate/vendors/gmail.js"
import { gmail } from "../../src/ports/channel/gmail.js"
import { MailReader } from "../../src/ports/channel/mail-reader.js"
import type { Account, IncomingMessage, Part } from "../../src/ports/channel.js"
import { type ChannelBed, failureOf, fileOf, going, partFor, pngOf, readItems, readMessage } from "./channel-bed.js"
import { channelSuite } from "./channel-suite.js"

interface GmailBed extends ChannelBed {
  vendor: GmailVendor
  /** A mail comes; the position of the mailbox before it. */
  deliver(written: WrittenMail, labelIds?: string[]): Promise<{ historyId: string; id: string }>
}

async function open(): Promise<GmailBed> {
  const vendor = await new GmailVendor({ faults: new Faults() }).listen()
  const adapter = gmail({ baseUrl: vendor.server.url, oauthBaseUrl: vendor.server.url }, mails)
  const given: Account = {
    companyId: "0199bbbb-0000-7000-8000-000000000000",
    connectionId: "0199aaaa-0000-7000-8000-000000000000",
    externalId: "support",
    name: "Shop",
    credentials: vendor.credentials,
  }
  // As the server stores them when the mailbox is connected.
  const account = { ...given, credentials: { ...given.credentials, ...(await adapter.check(given, going())) } }
  const deliver = async (written: WrittenMail, labelIds?: string[]) => {
    const historyId = vendor.position
    return { historyId, id: (await vendor.write({ subject: "Re: Hello", ...written }, labelIds)).id }
  }
  return {
    vendor,
    adapter,
    account,
    deliver,
    wrongCredentials: { ...vendor.credentials, refreshToken: "1//not-the-token" },
    faults: vendor.faults,
    customer: "ada@example.org",
    write: {
      text: (text) => deliver({ text }),
      picture: (content, text) => deliver({ text, files: [{ filename: "a.png", contentType: "image/png", content }] }),
      reply: (text, inReplyTo) => deliver({ text, inReplyTo }),
    },
    async read(event) {
      const { historyId } = event as { historyId: string }
      const { events } = await adapter.poll!.run(account, { historyId, since: null, waiting: [] }, going())
      return events.slice(0, 1).map(({ item }) => item)
    },
    sign: () => ({}),
    hooks: null as never,
    hookUrl: () => null,
    arrived: () =>
      sentBy(vendor).map(({ email }) => ({
        chat: email.to![0]!.address!,
        text: email.text?.replace(/\n$/, "") ?? null,
        files: email.attachments.map(({ filename, content }) => ({ filename: filename!, bytes: Buffer.from(content as ArrayBuffer) })),
        externalId: email.messageId!,
        quoted: email.inReplyTo ?? null,
      })),
    block: () => void vendor.refused.add("ada@example.org"),
    close: () => vendor.close(),
  }
}

const sentBy = ({ mails }: GmailVendor) => mails.filter(({ labelIds }) => labelIds.includes("SENT"))
const polled = "Gmail is polled"

const mails = new MailReader(pino({ level: "silent" }))
afterAll(() => mails.close())

channelSuite("gmail", {
  open,
  skips: {
    "its hook, and removes it": polled,
    "what the vendor sends, and nothing else": polled,
    "the body too": polled,
    "receives every message once and unchanged while requests are lost, repeated and overtaken": polled,
    "a changed text": "mail cannot be changed",
    "a kind that it does not know as a message that says so": "every mail has a text or a file",
    "a longer text not": "Gmail has no limit of its own",
    "that the company is typing": "not shown in mail",
  },
})

describe("Gmail", () => {
  let bed: GmailBed
  beforeEach(async () => {
    bed = await open()
  })
  afterEach(() => bed.close())
  const send = (more: Partial<Part> = {}) => bed.adapter.send(partFor(bed, more), bed.account, going())
  const poll = (state: unknown = null) => bed.adapter.poll!.run(bed.account, state, going())
  const texts = ({ events }: Awaited<ReturnType<typeof poll>>) => events.map(({ item }) => (item as IncomingMessage).text)
  const requests = (path: string) => bed.vendor.server.calls.filter((call) => call.path.endsWith(path))

  describe("connects", () => {
    it("and stores the address, and where the first poll begins", async () => {
      const position = bed.vendor.position
      expect(await bed.adapter.check(bed.account, going())).toEqual({ emailAddress: "support@shop.example", historyId: position })
      expect(await bed.adapter.register(bed.account, "https://platform.example/h", going())).toEqual({})
      expect(bed.adapter.verify({ headers: {}, body: Buffer.from("{}") }, bed.account, new Date())).toBe(false)
    })

    it("only with rights to read and to send", async () => {
      bed.vendor.scope = "https://www.googleapis.com/auth/gmail.readonly"
      const failure = await failureOf(bed.adapter.check(bed.account, going()))
      expect(failure.message).toBe("The refresh token does not grant the scope gmail.send")
      expect(failure.options.kind).toBe("credentials")
    })
  })

  describe("its access token", () => {
    it("is kept, and renewed once when Gmail no longer takes it", async () => {
      await send()
      await send()
      expect(requests("/token")).toHaveLength(1)
      bed.vendor.expireToken()
      await send()
      expect(requests("/token")).toHaveLength(2)
      expect(bed.arrived()).toHaveLength(3)
    })

    it("is asked for again when the request for it failed, without a doubt about the mail", async () => {
      bed.vendor.expireToken()
      bed.faults.next({ fault: "reset", on: "/token" })
      expect((await failureOf(send())).options).toMatchObject({ kind: "retry" })
      bed.faults.next({ fault: "500", on: "/token" })
      expect((await failureOf(send())).options).toMatchObject({ kind: "retry" })
      await send()
    })

    it("that Gmail refuses twice means wrong credentials", async () => {
      bed.vendor.server.answerNext({ status: 401, json: {} })
      bed.vendor.server.answerNext({ json: { access_token: "ya29.wrong", expires_in: 3600 } })
      expect((await failureOf(send())).options).toMatchObject({ kind: "credentials" })
    })
  })

  describe("a poll", () => {
    it("reads mail to the mailbox, and what a person sent from it", async () => {
      const message = await readMessage(bed, bed.deliver({ subject: "Order 7", text: "Hi" }))
      const { threadId } = bed.vendor.mails[0]!
      expect(message).toMatchObject({ text: "Subject: Order 7\n\nHi", chat: { externalId: "ada@example.org", name: "Ada Lovelace" } })
      expect(message).toMatchObject({ data: { messageId: message.externalId, references: [], subject: "Order 7", threadId } })
      expect(message).not.toHaveProperty("isEcho")
      const sent = { from: "Support <support@shop.example>", to: "Ada <ADA@example.org>", inReplyTo: message.externalId, text: "By hand" }
      const echo = await readMessage(bed, bed.deliver(sent, ["SENT"]))
      expect(echo).toMatchObject({ isEcho: true, partId: null, text: "By hand", quoted: message.externalId })
      expect(echo.chat).toEqual({ externalId: "ada@example.org", name: "Ada", isGroup: false })
    })

    it("recognizes its own mail", async () => {
      const part = partFor(bed)
      const { externalId } = await bed.adapter.send(part, bed.account, going())
      const { events } = await poll()
      expect(events.map(({ item }) => item)).toMatchObject([{ isEcho: true, partId: part.id, externalId }])
    })

    it("passes over drafts, spam, what was deleted and what is in no folder", async () => {
      for (const labels of [["DRAFT"], ["SPAM"], ["TRASH", "SENT"], ["CATEGORY_PROMOTIONS"]]) await bed.deliver({ text: "x" }, labels)
      const { id } = await bed.deliver({ text: "gone" })
      bed.vendor.mails.splice(
        bed.vendor.mails.findIndex((mail) => mail.id === id),
        1,
      )
      await bed.deliver({ text: "Hi" })
      expect(texts(await poll())).toEqual(["Hi"])
    })

    it("finds by a search what Gmail's history no longer tells", async () => {
      await bed.deliver({ text: "one" })
      const { state } = await poll()
      await bed.deliver({ text: "two" })
      await bed.deliver({ text: "spam" }, ["SPAM"])
      bed.vendor.forgetHistory()
      // Those of the last minute again, since nobody knows which ones were read.
      const found = await poll(state)
      expect(texts(found)).toEqual(["one", "two"])
      await bed.deliver({ text: "three" })
      expect(texts(await poll(found.state))).toEqual(["three"])
    })

    it("reads twenty mails at once, and the others with the next polls", async () => {
      for (let index = 0; index < 45; index++) await bed.deliver({ text: `mail ${index}` })
      const read: (string | null)[] = []
      let state: unknown = null
      for (const expected of [20, 20, 5, 0]) {
        const { events, state: next } = await poll(state)
        expect(events).toHaveLength(expected)
        read.push(...texts({ events, state }))
        state = JSON.parse(JSON.stringify(next))
      }
      expect(read).toEqual(Array.from({ length: 45 }, (_, index) => `mail ${index}`))
    })

    it("begins where the mailbox is when it was never read", async () => {
      await bed.deliver({ text: "before" })
      const account = { ...bed.account, credentials: bed.vendor.credentials }
      const { events, state } = await bed.adapter.poll!.run(account, null, going())
      expect(events).toEqual([])
      expect(state).toMatchObject({ historyId: bed.vendor.position })
    })

    it("fails for a response that it cannot read", async () => {
      bed.vendor.server.answerNext({ json: { history: [] } })
      expect((await failureOf(poll())).options).toMatchObject({ kind: "retry" })
      bed.vendor.server.answerNext({ body: "<html>" })
      expect((await failureOf(poll())).options.kind).toBe("doubt")
    })
  })

  it("reads files of a mail while Gmail has it", async () => {
    const files = [
      { filename: "logo.png", contentType: "image/png", content: pngOf(), cid: "logo" },
      { filename: "рахунок.pdf", contentType: "application/pdf", content: Buffer.from("%PDF-1.7") },
    ]
    const message = await readMessage(bed, bed.deliver({ html: '<p>See</p><img src="cid:logo">', files }))
    expect(message.files).toMatchObject([{ kind: "document", filename: "рахунок.pdf" }])
    const { reference } = message.files[0]!
    expect(await bed.adapter.download(reference, bed.account, going())).toEqual({
      bytes: Buffer.from("%PDF-1.7"),
      filename: "рахунок.pdf",
    })
    bed.vendor.mails.length = 0
    expect((await failureOf(bed.adapter.download(reference, bed.account, going()))).options).toMatchObject({ kind: "permanent" })
  })

  describe("sends", () => {
    it("an answer in Gmail's thread, under the Message-ID that Gmail gives it", async () => {
      const { data, externalId: first } = await readMessage(bed, bed.deliver({ subject: "Order 7", text: "Hi" }))
      const part = partFor(bed, { last: { externalId: first, data: JSON.parse(JSON.stringify(data)) }, isByAssistant: true })
      const accepted = await bed.adapter.send(part, bed.account, going())
      const [incoming, sent] = bed.vendor.mails
      const reference = `<${part.id}@shop.example>`
      expect(sent!.threadId).toBe(incoming!.threadId)
      expect(sent!.email).toMatchObject({
        subject: "Re: Order 7",
        from: { name: "Shop", address: "support@shop.example" },
        inReplyTo: first,
        references: `${first} ${reference}`,
      })
      const headers = Object.fromEntries(sent!.email.headers.map(({ key, value }) => [key, value]))
      expect(headers).toMatchObject({ "auto-submitted": "auto-replied", "x-part-id": part.id })
      expect(accepted).toEqual({
        externalId: sent!.email.messageId,
        data: {
          messageId: sent!.email.messageId,
          references: [first, reference],
          subject: "Re: Order 7",
          threadId: incoming!.threadId,
        },
      })
      const references = [first, reference, sent!.email.messageId!]
      const answer = await readMessage(bed, bed.deliver({ inReplyTo: sent!.email.messageId!, references, text: "Thanks" }))
      expect(answer.quoted).toBe(part.messageId)
      const followUp = await readMessage(
        bed,
        bed.deliver({ inReplyTo: answer.externalId, references: [...references, answer.externalId], text: "And" }),
      )
      expect(followUp.quoted).toBe(answer.externalId)
    })

    it("a new thread when the old one was deleted", async () => {
      const { data } = await readMessage(bed, bed.deliver({ subject: "Order 7", text: "Hi" }))
      bed.vendor.mails.length = 0
      await send({ last: { externalId: null, data } })
      expect(bed.vendor.mails).toMatchObject([{ email: { subject: "Re: Order 7" } }])
    })

    it("a large mail as an upload, in its thread", async () => {
      const { data } = await readMessage(bed, bed.deliver({ subject: "Order 7", text: "Hi" }))
      const bytes = Buffer.concat([Buffer.from("Subject: old\r\n\r\n"), Buffer.alloc(5 * 1024 * 1024, "ї")])
      await send({ last: { externalId: null, data }, files: [fileOf("message/rfc822", "old.eml", bytes)] })
      expect(requests("/upload/gmail/v1/users/me/messages/send")).toHaveLength(1)
      const [incoming, sent] = bed.vendor.mails
      expect(sent!.threadId).toBe(incoming!.threadId)
      const [arrived] = bed.arrived()
      expect(arrived).toMatchObject({ text: "Good day", files: [{ filename: "old.eml" }] })
      expect(arrived!.files[0]!.bytes.equals(bytes)).toBe(true)
    })

    it("a mail although its Message-ID cannot be read, under its reference", async () => {
      const part = partFor(bed)
      bed.faults.next({ fault: "500", on: "/messages/" })
      // The first path that contains it is that of the mail itself.
      expect((await failureOf(bed.adapter.send(part, bed.account, going()))).options.kind).toBe("retry")
      bed.vendor.onSent = ({ id }) => bed.faults.next({ fault: "500", on: id })
      const { externalId, data } = await bed.adapter.send(part, bed.account, going())
      expect(externalId).toBe(`<${part.id}@shop.example>`)
      expect(data).toMatchObject({ messageId: externalId, references: [] })
    })

    it("one mail to one address, whatever the chat and the texts contain", async () => {
      expect((await failureOf(send({ chat: { externalId: "a@b.c, d@e.f", isGroup: false } }))).options.code).toBe("RECIPIENT_UNREACHABLE")
      const data = { messageId: "<1@b.c>", references: [], subject: "x\r\nBcc: d@e.f" }
      await send({ last: { externalId: null, data } })
      expect(sentBy(bed.vendor)[0]!.email.bcc).toBeUndefined()
    })
  })

  it("finds a mail that was sent although nobody said so", async () => {
    const [lost, taken] = [partFor(bed), partFor(bed)]
    bed.faults.next({ fault: "reset", on: "/send" })
    bed.faults.next({ fault: "reset-after", on: "/send" })
    for (const part of [lost, taken]) expect((await failureOf(bed.adapter.send(part, bed.account, going()))).options.kind).toBe("doubt")
    await send()
    expect(await bed.adapter.find!(lost, bed.account, going())).toBeNull()
    const [first] = bed.arrived()
    expect(await bed.adapter.find!(taken, bed.account, going())).toMatchObject({ externalId: first!.externalId })
  })

  it("reports a bounce as the failure of its mail", async () => {
    const part = partFor(bed)
    await bed.adapter.send(part, bed.account, going())
    const { raw, email } = sentBy(bed.vendor)[0]!
    const lines = [
      "From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
      "To: support@shop.example",
      "X-Failed-Recipients: ada@example.org",
      "Subject: Delivery Status Notification (Failure)",
      `In-Reply-To: ${email.messageId}`,
      'Content-Type: multipart/report; boundary="b1"; report-type=delivery-status',
      "",
      "--b1\r\nContent-Type: text/plain\r\n\r\nAddress not found",
      "--b1\r\nContent-Type: message/delivery-status\r\n",
      "Final-Recipient: rfc822; ada@example.org\r\nAction: failed\r\nStatus: 5.1.1",
      "Diagnostic-Code: smtp; 550-5.1.1 The email account that you tried\r\n to reach does not exist.\r\n",
      `--b1\r\nContent-Type: message/rfc822\r\n\r\n${raw.toString("latin1")}`,
      "--b1--",
    ]
    const historyId = bed.vendor.position
    await bed.vendor.store(Buffer.from(lines.join("\r\n"), "latin1"))
    expect(await readItems(bed, { historyId })).toEqual([
      {
        kind: "receipt",
        status: "failed",
        externalId: email.messageId,
        partId: part.id,
        error: "550-5.1.1 The email account that you tried to reach does not exist.",
        errorCode: "RECIPIENT_UNREACHABLE",
      },
    ])
  })

  it.each([
    [403, "userRateLimitExceeded", "Slow down", "retry", "RATE_LIMITED"],
    [403, "rateLimitExceeded", "Slow down", "retry", "RATE_LIMITED"],
    [403, "dailyLimitExceeded", "Enough", "permanent", "REFUSED"],
    [403, "insufficientPermissions", "Insufficient scopes", "credentials", "CREDENTIALS_REFUSED"],
    [400, "invalidArgument", "Recipient address required", "permanent", "RECIPIENT_UNREACHABLE"],
    [413, "uploadTooLarge", "Request Entity Too Large", "permanent", "CONTENT_REFUSED"],
    [503, "backendError", "Unavailable", "retry", "CHANNEL_UNAVAILABLE"],
  ])("reports a failure by %i %s as to be handled so", async (status, reason, message, kind, code) => {
    bed.vendor.server.answerNext({ status, json: { error: { code: status, message, errors: [{ reason }] } } })
    const failure = await failureOf(send())
    expect(failure.options).toMatchObject({ kind, code })
    expect(failure.message).toBe(`${status}: ${message}`)
  })

  it("waits as long as Gmail's words say", async () => {
    const message = `User-rate limit exceeded.  Retry after ${new Date(Date.now() + 60_000).toISOString()}`
    bed.vendor.server.answerNext({ status: 429, json: { error: { message } } })
    const { retryAfterMs } = (await failureOf(send())).options
    expect(retryAfterMs).toBeGreaterThan(50_000)
    expect(retryAfterMs).toBeLessThanOrEqual(60_000)
  })
})
