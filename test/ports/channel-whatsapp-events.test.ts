import fc from "fast-check"
import { mutationsOf } from "./kit/mutations.js"
import { account, body, change, chat, file, ID, inbound, itemOf, itemsOf, media, parsed, sheena } from "./kit/whatsapp-payloads.js"

describe("changes of messages", () => {
  it("an edit has the time as its version", () => {
    const edit = { original_message_id: "wamid.original", message: { type: "text", text: { body: "Two, please" } } }
    expect(itemOf({ type: "edit", edit })).toEqual({
      kind: "edit",
      chat,
      externalId: "wamid.original",
      text: "Two, please",
      version: 1739321024,
    })
  })

  it("an edit of a caption", () => {
    const edited = (image: object) => itemOf({ type: "edit", edit: { original_message_id: "o", message: { type: "image", image } } })
    expect(edited({ caption: "Updated image caption" })).toMatchObject({ text: "Updated image caption" })
    expect(edited({ ...media, caption: "With its file" })).toMatchObject({ text: "With its file" })
    expect(edited(media)).toMatchObject({ text: "" })
  })

  it("an edit that is not understood is ignored", () => {
    expect(itemsOf(inbound({ type: "edit", edit: { original_message_id: "o", message: { type: "poll" } } }))).toEqual([])
    expect(itemsOf(inbound({ type: "edit", edit: { message: { type: "text", text: { body: "?" } } } }))).toEqual([])
  })

  it("a revocation is a deletion", () => {
    expect(itemOf({ type: "revoke", revoke: { original_message_id: "wamid.original" } })).toEqual({
      kind: "deletion",
      chat,
      externalId: "wamid.original",
    })
    expect(itemsOf(inbound({ type: "revoke", revoke: {} }))).toEqual([])
  })
})

describe("echoes", () => {
  const echo = (message: object) =>
    itemsOf(
      body(
        change(
          { message_echoes: [{ from: "15550783881", to: "16505551234", id: ID, timestamp: "1739321024", ...message }] },
          "smb_message_echoes",
        ),
      ),
    )

  it("are messages of the company", () => {
    expect(echo({ type: "text", text: { body: "Here's the info you requested!" } })).toEqual([
      {
        kind: "message",
        chat: { externalId: "16505551234", alsoKnownAs: [] },
        externalId: ID,
        text: "Here's the info you requested!",
        files: [],
        quoted: null,
        isEcho: true,
      },
    ])
    expect(echo({ type: "image", image: media, to: undefined, to_user_id: "UA.123" })).toMatchObject([
      { chat: { externalId: "UA.123" }, files: [file("photo")], isEcho: true },
    ])
  })

  it.each([
    ["a reaction", { type: "reaction", reaction: { message_id: ID, emoji: "😀" } }],
    ["an edit", { type: "edit", edit: { original_message_id: "o", message: { type: "text", text: { body: "x" } } } }],
    ["a revocation", { type: "revoke", revoke: { original_message_id: "o" } }],
    ["one to nobody", { type: "text", text: { body: "x" }, to: undefined }],
  ])("%s is ignored", (_name, message) => expect(echo(message)).toEqual([]))
})

describe("receipts", () => {
  const receipt = (status: object) =>
    itemsOf(body(change({ statuses: [{ id: ID, status: "sent", timestamp: "1739321024", recipient_id: "16505551234", ...status }] })))

  it.each([
    ["sent", "sent"],
    ["delivered", "delivered"],
    ["read", "read"],
    ["played", "read"],
  ])("%s is %s", (word, status) => {
    const partId = "0198c3f2-1c2d-7000-8000-000000000000-1"
    expect(receipt({ status: word, biz_opaque_callback_data: partId })).toEqual([
      { kind: "receipt", status, externalId: ID, partId, customer: "16505551234" },
    ])
  })

  it("a failure has Meta's words and a code", () => {
    const errors = [{ code: 131047, title: "Re-engagement message", message: "Re-engagement message", error_data: { details: "24 hours" } }]
    expect(receipt({ status: "failed", errors })).toMatchObject([
      { status: "failed", error: "131047: Re-engagement message: 24 hours", errorCode: "WINDOW_CLOSED" },
    ])
    expect(receipt({ status: "failed", errors: [{ code: 131049, title: "Not delivered" }] })).toMatchObject([{ errorCode: "REFUSED" }])
    expect(receipt({ status: "failed" })).toMatchObject([{ error: "unknown: no message", errorCode: "REFUSED" }])
  })

  it("the data of another sender is no part ID", () => {
    expect(receipt({ biz_opaque_callback_data: "campaign = 7" })).toEqual([
      { kind: "receipt", status: "sent", externalId: ID, customer: "16505551234" },
    ])
  })

  it.each([{ status: "warning" }, { status: "toString" }, { id: "" }])("with %j is ignored", (status) => {
    expect(receipt(status)).toEqual([])
  })
})

describe("a request", () => {
  const hi = { type: "text", text: { body: "Hi" } }
  const one = (id: string, number?: string, field?: string) =>
    change({ contacts: [sheena], messages: [{ from: "16505551234", id, ...hi }] }, field, number)

  it("can have several entries, changes and items, in their order and for other numbers", () => {
    const statuses = [{ id: "s", status: "read" }]
    const payload = {
      object: "whatsapp_business_account",
      entry: [
        { id: "1", changes: [one("a"), change({ statuses }), one("b", "777")] },
        { id: "2", changes: [one("c", account.externalId)] },
      ],
    }
    expect(parsed(payload).map(({ account, item }) => [account, "externalId" in item && item.externalId])).toEqual([
      [null, "a"],
      [null, "s"],
      ["777", "b"],
      [null, "c"],
    ])
  })

  it("keeps what is beside a malformed item", () => {
    const bad = [null, 7, "x", [], {}, { field: "messages" }, change({ messages: [null, {}, { id: 7 }] }), change({ messages: "x" })]
    expect(itemsOf(body(...bad, one("a"), ...bad))).toMatchObject([{ externalId: "a" }])
  })

  it.each([
    ["another field", body(one("a", undefined, "message_template_status_update"))],
    ["another object", { ...body(one("a")), object: "page" }],
    ["no number", body({ field: "messages", value: { messages: [{ from: "1", id: "a", ...hi }] } })],
  ])("with %s is ignored", (_name, payload) => expect(parsed(payload)).toEqual([]))

  it.each([null, 1, "x", [], [[]], { entry: {} }])("%j reports nothing", (payload) => expect(parsed(payload)).toEqual([]))

  it("never makes the parser throw, and leaves out nothing but what was changed", () => {
    const samples = [
      inbound({ type: "image", image: { ...media, caption: "This" }, context: { id: "q" }, group_id: "g" }),
      inbound({ type: "contacts", contacts: [{ name: { formatted_name: "Ann" }, phones: [{ phone: "+1" }] }] }),
      inbound({ type: "interactive", interactive: { type: "list_reply", list_reply: { id: "1", title: "Express" } } }),
      inbound({ type: "edit", edit: { original_message_id: "o", message: { type: "text", text: { body: "Two" } } } }),
      inbound({ type: "system", system: { type: "user_changed_number", body: "User A changed from 1 to 2", wa_id: "2", user_id: "US.2" } }),
      body(change({ statuses: [{ id: ID, status: "failed", errors: [{ code: 1, error_data: { details: "d" } }] }] })),
      body(
        change({ message_echoes: [{ to: "1", to_user_id: "UA.1", id: ID, type: "location", location: { latitude: 1, longitude: 2 } }] }),
      ),
    ]
    const whole = one("whole")
    const mutated = fc.constantFrom(...samples).chain((sample) => mutationsOf(sample.entry[0]!.changes[0]))
    fc.assert(fc.property(mutated, (bad) => void expect(itemsOf(body(bad, whole)).at(-1)).toMatchObject({ externalId: "whole" })))
    fc.assert(fc.property(fc.constantFrom(...samples).chain(mutationsOf), (bad) => void expect(Array.isArray(parsed(bad))).toBe(true)))
  })
})
