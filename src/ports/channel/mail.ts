import { addressParser, decodeWords, type Mailbox } from "postal-mime"
import { portLimits } from "../limits.js"

/** A file of a mail. */
export interface MailFile {
  filename: string | null
  mimeType: string
  /** Whether it is shown in the text. */
  isInline: boolean
  size: number
  /** What `download()` needs to find it. */
  reference: unknown
}

/** What is read of a mail, wherever it comes from. */
export interface MailContent {
  /** In their order, with encoded words. */
  headers: { key: string; value: string }[]
  text: string | null
  html: string | null
  files: MailFile[]
  /** Parts of a report on the delivery of a mail: its result, and the head of the mail. */
  reports: string[]
}

/** The text of a mail that cannot be read whole. */
export const unreadText = "[unsupported: mail]"

/** A mail with its headers read. */
export class Mail {
  readonly from: Mailbox | null
  readonly subject: string
  /** With angle brackets; null when there is none, or not of the right form. */
  readonly messageId: string | null
  readonly inReplyTo: string | null
  readonly references: string[]

  constructor(readonly content: MailContent) {
    this.from = this.addresses("from")[0] ?? null
    this.subject = decodeWords(this.header("subject") ?? "")
      .slice(0, portLimits.mailSubject)
      .replace(/\s+/g, " ")
      .trim()
    this.messageId = idsIn(this.header("message-id"))[0] ?? null
    this.inReplyTo = idsIn(this.header("in-reply-to"))[0] ?? null
    this.references = idsIn(this.header("references"))
  }

  /** The first value of a header, by its name in lower case; null when it is missing. */
  header(name: string): string | null {
    return this.content.headers.find(({ key }) => key === name)?.value.trim() ?? null
  }

  /** The addresses of a header, in lower case. */
  addresses(...names: string[]): Mailbox[] {
    const values = this.content.headers.filter(({ key }) => names.includes(key)).map(({ value }) => value)
    return values.flatMap(mailboxesOf)
  }
}

/** The addresses of a header's value, in lower case. */
export const mailboxesOf = (value: string): Mailbox[] =>
  addressParser(value, { flatten: true })
    .filter((each): each is Mailbox => typeof each.address === "string" && isAddress(each.address))
    .map(({ name, address }) => ({ name: decodeWords(name).trim().slice(0, portLimits.mailSubject), address: address.toLowerCase() }))

/** Whether this is one address, as vendors take it. */
export const isAddress = (text: string) =>
  text.length <= portLimits.mailAddress && /^[^\s@,;:<>()[\]"\\\p{Cc}]+@[^\s@,;:<>()[\]"\\\p{Cc}]+$/u.test(text)

/** The Message-IDs in a header's value. */
export const idsIn = (value: string | null): string[] => value?.match(/<[^<>\s]{1,998}>/g) ?? []
