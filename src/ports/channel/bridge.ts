import { z } from "zod"
import {
  type Account,
  BadEvent,
  type Capabilities,
  type ChannelAdapter,
  ChannelFailure,
  type Event,
  type Incoming,
  type IncomingMessage,
  type Part,
} from "../channel.js"
import { type GuardedHttpClient, GuardedRequestError, type GuardedResponse } from "../kit/guarded-http-client.js"
import { hmacSignature, isSecret } from "../kit/signature.js"
import { jsonOf, retryAfterOf } from "../kit/vendor-http.js"
import { portLimits } from "../limits.js"

const string = z.string({ error: "must be a string" })
const object = <Fields extends z.ZodRawShape>(fields: Fields) => z.object(fields, { error: "must be an object" })
const oneOf = <Words extends readonly string[]>(...words: Words) => z.enum(words, { error: `must be one of ${words.join(", ")}` })

const isShort = (text: string) => [...text].length <= portLimits.bridgeString
const id = string
  .trim()
  .refine((text) => text !== "" && isShort(text), `must be 1 to ${portLimits.bridgeString} characters`)
  .refine((text) => !text.includes("\0"), "must not contain NUL")
const url = z
  .url({ protocol: /^https?$/, error: "must be an absolute http or https URL" })
  .max(portLimits.bridgeUrl, `must be at most ${portLimits.bridgeUrl} characters`)
const name = string.refine(isShort, `must be at most ${portLimits.bridgeString} characters`).nullish()

const file = object({ url, filename: string.nullish() })
const content = object({
  messageId: id,
  chat: object({ externalId: id, name, username: name, phoneNumber: name, chatType: oneOf("private", "group").nullish() }),
  text: string.nullish(),
  media: z
    .array(file, { error: "must be a list" })
    .max(portLimits.bridgeFiles, `must have at most ${portLimits.bridgeFiles} files`)
    .nullish(),
  replyToMessageId: id.nullish(),
})
const hasContent = ({ text, media }: z.infer<typeof content>) => Boolean(text?.trim() || media?.length)
const nothing = { path: ["text"], message: "or media is required" }

/** The response to a message that the connector took. */
const acceptance = object({ externalId: id })

const receiptFields = object({
  externalId: id.nullish(),
  messageId: id.nullish(),
  status: oneOf("delivered", "read", "failed"),
  error: string.nullish(),
})

const eventFields = object({ event: oneOf("receipt", "edit", "delete", "echo").nullish() })

/** Bodies of the hook by their `event`; without one it is a message of the customer. */
const bodies = {
  message: content.refine(hasContent, nothing).transform((body): Incoming => messageOf(body)),
  echo: content.refine(hasContent, nothing).transform((body): Incoming => ({ ...messageOf(body), isEcho: true })),
  edit: object({ messageId: id, text: string }).transform(
    ({ messageId, text }): Incoming => ({ kind: "edit", chat: null, externalId: messageId, text }),
  ),
  delete: object({ messageId: id }).transform(({ messageId }): Incoming => ({ kind: "deletion", chat: null, externalId: messageId })),
  receipt: receiptFields
    .refine(({ externalId, messageId }) => externalId || messageId, { path: ["externalId"], message: "or messageId is required" })
    .transform(receiptOf),
}

export interface BridgeOptions {
  /** Guards requests, since the company chooses their URL. */
  httpClient: Pick<GuardedHttpClient, "request">
  /** Which messages the channel behind the connector can quote. */
  replies: Capabilities["replies"]
}

/** The adapter of channels without a vendor's API of their own: a connector of the company receives and sends JSON. */
export function bridge({ httpClient, replies }: BridgeOptions): ChannelAdapter {
  const { MAX_SAFE_INTEGER: any } = Number
  return {
    capabilities: {
      replies,
      // The connector gets URLs, and fetches what it can send.
      mediaBytes: { image: any, video: any, audio: any, document: any },
      together: true,
      captionLength: portLimits.bridgeText,
      textLength: portLimits.bridgeText,
      textUnit: "code points",
      windowHours: null,
      typing: false,
      receipts: ["delivered", "read"],
      perSecond: null,
      doubt: "same",
    },
    credentials: ["deliveryUrl", "secret"],
    faultOf: ({ deliveryUrl, secret }) => {
      if (!url.safeParse(deliveryUrl).success) return "deliveryUrl must be an absolute http or https URL"
      return secret ? null : "secret must not be empty"
    },
    signatureHeader: "x-signature",
    hasOwnIds: true,
    verify: ({ headers, body }, { credentials: { secret } }) =>
      Boolean(secret) && isSecret(headers["x-signature"], hmacSignature(body, secret!)),
    hookStatus: 202,
    parse: eventsOf,
    async download(reference) {
      const { data } = file.safeParse(reference)
      if (!data) throw new ChannelFailure("The file has no URL", { kind: "permanent", code: "REFUSED" })
      return data
    },

    async send(part, account, signal) {
      const { deliveryUrl = "", secret = "" } = account.credentials
      const body = JSON.stringify(bodyOf(part, account))
      const headers = { "content-type": "application/json", "x-signature": hmacSignature(body, secret) }
      const options = {
        method: "POST",
        headers,
        body,
        timeoutMs: portLimits.bridgeCallMs,
        maxBytes: portLimits.bridgeResponseBytes,
        signal,
      }
      const response = await httpClient.request(deliveryUrl, options).catch((error) => {
        if (!(error instanceof GuardedRequestError)) throw error
        if (error.reason === "refused") throw new ChannelFailure(error.message, { kind: "permanent", code: "REFUSED" })
        throw new ChannelFailure(error.message, { kind: "doubt", code: "CHANNEL_UNAVAILABLE" })
      })
      if (response.status < 200 || response.status >= 300) throw failureOf(response)
      return { externalId: acceptance.safeParse(jsonOf(response.body.toString())).data?.externalId ?? null }
    },

    // The connector is first called with the first message.
    check: async () => ({}),
    register: async () => ({}),
    unregister: async () => {},
  }
}

function eventsOf(body: unknown): Event[] {
  const event = eventFields.safeParse(body)
  const { success, data, error } = event.success ? bodies[event.data.event ?? "message"].safeParse(body) : event
  if (!success) throw new BadEvent(error.issues.map(({ path, message }) => ({ path: path.join("."), message })))
  return [{ account: null, item: data as Incoming }]
}

function messageOf({ messageId, chat: { chatType, ...known }, text, media, replyToMessageId }: z.infer<typeof content>): IncomingMessage {
  // What is absent is not known, and does not remove what is stored.
  const said = Object.fromEntries(Object.entries(known).filter(([, value]) => value != null)) as typeof known & { externalId: string }
  return {
    kind: "message",
    chat: { ...said, ...(chatType && { isGroup: chatType === "group" }) },
    externalId: messageId,
    text: text?.trim() ? text : null,
    files: (media ?? []).map((reference) => ({ kind: "file", reference, filename: reference.filename ?? null })),
    quoted: replyToMessageId ?? null,
  }
}

function receiptOf({ status, externalId, messageId, error }: z.infer<typeof receiptFields>): Incoming {
  return {
    kind: "receipt",
    status,
    ...(externalId && { externalId }),
    ...(messageId && { messageId }),
    ...(status === "failed" && { error: error ?? "The connector gave no reason", errorCode: "REFUSED" as const }),
  }
}

const bodyOf = ({ messageId, chat: { externalId }, text, files, quoted }: Part, account: Account) => ({
  messageId,
  chat: { externalId, fromId: account.externalId },
  text,
  media: files.map(({ url, mimeType, filename }) => ({ url, mimeType, filename })),
  replyToMessageId: quoted?.externalId ?? null,
})

function failureOf({ status, headers, body }: GuardedResponse): ChannelFailure {
  const words = body
    .toString()
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, portLimits.bridgeWords)
  const retryAfterMs = retryAfterOf([headers["retry-after"]].flat()[0] ?? null)
  const more = retryAfterMs !== null && { retryAfterMs }
  const message = words ? `${status}: ${words}` : String(status)
  if (status === 429) return new ChannelFailure(message, { kind: "retry", code: "RATE_LIMITED", ...more })
  if (status === 408 || status === 425 || status >= 500)
    return new ChannelFailure(message, { kind: "retry", code: "CHANNEL_UNAVAILABLE", ...more })
  return new ChannelFailure(message, { kind: "permanent", code: "REFUSED" })
}
