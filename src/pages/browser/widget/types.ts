/** A message of the chat, as GraphQL returns it. */
export interface Message {
  id: string
  sequence: number | null
  role: "CUSTOMER" | "USER" | "ASSISTANT" | "SYSTEM"
  text: string | null
  createdAt: string
  externalId: string | null
  messageMedia: { media: Media }[]
  /** Of a message whose sequence is not known yet: the place after what was known when it was stored. */
  place?: number
}

/** What the visitor is asked about the chat that has ended, and the answer. */
export interface RatingRequest {
  stretchId: string
  question: string
  rating: number | null
  text: string | null
}

/** Who answers in the chat; `waiting` when the assistant has passed it on and nobody has answered yet. */
export type Answering = "assistant" | "waiting" | "person"

/** A change of who answers, after what the log showed then. */
export interface Change {
  place: number
  answering: Answering
}

/** A file of a message, as GraphQL returns it. */
export interface Media {
  id: string
  filename: string
  mimeType: string
  /** In bytes. */
  size: number
  url: string | null
}

/** A message that is not known to be stored. */
export interface Pending {
  messageId: string
  text: string
  /** The uploaded file that is sent instead of a text. */
  file?: { id: string; name: string }
}

/** The visitor's chat and the token for it. */
export interface Visitor {
  chatId: string
  token: string
}

/** What the script element says. */
export interface Options {
  /** Address of the script, from which all addresses of the server are resolved. */
  base: string
  connectionId: string
  title: string
  greeting: string
  /** `#rgb` or `#rrggbb`; empty for the default. */
  color: string
  position: "right" | "left"
  /** Language of the texts. */
  language: string
  direction: "ltr" | "rtl"
  /** Whether the chat is a page of its own, and so always open. */
  isPage: boolean
}

/** A message as listeners of the host page get it. */
export interface HeardMessage {
  id: string
  role: "customer" | "user" | "assistant"
  text: string
  createdAt: string
}

/** What the button does for the chat. */
export interface Host {
  /** Tells the host page about a new message. */
  heard(message: HeardMessage): void
  /** Called when the visitor closes the chat. */
  closed(): void
  /** Shows on the button how many messages are new. */
  unread(count: number): void
}

/** The chat, as the button uses it. */
export interface Chat {
  show(): void
  hide(): void
  identify(name: string): void
}
