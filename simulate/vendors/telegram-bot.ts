import { createHash } from "node:crypto"
import { setTimeout } from "node:timers/promises"
import type { Chat, Message, Update, User } from "@grammyjs/types"
import { Faults } from "../kit/faults.js"
import { HookSender } from "../kit/hook-sender.js"
import { type VendorAnswer, type VendorCall, VendorServer } from "../kit/vendor-server.js"
import { answer, bad, type Fields, fieldsOf, refusal, refusesFile, refusesText, Uploaded, uploads } from "./telegram-bot-requests.js"

/** A message that the bot has sent. */
export interface BotMessage {
  chatId: number
  messageId: number
  method: string
  text: string | null
  file: { filename: string; bytes: Buffer } | null
  quoted: number | null
  /** Texts of its buttons. */
  buttons: string[]
}

export interface TelegramBotVendorOptions {
  token?: string
  faults?: Faults
  /** How many milliseconds one second of a poll takes. */
  secondMs?: number
  /** Pause before a hook request is repeated; Telegram's own when absent. */
  pauseMs?: (attempt: number, retryAfterMs: number | null) => number
}

/** Fields of a message; the others are made up. */
export type Written = Partial<Message>

/** Stand-in of Telegram's Bot API for one bot, with its customers. */
export class TelegramBotVendor {
  readonly token: string
  readonly faults: Faults
  readonly server: VendorServer
  readonly hooks: HookSender
  /** What the bot has sent, in order. */
  readonly sent: BotMessage[] = []
  /** Chats that the bot was blocked in. */
  readonly blocked = new Set<number>()
  /** Groups that became supergroups: old ID, new ID. */
  readonly moved = new Map<number, number>()
  /** Buttons whose tap the bot has answered. */
  readonly answeredTaps: string[] = []
  readonly typing: number[] = []
  hook: { url: string; secret: string } | null = null
  /** Called with each message that the bot has sent. */
  onSent: (message: BotMessage) => void = () => {}
  private readonly chats = new Map<number, { lastMessageId: number }>()
  private readonly files = new Map<string, { path: string; bytes: Buffer }>()
  /** Kinds of updates that the bot wants; all when empty. */
  private allowed: unknown[] = []
  private updates: Update[] = []
  private lastUpdateId = 100_000
  private polls = 0
  private readonly secondMs: number

  constructor({ token = "123456:stand-in_of-Telegram", faults = new Faults(), secondMs = 1000, pauseMs }: TelegramBotVendorOptions = {}) {
    this.token = token
    this.faults = faults
    this.secondMs = secondMs
    const words = {
      tooMany: (seconds: number) => refusal(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds }),
      broken: () => refusal(500, "Internal Server Error"),
      unknown: () => refusal(404, "Not Found"),
    }
    const routes = {
      "POST /bot:token/:method": (call: VendorCall) => this.method(call),
      "GET /file/bot:token/:folder/:name": (call: VendorCall) => this.file(call),
    }
    this.server = new VendorServer(routes, words, { faults })
    this.hooks = new HookSender({
      url: () => this.hook?.url ?? null,
      sign: () => this.headers(),
      faults,
      ...(pauseMs && { pauseMs }),
    })
  }

  /** What proves to the hook that Telegram sends. */
  headers(): Record<string, string> {
    return this.hook?.secret ? { "x-telegram-bot-api-secret-token": this.hook.secret } : {}
  }

  async listen(port?: number) {
    await this.server.listen(port)
    return this
  }

  async close() {
    this.hooks.close()
    await this.server.close()
  }

  /** Makes a chat known, as if the customer had written before. */
  meet(chatId: number) {
    this.nextId(chatId)
  }

  /** A message of a customer, or of a member of a group. Returns the update that is delivered. */
  write(chat: Chat, from: User, fields: Written): Update {
    const message = { message_id: this.nextId(chat.id), chat, from, date: seconds(), ...fields } as Message
    return this.deliver({ message } as Partial<Update>, chat.id)
  }

  /** The customer changes a message. */
  edit(update: Update, fields: Written): Update {
    const edited_message = { ...update.message, edit_date: seconds(), ...fields } as Message
    return this.deliver({ edited_message } as Partial<Update>, edited_message.chat.id)
  }

  /** The customer taps on a button of a message of the bot. */
  tap(chat: Chat, from: User, messageId: number, data: string): Update {
    const message = { message_id: messageId, chat, date: seconds() } as Message
    const id = String(this.lastUpdateId)
    return this.deliver({ callback_query: { id, from, chat_instance: "1", data, message } } as Partial<Update>, chat.id)
  }

  /** Keeps a file that messages can name; returns its fields in them. */
  upload(bytes: Buffer, path: string) {
    const file_id = createHash("sha256").update(bytes).update(path).digest("base64url")
    this.files.set(file_id, { path, bytes })
    return { file_id, file_unique_id: file_id.slice(0, 16), file_size: bytes.length }
  }

  private deliver(fields: Partial<Update>, chatId: number): Update {
    const update = { update_id: ++this.lastUpdateId, ...fields } as Update
    const isWanted = this.allowed.length === 0 || Object.keys(fields).every((kind) => this.allowed.includes(kind))
    if (isWanted && this.hook) void this.hooks.send(update, String(chatId))
    else if (isWanted) this.updates.push(update)
    return update
  }

  private nextId(chatId: number) {
    const chat = this.chats.get(chatId) ?? { lastMessageId: 0 }
    this.chats.set(chatId, chat)
    return ++chat.lastMessageId
  }

  private async method(call: VendorCall): Promise<VendorAnswer> {
    const { token, method = "" } = call.params
    if (token !== this.token) return refusal(401, "Unauthorized")
    const fields = await fieldsOf(call)
    if (!fields) return bad("can't parse the request")
    if (method === "sendMessage" || uploads[method]) return this.send(method, fields)
    switch (method) {
      case "getMe":
        return answer({ id: Number.parseInt(this.token, 10), is_bot: true, first_name: "Shop", username: "shop_bot" })
      case "setWebhook":
        return this.setWebhook(fields)
      case "deleteWebhook":
        this.hook = null
        return answer(true)
      case "getUpdates":
        return await this.getUpdates(fields)
      case "getFile":
        return this.getFile(fields)
      case "sendChatAction": {
        const refused = this.refusesChat(fields)
        if (!refused) this.typing.push(Number(fields["chat_id"]))
        return refused ?? (fields["action"] === "typing" ? answer(true) : bad("wrong parameter action in request"))
      }
      case "answerCallbackQuery":
        this.answeredTaps.push(String(fields["callback_query_id"]))
        return answer(true)
      default:
        return refusal(404, "Not Found")
    }
  }

  private setWebhook(fields: Fields): VendorAnswer {
    const { url, secret_token: secret = "", allowed_updates: allowed } = fields
    if (typeof url !== "string" || !URL.canParse(url)) return bad("bad webhook: invalid webhook URL specified")
    if (typeof secret !== "string" || !/^[\w-]{0,256}$/.test(secret)) return bad("secret token contains unallowed characters")
    this.hook = { url, secret }
    this.allowed = Array.isArray(allowed) ? allowed : []
    // What nobody has polled goes to the hook.
    for (const update of this.updates.splice(0)) void this.hooks.send(update, String(update.message?.chat.id))
    return answer(true)
  }

  private async getUpdates({ offset = 0, timeout = 0, limit = 100, allowed_updates: allowed }: Fields): Promise<VendorAnswer> {
    const conflict = (words: string) => refusal(409, `Conflict: ${words}`)
    if (this.hook) return conflict("can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
    if (Array.isArray(allowed)) this.allowed = allowed
    const poll = ++this.polls
    this.updates = this.updates.filter(({ update_id }) => update_id >= Number(offset))
    const until = Date.now() + Number(timeout) * this.secondMs
    while (this.updates.length === 0 && Date.now() < until) {
      await setTimeout(5)
      if (poll !== this.polls) return conflict("terminated by other getUpdates request; make sure that only one bot instance is running")
    }
    return answer(this.updates.slice(0, Number(limit)))
  }

  private getFile({ file_id }: Fields): VendorAnswer {
    const file = this.files.get(String(file_id))
    if (!file) return bad("wrong file_id or the file is temporarily unavailable")
    if (file.bytes.length > 20 * 1024 * 1024) return bad("file is too big")
    return answer({ file_id, file_unique_id: String(file_id).slice(0, 16), file_size: file.bytes.length, file_path: file.path })
  }

  private file({ params }: VendorCall): VendorAnswer {
    const path = `${params["folder"]}/${params["name"]}`
    const file = params["token"] === this.token && [...this.files.values()].find((known) => known.path === path)
    return file ? { body: file.bytes, headers: { "content-type": "application/octet-stream" } } : refusal(404, "Not Found")
  }

  /** Null when the bot may write there. */
  private refusesChat({ chat_id }: Fields): VendorAnswer | null {
    const chatId = Number(chat_id)
    const movedTo = this.moved.get(chatId)
    if (movedTo !== undefined) {
      this.chats.set(movedTo, this.chats.get(movedTo) ?? { lastMessageId: 0 })
      return bad("group chat was upgraded to a supergroup chat", { migrate_to_chat_id: movedTo })
    }
    if (this.blocked.has(chatId)) return refusal(403, "Forbidden: bot was blocked by the user")
    return this.chats.has(chatId) ? null : bad("chat not found")
  }

  private send(method: string, fields: Fields): VendorAnswer {
    const [field, bytes] = uploads[method] ?? []
    const file = field ? fields[field] : null
    const text = (field ? fields["caption"] : fields["text"]) ?? null
    const reply = fields["reply_parameters"] as { message_id?: number; allow_sending_without_reply?: boolean } | undefined
    const chatId = Number(fields["chat_id"])
    const refused =
      this.refusesChat(fields) ?? (field ? refusesFile(method, file, bytes!, text) : refusesText(text)) ?? this.refusesReply(chatId, reply)
    if (refused) return refused
    const messageId = this.nextId(chatId)
    const sent: BotMessage = {
      chatId,
      messageId,
      method,
      text: text as string | null,
      file: file instanceof Uploaded ? file : null,
      buttons: buttonsOf(fields),
      quoted: reply?.message_id !== undefined && this.has(chatId, reply.message_id) ? reply.message_id : null,
    }
    this.sent.push(sent)
    this.onSent(sent)
    return answer({ message_id: messageId, date: seconds(), chat: { id: chatId }, ...(field ? { caption: text } : { text }) })
  }

  private has(chatId: number, messageId: number) {
    return messageId > 0 && messageId <= (this.chats.get(chatId)?.lastMessageId ?? 0)
  }

  private refusesReply(chatId: number, reply: { message_id?: number; allow_sending_without_reply?: boolean } | undefined) {
    if (!reply || reply.allow_sending_without_reply || this.has(chatId, Number(reply.message_id))) return null
    return bad("message to be replied not found")
  }
}

const buttonsOf = ({ reply_markup: markup }: Fields): string[] =>
  ((markup as { inline_keyboard?: { text: string }[][] } | undefined)?.inline_keyboard ?? []).flat().map(({ text }) => text)

const seconds = () => Math.floor(Date.now() / 1000)
