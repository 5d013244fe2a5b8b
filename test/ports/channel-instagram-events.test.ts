import fc from "fast-check"
import { instagram } from "../../src/ports/channel/instagram.js"
import { mutationsOf } from "./kit/mutations.js"

const IGID = "17841400000000000"
const IGSID = "1030555111222"
const MID = "aWdfZAG1faXRlbToxOklHTWVzc2FnZAUlE"
const account = {
  companyId: "0199bbbb-0000-7000-8000-000000000000",
  connectionId: "c",
  externalId: IGID,
  name: "Shop",
  credentials: { pageAccessToken: "EAAtoken", appSecret: "app-secret", verifyToken: "verify" },
}
const adapter = instagram({ baseUrl: "http://127.0.0.1:9" })

const body = (...messaging: unknown[]) => ({ object: "instagram", entry: [{ id: IGID, time: 1569262486134, messaging }] })
const from = (item: object) => ({ sender: { id: IGSID }, recipient: { id: IGID }, timestamp: 1569262485349, ...item })
const wrote = (message: object) => from({ message: { mid: MID, ...message } })
const parsed = (payload: unknown) => adapter.parse(payload, account)
const itemsOf = (...messaging: unknown[]) => parsed(body(...messaging)).map(({ item }) => item)
const chat = { externalId: IGSID }

describe("messages", () => {
  it.each([
    ["a text", { text: "Is it in stock?" }, "Is it in stock?", []],
    [
      "a picture",
      { attachments: [{ type: "image", payload: { url: "https://lookaside.fbsbx.com/ig_messaging_cdn/?asset_id=1" } }] },
      null,
      [{ reference: { url: "https://lookaside.fbsbx.com/ig_messaging_cdn/?asset_id=1" }, filename: null, kind: "photo" }],
    ],
    [
      "a mention in a story",
      { attachments: [{ type: "story_mention", payload: { url: "https://lookaside.fbsbx.com/story" } }] },
      "[shared post] https://lookaside.fbsbx.com/story",
      [],
    ],
    [
      "a post",
      { attachments: [{ type: "ig_post", payload: { ig_post_media_id: "1", title: "Lamp", url: "https://lookaside.fbsbx.com/post" } }] },
      "[shared post] https://lookaside.fbsbx.com/post",
      [],
    ],
    [
      "a reply to a story",
      { text: "How much?", reply_to: { story: { url: "https://lookaside.fbsbx.com/story", id: "1" } } },
      "[reply to story] https://lookaside.fbsbx.com/story\nHow much?",
      [],
    ],
    ["a reply to a story that is gone", { text: "How much?", reply_to: { story: {} } }, "[reply to story]\nHow much?", []],
  ])("%s", (_name, message, text, files) => {
    expect(parsed(body(wrote(message)))).toEqual([
      { account: null, item: { kind: "message", chat, externalId: MID, text, files, quoted: null } },
    ])
  })

  it("a quote", () => {
    expect(itemsOf(wrote({ text: "Yes", reply_to: { mid: "quoted" } }))).toMatchObject([{ quoted: "quoted" }])
  })

  it("what Instagram does not show to companies is named, with a mark", () => {
    expect(itemsOf(wrote({ is_unsupported: true }))).toMatchObject([{ text: "[unsupported: message]", files: [], isUnsupported: true }])
  })

  it("a deletion", () => {
    expect(itemsOf(wrote({ is_deleted: true }))).toEqual([{ kind: "deletion", chat, externalId: MID }])
  })

  it("a change", () => {
    expect(itemsOf(from({ message_edit: { mid: MID, text: "Two", num_edit: "1" } }))).toEqual([
      { kind: "edit", chat, externalId: MID, text: "Two", version: 1 },
    ])
  })

  it("a tap on a button is its title", () => {
    expect(itemsOf(from({ postback: { mid: MID, title: "Prices", payload: "PRICES" } }))).toMatchObject([
      { kind: "message", text: "Prices" },
    ])
  })

  it("a message that was read", () => {
    expect(itemsOf(from({ read: { mid: "sent" } }))).toEqual([{ kind: "receipt", status: "read", externalId: "sent", customer: IGSID }])
  })

  it("an echo is a message of the company, and the deletion of one is ignored", () => {
    const echo = (message: object) => ({ sender: { id: IGID }, recipient: { id: IGSID }, message: { mid: MID, is_echo: true, ...message } })
    expect(itemsOf(echo({ text: "We have three" }))).toEqual([
      { kind: "message", chat, externalId: MID, text: "We have three", files: [], quoted: null, isEcho: true },
    ])
    expect(itemsOf(echo({ is_deleted: true }))).toEqual([])
  })
})

describe("a request", () => {
  it("for another account names it", () => {
    const entry = [{ id: "777", messaging: [wrote({ text: "Hi" })] }, body(wrote({ text: "Hi" })).entry[0]]
    expect(parsed({ object: "instagram", entry }).map(({ account }) => account)).toEqual(["777", null])
    const named = { ...account, externalId: "@shop", credentials: { ...account.credentials, accountId: IGID } }
    expect(adapter.parse({ object: "instagram", entry }, named).map(({ account }) => account)).toEqual(["777", null])
  })

  it.each([
    ["another object", { ...body(wrote({ text: "Hi" })), object: "page" }],
    ["comments", { object: "instagram", entry: [{ id: IGID, changes: [{ field: "comments", value: { text: "Nice" } }] }] }],
    ["a reaction", body(from({ reaction: { mid: MID, action: "react" } }))],
  ])("with %s is ignored", (_name, payload) => expect(parsed(payload)).toEqual([]))

  it("never makes the parser throw, and leaves out nothing but what was changed", () => {
    const samples = [
      wrote({ text: "Hi", reply_to: { mid: "q", story: { url: "https://x.example", id: "1" } } }),
      wrote({ attachments: [{ type: "ig_post", payload: { url: "https://x.example" } }] }),
      wrote({ is_deleted: true }),
      from({ read: { mid: MID } }),
    ]
    const whole = from({ message: { mid: "whole", text: "Hi" } })
    const mutated = fc.constantFrom(...samples).chain(mutationsOf)
    fc.assert(fc.property(mutated, (bad) => void expect(itemsOf(bad, whole).at(-1)).toMatchObject({ externalId: "whole" })))
  })
})
