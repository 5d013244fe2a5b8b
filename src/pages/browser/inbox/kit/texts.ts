import type { CombinedError } from "urql"
import type { Chat, Message } from "./operations.js"

/** The name that a chat is shown with. */
export const titleOf = ({
  name,
  accountName,
  username,
  phoneNumber,
}: Pick<Chat, "name" | "accountName" | "username" | "phoneNumber">): string =>
  name || accountName || username || phoneNumber || "Unnamed customer"

/** A word of the schema for people: `WHATSAPP_BUSINESS` is `Whatsapp business`. */
export const wordOf = (constant: string): string => constant.charAt(0) + constant.slice(1).toLowerCase().replaceAll("_", " ")

/** Who wrote a message. */
export function authorOf({ role, author }: Pick<Message, "role" | "author">): string {
  if (role === "CUSTOMER") return "Customer"
  if (role === "ASSISTANT") return "Assistant"
  return role === "SYSTEM" ? "System" : (author?.name ?? "Integration")
}

/** A message in one line. */
export function previewOf({ text, type }: { text: string | null; type: string }): string {
  return text?.replace(/\s+/g, " ").slice(0, 200) || wordOf(type)
}

const today = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" })
const otherDay = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" })

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
  return "networkError" in error && error.networkError ? "The server does not answer. Try again." : error.message
}
