import pino from "pino"
import type { MailContent } from "../../src/ports/channel/mail.js"
import type { MailSource } from "../../src/ports/channel/mail-incoming.js"
import { MailReader } from "../../src/ports/channel/mail-reader.js"
import type { Account, Incoming } from "../../src/ports/channel.js"
import { promised } from "../kit/promise.js"
import { failureOf, going } from "./channel-bed.js"

const source: MailSource = { id: "m1", threadId: null, own: "support@shop.example", isSent: false }
const accountOf = (companyId: string): Account => ({ companyId, connectionId: "c", externalId: "shop", name: "Shop", credentials: {} })
const account = accountOf("a company")

const opened: MailReader[] = []
function open(deadlineMs?: number) {
  const lines: Record<string, unknown>[] = []
  const reader = new MailReader(
    pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    deadlineMs,
  )
  opened.push(reader)
  const read = (mail: Buffer | MailContent, by = account, signal = going()) => reader.items(mail, source, by, signal)
  return { reader, read, lines }
}
afterEach(() => Promise.all(opened.splice(0).map((reader) => reader.close())))

const headers = ["From: Ada <ada@example.org>", "To: support@shop.example", "Message-ID: <a1@example.org>", "Subject: Re: Order"]
const mailOf = (body: string, more: string[] = []) => Buffer.from([...headers, ...more, "", body].join("\r\n"))

const partsOf = (parts: string[]) =>
  mailOf([...parts.map((part) => `--B\r\n${part}\r\n`), "--B--"].join(""), [
    "MIME-Version: 1.0",
    'Content-Type: multipart/mixed; boundary="B"',
  ])

/** Empty lines, each of which the parser of mails keeps as an object. */
const large = mailOf("\n".repeat(8 * 1024 * 1024))
/** So many parts that it takes seconds to read them. */
const slow = partsOf(Array(200_000).fill("\r\nx"))
const content: MailContent = {
  headers: ["From", "To", "Message-ID"].map((key, index) => ({ key: key.toLowerCase(), value: headers[index]!.slice(key.length + 2) })),
  text: "Hi",
  html: null,
  files: [],
  reports: [],
}
const unread = { kind: "message", externalId: "<a1@example.org>", chat: { externalId: "ada@example.org" }, text: "[unsupported: mail]" }
const texts = (items: Incoming[]) => items.map((item) => (item as { text: string | null }).text)

describe("a mail that cannot be read whole is a message with its headers, and the next one is read:", () => {
  it("one that needs more memory than there is", async () => {
    const { read, lines } = open()
    expect(await read(large)).toMatchObject([unread])
    expect(lines).toMatchObject([{ level: 40, loss: "memory", mail: "m1", connectionId: "c" }])
    expect(texts(await read(mailOf("Hi")))).toEqual(["Hi"])
  })

  it("one that takes too long", async () => {
    const { read, lines } = open(1_000)
    expect(await read(slow)).toMatchObject([unread])
    expect(lines).toMatchObject([{ level: 40, loss: "late" }])
    expect(texts(await read(mailOf("Hi")))).toEqual(["Hi"])
  })

  it("one at which the reader fails", async () => {
    const { read, lines } = open()
    expect(await read({ ...content, files: null as never })).toMatchObject([unread])
    expect(lines).toMatchObject([{ level: 40, fault: expect.stringContaining("TypeError") }])
    expect(texts(await read(content))).toEqual(["Hi"])
  })
})

it("a mail whose headers cannot be read either is passed over with an error in the log", async () => {
  const { read, lines } = open()
  expect(await read({ ...content, headers: [{ key: "subject", value: { length: 1 } as never }] })).toEqual([])
  expect(lines).toMatchObject([{ level: 40 }, { level: 50, mail: "m1", connectionId: "c", fault: expect.any(String) }])
})

describe("a mail is read again later", () => {
  const again = { kind: "retry", code: "CHANNEL_UNAVAILABLE" }

  it("when the server stops meanwhile, or has stopped", async () => {
    const { reader, read } = open()
    const failures = [slow, slow, slow].map((mail) => failureOf(read(mail)))
    await reader.close()
    expect((await Promise.all(failures)).map(({ options }) => options)).toEqual([again, again, again])
    expect((await failureOf(read(content))).options).toEqual(again)
  })

  it("when its work is stopped, and others are read at once", async () => {
    const { read } = open()
    const stop = new AbortController()
    const failures = [slow, slow, slow].map((mail) => failureOf(read(mail, account, stop.signal)))
    const other = read(content, account)
    stop.abort()
    expect(texts(await other)).toEqual(["Hi"])
    expect((await Promise.all(failures)).map(({ options }) => options)).toEqual([again, again, again])
  })
})

promised("mails of one company do not keep those of another waiting", async () => {
  const { read } = open()
  const order: string[] = []
  const many = [1, 2, 3, 4].map(() => read(partsOf(Array(50_000).fill("\r\nx")), accountOf("a")).then(() => order.push("a")))
  const one = read(content, accountOf("b")).then(() => order.push("b"))
  await Promise.all([...many, one])
  expect(order.indexOf("b")).toBeLessThan(3)
})

describe("a file of a mail", () => {
  const pdf =
    "Content-Type: application/pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERg=="
  const fileOf = (raw: Buffer, index: number) => open().reader.file(raw, index, account, going())

  it("is read by its place; there is none at another", async () => {
    const mail = partsOf(["Content-Type: text/plain\r\n\r\nHi", pdf])
    const file = await fileOf(mail, 0)
    expect([file!.filename, Buffer.from(file!.bytes).toString()]).toEqual(["a.pdf", "%PDF"])
    expect(await fileOf(mail, 1)).toBeNull()
  })

  it("cannot be had from a mail that needs more memory than there is", async () => {
    expect((await failureOf(fileOf(large, 0))).options).toEqual({ kind: "permanent", code: "REFUSED" })
  })
})
