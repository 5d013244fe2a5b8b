import { BadEvent, type ChannelChat, type IncomingMessage, type Part } from "../../src/ports/channel.js"
import { happens, until } from "../kit/wait.js"
import { type ChannelBed, failureOf, fileOf, going, openHook, partFor, pngOf, readItems, readMessage } from "./channel-bed.js"

export interface SuiteOptions {
  /** `faults` are those of the vendor; the suite uses rates of its own for some tests. */
  open(): Promise<ChannelBed>
  /** Tests that do not concern the channel, by title, each with the reason. */
  skips?: Record<string, string>
}

/** Values that are no event of any vendor. */
const malformed: unknown[] = [
  ...[null, true, 7, "text", [], {}, [[]], { update_id: 1 }, { entry: null }, { entry: [{}] }, { object: "page", entry: [null] }],
  ...[{ message: null }, { message: { chat: {} } }, { data: 7 }, { chat: "x" }, { event: "unknown" }, { messageId: "1" }],
]

/** Tests that every adapter passes against the stand-in of its vendor. */
export function channelSuite(name: string, { open, skips = {} }: SuiteOptions) {
  const test = (title: string, run: () => Promise<void>) =>
    skips[title] ? it.skip(`${title} (skipped: ${skips[title]})`, run) : it(title, run)

  describe(`the adapter of ${name}`, () => {
    let bed: ChannelBed
    beforeEach(async () => {
      bed = await open()
    })
    afterEach(() => bed.close())
    const send = (more: Partial<Part> = {}) => bed.adapter.send(partFor(bed, more), bed.account, going())

    describe("connects", () => {
      test("with credentials that the vendor takes", async () => {
        expect(bed.adapter.faultOf?.(bed.account.credentials) ?? null).toBeNull()
        await bed.adapter.check(bed.account, going())
      })

      test("not with others, and says the vendor's code and words without secrets", async () => {
        const failure = await failureOf(bed.adapter.check({ ...bed.account, credentials: bed.wrongCredentials }, going()))
        expect(failure.options).toMatchObject({ kind: "credentials", code: "CREDENTIALS_REFUSED" })
        expect(failure.message).toMatch(/\d+: \S/)
        for (const secret of Object.values(bed.wrongCredentials)) expect(failure.message).not.toContain(secret)
      })

      test("its hook, and removes it", async () => {
        await bed.adapter.register(bed.account, "https://platform.example/hooks/1", going())
        expect(bed.hookUrl()).toBe("https://platform.example/hooks/1")
        await bed.adapter.unregister(bed.account, going())
        expect(bed.hookUrl()).toBeNull()
      })
    })

    describe("verifies", () => {
      const verify = (headers: Record<string, string>, body: string, credentials = bed.account.credentials) =>
        bed.adapter.verify({ headers, body: Buffer.from(body) }, { ...bed.account, credentials }, new Date())

      test("what the vendor sends, and nothing else", async () => {
        const body = JSON.stringify(await bed.write.text("Hello"))
        const headers = bed.sign(body)
        const { signatureHeader } = bed.adapter
        expect(Object.keys(headers)).toContain(signatureHeader)
        expect(verify(headers, body)).toBe(true)
        expect(verify({ ...headers, [signatureHeader!]: `${headers[signatureHeader!]}x` }, body)).toBe(false)
        expect(verify({ ...headers, [signatureHeader!]: "" }, body)).toBe(false)
        expect(verify({}, body)).toBe(false)
        expect(verify(headers, body, {})).toBe(false)
      })

      test("the body too", async () => {
        const body = JSON.stringify(await bed.write.text("Hello"))
        expect(verify(bed.sign(body), body.replace("Hello", "Hallo"))).toBe(false)
        expect(verify(bed.sign(body), `${body} `)).toBe(false)
      })
    })

    describe("reads", () => {
      test("a text with its chat, and the same from a repeated event", async () => {
        const event = await bed.write.text("Hello 👋\nworld")
        const message = await readMessage(bed, event)
        expect(message).toMatchObject({ text: "Hello 👋\nworld", files: [], chat: { externalId: bed.customer } })
        expect(message.externalId).toMatch(/\S/)
        expect(await readMessage(bed, event)).toEqual(message)
        expect((await readMessage(bed, bed.write.text("Hello 👋\nworld"))).externalId).not.toBe(message.externalId)
      })

      test("a picture with its caption, whose bytes can be downloaded", async () => {
        const bytes = pngOf()
        const message = await readMessage(bed, bed.write.picture!(bytes, "Look"))
        expect(message).toMatchObject({ text: "Look", files: [expect.anything()] })
        const reference = JSON.parse(JSON.stringify(message.files[0]!.reference))
        const found = await bed.adapter.download(reference, bed.account, going())
        const read = "bytes" in found ? Buffer.from(found.bytes) : Buffer.from(await (await fetch(found.url, found)).arrayBuffer())
        expect(read.equals(bytes)).toBe(true)
      })

      test("which message is quoted", async () => {
        const { externalId } = await readMessage(bed, bed.write.text("First"))
        expect(await readMessage(bed, bed.write.reply!("Second", externalId))).toMatchObject({ text: "Second", quoted: externalId })
      })

      test("a changed text", async () => {
        const event = bed.write.text("Helo")
        const { externalId } = await readMessage(bed, event)
        const items = await readItems(bed, bed.edit!(event, "Hello"))
        expect(items).toMatchObject([{ kind: "edit", externalId, text: "Hello" }])
        // Null: the ID names one message of the whole connection.
        expect([bed.customer, null]).toContain((items[0] as { chat: ChannelChat | null }).chat?.externalId ?? null)
      })

      test("a kind that it does not know as a message that says so", async () => {
        const message = await readMessage(bed, bed.write.unsupported!())
        expect(message).toMatchObject({ isUnsupported: true, files: [] })
        expect(message.text).toMatch(/^\[unsupported: .+\]$/)
      })

      test("nothing from what no vendor sends", async () => {
        const read = (body: unknown) => {
          try {
            return bed.adapter.parse(body, bed.account)
          } catch (error) {
            if (error instanceof BadEvent && error.details.length > 0) return []
            throw error
          }
        }
        expect(malformed.filter((body) => read(body).length > 0)).toEqual([])
      })
    })

    describe("sends", () => {
      test("a text, and returns the vendor's ID", async () => {
        const accepted = await send({ text: "Good day 👋\nand night" })
        const arrived = bed.arrived()
        expect(arrived).toMatchObject([{ chat: bed.customer, text: "Good day 👋\nand night", files: [], quoted: null }])
        expect(accepted.externalId).toBe(arrived[0]!.externalId)
      })

      test("the longest text that it promises", async () => {
        const { textLength, textUnit } = bed.adapter.capabilities
        const letter = textUnit === "code points" ? "👋" : "x"
        await send({ text: letter.repeat(textLength) })
        expect(bed.arrived()[0]!.text).toBe(letter.repeat(textLength))
      })

      test("a longer text not", async () => {
        const failure = await failureOf(send({ text: "x".repeat(bed.adapter.capabilities.textLength + 1) }))
        expect(failure.options).toMatchObject({ kind: "permanent", code: "CONTENT_REFUSED" })
        expect(bed.arrived()).toEqual([])
      })

      test("an answer to a message", async () => {
        const { externalId } = await readMessage(bed, bed.write.text("When?"))
        await send({ quoted: { externalId, data: null } })
        expect(bed.arrived()).toMatchObject([{ quoted: externalId }])
      })

      test("every kind of file that it promises, unchanged, with its caption", async () => {
        const files = [
          fileOf("image/png", "a picture.png", pngOf()),
          fileOf("image/jpeg", "b.jpg", Buffer.from([0xff, 0xd8, 0xff, 1])),
          fileOf("image/gif", "c.gif", Buffer.from("GIF89a.")),
          fileOf("video/mp4", "d.mp4", Buffer.from("....ftypmp42")),
          fileOf("audio/mpeg", "e.mp3", Buffer.from("ID3.")),
          fileOf("audio/ogg", "f.ogg", Buffer.from("OggS.")),
          fileOf("application/pdf", "рахунок.pdf", Buffer.from("%PDF-1.7")),
        ]
        const { mediaBytes, mediaTypes, withoutCaption = [], captionLength } = bed.adapter.capabilities
        const taken = files.filter(({ kind, mimeType }) => mediaBytes[kind] && (mediaTypes?.includes(mimeType) ?? true))
        expect(taken.length).toBeGreaterThan(0)
        for (const file of taken) {
          const caption = captionLength > 0 && !withoutCaption.includes(file.kind) ? "Look" : null
          await send({ text: caption, files: [file] })
          const last = bed.arrived().at(-1)!
          expect(last.text).toBe(caption)
          expect(last.files).toEqual([{ filename: file.filename, bytes: Buffer.from(await file.bytes()) }])
        }
      })

      test("the longest caption that it promises", async () => {
        const caption = "x".repeat(bed.adapter.capabilities.captionLength)
        await send({ text: caption, files: [fileOf("image/png", "a.png", pngOf())] })
        expect(bed.arrived()[0]!.text).toBe(caption)
      })

      test("that the company is typing", async () => {
        expect(bed.adapter.capabilities.typing).toBe(true)
        const { externalId } = await readMessage(bed, bed.write.text("When?"))
        await bed.adapter.typing!({ externalId: bed.customer, lastExternalId: externalId }, bed.account, going())
        expect(bed.typing!()).toEqual([bed.customer])
      })
    })

    describe("reports", () => {
      test("a refusal by rate, with the vendor's time to wait", async () => {
        bed.faults.next({ fault: "429", retryAfter: 7 })
        expect((await failureOf(send())).options).toEqual({ kind: "retry", code: "RATE_LIMITED", retryAfterMs: 7000 })
        expect(bed.arrived()).toEqual([])
        await send()
        expect(bed.arrived()).toHaveLength(1)
      })

      test("a broken server as to be repeated", async () => {
        bed.faults.next("500")
        expect((await failureOf(send())).options).toMatchObject({ kind: "retry", code: "CHANNEL_UNAVAILABLE" })
        expect(bed.arrived()).toEqual([])
      })

      test("a vendor that cannot be reached as to be repeated", async () => {
        const part = partFor(bed)
        await bed.close()
        const { kind, code } = (await failureOf(bed.adapter.send(part, bed.account, going()))).options
        expect(code).toBe("CHANNEL_UNAVAILABLE")
        // To a vendor that recognizes a part, both are the same.
        expect(bed.adapter.capabilities.doubt === "same" ? ["retry", "doubt"] : ["retry"]).toContain(kind)
      })

      test("a connection that was reset as in doubt, whether the vendor took the message or not", async () => {
        bed.faults.next("reset")
        expect((await failureOf(send())).options).toMatchObject({ kind: "doubt" })
        expect(bed.arrived()).toHaveLength(0)
        bed.faults.next("reset-after")
        expect((await failureOf(send())).options).toMatchObject({ kind: "doubt" })
        expect(bed.arrived()).toHaveLength(1)
      })

      test("a response that did not arrive in time as in doubt", async () => {
        bed.faults.next("hang")
        const stop = new AbortController()
        const failed = failureOf(bed.adapter.send(partFor(bed), bed.account, stop.signal))
        await until("the vendor has taken the message", () => bed.arrived().length > 0)
        // As AbortSignal.timeout() does.
        stop.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"))
        const failure = await happens("the request is given up", failed)
        expect(failure.options).toMatchObject({ kind: "doubt" })
        expect(bed.arrived()).toHaveLength(1)
      })

      test("a customer who cannot be reached", async () => {
        bed.block!()
        expect((await failureOf(send())).options).toMatchObject({ kind: "permanent", code: "RECIPIENT_UNREACHABLE" })
      })

      test("credentials that stopped working, without showing them", async () => {
        const failure = await failureOf(bed.adapter.send(partFor(bed), { ...bed.account, credentials: bed.wrongCredentials }, going()))
        expect(failure.options).toMatchObject({ kind: "credentials", code: "CREDENTIALS_REFUSED" })
        for (const secret of Object.values(bed.wrongCredentials)) expect(failure.message).not.toContain(secret)
      })
    })

    describe("polls", () => {
      test("each event once, in order, from where the last poll ended", async () => {
        const poll = bed.adapter.poll!
        await bed.adapter.register(bed.account, null, going())
        const texts: (string | null)[] = []
        const run = async (state: unknown) => {
          const polled = await poll.run(bed.account, state, going())
          texts.push(...polled.events.map(({ item }) => (item as IncomingMessage).text))
          return JSON.parse(JSON.stringify(polled.state))
        }
        let state: unknown = null
        for (const text of ["one", "two", "three"]) await bed.write.text(text)
        state = await run(state)
        await bed.write.text("four")
        state = await run(state)
        await run(state)
        expect(texts).toEqual(["one", "two", "three", "four"])
      })

      test("and reports a failure of the vendor", async () => {
        await bed.adapter.register(bed.account, null, going())
        bed.faults.next("500")
        expect((await failureOf(bed.adapter.poll!.run(bed.account, null, going()))).options).toMatchObject({ kind: "retry" })
      })
    })

    test("receives every message once and unchanged while requests are lost, repeated and overtaken", async () => {
      const hook = await openHook(bed)
      await bed.adapter.register(bed.account, hook.url, going())
      bed.setHook?.(hook.url)
      Object.assign(bed.faults.rates, { drop: 0.1, duplicate: 0.2, reorder: 0.1, delay: 0.1 })
      const texts = Array.from({ length: 50 }, (_, index) => `message ${index}`)
      for (const text of texts) bed.write.text(text)
      await bed.hooks.idle()
      await hook.close()
      expect([...hook.messages.values()].toSorted()).toEqual(texts.toSorted())
      expect(hook.requests()).toBeGreaterThan(texts.length)
    })
  })
}
