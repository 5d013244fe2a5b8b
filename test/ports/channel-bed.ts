import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import type { Faults } from "../../simulate/kit/faults.js"
import type { HookSender } from "../../simulate/kit/hook-sender.js"
import {
  type Account,
  type ChannelAdapter,
  ChannelFailure,
  type Credentials,
  type Incoming,
  type IncomingMessage,
  type OutgoingFile,
  type Part,
} from "../../src/ports/channel.js"

/** A message as the customer sees it in the vendor's app. */
export interface Arrived {
  chat: string
  text: string | null
  files: { filename: string; bytes: Buffer }[]
  /** ID on the channel; null when the vendor gives none. */
  externalId: string | null
  /** ID of the quoted message on the channel. */
  quoted: string | null
}

/** An adapter, connected to the stand-in of its vendor, with one customer who has already written. */
export interface ChannelBed {
  adapter: ChannelAdapter
  account: Account
  /** Credentials of the right form that the vendor refuses. */
  wrongCredentials: Credentials
  faults: Faults
  /** The customer's ID on the channel. */
  customer: string
  /** The customer writes: the event that the vendor sends, to the hook if it knows one. */
  write: {
    text(text: string): unknown
    picture?(bytes: Buffer, caption: string): unknown
    reply?(text: string, quotedExternalId: string): unknown
    unsupported?(): unknown
  }
  /** What an event reports, where the vendor has to be asked for it; otherwise the adapter parses it. */
  read?(event: unknown): Promise<Incoming[]>
  /** The customer changes the message of an earlier event. */
  edit?(event: unknown, text: string): unknown
  /** Headers with which the vendor proves that it sends a body. */
  sign(body: string): Record<string, string>
  /** The vendor's sender of hook requests. */
  hooks: HookSender
  /** Tells the stand-in a hook, where `register()` does not. */
  setHook?(url: string): void
  /** The hook that the vendor knows; null without one. */
  hookUrl(): string | null
  /** What has arrived at customers, in order. */
  arrived(): Arrived[]
  /** Makes the vendor refuse every message to the customer. */
  block?(): void
  /** Customers who were shown that the company is typing. */
  typing?(): string[]
  close(): Promise<void>
}

/** A signal that never aborts. */
export const going = () => new AbortController().signal
let parts = 0

/** A part of a message to the customer of a bed. */
export const partFor = (bed: Pick<ChannelBed, "customer">, more: Partial<Part> = {}): Part => ({
  id: `0199aaaa-0000-7000-8000-${String(++parts).padStart(12, "0")}-0`,
  messageId: `0199aaaa-0000-7000-8000-${String(parts).padStart(12, "0")}`,
  chat: { externalId: bed.customer, isGroup: false },
  text: "Good day",
  files: [],
  template: null,
  choices: null,
  quoted: null,
  last: null,
  isByPerson: true,
  isByAssistant: false,
  customerWroteAt: new Date(),
  ...more,
})

/** A file that is sent. */
export const fileOf = (mimeType: string, filename: string, bytes: Buffer): OutgoingFile => ({
  filename,
  mimeType,
  kind: (/^(image|video|audio)\//.exec(mimeType)?.[1] as "image" | "video" | "audio") ?? "document",
  size: bytes.length,
  // What a vendor that gets a URL instead of bytes reads there.
  url: `data:${mimeType};base64,${bytes.toString("base64")}`,
  bytes: async () => new Uint8Array(bytes),
})

/** The bytes of a picture: a PNG of this size without any content. */
export function pngOf(width = 2, height = 2): Buffer {
  const bytes = Buffer.alloc(64, 1)
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52])
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

/** The failure that a call ends with; a test fails when there is none, or another error. */
export async function failureOf(call: Promise<unknown>): Promise<ChannelFailure> {
  const failure = await call.then(
    () => null,
    (error) => error,
  )
  expect(failure).toBeInstanceOf(ChannelFailure)
  return failure
}

/** What events report, without the account. */
export const itemsOf = (bed: ChannelBed, event: unknown): Incoming[] =>
  bed.adapter.parse(JSON.parse(JSON.stringify(event)), bed.account).map(({ item }) => item)

/** The one message that an event reports. */
export function messageOf(bed: ChannelBed, event: unknown): IncomingMessage {
  const items = itemsOf(bed, event)
  expect(items.map(({ kind }) => kind)).toEqual(["message"])
  return items[0] as IncomingMessage
}

/** What an event reports, the content that the vendor is asked for included. */
export const readItems = async (bed: ChannelBed, event: unknown): Promise<Incoming[]> => (bed.read ? bed.read(event) : itemsOf(bed, event))

/** The one message that an event reports, with its content. */
export async function readMessage(bed: ChannelBed, event: unknown): Promise<IncomingMessage> {
  const items = await readItems(bed, await event)
  expect(items.map(({ kind }) => kind)).toEqual(["message"])
  return items[0] as IncomingMessage
}

/** A hook that verifies and reads requests with the adapter, keeps messages by their ID, and fails now and then. */
export async function openHook(bed: ChannelBed) {
  const messages = new Map<string, string | null>()
  let requests = 0
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    requests += 1
    if (requests % 5 === 0) return void response.writeHead(503).end()
    if (!bed.adapter.verify({ headers: request.headers, body }, bed.account, new Date())) return void response.writeHead(401).end()
    for (const item of await readItems(bed, JSON.parse(body.toString())))
      if (item.kind === "message") messages.set(item.externalId, item.text)
    response.writeHead(bed.adapter.hookStatus).end("{}")
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    messages,
    requests: () => requests,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
