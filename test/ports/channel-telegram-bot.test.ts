import { readFileSync } from "node:fs"
import type { Chat, Sticker, User } from "@grammyjs/types"
import { Faults } from "../../simulate/kit/faults.js"
import { TelegramBotVendor, type Written } from "../../simulate/vendors/telegram-bot.js"
import { telegramBot } from "../../src/ports/channel/telegram-bot.js"
import type { Account, Credentials, Part } from "../../src/ports/channel.js"
import { until } from "../kit/wait.js"
import { type ChannelBed, failureOf, fileOf, going, itemsOf, messageOf, partFor, pngOf } from "./channel-bed.js"
import { channelSuite } from "./channel-suite.js"

const ada: User = { id: 501, is_bot: false, first_name: "Ada", last_name: "Lovelace", username: "ada" }
const adaChat: Chat.PrivateChat = { id: 501, type: "private", first_name: "Ada", last_name: "Lovelace", username: "ada" }
const secretToken = "Secret_token-1"

interface TelegramBed extends ChannelBed {
  vendor: TelegramBotVendor
}

async function open(): Promise<TelegramBed> {
  const vendor = await new TelegramBotVendor({ faults: new Faults(), secondMs: 1, pauseMs: () => 1 }).listen()
  const account: Account = {
    companyId: "0199bbbb-0000-7000-8000-000000000000",
    connectionId: "0199aaaa-0000-7000-8000-000000000000",
    externalId: "shop_bot",
    name: "Shop",
    credentials: { botToken: vendor.token, secretToken },
  }
  vendor.meet(501)
  let photos = 0
  return {
    vendor,
    adapter: telegramBot({ baseUrl: vendor.server.url, pollSeconds: 10 }),
    account,
    wrongCredentials: { botToken: "123456:not-the_token", secretToken: "another" },
    faults: vendor.faults,
    customer: "501",
    write: {
      text: (text) => vendor.write(adaChat, ada, { text }),
      picture: (bytes, caption) => {
        const file = vendor.upload(bytes, `photos/file_${++photos}.jpg`)
        const small = { ...file, file_id: "small", width: 90, height: 90 }
        return vendor.write(adaChat, ada, { photo: [small, { ...file, width: 800, height: 800 }], caption })
      },
      reply: (text, quoted) =>
        vendor.write(adaChat, ada, { text, reply_to_message: { message_id: Number(quoted), chat: adaChat, date: 1, text: "?" } as never }),
      unsupported: () => vendor.write(adaChat, ada, { dice: { emoji: "🎲", value: 4 } }),
    },
    edit: (event, text) => vendor.edit(event as never, { text }),
    sign: () => ({ "x-telegram-bot-api-secret-token": secretToken }),
    hooks: vendor.hooks,
    hookUrl: () => vendor.hook?.url ?? null,
    arrived: () =>
      vendor.sent.map(({ chatId, text, file, messageId, quoted }) => ({
        chat: String(chatId),
        text,
        files: file ? [{ filename: file.filename, bytes: file.bytes }] : [],
        externalId: String(messageId),
        quoted: quoted === null ? null : String(quoted),
      })),
    block: () => void vendor.blocked.add(501),
    typing: () => vendor.typing.map(String),
    close: () => vendor.close(),
  }
}

channelSuite("telegram-bot", {
  open,
  skips: { "the body too": "Telegram's secret is not made of the body" },
})

const stickerOf = (more: object) =>
  ({ file_id: "F1", file_unique_id: "U1", type: "regular", width: 1, height: 1, is_animated: false, is_video: false, ...more }) as Sticker

describe("Telegram", () => {
  let bed: TelegramBed
  beforeEach(async () => {
    bed = await open()
  })
  afterEach(() => bed.close())

  const group: Chat.SupergroupChat = { id: -1001, type: "supergroup", title: "Customers", username: "our_customers" }
  const read = (update: unknown) => itemsOf(bed, update)
  const send = (more: Partial<Part> = {}) => bed.adapter.send(partFor(bed, more), bed.account, going())
  /** The body of the last request of a method. */
  const request = (method: string) => bed.vendor.server.calls.findLast(({ path }) => path.endsWith(`/${method}`))?.json

  describe("reads", () => {
    const file = { file_id: "F1", file_unique_id: "U1" }
    const picture = { ...file, width: 1, height: 1 }
    const clip = { ...picture, duration: 1 }
    const place = { latitude: 50.45, longitude: 30.52 }
    const of = (kind: string, filename: string | null = null) => [{ kind, reference: "F1", filename }]
    const kinds: [string, Written, { text: string | null; files?: unknown[]; isUnsupported?: boolean }][] = [
      ["text", { text: "Hi" }, { text: "Hi" }],
      ["photo without a caption", { photo: [{ ...picture, file_id: "small" }, picture] }, { text: null, files: of("photo") }],
      ["a photo of an album", { photo: [picture], media_group_id: "7", caption: "Two" }, { text: "Two", files: of("photo") }],
      ["live photo", { live_photo: {} as never, photo: [picture] }, { text: null, files: of("photo") }],
      ["video", { video: { ...clip, file_name: "v.mp4" }, caption: "See" }, { text: "See", files: of("video", "v.mp4") }],
      ["round video", { video_note: { ...file, length: 1, duration: 1 } }, { text: null, files: of("video message") }],
      ["animation", { animation: { ...clip, file_name: "a.mp4" }, document: file }, { text: null, files: of("animation", "a.mp4") }],
      ["audio", { audio: { ...file, duration: 1, file_name: "s.mp3" } }, { text: null, files: of("audio", "s.mp3") }],
      ["voice", { voice: { ...file, duration: 1 } }, { text: null, files: of("voice message") }],
      ["document", { document: { ...file, file_name: "d.pdf" }, caption: "It" }, { text: "It", files: of("document", "d.pdf") }],
      ["sticker", { sticker: stickerOf({ emoji: "👍" }) }, { text: "[sticker 👍]", files: of("sticker") }],
      ["sticker without emoji", { sticker: stickerOf({}) }, { text: "[sticker]", files: of("sticker") }],
      ["animated sticker", { sticker: stickerOf({ emoji: "👍", is_animated: true }) }, { text: "[sticker 👍]" }],
      ["location", { location: place }, { text: "[location] 50.45, 30.52" }],
      [
        "venue",
        { location: place, venue: { location: place, title: "Shop", address: "Main St 1" } },
        { text: "[location] 50.45, 30.52, Shop, Main St 1" },
      ],
      [
        "contact",
        { contact: { phone_number: "380 44-123", first_name: "Bob", last_name: "Ray" } },
        { text: "[contact] Bob Ray, +38044123" },
      ],
      ["poll", { poll: { id: "1", question: "?" } as never }, { text: "[unsupported: poll]", isUnsupported: true }],
      ["story", { story: { id: 1, chat: adaChat } as never }, { text: "[unsupported: story]", isUnsupported: true }],
      ["future kind", { hologram: { file_id: "H" } } as never, { text: "[unsupported: hologram]", isUnsupported: true }],
    ]
    it.each(kinds)("%s", (_kind, written, expected) => {
      const message = messageOf(bed, bed.vendor.write(adaChat, ada, written))
      const chat = { externalId: "501", name: "Ada Lovelace", username: "ada", isGroup: false }
      expect(message).toEqual({ kind: "message", chat, externalId: "2", files: [], quoted: null, sender: null, ...expected })
    })

    it("the phone number that the customer shares, not that of somebody else", () => {
      const contact = { phone_number: "380441234567", first_name: "Ada" }
      expect(messageOf(bed, bed.vendor.write(adaChat, ada, { contact: { ...contact, user_id: 501 } })).chat.phoneNumber).toBe(
        "+380441234567",
      )
      expect(messageOf(bed, bed.vendor.write(adaChat, ada, { contact: { ...contact, user_id: 502 } })).chat).not.toHaveProperty(
        "phoneNumber",
      )
      expect(messageOf(bed, bed.vendor.write(group, ada, { contact: { ...contact, user_id: 501 } })).chat).not.toHaveProperty("phoneNumber")
    })

    it("a group with the member who wrote, or the chat under whose name they wrote", () => {
      const chat = { externalId: "-1001", name: "Customers", username: "our_customers", isGroup: true }
      expect(messageOf(bed, bed.vendor.write(group, ada, { text: "Hi" }))).toMatchObject({
        chat,
        sender: { externalId: "501", name: "Ada Lovelace" },
      })
      const anonymous: User = { id: 1087968824, is_bot: true, first_name: "Group" }
      const asGroup = messageOf(bed, bed.vendor.write(group, anonymous, { text: "Hi", sender_chat: group }))
      expect(asGroup).toMatchObject({ sender: { externalId: "-1001", name: "Customers" } })
      expect(asGroup).not.toHaveProperty("isAutomatic")
      const bot: User = { id: 7, is_bot: true, first_name: "Other bot" }
      expect(messageOf(bed, bed.vendor.write(group, bot, { text: "Hi" }))).toMatchObject({ isAutomatic: true })
    })

    it("a group that became a supergroup, from both of its chats", () => {
      const old: Chat.GroupChat = { id: -5, type: "group", title: "Customers" }
      const moved = { kind: "moved", from: "-5", to: "-1001" }
      expect(read(bed.vendor.write(old, ada, { migrate_to_chat_id: -1001 }))).toEqual([moved])
      expect(read(bed.vendor.write(group, ada, { migrate_from_chat_id: -5 }))).toEqual([moved])
    })

    it("a tap on a button as its data, once for each tap, and answers it", async () => {
      await send()
      const tap = messageOf(bed, bed.vendor.tap(adaChat, ada, 2, "size:L"))
      expect(tap).toMatchObject({ text: "size:L", files: [], quoted: "2", chat: { externalId: "501", name: "Ada Lovelace" }, sender: null })
      expect(messageOf(bed, bed.vendor.tap(adaChat, ada, 2, "size:L")).externalId).not.toBe(tap.externalId)
      await bed.adapter.acknowledge!(tap.acknowledge, bed.account, going())
      expect(bed.vendor.answeredTaps).toEqual([tap.acknowledge])
    })

    it("changes of captions and of live locations, the later one with the larger version", () => {
      const event = bed.vendor.write(adaChat, ada, { location: place })
      const moved = bed.vendor.edit(event, { location: { latitude: 50.46, longitude: 30.52 }, edit_date: 1_700_000_007 })
      expect(read(moved)).toMatchObject([{ kind: "edit", externalId: "2", text: "[location] 50.46, 30.52", version: 1_700_000_007 }])
      const photo = bed.vendor.write(adaChat, ada, { photo: [picture], caption: "Loook" })
      expect(read(bed.vendor.edit(photo, { caption: "Look" }))).toMatchObject([{ kind: "edit", externalId: "3", text: "Look" }])
    })

    it("an ephemeral message, which has no ID of its own", () => {
      const update = bed.vendor.write(group, ada, { text: "Psst", message_id: 0 })
      expect(messageOf(bed, update).externalId).toBe(`update-${update.update_id}`)
    })

    it("nothing from service messages, and a message from every other kind that Telegram's types have", () => {
      const types = readFileSync("node_modules/@grammyjs/types/message.d.ts", "utf8")
      const kinds = [...types.matchAll(/type \w+ = (\w+) & MsgWith<"(\w+)">/g)].map(([, base, field]) => ({ base, field: field! }))
      // The types call these service messages; their descriptions do not.
      const written = ["invoice", "giveaway", "giveaway_winners"]
      const isService = ({ base, field }: (typeof kinds)[number]) => base === "ServiceMessage" && !written.includes(field)
      const moves = /^migrate_/
      const whole: Record<string, unknown> = {
        ...{ text: "Hi", photo: [picture], location: place, venue: { location: place, title: "Shop" } },
        ...{ contact: { phone_number: "1", first_name: "Bob" }, migrate_to_chat_id: 1, migrate_from_chat_id: 1 },
        ...Object.fromEntries(["video", "video_note", "animation", "audio", "voice", "document", "sticker"].map((name) => [name, file])),
      }
      // The fields that are no objects.
      const plain = new RegExp(`^ {4}(${kinds.map(({ field }) => field).join("|")})\\?: (?:true|string|number);`, "gm")
      for (const [, field] of types.matchAll(plain)) whole[field!] ??= true
      const reported = (field: string) => read(bed.vendor.write(group, ada, { [field]: whole[field] ?? {} })).length
      expect(kinds.filter((kind) => isService(kind) && !moves.test(kind.field) && reported(kind.field) > 0)).toEqual([])
      expect(kinds.filter((kind) => !isService(kind) && reported(kind.field) === 0)).toEqual([])
      expect(kinds.length).toBeGreaterThan(70)
    })

    it.each<[string, Record<string, unknown>]>([
      ["new members", { message: { new_chat_members: [ada] } }],
      ["a new title", { message: { new_chat_title: "New" } }],
      ["a pinned message", { message: { pinned_message: { message_id: 1, chat: group, date: 1, text: "Hi" } } }],
      ["a video chat", { message: { video_chat_ended: { duration: 1 } } }],
      ["a new topic", { message: { forum_topic_created: { name: "T", icon_color: 1 } } }],
      ["a gift", { message: { unique_gift: {} } }],
      ["a payment", { message: { successful_payment: {} } }],
      ["a post of the linked channel", { message: { text: "News", is_automatic_forward: true } }],
      ["a channel post", { message: { chat: { id: -9, type: "channel", title: "News" }, text: "News" } }],
      ["a member's status", { my_chat_member: { chat: group } }],
      ["a reaction", { message_reaction: { chat: group } }],
      ["a tap without a message", { callback_query: { id: "1", from: ada, data: "x" } }],
      ["a message without an ID", { message: { message_id: undefined, text: "Hi" } }],
      ["a message whose text is none", { message: { text: 7 } }],
      ["a chat of an unknown type", { message: { chat: { id: 1, type: "hall" }, text: "Hi" } }],
    ])("nothing from %s", (_what, { message, ...others }) => {
      const full = message ? { message: { message_id: 5, from: ada, chat: group, date: 1, ...message } } : {}
      expect(read({ update_id: 1, ...full, ...others })).toEqual([])
    })
  })

  describe("sends", () => {
    it.each([
      ["image/jpeg", "sendPhoto"],
      ["image/webp", "sendPhoto"],
      ["image/gif", "sendAnimation"],
      ["image/svg+xml", "sendDocument"],
      ["video/mp4", "sendVideo"],
      ["video/webm", "sendDocument"],
      ["audio/ogg", "sendVoice"],
      ["audio/mpeg", "sendAudio"],
      ["audio/wav", "sendDocument"],
      ["text/csv", "sendDocument"],
    ])("%s by %s", async (mimeType, method) => {
      await send({ text: null, files: [fileOf(mimeType, "a file", Buffer.from("content"))] })
      expect(bed.vendor.sent).toMatchObject([{ method, text: null }])
    })

    it("a picture that is too large for a photo as a document", async () => {
      const huge = fileOf("image/png", "huge.png", Buffer.concat([pngOf(), Buffer.alloc(10 * 1024 * 1024)]))
      await send({ text: "Look", files: [huge] })
      await send({ text: "Look", files: [fileOf("image/png", "wide.png", pngOf(9000, 1001))] })
      await send({ text: "Look", files: [fileOf("image/png", "fits.png", pngOf(9000, 1000))] })
      expect(bed.vendor.sent.map(({ method, text }) => [method, text])).toEqual([
        ["sendDocument", "Look"],
        ["sendDocument", "Look"],
        ["sendPhoto", "Look"],
      ])
    })

    it("an answer with a file; one to a tap, and to what was deleted, without a quotation", async () => {
      const files = [fileOf("image/png", "a.png", pngOf())]
      await send({ files, quoted: { externalId: "1", data: null } })
      await send({ quoted: { externalId: "callback-1", data: null } })
      await send({ quoted: { externalId: "999", data: null } })
      expect(bed.vendor.sent.map(({ quoted }) => quoted)).toEqual([1, null, null])
      expect(request("sendMessage")).toMatchObject({ reply_parameters: { message_id: 999, allow_sending_without_reply: true } })
    })

    it("to a group", async () => {
      bed.vendor.meet(-1001)
      await send({ chat: { externalId: "-1001", isGroup: true } })
      expect(request("sendMessage")).toEqual({ chat_id: -1001, text: "Good day" })
    })
  })

  describe("reports", () => {
    it("where a group has moved to, and sends there", async () => {
      bed.vendor.meet(-5)
      bed.vendor.moved.set(-5, -1001)
      const failure = await failureOf(send({ chat: { externalId: "-5", isGroup: true } }))
      expect(failure.options).toMatchObject({ kind: "retry", movedTo: "-1001" })
      await send({ chat: { externalId: "-1001", isGroup: true } })
      expect(bed.vendor.sent).toMatchObject([{ chatId: -1001 }])
    })

    it("its own words", async () => {
      bed.vendor.blocked.add(501)
      expect((await failureOf(send())).message).toBe("403: Forbidden: bot was blocked by the user")
      expect((await failureOf(send({ chat: { externalId: "777", isGroup: false } }))).message).toBe("400: Bad Request: chat not found")
      const credentials = { botToken: "1:other" }
      expect((await failureOf(bed.adapter.check({ ...bed.account, credentials }, going()))).message).toBe("401: Unauthorized")
    })

    const refused = (status: number, description: string, parameters?: unknown) => ({
      status,
      json: { ok: false, error_code: status, description, parameters },
    })
    it.each([
      [refused(400, "Bad Request: chat not found"), "permanent", "RECIPIENT_UNREACHABLE"],
      [refused(403, "Forbidden: bot was kicked from the group chat"), "permanent", "RECIPIENT_UNREACHABLE"],
      [refused(403, "Forbidden: user is deactivated"), "permanent", "RECIPIENT_UNREACHABLE"],
      [refused(400, "Bad Request: message text is empty"), "permanent", "CONTENT_REFUSED"],
      [refused(400, "Bad Request: wrong file identifier/HTTP URL specified"), "permanent", "CONTENT_REFUSED"],
      [refused(413, "Request Entity Too Large"), "permanent", "CONTENT_REFUSED"],
      [refused(400, "Bad Request: TOPIC_CLOSED"), "permanent", "REFUSED"],
      [refused(404, "Not Found"), "credentials", "CREDENTIALS_REFUSED"],
      [refused(401, "Unauthorized"), "credentials", "CREDENTIALS_REFUSED"],
      [refused(502, "Bad Gateway"), "retry", "CHANNEL_UNAVAILABLE"],
      [{ status: 502, body: "<html>Bad gateway</html>" }, "retry", "CHANNEL_UNAVAILABLE"],
      [{ status: 200, body: "<html>Hotel login</html>" }, "doubt", "CHANNEL_UNAVAILABLE"],
      [refused(429, "Too Many Requests: retry after 35", { retry_after: 35 }), "retry", "RATE_LIMITED"],
    ] as const)("%j as %s %s", async (answer, kind, code) => {
      bed.vendor.server.answerNext(answer)
      expect((await failureOf(send())).options).toMatchObject({ kind, code })
    })

    it("nothing that contains the token", async () => {
      bed.vendor.server.answerNext(refused(400, `Bad Request: no ${bed.vendor.token}`))
      expect((await failureOf(send())).message).toBe("400: Bad Request: no [token]")
    })
  })

  describe("connects", () => {
    it("with a secret of its own, which Telegram takes", async () => {
      const { botToken } = bed.account.credentials
      const account = { ...bed.account, credentials: { botToken: botToken! } }
      const further = await bed.adapter.check(account, going())
      expect(further["secretToken"]).toMatch(/^[\w-]{43}$/)
      await bed.adapter.register({ ...account, credentials: { ...account.credentials, ...further } }, "https://platform.example/h", going())
      expect(request("setWebhook")).toEqual({
        url: "https://platform.example/h",
        secret_token: further["secretToken"],
        allowed_updates: ["message", "edited_message", "callback_query"],
      })
      expect(await bed.adapter.check(bed.account, going())).toEqual({ secretToken })
    })

    it.each([
      [{}, "botToken"],
      [{ botToken: "123/../x" }, "botToken"],
      [{ botToken: "1:a", secretToken: "" }, "secretToken"],
      [{ botToken: "1:a", secretToken: "ä" }, "secretToken"],
      [{ botToken: "1:a", secretToken: "x".repeat(257) }, "secretToken"],
    ])("not with %j", (credentials, name) => {
      expect(bed.adapter.faultOf!(credentials as Credentials)).toMatch(new RegExp(`^${name} must be `))
    })
  })

  describe("a poll", () => {
    const poll = (state: unknown = null) => bed.adapter.poll!.run(bed.account, state, going())

    it("removes a hook that was left, then works", async () => {
      await bed.adapter.register(bed.account, "https://platform.example/h", going())
      expect((await failureOf(poll())).options).toMatchObject({ kind: "retry" })
      bed.write.text("Hello")
      const { events, state } = await poll()
      expect(events).toHaveLength(1)
      expect(request("getUpdates")).toEqual({ timeout: 10, allowed_updates: ["message", "edited_message", "callback_query"] })
      await poll(state)
      expect(request("getUpdates")).toMatchObject(state as object)
    })

    it("fails when somebody else polls", async () => {
      const slow = telegramBot({ baseUrl: bed.vendor.server.url, pollSeconds: 1000 }).poll!.run(bed.account, null, going())
      const failed = failureOf(slow)
      await until("the first poll has begun", () => request("getUpdates"))
      await poll()
      expect((await failed).options).toMatchObject({ kind: "retry" })
      expect((await failed).message).toMatch(/^409: Conflict: terminated by other getUpdates request/)
    })

    it.each([[{}], [null], ["text"], [[{ message: {} }]]])("fails for the result %j, instead of asking again at once", async (result) => {
      bed.vendor.server.answerNext({ json: { ok: true, result } })
      expect((await failureOf(poll())).options).toMatchObject({ kind: "retry" })
    })

    it("passes over an update that cannot be read", async () => {
      const good = { update_id: 8, message: { message_id: 1, chat: adaChat, from: ada, date: 1, text: "Hi" } }
      bed.vendor.server.answerNext({ json: { ok: true, result: [{ update_id: 7, message: 7 }, good, null] } })
      const { events, state } = await poll()
      expect(events).toMatchObject([{ account: null, item: { text: "Hi" } }])
      expect(state).toEqual({ offset: 9 })
    })
  })

  it("reads a file only while Telegram has it", async () => {
    const missing = await failureOf(bed.adapter.download("unknown", bed.account, going()))
    expect(missing.options).toMatchObject({ kind: "permanent" })
    const { file_id } = bed.vendor.upload(Buffer.alloc(20 * 1024 * 1024 + 1), "videos/large.mp4")
    expect((await failureOf(bed.adapter.download(file_id, bed.account, going()))).message).toBe("400: Bad Request: file is too big")
    const small = bed.vendor.upload(Buffer.from("x"), "documents/file_1.pdf")
    expect(await bed.adapter.download(small.file_id, bed.account, going())).toMatchObject({ isOwn: true, filename: "file_1.pdf" })
  })
})
