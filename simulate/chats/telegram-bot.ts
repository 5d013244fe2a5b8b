import { readFileSync } from "node:fs"
import { basename } from "node:path"
import type { Chat, Update, User } from "@grammyjs/types"
import { TelegramBotVendor, type Written } from "../vendors/telegram-bot.js"
import type { OpenSimulation } from "./simulation.js"

const ada: User = { id: 501, is_bot: false, first_name: "Ada", username: "ada" }
const chat: Chat.PrivateChat = { id: 501, type: "private", first_name: "Ada", username: "ada" }

/** A chat with a Telegram bot. */
export const telegramBotSimulation: OpenSimulation = async ({ faults, port, hookUrl, secret = "" }, show) => {
  const vendor = await new TelegramBotVendor({ faults }).listen(port)
  if (hookUrl) vendor.hook = { url: hookUrl, secret }
  let last: Update | null = null
  const write = (fields: Written) => {
    last = vendor.write(chat, ada, fields)
  }
  const lastSent = () => vendor.sent.at(-1)?.messageId ?? fail("The bot has sent nothing yet")
  vendor.onSent = ({ text, file, quoted }) => {
    const words = [quoted && `(about message ${quoted})`, file && `[${file.filename}, ${file.bytes.length} bytes]`, text]
    show(words.filter(Boolean).join(" "))
  }
  return {
    connection: {
      messenger: "telegram-bot",
      externalId: "stand_in_bot",
      credentials: { botToken: vendor.token },
      environment: { TELEGRAM_BASE_URL: vendor.server.url },
    },
    hooks: vendor.hooks,
    write: (text) => write({ text }),
    commands: {
      edit: {
        help: "TEXT: changes the last message",
        run: (text) => void vendor.edit(last ?? fail("You have written nothing yet"), { text }),
      },
      reply: {
        help: "TEXT: quotes the bot's last message",
        run: (text) => write({ text, reply_to_message: { message_id: lastSent(), chat, date: 1 } as never }),
      },
      tap: { help: "DATA: taps on a button of the bot's last message", run: (data) => void vendor.tap(chat, ada, lastSent(), data) },
      sticker: {
        help: "EMOJI",
        run: (emoji) => write({ sticker: { ...vendor.upload(Buffer.from(emoji), "stickers/1.webp"), emoji } as never }),
      },
      location: {
        help: "LATITUDE LONGITUDE",
        run: (place) => {
          const [latitude = Number.NaN, longitude = Number.NaN] = place.split(/[\s,]+/).map(Number)
          if (Number.isNaN(latitude + longitude)) fail("Write two numbers, for example 50.45 30.52")
          write({ location: { latitude, longitude } })
        },
      },
      file: {
        help: "PATH: sends a document",
        run: (path) => {
          const file = vendor.upload(readFileSync(path), `documents/${encodeURIComponent(basename(path))}`)
          write({ document: { ...file, file_name: basename(path) } })
        },
      },
      block: { help: "blocks the bot", run: () => void vendor.blocked.add(chat.id) },
    },
    close: () => vendor.close(),
  }
}

function fail(sentence: string): never {
  throw new Error(sentence)
}
