import fc from "fast-check"
import { messenger } from "../../src/ports/channel/messenger.js"
import { mutationsOf } from "./kit/mutations.js"

const PAGE = "682498302938465"
const PSID = "1254459154682919"
const MID = "m_1457764197618:41d102a3e1ae206a38"
const account = {
  companyId: "0199bbbb-0000-7000-8000-000000000000",
  connectionId: "c",
  externalId: PAGE,
  name: "Shop",
  credentials: { pageAccessToken: "EAAtoken", appSecret: "app-secret", verifyToken: "verify" },
}
const adapter = messenger({ baseUrl: "http://127.0.0.1:9" })

const body = (...messaging: unknown[]) => ({ object: "page", entry: [{ id: PAGE, time: 1458692752478, messaging }] })
const from = (item: object) => ({ sender: { id: PSID }, recipient: { id: PAGE }, timestamp: 1458692752478, ...item })
const wrote = (message: object) => from({ message: { mid: MID, ...message } })
const parsed = (payload: unknown) => adapter.parse(payload, account)
const itemsOf = (...messaging: unknown[]) => parsed(body(...messaging)).map(({ item }) => item)

const CDN = "https://cdn.fbsbx.com/v/t59.2708-21/26704_n.pdf/report%20%E2%84%961.pdf?_nc_cat=1&oh=1"
const PICTURE = "https://scontent.xx.fbcdn.net/v/t1.15752-9/1_n.jpg?oh=2"
const attached = (...attachments: [type: string, payload?: object][]) => ({
  attachments: attachments.map(([type, payload]) => ({ type, payload })),
})
const file = (url: string, kind: string, filename: string | null = null) => ({ reference: { url }, filename, kind })

describe("messages", () => {
  const chat = { externalId: PSID }

  it("a text", () => {
    expect(parsed(body(wrote({ text: "hello, world!", quick_reply: { payload: "PICKED" } })))).toEqual([
      { account: null, item: { kind: "message", chat, externalId: MID, text: "hello, world!", files: [], quoted: null } },
    ])
  })

  it.each([
    ["a picture", attached(["image", { url: PICTURE }]), null, [file(PICTURE, "photo")]],
    [
      "pictures with a text",
      { text: "Both", ...attached(["image", { url: PICTURE }], ["image", { url: `${PICTURE}3` }]) },
      "Both",
      [file(PICTURE, "photo"), file(`${PICTURE}3`, "photo")],
    ],
    ["a video", attached(["video", { url: PICTURE }]), null, [file(PICTURE, "video")]],
    ["a voice message", attached(["audio", { url: PICTURE }]), null, [file(PICTURE, "audio")]],
    ["a document", attached(["file", { url: CDN }]), null, [file(CDN, "document", "report №1.pdf")]],
    [
      "a document without a name",
      attached(["file", { url: "https://cdn.fbsbx.com/1/" }]),
      null,
      [file("https://cdn.fbsbx.com/1/", "document")],
    ],
    [
      "a document with a broken name",
      attached(["file", { url: "https://cdn.fbsbx.com/%E0%A4.pdf" }]),
      null,
      [file("https://cdn.fbsbx.com/%E0%A4.pdf", "document", "%E0%A4.pdf")],
    ],
    ["a sticker", attached(["sticker", { url: PICTURE, sticker_id: 1 }]), "[sticker]", [file(PICTURE, "sticker")]],
    ["a thumb", attached(["image", { url: PICTURE, sticker_id: 369239263222822 }]), "[sticker 👍]", [file(PICTURE, "sticker")]],
    [
      "a sticker that is a picture too",
      attached(["sticker", { url: PICTURE, sticker_id: "1" }], ["image", { url: PICTURE }], ["image", { url: CDN, sticker_id: "1" }]),
      "[sticker]",
      [file(PICTURE, "sticker")],
    ],
    ["a sticker without a file", attached(["sticker", { sticker_id: 1 }]), "[sticker]", []],
    ["a shared link", attached(["fallback", { url: "https://shop.example/1", title: "Lamp" }]), "[shared post] https://shop.example/1", []],
    [
      "a link in a text",
      { text: "See https://shop.example/1", ...attached(["fallback", { url: "https://shop.example/1" }]) },
      "See https://shop.example/1",
      [],
    ],
    [
      "something shared with words",
      { text: "This one", ...attached(["ig_reel", { url: "https://instagram.com/reel/1" }]) },
      "This one\n[shared post] https://instagram.com/reel/1",
      [],
    ],
    ["a share without an address", { attachments: [{ type: "fallback" }] }, "[shared post]", []],
    ["a location", attached(["location", { coordinates: { lat: 50.45, long: 30.52 } }]), "[location] 50.45, 30.52", []],
  ])("%s", (_name, message, text, files) => {
    expect(itemsOf(wrote(message))).toEqual([{ kind: "message", chat, externalId: MID, text, files, quoted: null }])
  })

  it.each([
    ["an appointment", attached(["appointment_booking", { booking_id: "1" }]), "[unsupported: appointment_booking]"],
    ["one with a text", { text: "Hi", ...attached(["hologram"]) }, "Hi\n[unsupported: hologram]"],
    ["a picture without an address", attached(["image", {}]), "[unsupported: image]"],
    ["a location without coordinates", attached(["location", {}]), "[unsupported: location]"],
    ["an empty message", {}, "[unsupported: message]"],
  ])("%s is named, with a mark", (_name, message, text) => {
    expect(itemsOf(wrote(message))).toMatchObject([{ text, files: [], isUnsupported: true }])
  })

  it("a quote", () => {
    expect(itemsOf(wrote({ text: "Yes", reply_to: { mid: "m_quoted", is_self_reply: false } }))).toMatchObject([{ quoted: "m_quoted" }])
  })

  it("a tap on a button is its title", () => {
    expect(itemsOf(from({ postback: { mid: MID, title: "Get started", payload: "START" } }))).toEqual([
      { kind: "message", chat, externalId: MID, text: "Get started", files: [] },
    ])
  })

  it("a change has its number as the version", () => {
    expect(itemsOf(from({ message_edit: { mid: MID, text: "Two, please", num_edit: 2 } }))).toEqual([
      { kind: "edit", chat, externalId: MID, text: "Two, please", version: 2 },
    ])
  })

  it.each([
    ["a reaction", { reaction: { mid: MID, action: "react", emoji: "❤" } }],
    ["a referral", { referral: { ref: "x", source: "SHORTLINK" } }],
    ["an opt-in", { optin: { type: "notification_messages" } }],
    ["a hand-over", { pass_thread_control: { new_owner_app_id: "1" } }],
    ["a message without an ID", { message: { text: "Hi" } }],
    ["a tap without an ID", { postback: { title: "Get started" } }],
    ["a change without a text", { message_edit: { mid: MID, num_edit: 0 } }],
  ])("%s is ignored", (_name, item) => expect(itemsOf(from(item))).toEqual([]))
})

describe("echoes", () => {
  const echo = (message: object) => ({ sender: { id: PAGE }, recipient: { id: PSID }, message: { is_echo: true, mid: MID, ...message } })

  it("are messages of the company to the customer", () => {
    expect(itemsOf(echo({ app_id: 26390203743090, text: "We are open until six" }))).toEqual([
      {
        kind: "message",
        chat: { externalId: PSID },
        externalId: MID,
        text: "We are open until six",
        files: [],
        quoted: null,
        isEcho: true,
      },
    ])
  })

  it("of ours have the part ID, and those of others nothing of theirs", () => {
    expect(itemsOf(echo({ text: "Hi", metadata: "0198c3f2-1c2d-7000-8000-000000000000-0" }))).toMatchObject([
      { partId: "0198c3f2-1c2d-7000-8000-000000000000-0" },
    ])
    expect(itemsOf(echo({ text: "Hi", metadata: "campaign = 7" }))[0]).not.toHaveProperty("partId")
  })

  it("a customer cannot set a part ID", () => {
    expect(itemsOf(wrote({ text: "Hi", metadata: "0198c3f2" }))[0]).not.toHaveProperty("partId")
  })
})

describe("receipts", () => {
  it("of delivery name messages and a time", () => {
    expect(itemsOf(from({ delivery: { mids: ["m_1", "m_2"], watermark: 1458668856253 } }))).toEqual([
      { kind: "receipt", status: "delivered", externalId: "m_1", customer: PSID },
      { kind: "receipt", status: "delivered", externalId: "m_2", customer: PSID },
      { kind: "receipt", status: "delivered", customer: PSID, upTo: 1458668856253 },
    ])
    expect(itemsOf(from({ delivery: { watermark: 1458668856253 } }))).toHaveLength(1)
  })

  it("of reading name a time", () => {
    expect(itemsOf(from({ read: { watermark: 1458668856253 } }))).toEqual([
      { kind: "receipt", status: "read", customer: PSID, upTo: 1458668856253 },
    ])
  })
})

describe("a request", () => {
  const text = (mid: string) => from({ message: { mid, text: "Hi" } })

  it("can have several entries and items, in their order and for other pages", () => {
    const payload = {
      object: "page",
      entry: [
        { id: PAGE, messaging: [text("a"), from({ read: { watermark: 1 } }), text("b")] },
        { id: "777", messaging: [text("c")] },
        { id: 682498302938465, messaging: [text("d")] },
      ],
    }
    expect(parsed(payload).map(({ account, item }) => [account, item.kind, "externalId" in item ? item.externalId : null])).toEqual([
      [null, "message", "a"],
      [null, "receipt", null],
      [null, "message", "b"],
      ["777", "message", "c"],
      [null, "message", "d"],
    ])
  })

  it("for the page that the check found is for this connection, whatever the operator calls it", () => {
    const named = { ...account, externalId: "my page", credentials: { ...account.credentials, accountId: PAGE } }
    expect(adapter.parse(body(text("a")), named)).toMatchObject([{ account: null }])
    expect(adapter.parse(body(text("a")), { ...named, credentials: account.credentials })).toMatchObject([{ account: PAGE }])
  })

  it("keeps what is beside a malformed item", () => {
    const bad = [null, 7, "x", [], {}, { message: { mid: "m", text: "from nobody" } }, from({ message: null }), from({ delivery: "x" })]
    expect(itemsOf(...bad, text("a"), ...bad)).toMatchObject([{ externalId: "a" }])
  })

  it.each([
    ["another object", { ...body(text("a")), object: "instagram" }],
    ["what another app answers", { object: "page", entry: [{ id: PAGE, standby: [text("a")] }] }],
    ["comments", { object: "page", entry: [{ id: PAGE, changes: [{ field: "feed", value: { item: "comment" } }] }] }],
    ["no page", { object: "page", entry: [{ messaging: [text("a")] }] }],
    ["a message of the page to itself", body({ ...text("a"), sender: { id: PAGE } })],
  ])("with %s is ignored", (_name, payload) => expect(parsed(payload)).toEqual([]))

  it.each([null, 1, "x", [], [[]], { object: "page", entry: {} }])("%j reports nothing", (payload) => expect(parsed(payload)).toEqual([]))

  it("never makes the parser throw, and leaves out nothing but what was changed", () => {
    const samples = [
      wrote({ text: "Hi", reply_to: { mid: "q", story: { url: "https://x.example", id: "1" } }, ...attached(["file", { url: CDN }]) }),
      wrote(attached(["sticker", { url: PICTURE, sticker_id: 1 }], ["image", { url: PICTURE }])),
      wrote({ attachments: [{ type: "location", title: "Here", payload: { coordinates: { lat: 1, long: 2 } } }, { type: "fallback" }] }),
      from({ postback: { mid: MID, title: "Tap" } }),
      from({ message_edit: { mid: MID, text: "New", num_edit: 1 } }),
      from({ delivery: { mids: ["m_1"], watermark: 1 } }),
      { sender: { id: PAGE }, recipient: { id: PSID }, message: { is_echo: true, mid: MID, metadata: "p", text: "Hi" } },
    ]
    const mutated = fc.constantFrom(...samples).chain(mutationsOf)
    fc.assert(fc.property(mutated, (bad) => void expect(itemsOf(bad, text("whole")).at(-1)).toMatchObject({ externalId: "whole" })))
    const requests = fc.constantFrom(...samples).chain((sample) => mutationsOf(body(sample)))
    fc.assert(fc.property(requests, (bad) => void expect(Array.isArray(parsed(bad))).toBe(true)))
  })
})
