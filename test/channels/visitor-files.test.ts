import { v7 } from "uuid"
import { clock } from "../../src/entities/kit/clock.js"
import { samples, upload, uploadByGraphql } from "../kit/files.js"
import { promised } from "../kit/promise.js"
import { world } from "../kit/world.js"

// Replies are tested elsewhere: here none is due during the test.
const w = world({ REPLY_DEBOUNCE_MS: "1000000000", REPLY_MAX_WAIT_MS: "1000000000", RATE_LIMIT_ANONYMOUS_PER_MINUTE: "0" })
const { acme, globex, rest, gql, sql } = w
const hour = 60 * 60_000

const write = (body: object, connection = acme.widget.id) => rest.as(null).post(`/hooks/widget/${connection}`, body)
/** A visitor who has written once. */
const visitor = async (connection?: string): Promise<{ chatId: string; visitorToken: string }> =>
  (await write({ text: "Hello" }, connection).expect(201)).body
const send = (token: string, bytes: Buffer = samples.png, filename = "shoe.png", variables = {}) =>
  uploadByGraphql(w, token, bytes, filename, variables)
const uploaded = async (token: string): Promise<string> => (await send(token).expect(200)).body.data.uploadMedia.id
const codeOf = async (answer: PromiseLike<{ body: { errors?: { extensions: { code: string } }[] } }>) =>
  (await answer).body.errors?.[0]?.extensions.code ?? "none"

describe("a visitor's file", () => {
  it("is sent with a message, without or with a text, and both sides see it", async () => {
    const { chatId, visitorToken } = await visitor()
    const [picture, pdf] = [await uploaded(visitorToken), (await send(visitorToken, samples.pdf, "bill.pdf")).body.data.uploadMedia.id]
    const { messageId } = (await write({ visitorToken, mediaIds: [picture] }).expect(201)).body
    await write({ visitorToken, text: "And the bill", mediaIds: [pdf, picture, pdf] }).expect(201)
    const read = `query ($chatId: UUID!) { messages(chatId: $chatId) { nodes { id type text messageMedia { media { filename url } } } } }`
    const seen = (await gql(visitorToken, read, { chatId })).data!["messages"].nodes
    const file = (filename: string) => ({ media: { filename, url: expect.stringContaining("/media/") } })
    expect(seen).toMatchObject([
      { type: "DOCUMENT", text: "And the bill", messageMedia: [file("bill.pdf"), file("shoe.png")] },
      { id: messageId, type: "PHOTO", text: null, messageMedia: [file("shoe.png")] },
      { type: "TEXT", text: "Hello" },
    ])
    expect((await fetch(seen[1].messageMedia[0].media.url)).status).toBe(200)
    const { body } = await rest.as(acme.token).get(`/api/messages/${messageId}`).expect(200)
    expect(body).toMatchObject({ type: "Photo", mediaIds: [picture] })
    const stored = await sql("select forget_at from media where visitor_chat_id = $1", [chatId])
    expect(stored).toEqual([{ forget_at: null }, { forget_at: null }])
  })

  promised("a repeated message with files is stored once", async () => {
    const { chatId, visitorToken } = await visitor()
    const body = { visitorToken, messageId: "m1", mediaIds: [await uploaded(visitorToken)] }
    const [first, second] = await Promise.all([write(body).expect(201), write(body).expect(201)])
    expect(second.body.messageId).toBe(first.body.messageId)
    expect((await write(body).expect(201)).body.messageId).toBe(first.body.messageId)
    expect(await sql("select sequence from message where chat_id = $1", [chatId])).toHaveLength(2)
  })

  it("is an image or a PDF of at most 10 MB", async () => {
    const { visitorToken } = await visitor()
    expect(await codeOf(send(visitorToken, Buffer.from("text"), "a.txt"))).toBe("UNSUPPORTED_MEDIA_TYPE")
    expect(await codeOf(send(visitorToken, Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"), "a.svg"))).toBe(
      "UNSUPPORTED_MEDIA_TYPE",
    )
    const large = Buffer.concat([samples.png, Buffer.alloc(10 * 1024 * 1024)])
    expect(await codeOf(send(visitorToken, large))).toBe("PAYLOAD_TOO_LARGE")
    expect(await codeOf(send(visitorToken, large.subarray(0, 10 * 1024 * 1024)))).toBe("none")
  })

  it("twenty are taken in a day, also of thirty at once", async () => {
    const { visitorToken } = await visitor()
    const codes = await Promise.all(Array.from({ length: 30 }, () => codeOf(send(visitorToken))))
    expect(codes.filter((code) => code === "none")).toHaveLength(20)
    expect(codes.filter((code) => code === "RATE_LIMITED")).toHaveLength(10)
    const refused = await send(visitorToken)
    expect(refused.headers["retry-after"]).toMatch(/^86[34]\d\d$/)
    // Another visitor has 20 of its own.
    expect(await codeOf(send((await visitor()).visitorToken))).toBe("none")
    clock.advance(24 * hour + 60_000)
    expect(await codeOf(send(visitorToken))).toBe("none")
  })

  it("is attached by its own visitor alone", async () => {
    const [own, other, foreign] = [await visitor(), await visitor(), await visitor(globex.widget.id)]
    const ofCompany = (await upload(w, acme.token, samples.png, "company.png").expect(201)).body.id
    for (const [id, visitorToken] of [
      [await uploaded(other.visitorToken), own.visitorToken],
      [await uploaded(foreign.visitorToken), own.visitorToken],
      [ofCompany, own.visitorToken],
      [v7(), own.visitorToken],
    ] as const) {
      const { body } = await write({ visitorToken, text: "Look", mediaIds: [id] }).expect(400)
      expect(body).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: "mediaIds" }] })
    }
    expect(await sql("select sequence from message where chat_id = $1", [own.chatId])).toHaveLength(1)
    expect(await codeOf(send(own.visitorToken, samples.png, "a.png", { companyId: globex.id }))).toBe("FORBIDDEN")
    await upload(w, own.visitorToken, samples.png, "a.png").expect(401)
  })

  it("a body with files that are no list of IDs, or without the token, is refused", async () => {
    const { visitorToken } = await visitor()
    const id = await uploaded(visitorToken)
    for (const [body, path] of [
      [{ text: "Hello", mediaIds: [id] }, "visitorToken"],
      [{ visitorToken, mediaIds: ["x"] }, "mediaIds.0"],
      [{ visitorToken, mediaIds: [null] }, "mediaIds.0"],
      [{ visitorToken, mediaIds: "x", text: "Hello" }, "mediaIds"],
      [{ visitorToken, mediaIds: [] }, "text"],
      [{ visitorToken, mediaIds: Array.from({ length: 11 }, () => id) }, "mediaIds"],
    ] as const) {
      const { body: answer } = await write(body).expect(400)
      expect(answer).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path }] })
    }
  })

  it("that was never sent goes with its chat", async () => {
    const { chatId, visitorToken } = await visitor()
    const id = await uploaded(visitorToken)
    await rest.as(acme.token).delete(`/api/chats/${chatId}`).expect(200)
    // The job that removes it may have run.
    expect(await sql("select from media where id = $1 and (visitor_chat_id is not null or forget_at > $2)", [id, clock.now()])).toEqual([])
    expect(await codeOf(send(visitorToken))).toBe("UNAUTHENTICATED")
  })
})
