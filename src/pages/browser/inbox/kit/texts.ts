import type { CombinedError } from "urql"
import { inboxLimits } from "./limits.js"
import type { Chat, Message } from "./operations.js"
import { language, t, translated } from "./words.js"

/** The name that a chat is shown with. */
export const titleOf = ({
  id,
  name,
  accountName,
  username,
  phoneNumber,
}: Pick<Chat, "id" | "name" | "accountName" | "username" | "phoneNumber">): string =>
  name || accountName || username || phoneNumber || t("Customer {id}", { id: id.slice(-inboxLimits.shortId).toUpperCase() })

/** Channels as their vendors write them. */
const names: Readonly<Record<string, string>> = {
  WHATSAPP: "WhatsApp",
  WHATSAPP_BUSINESS: "WhatsApp Business",
  WHATSAPP_ECHAT: "WhatsApp (eChat)",
  VIBER_ECHAT: "Viber (eChat)",
  TELEGRAM_BOT: "Telegram bot",
  OLX: "OLX",
  DIRECTHUB: "DirectHub",
  SENDPULSE: "SendPulse",
  URL: "URL",
}

/** A word of the schema for people: `EVENT_WEBHOOK_DISABLED` is `Event webhook disabled`. */
export const wordOf = (constant: string): string =>
  names[constant] ?? translated(constant.charAt(0) + constant.slice(1).toLowerCase().replaceAll("_", " "))

/** Who wrote a message. */
export function authorOf({ role, author }: Pick<Message, "role" | "author">): string {
  if (role === "CUSTOMER") return t("Customer")
  if (role === "ASSISTANT") return t("Assistant")
  return role === "SYSTEM" ? t("System") : (author?.name ?? t("Integration"))
}

/** Characters that nobody sees, or that reorder others. Those of texts remain: line breaks, and joiners of letters and emoji. */
const unseen = /(?!\t|\n|\r|\u200c|\u200d)(?:\p{Cc}|\p{Cf}|\p{Co}|[\u{e0100}-\u{e01ef}])/gu

/** A text of a foreign server, with a code in place of each character that nobody would see: what is hidden there, a model would read. */
export const plainly = (text: string): string =>
  text.replace(unseen, (each) => `[U+${each.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}]`)

/** A message in one line. */
export function previewOf({ text, type }: { text: string | null; type: string }): string {
  return text?.replace(/\s+/g, " ").slice(0, 200) || wordOf(type)
}

/** The browser's own variant of the language, such as `en-GB`; it says how times are written. */
export const locale = navigator.languages.find((tag) => tag.split("-")[0] === language()) ?? language()
const today = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" })
const otherDay = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" })
/** Times with their days, by the clock of a zone, or of the browser. */
export const exactFormat = (timeZone?: string) => new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", timeZone })
const exact = exactFormat()

/** A time of today as its hour, another as its day. */
export function shortTime(at: string): string {
  const date = new Date(at)
  return (date.toDateString() === new Date().toDateString() ? today : otherDay).format(date)
}

/** A time with its day. */
export const exactTime = (at: string): string => exact.format(new Date(at))

/** The server's sentence of an error, or that it did not answer. */
export function sentenceOf(error: CombinedError | Error): string {
  if ("graphQLErrors" in error && error.graphQLErrors[0]) return error.graphQLErrors[0].message
  return "networkError" in error && error.networkError ? t("The server does not answer. Try again.") : error.message
}
