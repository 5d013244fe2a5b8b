import fc from "fast-check"
import { Mail } from "../../src/ports/channel/mail.js"
import { itemsOf, type MailSource } from "../../src/ports/channel/mail-incoming.js"
import { fileInMime, readMime } from "../../src/ports/channel/mail-mime.js"
import type { Incoming, IncomingMessage } from "../../src/ports/channel.js"
import { pngOf } from "./channel-bed.js"

const source: MailSource = { id: "m1", threadId: "t1", own: "support@shop.example", isSent: false }
const partId = "0199aaaa-0000-7000-8000-000000000001-1"
const reference = `<${partId}@shop.example>`

/** What a mail reports, given its headers, an empty line and its body. */
async function read(lines: string[] | Buffer, more: Partial<MailSource> = {}): Promise<Incoming[]> {
  const raw = Buffer.isBuffer(lines) ? lines : Buffer.from(lines.join("\r\n"))
  return itemsOf(new Mail(await readMime(raw, (index) => ({ index }))), { ...source, ...more })
}

async function message(lines: string[] | Buffer, more: Partial<MailSource> = {}): Promise<IncomingMessage> {
  const items = await read(lines, more)
  expect(items.map(({ kind }) => kind)).toEqual(["message"])
  return items[0] as IncomingMessage
}

const from = "From: Ada Lovelace <Ada@Example.org>"
const usual = [from, "To: support@shop.example", "Message-ID: <a1@example.org>", "Subject: Re: Order"]
const body = ["", "Hi"]

describe("a mail", () => {
  it("of Gmail's web page, with a picture in the text", async () => {
    const raw = [
      ...usual,
      "In-Reply-To: <CAx@mail.gmail.com>",
      `References: <a0@example.org> ${reference}`,
      " <CAx@mail.gmail.com>",
      'Content-Type: multipart/related; boundary="r"',
      "",
      '--r\r\nContent-Type: multipart/alternative; boundary="a"',
      "",
      '--a\r\nContent-Type: text/plain; charset="UTF-8"\r\nContent-Transfer-Encoding: quoted-printable',
      "",
      "Yes =E2=9C=85\r\n\r\nOn Mon, Nov 16, 2026 at 3:11 PM Shop <support@shop.example> wrote:\r\n\r\n> Blue?",
      '--a\r\nContent-Type: text/html; charset="UTF-8"',
      "",
      '<div>Yes</div><img src="cid:small"><img src="cid:large">\r\n--a--',
      ...["small", "large"].flatMap((name) => [
        `--r\r\nContent-Type: image/png; name="${name}.png"\r\nContent-ID: <${name}>\r\nContent-Transfer-Encoding: base64`,
        "",
        (name === "small" ? pngOf() : Buffer.concat([pngOf(), Buffer.alloc(10 * 1024)])).toString("base64"),
      ]),
      "--r--",
    ]
    expect(await message(raw)).toEqual({
      kind: "message",
      chat: { externalId: "ada@example.org", name: "Ada Lovelace", isGroup: false },
      externalId: "<a1@example.org>",
      text: "Yes ✅",
      files: [{ kind: "photo", filename: "large.png", reference: { index: 1 } }],
      quoted: partId.slice(0, -2),
      data: {
        messageId: "<a1@example.org>",
        references: ["<a0@example.org>", reference, "<CAx@mail.gmail.com>"],
        subject: "Re: Order",
        threadId: "t1",
      },
    })
    expect((await fileInMime(Buffer.from(raw.join("\r\n")), 1))!.bytes).toHaveLength(10 * 1024 + 64)
    expect(await fileInMime(Buffer.from(raw.join("\r\n")), 2)).toBeNull()
  })

  it("in an odd charset, with encoded names and a folded subject", async () => {
    const subject = "Subject: =?windows-1251?B?x+Dq4Ocg?=\r\n =?UTF-8?Q?=E2=84=96_7?="
    const head = `From: =?koi8-r?B?4czMwQ==?= <alla@example.org>\r\n${subject}\r\nContent-Type: text/plain; charset=windows-1251\r\n\r\n`
    const raw = Buffer.concat([Buffer.from(head), Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xb3, 0xf2])])
    expect(await message(raw)).toMatchObject({ text: "Subject: Заказ № 7\n\nПривіт", chat: { name: "Алла" } })
    const unknown = await message([...usual, "Content-Type: text/plain; charset=x-unknown", ...body])
    expect(unknown.text).toBe("Hi")
  })

  it("without a Message-ID, or with a huge one, under the vendor's ID", async () => {
    expect(await message([from, ...body])).toMatchObject({ externalId: "m1", data: { messageId: "<m1@shop.example>" } })
    expect((await message([from, `Message-ID: <${"x".repeat(600)}@example.org>`, ...body])).externalId).toBe("m1")
  })

  it("with a subject that begins a thread, and without any text", async () => {
    expect((await message([from, "Subject: Order", ...body])).text).toBe("Subject: Order\n\nHi")
    expect((await message([from, "Subject: Order", "In-Reply-To: <x@y>", ...body])).text).toBe("Hi")
    expect((await message([from, "Subject: AW: Order", ...body])).text).toBe("Hi")
    expect((await message([from, "Subject: Order", "", ""])).text).toBe("Subject: Order")
    expect((await message([from, "", ""])).text).toBe("[unsupported: empty mail]")
  })

  it("with another mail in it, and with too many files", async () => {
    const parts = Array.from(
      { length: 22 },
      (_, index) => `--b\r\nContent-Type: text/csv; name="${index}.csv"\r\nContent-Disposition: attachment\r\n\r\nx`,
    )
    const forwarded = "--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: Old\r\n\r\nold text"
    const read = await message([...usual, "Content-Type: multipart/mixed; boundary=b", "", forwarded, ...parts, "--b--"])
    expect(read.files).toHaveLength(20)
    expect(read.files[0]).toMatchObject({ kind: "document", filename: "message.eml" })
    expect(read.text).toBe(["19", "20", "21"].map((name) => `[attachment not available: ${name}.csv, too many files]`).join("\n\n"))
  })

  it("that is nested too deeply as unsupported, from its sender", async () => {
    const deep = Array.from({ length: 300 }, (_, index) => `--b${index}\r\nContent-Type: multipart/mixed; boundary=b${index + 1}\r\n`)
    expect(await message([...usual, "Content-Type: multipart/mixed; boundary=b0", "", ...deep])).toMatchObject({
      chat: { externalId: "ada@example.org" },
      text: "[unsupported: mail]",
    })
  })

  it.each([
    ["to the sender", [], "ada@example.org", "Ada Lovelace"],
    ["to the address for answers", ["Reply-To: Bob <bob@example.org>"], "bob@example.org", "Bob"],
    ["to the address for answers without a name", ["Reply-To: bob@example.org"], "bob@example.org", undefined],
    ["not to itself", ["Reply-To: support@shop.example"], "ada@example.org", "Ada Lovelace"],
    [
      "to the sender of a mail that a group forwarded",
      ["X-Original-Sender: eve@example.org", "Reply-To: ada@example.org"],
      "eve@example.org",
      undefined,
    ],
  ])("is answered %s", async (_who, headers, externalId, name) => {
    const { chat } = await message([...usual, ...headers, ...body])
    expect(chat).toEqual({ externalId, isGroup: false, ...(name && { name }) })
  })

  it("from nobody, or from the connected address, is nothing", async () => {
    for (const line of ["From: Support <SUPPORT@shop.example>", "From: undisclosed", "X: y"])
      expect(await read([line, ...body])).toEqual([])
  })

  it.each([
    ["Auto-Submitted: auto-replied", true],
    ["Auto-Submitted: no", false],
    ["Auto-Submitted: auto-generated (rejected)", true],
    ["Precedence: bulk", true],
    ["Precedence: junk", true],
    ["Precedence: list", true],
    ["Precedence: first-class", false],
    ["List-Id: Customers <customers.lists.example>", true],
    ["List-Id: <support.shop.example>\r\nX-Original-Sender: ada@example.org", false],
    ["X-Autoreply: yes", true],
    ["Return-Path: <>", true],
    ["Return-Path: <ada@example.org>", false],
    ["Reply-To: no-reply@example.org", true],
    ["Reply-To: noreply+7@example.org", true],
    ["Reply-To: do-not-reply@example.org", true],
    ["Reply-To: noreplyton@example.org", false],
  ])("with %j is automatic: %s", async (header, isAutomatic) => {
    expect((await message([...usual, header, ...body])).isAutomatic ?? false).toBe(isAutomatic)
  })

  it("that was sent by hand is an echo for the customer, and one of ours names its part", async () => {
    const sent = ["From: support@shop.example", "To: support@shop.example, Ada <ada@example.org>", "Message-ID: <s1@x.example>"]
    const isSent = true
    expect(await message([...sent, ...body], { isSent })).toMatchObject({
      isEcho: true,
      partId: null,
      chat: { externalId: "ada@example.org", name: "Ada" },
    })
    expect(await message([...sent, `X-Part-Id: ${partId}`, ...body], { isSent })).toMatchObject({ partId })
    expect(await message([...sent, `References: <a1@example.org> ${reference}`, ...body], { isSent })).toMatchObject({ partId })
    expect(await message([...sent, `References: ${reference} <a1@example.org>`, ...body], { isSent })).toMatchObject({ partId: null })
    expect(await read(["From: support@shop.example", "To: support@shop.example", ...body], { isSent })).toEqual([])
  })
})

describe("a report of a mail server", () => {
  const report = (status: string[], original: string, headers: string[] = [], type = "delivery-status") => [
    "From: Mail Delivery System <MAILER-DAEMON@mx.example.org>",
    ...headers,
    "Subject: Undelivered Mail Returned to Sender",
    `Content-Type: multipart/report; report-type=${type}; boundary="b"`,
    "",
    "--b\r\nContent-Type: text/plain\r\n\r\nThis is the mail system.",
    ["--b\r\nContent-Type: message/delivery-status\r\n", "Reporting-MTA: dns; mx.example.org\r\n", ...status].join("\r\n"),
    `--b\r\n${original}`,
    "--b--",
  ]
  const headersOnly = `Content-Type: text/rfc822-headers\r\n\r\nReferences: <a1@example.org>\r\n ${reference}\r\nMessage-ID: <s1@amazonses.com>`
  const failed = { kind: "receipt", status: "failed", errorCode: "RECIPIENT_UNREACHABLE" }

  it("names the mail by the references of its head", async () => {
    expect(await read(report(["Action: failed", "Status: 5.2.2"], headersOnly))).toEqual([
      { ...failed, partId, externalId: "<s1@amazonses.com>", error: "5.2.2" },
    ])
  })

  it("names the mail by its part ID, only where it is one", async () => {
    const original = (id: string) => `Content-Type: message/rfc822\r\n\r\nX-Part-Id: ${id}\r\nSubject: Re\r\n\r\ntext`
    expect(await read(report([], original(partId)))).toEqual([{ ...failed, partId, error: "Undelivered Mail Returned to Sender" }])
    expect(await read(report([], original("anything")))).toEqual([])
  })

  it("names the mail by what the report answers", async () => {
    const lines = [
      "From: mailer-daemon@example.org",
      "Subject: failure notice",
      "In-Reply-To: <s1@x.example>",
      `References: ${reference}`,
      "",
      "No such user",
    ]
    expect(await read(lines)).toEqual([{ ...failed, partId, externalId: "<s1@x.example>", error: "failure notice" }])
    expect(await read(["From: Server <x@example.org>", "X-Failed-Recipients: ada@example.org", "", "No"])).toEqual([])
  })

  it.each([
    ["a delay", report(["Action: delayed", "Status: 4.4.1"], headersOnly)],
    ["a relayed mail", report(["Action: relayed"], headersOnly)],
    ["a confirmation that it was read", report([], headersOnly, [], "disposition-notification")],
    ["a complaint", report([], headersOnly, [], "feedback-report")],
  ])("of %s is no failure, and no message", async (_what, lines) => {
    expect(await read(lines)).toEqual([])
  })

  it("of the domain of another server names nothing of ours", async () => {
    const other = headersOnly.replace("shop.example", "other.example").replace(/\r\nMessage-ID.*/, "")
    expect(await read(report(["Action: failed"], other))).toEqual([])
  })
})

it("anything can be read as a mail", async () => {
  const word = fc.constantFrom(
    ...[
      "From: a@b.c",
      'From: "x" <',
      "Content-Type: multipart/report; boundary=b",
      "Content-Type: text/html; charset=utf-7",
      "\r\n\r\n",
      "--b",
      "--b--",
    ],
    ...[
      "Content-Transfer-Encoding: base64",
      "=?utf-8?B?////?=",
      "Subject: =?x?Q?=?=",
      "Message-ID: <>",
      "References: <<a>",
      "Reply-To: a,b;c:<d@e.f>;",
    ],
  )
  const lines = fc.array(fc.oneof(word, fc.string()), { maxLength: 20 }).map((words) => Buffer.from(words.join("\r\n")))
  const raw = fc.oneof(
    lines,
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  )
  await fc.assert(
    fc.asyncProperty(raw, fc.boolean(), async (bytes, isSent) => {
      for (const item of await read(bytes, { isSent })) expect(JSON.parse(JSON.stringify(item))).toEqual(item)
    }),
    { numRuns: 500 },
  )
})
