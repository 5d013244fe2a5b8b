import { widgetLimits } from "./limits.js"
import { cursorQuery, messagesQuery, rateMutation, ratingQuery, uploadMutation } from "./operations.js"
import type { Message, Options, Pending, RatingRequest, Visitor } from "./types.js"

/** What the server did with a message. */
export type Outcome =
  | { kind: "stored"; chatId: string; token: string; id: string }
  /** The token's chat has ended. */
  | { kind: "ended" }
  /** The message will never be taken. */
  | { kind: "refused"; reason: string }
  /** The connection is unknown or disconnected. */
  | { kind: "gone" }
  /** To be sent again, after the time that the server asks for. */
  | { kind: "later"; afterMs: number | null }

const json = { "Content-Type": "application/json" }
const request = (options: Options, path: string, headers: Record<string, string>, body: object) =>
  fetch(new URL(path, options.base), {
    method: "POST",
    headers: { ...json, ...headers },
    body: JSON.stringify(body),
    credentials: "omit",
    signal: AbortSignal.timeout(widgetLimits.requestMs),
  })

/** Sends a visitor's message. Sending it again is harmless: the server knows it by its id. */
export async function send(options: Options, pending: Pending, token: string | null, name: string | null): Promise<Outcome> {
  const { messageId, text, file } = pending
  const content = file ? { mediaIds: [file.id] } : { text }
  const body = { ...content, messageId, ...(token && { visitorToken: token }), ...(name && { name }) }
  const response = await request(options, `/hooks/widget/${options.connectionId}`, {}, body).catch(() => null)
  if (!response) return { kind: "later", afterMs: null }
  const { status } = response
  if (status === 429 || status >= 500) {
    const seconds = Number(response.headers.get("Retry-After"))
    return { kind: "later", afterMs: seconds > 0 ? seconds * 1000 : null }
  }
  // An answer that breaks off may belong to a message that was stored: it is sent again.
  const answer = await response.json().catch(() => null)
  if (!answer) return { kind: "later", afterMs: null }
  if (response.ok) return { kind: "stored", chatId: answer.chatId, token: answer.visitorToken, id: answer.messageId }
  if (status === 401 && token) return { kind: "ended" }
  if (status === 404) return { kind: "gone" }
  return { kind: "refused", reason: String(answer.message) }
}

/** What the server did with a file. */
export type Uploaded = { kind: "stored"; id: string } | Extract<Outcome, { kind: "ended" | "refused" | "later" }>

/** Uploads a file of the visitor. Uploading it again is harmless: the server knows it by the key. */
export async function upload(options: Options, token: string, file: File, key: string): Promise<Uploaded> {
  const form = new FormData()
  form.append("operations", JSON.stringify({ query: uploadMutation, variables: { file: null, key } }))
  form.append("map", JSON.stringify({ 0: ["variables.file"] }))
  form.append("0", file)
  const response = await fetch(new URL("/graphql", options.base), {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
    body: form,
    credentials: "omit",
    signal: AbortSignal.timeout(widgetLimits.uploadMs),
  }).catch(() => null)
  const answer = await response?.json().catch(() => null)
  const id = answer?.data?.uploadMedia?.id
  if (id) return { kind: "stored", id }
  const [error] = answer?.errors ?? []
  const status = error?.extensions?.statusCode ?? 500
  const afterMs = Number(response?.headers.get("Retry-After")) * 1000 || null
  if (status === 401) return { kind: "ended" }
  if (status >= 500 || status === 409 || (status === 429 && (afterMs ?? 0) <= widgetLimits.longestWaitMs)) return { kind: "later", afterMs }
  return { kind: "refused", reason: String(error.message) }
}

/** A page of the chat's messages, newest first. */
export interface Page {
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
  nodes: Message[]
}

/** Runs an operation of the visitor; null when the server does not answer now, or refuses it. */
async function run(options: Options, { token }: Visitor, query: string, variables: Record<string, unknown>) {
  const response = await request(options, "/graphql", { Authorization: `Bearer ${token}` }, { query, variables }).catch(() => null)
  const answer = await response?.json().catch(() => null)
  return answer?.data ?? null
}

/** Reads a page of the chat; null when the server does not answer now. */
export const history = async (options: Options, visitor: Visitor, after: string | null): Promise<Page | null> =>
  (await run(options, visitor, messagesQuery, { chatId: visitor.chatId, after }))?.messages ?? null

/** Reads the cursor of the end of the event log; null when the server does not answer now. */
export const logEnd = async (options: Options, visitor: Visitor): Promise<string | null> =>
  (await run(options, visitor, cursorQuery, {}))?.eventCursor ?? null

/** Reads what the visitor is asked about the chat; null when it is nothing, or the server does not answer now. */
export const ratingRequest = async (options: Options, visitor: Visitor): Promise<RatingRequest | null> =>
  (await run(options, visitor, ratingQuery, { chatId: visitor.chatId }))?.ratingRequest ?? null

/** Rates the chat; false when the rating was not stored. */
export const rate = async (options: Options, visitor: Visitor, { stretchId: id, rating, text }: RatingRequest): Promise<boolean> =>
  Boolean((await run(options, visitor, rateMutation, { id, rating, text }))?.rateStretch)
