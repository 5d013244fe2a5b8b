/** Kinds of files that messengers tell apart; every other file is a document. */
export const mediaKinds = ["image", "video", "audio", "document"] as const
export type MediaKind = (typeof mediaKinds)[number]

/** Values that the company gave to `channel:connect`, by name. */
export type Credentials = Readonly<Record<string, string>>

/** What a messenger can do: the only place where the server knows it (channels sheet, section 7). */
export interface Capabilities {
  /** Which outbound messages can quote another: none, those without files, or any. */
  replies: "none" | "text" | "any"
  /** Largest file that the messenger takes, in bytes, by kind; a kind that is missing is not taken. */
  mediaBytes: Partial<Record<MediaKind, number>>
  /** Content types that the messenger takes; all when absent. */
  mediaTypes?: readonly string[]
  /** Whether all files of a message are sent with its text at once, as in mail; otherwise each file is sent by itself. */
  together?: boolean
  /** Longest caption of a file, in `textUnit`; 0 when files have none. */
  captionLength: number
  /** Kinds of files that take no caption. */
  withoutCaption?: readonly MediaKind[]
  /** Longest text of one request, in `textUnit`. */
  textLength: number
  textUnit: "utf16" | "code points" | "bytes"
  /** Hours after the customer's last message in which the company may write; null without a limit. */
  windowHours: number | null
  /** The same for messages that a person of the company wrote, where it is longer. */
  personWindowHours?: number
  /** Whether messages can be sent as templates that the vendor has approved. */
  templates?: boolean
  typing: boolean
  receipts: readonly ("delivered" | "read")[]
  /** Requests a second that a connection may send; null without a limit. */
  perSecond: number | null
  /**
   * What is done with a part of which it is not known whether the vendor took it: `repeat` sends it again, `same` too, since the vendor
   * recognizes it, `wait` first waits for a status with its part ID, `find` asks the vendor.
   */
  doubt: "repeat" | "same" | "wait" | "find"
}

/** A request to the hook of a connection. */
export interface HookRequest {
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** The bytes as they arrived; signatures are made over them. */
  body: Buffer
}

/** The customer's side of a chat, as a channel describes it; what it leaves out is not changed. */
export interface ChannelChat {
  /** ID of the customer, or of the group, on the channel. */
  externalId: string
  /** Further IDs of the same customer. */
  alsoKnownAs?: string[]
  /** Name of the customer, title of a group. */
  name?: string | null
  username?: string | null
  phoneNumber?: string | null
  isGroup?: boolean
}

/** A file that a message on a channel names. */
export interface IncomingFile {
  /** What `download()` needs to find it; stored until it was fetched. */
  reference: unknown
  filename?: string | null
  /** Word for the file in text when it cannot be fetched: "photo", "voice message". */
  kind: string
}

/** A message on a channel. */
export interface IncomingMessage {
  kind: "message"
  chat: ChannelChat
  externalId: string
  /** Null when there are only files. */
  text: string | null
  files: IncomingFile[]
  /** ID of the quoted message on the channel; from the bridge it may be our own ID. */
  quoted?: string | null
  /** The member of a group who wrote it. */
  sender?: { externalId: string; name: string | null } | null
  /** Whether a person of the company wrote it in the vendor's own app. */
  isEcho?: boolean
  /** Whether a program wrote it (automatic mail), so that it is not answered. */
  isAutomatic?: boolean
  /** Part ID of the message of ours that this is an echo of. */
  partId?: string | null
  /** What the adapter needs to answer the message or to quote it (mail headers); stored with the message. */
  data?: unknown
  /** What `acknowledge()` needs once the message is stored; absent when the channel expects nothing. */
  acknowledge?: unknown
  /** Whether the channel sent something that this server does not understand; the raw event is kept for 30 days. */
  isUnsupported?: boolean
}

/** What a channel reports. IDs are those of the channel. */
export type Incoming =
  | IncomingMessage
  /** A message whose content has to be asked for by `complete()`. */
  | { kind: "reference"; externalId: string; reference: unknown }
  /**
   * The customer changed a text. `version` orders several changes; by arrival when absent or equal. `chat` is null where an ID names one
   * message of the whole connection.
   */
  | { kind: "edit"; chat: ChannelChat | null; externalId: string; text: string; version?: number }
  | { kind: "deletion"; chat: ChannelChat | null; externalId: string }
  /** Delivery state of a message of ours, named by its ID, part ID or (bridge) `messageId`, or of all that were sent up to a time. */
  | {
      kind: "receipt"
      status: "sent" | "delivered" | "read" | "failed"
      externalId?: string
      partId?: string
      messageId?: string
      /** The customer's ID, where the channel tells it. */
      customer?: string
      /** Milliseconds since the epoch. */
      upTo?: number
      error?: string
      errorCode?: FailureCode
    }
  /** A customer's ID has changed. */
  | { kind: "moved"; from: string; to: string; phoneNumber?: string | null }

/** Something that a hook or a poll brought, and the account that it is for; null for the account of the connection itself. */
export interface Event {
  account: string | null
  item: Incoming
}

/** A file that is sent. */
export interface OutgoingFile {
  filename: string
  mimeType: string
  kind: MediaKind
  size: number
  /** Signed URL of the file, which is valid for a week. */
  url: string
  bytes(): Promise<Uint8Array<ArrayBuffer>>
}

/** A message template that the vendor has approved (`whatsapp-business`). */
export interface Template {
  name: string
  language: string
  components?: unknown[] | null
}

/** One request to a vendor: a message, or a part of it. */
export interface Part {
  /** The same at every attempt; at most 64 characters of `A-Za-z0-9-`. */
  id: string
  /** The message that it belongs to. */
  messageId: string
  chat: { externalId: string; isGroup: boolean }
  /** The caption when files are present. */
  text: string | null
  files: OutgoingFile[]
  template: Template | null
  /** Answers that the customer can choose by a button; a channel without buttons sends the text alone. */
  choices: string[] | null
  /** The quoted message: its ID on the channel (on the bridge, where it has none, our own), and its `data`. */
  quoted: { externalId: string; data: unknown } | null
  /** The last message of the chat that has `data`. */
  last: { externalId: string | null; data: unknown } | null
  /** Whether a person wrote it; otherwise the assistant or an integration. */
  isByPerson: boolean
  isByAssistant: boolean
  /** Time of the customer's last message. */
  customerWroteAt: Date | null
}

/** A part that the vendor took. */
export interface Accepted {
  /** Null when the vendor gives no ID. */
  externalId: string | null
  /** Stored with the message, like `IncomingMessage.data`. */
  data?: unknown
}

/** Reasons of a failed delivery that clients can act on. */
export type FailureCode =
  | "WINDOW_CLOSED"
  | "RECIPIENT_UNREACHABLE"
  | "CONTENT_REFUSED"
  | "CREDENTIALS_REFUSED"
  | "RATE_LIMITED"
  | "CHANNEL_UNAVAILABLE"
  | "NOT_CONNECTED"
  | "EXPIRED"
  | "REFUSED"

/** Thrown when a request to a vendor failed; `message` is the vendor's code and words, without secrets. */
export class ChannelFailure extends Error {
  override name = "ChannelFailure"

  constructor(
    message: string,
    readonly options: {
      /**
       * `retry`: not taken, may be sent again. `permanent`: never will be. `doubt`: may have been taken. `credentials`: refused until the
       * connection has new credentials.
       */
      kind: "retry" | "permanent" | "doubt" | "credentials"
      code: FailureCode
      retryAfterMs?: number
      /** New ID of the chat, which the message has to be sent to instead. */
      movedTo?: string
    },
  ) {
    super(message)
  }
}

/** Thrown for a request that is signed and cannot be read; it is answered with 400. */
export class BadEvent extends Error {
  override name = "BadEvent"

  constructor(readonly details: { path: string; message: string }[]) {
    super(details.map(({ path, message }) => `${path} ${message}`).join("; "))
  }
}

/** Where a file of a customer is read from, or its bytes. */
export type Download =
  | {
      url: string
      headers?: Record<string, string>
      /** Whether the URL is one of the vendor's configured address, which may be private. */
      isOwn?: boolean
      filename?: string | null
    }
  | { bytes: Uint8Array; filename?: string | null }

/** The connection that an adapter acts for. */
export interface Account {
  companyId: string
  /** ID of the connection, which is the last part of the hook's path. */
  connectionId: string
  /** ID of the account, as the operator gave it. */
  externalId: string
  name: string
  credentials: Credentials
}

/** Adapter of a messenger. Its functions throw only `ChannelFailure`; `signal` aborts when the server stops. */
export interface ChannelAdapter {
  capabilities: Capabilities
  /** Names of the credentials in their order; those with `?` may be left out. */
  credentials: readonly string[]
  /** Checks the form of credentials before the vendor is asked; a sentence, or null. */
  faultOf?(credentials: Credentials): string | null
  /** Header with the signature of a hook request, in lower case; null when the messenger has no hook. */
  signatureHeader: string | null
  /** Whether the IDs of messages are unique on the connection; otherwise they are in their chat. */
  hasOwnIds?: boolean
  /** Whether the request was made by the holder of the credentials; compares in constant time. */
  verify(request: HookRequest, account: Account, now: Date): boolean
  /** Response to the vendor's GET that asks whether the hook is ours: text, or null for 401. */
  challenge?(query: URLSearchParams, account: Account): string | null
  /** Status and body of the response to a request that was stored; the bridge's names the message. */
  hookStatus: 200 | 202
  /** What a request, as parsed JSON, reports, in its order; empty when nothing of it concerns a chat. Throws BadEvent. */
  parse(body: unknown, account: Account): Event[]
  /** Asks for the content of a `reference`; empty when it is of no interest. */
  complete?(reference: unknown, account: Account, signal: AbortSignal): Promise<Event[]>
  /** Tells the vendor that an event was handled (a tap on a button), so that the customer's app stops waiting. Once, best effort. */
  acknowledge?(reference: unknown, account: Account, signal: AbortSignal): Promise<void>
  /** Where a customer's file is read from. */
  download(reference: unknown, account: Account, signal: AbortSignal): Promise<Download>
  send(part: Part, account: Account, signal: AbortSignal): Promise<Accepted>
  /** Finds a part that may have been sent; null when it was not. */
  find?(part: Part, account: Account, signal: AbortSignal): Promise<Accepted | null>
  /** Shows that the company is typing; `lastExternalId` is the customer's last message. */
  typing?(chat: { externalId: string; lastExternalId: string | null }, account: Account, signal: AbortSignal): Promise<void>
  /** Name of a customer, for channels that do not send it with messages. */
  profile?(customer: string, account: Account, signal: AbortSignal): Promise<{ name?: string | null; username?: string | null }>
  /** Checks credentials with the vendor; returns credentials that are stored in addition, such as a generated secret. */
  check(account: Account, signal: AbortSignal): Promise<Credentials>
  /** Registers the hook with the vendor; `hookUrl` is null without a public address. Returns further credentials. */
  register(account: Account, hookUrl: string | null, signal: AbortSignal): Promise<Credentials>
  unregister(account: Account, signal: AbortSignal): Promise<void>
  /** Reads new events from the vendor, in place of a hook; `state` is what the last poll returned, null at first. */
  poll?: {
    /** Whether a connection is polled: always, or only without a public address. */
    when: "always" | "without hook"
    /** Pause between polls, in milliseconds; 0 when the vendor itself waits for events. */
    everyMs: number
    run(account: Account, state: unknown, signal: AbortSignal): Promise<{ state: unknown; events: Event[] }>
  }
}

/** The messengers that the server can talk to. */
export interface Channels {
  /** What a messenger can do. */
  capabilities(messenger: string): Capabilities
  /** Its adapter; null for the widget and the playground, whose clients read events. */
  adapter(messenger: string): ChannelAdapter | null
  /** Ends the processes that read mails. */
  close(): Promise<void>
}
