import { body, change, chat, file, ID, inbound, itemOf, itemsOf, media, parsed, sheena } from "./kit/whatsapp-payloads.js"

describe("messages", () => {
  it("a text", () => {
    expect(parsed(inbound({ type: "text", text: { body: "Does it come in another color?" } }))).toEqual([
      {
        account: null,
        item: { kind: "message", chat, externalId: ID, text: "Does it come in another color?", files: [], quoted: null, sender: null },
      },
    ])
  })

  it.each([
    ["an image with a caption", { type: "image", image: { ...media, caption: "This one" } }, "This one", [file("photo")]],
    ["an image", { type: "image", image: media }, null, [file("photo")]],
    ["a video", { type: "video", video: { ...media, mime_type: "video/mp4" } }, null, [file("video")]],
    ["a voice message", { type: "audio", audio: { ...media, voice: true } }, null, [file("voice message")]],
    ["an audio file", { type: "audio", audio: { ...media, voice: false } }, null, [file("audio")]],
    [
      "a document",
      { type: "document", document: { ...media, filename: "invoice.pdf", caption: "Paid" } },
      "Paid",
      [file("document", "invoice.pdf")],
    ],
    ["a sticker", { type: "sticker", sticker: { ...media, animated: false } }, "[sticker]", [file("sticker")]],
    ["a location", { type: "location", location: { latitude: 50.45, longitude: 30.52 } }, "[location] 50.45, 30.52", []],
    [
      "a place",
      { type: "location", location: { latitude: 37.44, longitude: -122.16, name: "Philz Coffee", address: "101 Forest Ave" } },
      "[location] 37.44, -122.16, Philz Coffee, 101 Forest Ave",
      [],
    ],
    [
      "contacts",
      {
        type: "contacts",
        contacts: [
          { name: { formatted_name: "Barbara J. Johnson" }, phones: [{ phone: "+1 650 555 1234", wa_id: "16505551234" }] },
          { phones: [{ wa_id: "380441234567" }, {}] },
          { name: {} },
        ],
      },
      "[contact] Barbara J. Johnson, +1 650 555 1234\n[contact] 380441234567",
      [],
    ],
    ["a button", { type: "button", button: { payload: "confirm", text: "Confirm order" } }, "Confirm order", []],
    [
      "a reply button",
      { type: "interactive", interactive: { type: "button_reply", button_reply: { id: "yes", title: "Yes, please" } } },
      "Yes, please",
      [],
    ],
    [
      "a row of a list",
      { type: "interactive", interactive: { type: "list_reply", list_reply: { id: "1", title: "Express", description: "Next day" } } },
      "Express",
      [],
    ],
  ])("%s", (_name, message, text, files) => {
    expect(itemOf(message)).toEqual({ kind: "message", chat, externalId: ID, text, files, quoted: null, sender: null })
  })

  it.each([
    ["a poll", { type: "unsupported", unsupported: { type: "poll" }, errors: [{ code: 131051, title: "Message type unknown" }] }, "poll"],
    ["something without a name", { type: "unsupported", errors: [{ code: 131051 }] }, "message"],
    ["an order", { type: "order", order: { catalog_id: "1", product_items: [] } }, "order"],
    ["a type of the future", { type: "hologram", hologram: {} }, "hologram"],
    ["a message without a type", {}, "message"],
    ["a text without words", { type: "text", text: {} }, "text"],
    ["an image without an ID", { type: "image", image: {} }, "image"],
    ["a location without coordinates", { type: "location", location: { name: "Somewhere" } }, "location"],
    ["a form", { type: "interactive", interactive: { type: "nfm_reply", nfm_reply: { body: "Sent" } } }, "interactive"],
    ["contacts without any", { type: "contacts", contacts: [] }, "contacts"],
  ])("%s is named, with a mark", (_name, message, type) => {
    expect(itemOf(message)).toMatchObject({ text: `[unsupported: ${type}]`, files: [], isUnsupported: true })
  })

  it.each([
    ["a reaction", { type: "reaction", reaction: { message_id: ID, emoji: "😀" } }],
    ["the opening of a chat", { type: "request_welcome" }],
    ["a service message", { type: "system", system: { type: "customer_identity_changed", body: "changed" } }],
    ["a message without an ID", { type: "text", text: { body: "Hi" }, id: null }],
  ])("%s is ignored", (_name, message) => expect(itemsOf(inbound(message))).toEqual([]))

  it("a quote", () => {
    expect(itemOf({ type: "text", text: { body: "This" }, context: { from: "15550783881", id: "wamid.quoted" } })).toMatchObject({
      quoted: "wamid.quoted",
    })
    expect(itemOf({ type: "text", text: { body: "Look" }, context: { forwarded: true } })).toMatchObject({ quoted: null })
  })
})

describe("customers", () => {
  const text = { type: "text", text: { body: "Hi" } }
  const BSUID = "US.13491208655302741918"

  it("with a number and an ID are found by both", () => {
    const contact = { profile: { name: "Sheena Nelson", username: "sheena" }, wa_id: "16505551234", user_id: BSUID }
    expect(itemsOf(inbound({ ...text, from_user_id: BSUID }, contact))).toMatchObject([
      { chat: { ...chat, alsoKnownAs: [BSUID], username: "sheena" } },
    ])
  })

  it("whose number is hidden have the ID alone", () => {
    const contact = { profile: { name: "Sheena Nelson", username: "sheena" }, user_id: BSUID }
    const [item] = itemsOf(inbound({ ...text, from: undefined, from_user_id: BSUID }, contact))
    expect(item).toMatchObject({ chat: { externalId: BSUID, alsoKnownAs: [], name: "Sheena Nelson", username: "sheena" } })
    expect(item).not.toHaveProperty("chat.phoneNumber")
  })

  it("whose number differs from their WhatsApp ID are found by both", () => {
    expect(itemsOf(inbound({ ...text, from: "5491155551234" }, { ...sheena, wa_id: "541155551234" }))).toMatchObject([
      { chat: { externalId: "5491155551234", alsoKnownAs: ["541155551234"], name: "Sheena Nelson" } },
    ])
  })

  it("of one request have their own names", () => {
    const contacts = [
      { profile: { name: "Ann" }, wa_id: "1000000001" },
      { profile: { name: "Bob" }, user_id: "UA.2" },
    ]
    const messages = [
      { ...text, id: "b", from_user_id: "UA.2" },
      { ...text, id: "a", from: "1000000001" },
      { ...text, id: "c", from: "1000000003" },
    ]
    const items = itemsOf(body(change({ contacts, messages })))
    expect(items).toMatchObject([
      { externalId: "b", chat: { externalId: "UA.2", name: "Bob" } },
      { externalId: "a", chat: { externalId: "1000000001", name: "Ann" } },
      { externalId: "c", chat: { externalId: "1000000003" } },
    ])
    expect(items[2]).not.toHaveProperty("chat.name")
  })

  it("in a group are the sender", () => {
    const group = "Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD"
    expect(itemOf({ ...text, from: "+16505551234", group_id: group })).toMatchObject({
      chat: { externalId: group, isGroup: true },
      sender: { externalId: "16505551234", name: "Sheena Nelson" },
    })
  })

  const system = (value: object, message: object = {}) =>
    itemsOf(
      body(change({ messages: [{ from: "16505551234", id: ID, timestamp: "1739321024", type: "system", system: value, ...message }] })),
    )

  it("have a new number", () => {
    const words = "User Sheena Nelson changed from 16505551234 to 12195555358"
    expect(system({ type: "user_changed_number", body: words, wa_id: "12195555358" })).toEqual([
      { kind: "moved", from: "16505551234", to: "12195555358", phoneNumber: "+12195555358" },
    ])
    expect(system({ type: "customer_changed_number", customer: "16505551234", new_wa_id: "12195555358" })).toHaveLength(1)
  })

  it("have a new number and with it a new ID", () => {
    const ids = { wa_id: "12195555358", user_id: "US.new" }
    expect(system({ type: "user_changed_number", ...ids }, { from_user_id: "US.old" })).toEqual([
      { kind: "moved", from: "16505551234", to: "12195555358", phoneNumber: "+12195555358" },
      { kind: "moved", from: "US.old", to: "US.new" },
    ])
    // The new number is hidden.
    expect(system({ type: "user_changed_number", user_id: "US.new" })).toEqual([{ kind: "moved", from: "16505551234", to: "US.new" }])
  })

  it.each([
    ["its field", { previous_user_id: "US.old", user_id: "US.new" }, {}],
    ["the sender", { user_id: "US.new" }, { from_user_id: "US.old" }],
    ["the words", { body: "User Sheena changed from US.old to US.new" }, {}],
    ["the words, whatever the name", { body: "User changed from US.a to US.b changed from US.old to US.new", user_id: "US.new" }, {}],
    ["the words, when the sender is the new one", { body: "User Sheena changed from US.old to US.new" }, { from_user_id: "US.new" }],
  ])("have a new ID, and the old one in %s", (_name, value, message) => {
    expect(system({ type: "user_changed_user_id", ...value }, message)).toEqual([{ kind: "moved", from: "US.old", to: "US.new" }])
  })

  it("without a new ID stay where they are", () => {
    expect(system({ type: "user_changed_number" })).toEqual([])
    expect(system({ type: "user_changed_number", wa_id: "16505551234" })).toEqual([])
    expect(system({ type: "user_changed_user_id" })).toEqual([])
  })
})
