import { InstagramVendor } from "../../simulate/vendors/instagram.js"
import { MessengerVendor } from "../../simulate/vendors/messenger.js"
import type { Customer, MetaVendor } from "../../simulate/vendors/meta.js"
import type { MessagingVendor } from "../../simulate/vendors/meta-messaging.js"
import { TelegramBotVendor } from "../../simulate/vendors/telegram-bot.js"
import { WhatsAppVendor } from "../../simulate/vendors/whatsapp-business.js"
import { administration } from "../kit/command-line.js"
import { samples } from "../kit/files.js"
import { until } from "../kit/wait.js"
import { type WorldOptions, world } from "../kit/world.js"

/** What a customer does on a messenger, and what arrives there; the story below is the same for all. */
interface Phone {
  vendor: { listen(): Promise<unknown>; close(): Promise<void>; hooks: { idle(): Promise<void> } }
  environment: () => Record<string, string>
  account: { externalId: string; credentials: () => Record<string, string> }
  /** Tells the vendor where the hook is. */
  hook(url: string): void
  customer: string
  write(text: string): void
  picture(caption: string): void
  reply(text: string, to: string): void
  sticker?: { send(): void; text: RegExp }
  location?: { send(): void; text: string }
  edit?(text: string): void
  unsupported(): void
  read?(): void
  echo?(text: string): void
  group?(text: string): void
  /** Texts that the customer got, in order. */
  got(): string[]
}

function telegram(): Phone {
  const vendor = new TelegramBotVendor({ pauseMs: () => 5 })
  const ada = { id: 501, is_bot: false, first_name: "Ada" }
  const chat = { id: 501, type: "private" as const, first_name: "Ada" }
  let last: ReturnType<TelegramBotVendor["write"]>
  const write = (fields: object) => {
    last = vendor.write(chat, ada, fields as never)
  }
  return {
    vendor,
    environment: () => ({ TELEGRAM_BASE_URL: vendor.server.url }),
    account: { externalId: "bot", credentials: () => ({ botToken: vendor.token }) },
    hook: (url) => {
      vendor.hook = { url, secret: vendor.hook!.secret }
    },
    customer: "501",
    write: (text) => write({ text }),
    picture: (caption) => write({ photo: [{ ...vendor.upload(samples.png, "photos/1.png"), width: 1, height: 1 }], caption }),
    reply: (text, to) => write({ text, reply_to_message: { message_id: Number(to), chat, date: 1 } }),
    sticker: { send: () => write({ sticker: { ...vendor.upload(samples.png, "stickers/1.webp"), emoji: "👍" } }), text: /^\[sticker 👍\]/ },
    location: { send: () => write({ location: { latitude: 50.45, longitude: 30.52 } }), text: "[location] 50.45, 30.52" },
    edit: (text) => void vendor.edit(last, { text } as never),
    unsupported: () => write({ dice: { emoji: "🎲", value: 4 } }),
    group: (text) => void vendor.write({ id: -7, type: "group", title: "Team" }, ada, { text } as never),
    got: () => vendor.sent.map(({ text }) => text ?? ""),
  }
}

const metaAccount = (vendor: MetaVendor, token: string) => ({
  [token]: vendor.token,
  appSecret: vendor.appSecret,
  verifyToken: vendor.verifyToken,
})

function whatsapp(): Phone {
  const vendor = new WhatsAppVendor({ pauseMs: () => 5, checksHook: false })
  const ada: Customer = { id: "4930123456", name: "Ada", userId: "DE.1234" }
  const said = (body: string) => ({ type: "text", text: { body } })
  let last = ""
  const write = (fields: object) => {
    const event = vendor.write(ada, fields as never) as { entry: { changes: { value: { messages: { id: string }[] } }[] }[] }
    last = event.entry[0]!.changes[0]!.value.messages[0]!.id
  }
  return {
    vendor,
    environment: () => ({ META_GRAPH_BASE_URL: vendor.server.url }),
    account: {
      externalId: vendor.phoneNumberId,
      credentials: () => ({ ...metaAccount(vendor, "accessToken"), phoneNumberId: vendor.phoneNumberId }),
    },
    hook: (url) => {
      vendor.callbackUrl = url
    },
    customer: ada.id,
    write: (text) => write(said(text)),
    picture: (caption) => {
      const id = vendor.upload({ type: "image/png", filename: "a.png", bytes: samples.png })
      write({ type: "image", image: { id, mime_type: "image/png", caption } })
    },
    reply: (text, id) => write({ ...said(text), context: { from: "15550783881", id } }),
    sticker: {
      send: () => {
        const id = vendor.upload({ type: "image/webp", filename: "s.webp", bytes: samples.png })
        write({ type: "sticker", sticker: { id, mime_type: "image/webp" } })
      },
      text: /^\[sticker\]/,
    },
    location: { send: () => write({ type: "location", location: { latitude: 50.45, longitude: 30.52 } }), text: "[location] 50.45, 30.52" },
    edit: (text) => void vendor.write(ada, { type: "edit", edit: { original_message_id: last, message: said(text) } }),
    unsupported: () => write({ type: "unsupported", unsupported: { type: "poll" }, errors: [{ code: 131051 }] }),
    read: () => void vendor.read(vendor.sent.at(-1)!),
    echo: (text) => void vendor.echo(ada.id, said(text)),
    group: (text) => void vendor.write(ada, { ...said(text), group_id: "G7" }),
    got: () => vendor.sent.map(({ text }) => text ?? ""),
  }
}

function metaMessaging(vendor: MessagingVendor, externalId: string): Phone {
  const ada: Customer = { id: "8001", name: "Ada" }
  let last = ""
  const write = (message: object) => {
    const event = vendor.write(ada, message as never) as { entry: { messaging: { message: { mid: string } }[] }[] }
    last = event.entry[0]!.messaging[0]!.message.mid
  }
  return {
    vendor,
    environment: () => ({ META_GRAPH_BASE_URL: vendor.server.url }),
    account: { externalId, credentials: () => metaAccount(vendor, "pageAccessToken") },
    hook: (url) => {
      vendor.callbackUrl = url
    },
    customer: ada.id,
    write: (text) => write({ text }),
    picture: (text) =>
      write({ text, attachments: [vendor.attachment("image", { type: "image/png", filename: "a.png", bytes: samples.png })] }),
    reply: (text, mid) => write({ text, reply_to: { mid } }),
    edit: (text) => void vendor.edit(ada.id, last, text),
    unsupported: () => write({ attachments: [{ type: "unknown_kind", payload: {} }] }),
    read: () => void vendor.read(vendor.sent.at(-1)!),
    echo: (text) => void vendor.echo(ada.id, { text }),
    got: () => vendor.sent.map(({ text }) => text ?? ""),
  }
}

const messengerVendor = () => new MessengerVendor({ pauseMs: () => 5 })
const phones: Record<string, () => Phone> = {
  "telegram-bot": telegram,
  "whatsapp-business": whatsapp,
  messenger: () => {
    const vendor = messengerVendor()
    return metaMessaging(vendor, vendor.pageId)
  },
  instagram: () => {
    const vendor = new InstagramVendor({ pauseMs: () => 5 })
    return metaMessaging(vendor, vendor.accountId)
  },
}

describe.each(Object.entries(phones))("a conversation over %s", (messenger, make) => {
  const phone = make()
  const options: WorldOptions = { REPLY_DEBOUNCE_MS: "20", REPLY_MAX_WAIT_MS: "50", PUBLIC_URL: "http://127.0.0.1:1" }
  beforeAll(async () => {
    await phone.vendor.listen()
    Object.assign(options, phone.environment())
  })
  afterAll(() => phone.vendor.close())
  const w = world(options)
  const { acme, rest, sql } = w
  const { done } = administration(w, undefined, () => ({ ...phone.environment(), PUBLIC_URL: "http://127.0.0.1:1" }))

  interface Shown {
    id: string
    role: string
    type: string
    text: string | null
    status: string
    externalId: string
    replyToMessageId: string | null
    messageMedia: { media: { status: string; mimeType: string } }[]
  }
  let chatId = ""
  const messages = async (): Promise<Shown[]> =>
    (await rest.as(acme.token).get(`/api/messages?chatId=${chatId}&take=100`).expect(200)).body.data.reverse()
  const one = (is: (message: Shown) => boolean) => until("such a message is stored", async () => (await messages()).findLast(is))
  const chat = async () => (await rest.as(acme.token).get(`/api/chats/${chatId}`).expect(200)).body

  it("goes from the customer to the assistant and back, in every kind", async () => {
    const { externalId, credentials } = phone.account
    const connection = await done("channel:connect", {
      ...{ company: acme.id, messenger, "external-id": externalId, name: "Shop", assistant: acme.assistant.id },
      credentials: JSON.stringify(credentials()),
    })
    phone.hook(`${w.url}/hooks/${messenger}/${connection.id}`)

    phone.write("When are you open?")
    await until("the customer has the answer", () => phone.got().find((text) => text.includes("9:00")))
    chatId = (await sql("select id from chat where external_id = $1", [phone.customer]))[0].id
    const answer = await one(({ role, status }) => role === "Assistant" && status !== "queued")
    expect(answer.externalId).toEqual(expect.any(String))
    await until("the chat has the customer's name", async () => (await chat()).name === "Ada")

    phone.picture("My parcel")
    const picture = await one(({ messageMedia }) => messageMedia[0]?.media.status === "ready")
    expect(picture).toMatchObject({
      role: "Customer",
      type: "Photo",
      text: "My parcel",
      messageMedia: [{ media: { mimeType: "image/png" } }],
    })

    phone.reply("About this answer", answer.externalId)
    expect(await one(({ text }) => text === "About this answer")).toMatchObject({ replyToMessageId: answer.id })

    for (const kind of [phone.sticker, phone.location]) {
      if (!kind) continue
      kind.send()
      const { text } = kind
      expect((await one((message) => (typeof text === "string" ? message.text === text : text.test(message.text ?? "")))).role).toBe(
        "Customer",
      )
    }

    phone.unsupported()
    const odd = await one(({ text }) => Boolean(text?.startsWith("[unsupported")))
    expect(await sql("select state from channel_item where chat_id = $1 and external_id = $2", [chatId, odd.externalId])).toEqual([
      { state: "unsupported" },
    ])

    if (phone.edit) {
      phone.write("Where is my oder?")
      const wrong = await one(({ text }) => text === "Where is my oder?")
      phone.edit("Where is my order?")
      expect((await one(({ text }) => text === "Where is my order?")).id).toBe(wrong.id)
    }
  })

  it("ends for the assistant when a person answers, here or in the vendor's own app, and is read", async () => {
    if (phone.echo) {
      phone.echo("Ada, I take care of it")
      expect(await one(({ text }) => text === "Ada, I take care of it")).toMatchObject({ role: "User", status: "sent" })
      expect(await chat()).toMatchObject({ isUnderAiControl: false, aiDisableReason: "auto" })
    } else
      await rest.as(acme.token).patch(`/api/chats/${chatId}/ai-control`, { isUnderAiControl: false, aiDisableReason: "manual" }).expect(200)
    const before = phone.got().length
    const { id } = await acme.message({ chatId, text: "Here is your order" })
    await one((message) => message.id === id && message.status !== "queued")
    expect(phone.got().slice(before)).toEqual(["Here is your order"])
    if (!phone.read) return
    phone.read()
    await one((message) => message.id === id && message.status === "read")
  })

  it("in a group has the member who writes, and no assistant", async () => {
    if (!phone.group) return
    phone.group("Hi all")
    const [group] = await until("the group's message is stored", async () => {
      const rows = await sql("select c.*, m.sender from chat c join message m on m.chat_id = c.id where m.text = 'Hi all'")
      return rows.length > 0 ? rows : null
    })
    expect(group).toMatchObject({
      chat_type: "group",
      is_under_ai_control: false,
      assistant_id: null,
      sender: { externalId: phone.customer, name: "Ada" },
    })
  })
})
