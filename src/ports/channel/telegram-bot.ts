import { randomBytes } from "node:crypto"
import { posix } from "node:path"
import { z } from "zod"
import { type Account, type ChannelAdapter, ChannelFailure, type FailureCode, type OutgoingFile, type Part } from "../channel.js"
import { isSecret } from "../kit/signature.js"
import { callVendor, type VendorRequest, type VendorResponse } from "../kit/vendor-http.js"
import { portLimits } from "../limits.js"
import { allowedUpdates, eventsOf, updateIdOf } from "./telegram-update.js"

export interface TelegramBotOptions {
  /** Address of the Bot API, without a path. */
  baseUrl: string
  /** Seconds that a poll waits for updates; 25 when absent. */
  pollSeconds?: number
}

const responseFields = z.object({
  ok: z.boolean(),
  result: z.unknown().optional(),
  error_code: z.number().optional(),
  description: z.string().optional(),
  parameters: z.object({ retry_after: z.number().optional(), migrate_to_chat_id: z.number().optional() }).optional(),
})
type Response = z.infer<typeof responseFields>

const fileFields = z.object({ file_path: z.string() })
const sentFields = z.object({ message_id: z.int().positive() })
const pollState = z.object({ offset: z.int() }).nullable().catch(null)

/** The adapter of Telegram's Bot API. */
export function telegramBot({ baseUrl, pollSeconds = portLimits.telegramPollSeconds }: TelegramBotOptions): ChannelAdapter {
  const root = baseUrl.replace(/\/+$/, "")

  /** Calls a method and returns its result; throws ChannelFailure. */
  async function call(method: string, { credentials }: Account, request: VendorRequest): Promise<unknown> {
    const { botToken = "" } = credentials
    const response = await callVendor("Telegram", `${root}/bot${botToken}/${method}`, request)
    const { success, data } = responseFields.safeParse(response.json)
    if (success && data.ok) return data.result
    if (response.status < 300)
      throw new ChannelFailure("Telegram sent a response that cannot be read", { kind: "doubt", code: "CHANNEL_UNAVAILABLE" })
    throw failureOf(response, data ?? null, botToken)
  }

  async function deleteWebhook(account: Account, signal: AbortSignal) {
    await call("deleteWebhook", account, { json: {}, signal })
  }

  async function getUpdates(account: Account, offset: number | undefined, signal: AbortSignal): Promise<unknown[]> {
    const json = { offset, timeout: pollSeconds, allowed_updates: allowedUpdates }
    const timeoutMs = pollSeconds * 1000 + portLimits.vendorCallMs
    const result = await call("getUpdates", account, { json, timeoutMs, signal }).catch(async (error) => {
      // Left from a time when the server had a public address; with it, polls stay refused.
      if (error instanceof ChannelFailure && /webhook is active/.test(error.message)) await deleteWebhook(account, signal)
      throw error
    })
    if (Array.isArray(result)) return result
    throw new ChannelFailure("Telegram sent no list of updates", { kind: "retry", code: "CHANNEL_UNAVAILABLE" })
  }

  async function sendFile(part: Part, file: OutgoingFile, account: Account, signal: AbortSignal): Promise<unknown> {
    const as = wayOf(file)
    try {
      return await call(as.method, account, { form: await formOf(part, file, as.field), timeoutMs: portLimits.vendorUploadMs, signal })
    } catch (error) {
      if (as !== ways.photo || !(error instanceof ChannelFailure) || !notAPhoto.test(error.message)) throw error
      const form = await formOf(part, file, ways.document.field)
      return await call(ways.document.method, account, { form, timeoutMs: portLimits.vendorUploadMs, signal })
    }
  }

  return {
    capabilities: {
      replies: "any",
      mediaBytes: {
        image: portLimits.telegramFileBytes,
        video: portLimits.telegramFileBytes,
        audio: portLimits.telegramFileBytes,
        document: portLimits.telegramFileBytes,
      },
      captionLength: portLimits.telegramCaption,
      textLength: portLimits.telegramText,
      textUnit: "utf16",
      windowHours: null,
      typing: true,
      receipts: [],
      perSecond: portLimits.telegramPerSecond,
      doubt: "repeat",
    },
    credentials: ["botToken", "secretToken?"],
    faultOf({ botToken, secretToken }) {
      if (!tokenForm.test(botToken ?? "")) return "botToken must be the token that @BotFather gave, such as 123456:ABC-DEF"
      if (secretToken !== undefined && !secretForm.test(secretToken))
        return "secretToken must be 1 to 256 letters, digits, underscores and hyphens"
      return null
    },
    signatureHeader: "x-telegram-bot-api-secret-token",
    verify: ({ headers }, { credentials }) => isSecret(headers["x-telegram-bot-api-secret-token"], credentials["secretToken"] ?? ""),
    hookStatus: 200,
    parse: eventsOf,

    async acknowledge(callbackQueryId, account, signal) {
      await call("answerCallbackQuery", account, { json: { callback_query_id: callbackQueryId }, signal })
    },

    async download(fileId, account, signal) {
      const { data } = fileFields.safeParse(await call("getFile", account, { json: { file_id: fileId }, signal }))
      if (!data) throw new ChannelFailure("Telegram no longer has the file", { kind: "permanent", code: "REFUSED" })
      const url = `${root}/file/bot${account.credentials["botToken"]}/${data.file_path}`
      return { url, isOwn: true, filename: posix.basename(data.file_path) }
    },

    async send(part, account, signal) {
      const { text, quoted, chat, files, choices } = part
      const json = { chat_id: idOf(chat.externalId), text, ...replyTo(quoted), ...buttonsOf(choices) }
      const result = files[0] ? await sendFile(part, files[0], account, signal) : await call("sendMessage", account, { json, signal })
      const { data } = sentFields.safeParse(result)
      return { externalId: data ? String(data.message_id) : null }
    },

    async typing({ externalId }, account, signal) {
      await call("sendChatAction", account, { json: { chat_id: idOf(externalId), action: "typing" }, signal })
    },

    async check(account, signal) {
      await call("getMe", account, { json: {}, signal })
      return { secretToken: account.credentials["secretToken"] ?? randomBytes(32).toString("base64url") }
    },
    async register(account, hookUrl, signal) {
      if (hookUrl === null) await deleteWebhook(account, signal)
      else {
        const json = { url: hookUrl, secret_token: account.credentials["secretToken"], allowed_updates: allowedUpdates }
        await call("setWebhook", account, { json, signal })
      }
      return {}
    },
    unregister: deleteWebhook,

    poll: {
      when: "without hook",
      everyMs: 0,
      async run(account, state, signal) {
        const updates = await getUpdates(account, pollState.parse(state)?.offset, signal)
        const ids = updates.map(updateIdOf).filter((id) => id !== null)
        if (updates.length > 0 && ids.length === 0)
          throw new ChannelFailure("Telegram sent updates without IDs", { kind: "retry", code: "CHANNEL_UNAVAILABLE" })
        return { state: ids.length > 0 ? { offset: Math.max(...ids) + 1 } : state, events: updates.flatMap(eventsOf) }
      },
    },
  }
}

const tokenForm = /^[\w:-]+$/
const secretForm = /^[\w-]{1,256}$/

/** Chat IDs are numbers; a name such as `@channel` stays text. */
const idOf = (externalId: string) => (/^-?\d{1,15}$/.test(externalId) ? Number(externalId) : externalId)

/** One row of buttons, whose taps arrive as messages with their texts. */
const buttonsOf = (choices: Part["choices"]) =>
  choices && { reply_markup: { inline_keyboard: [choices.map((text) => ({ text, callback_data: text }))] } }

/** The quoted message; taps on buttons and ephemeral messages have no ID that could be quoted. */
const replyTo = (quoted: Part["quoted"]) =>
  quoted && /^\d{1,15}$/.test(quoted.externalId)
    ? { reply_parameters: { message_id: Number(quoted.externalId), allow_sending_without_reply: true } }
    : {}

const ways = {
  photo: { method: "sendPhoto", field: "photo" },
  animation: { method: "sendAnimation", field: "animation" },
  video: { method: "sendVideo", field: "video" },
  voice: { method: "sendVoice", field: "voice" },
  audio: { method: "sendAudio", field: "audio" },
  document: { method: "sendDocument", field: "document" },
}

/** Types that Telegram shows or plays; it takes all others as documents. */
const wayByType: Record<string, (typeof ways)[keyof typeof ways]> = {
  "image/jpeg": ways.photo,
  "image/png": ways.photo,
  "image/webp": ways.photo,
  "image/gif": ways.animation,
  "video/mp4": ways.video,
  "audio/ogg": ways.voice,
  "audio/mpeg": ways.audio,
  "audio/mp4": ways.audio,
  "audio/x-m4a": ways.audio,
}

function wayOf({ mimeType, size }: OutgoingFile) {
  const way = wayByType[mimeType] ?? ways.document
  return way === ways.photo && size > portLimits.telegramPhotoBytes ? ways.document : way
}

/** Telegram's words for a picture that it takes as a document only: too wide and high together, too long, or unreadable. */
const notAPhoto = /PHOTO_INVALID_DIMENSIONS|IMAGE_PROCESS_FAILED/

async function formOf({ chat, text, quoted }: Part, file: OutgoingFile, field: string): Promise<FormData> {
  const form = new FormData()
  form.set("chat_id", chat.externalId)
  if (text) form.set("caption", text)
  for (const [name, value] of Object.entries(replyTo(quoted))) form.set(name, JSON.stringify(value))
  form.set(field, new File([await file.bytes()], file.filename, { type: file.mimeType }))
  return form
}

function failureOf({ status, retryAfterMs }: VendorResponse, response: Response | null, botToken: string): ChannelFailure {
  const code = response?.error_code ?? status
  const words = (response?.description ?? "no description").replaceAll(botToken, "[token]")
  const { retry_after: seconds, migrate_to_chat_id: movedTo } = response?.parameters ?? {}
  const fail = (kind: "retry" | "permanent" | "credentials", reason: FailureCode, more = {}) =>
    new ChannelFailure(`${code}: ${words}`, { kind, code: reason, ...more })
  const wait = seconds === undefined ? retryAfterMs : seconds * 1000
  if (code === 429) return fail("retry", "RATE_LIMITED", wait !== undefined && { retryAfterMs: wait })
  // 409: somebody else polls, or a hook is registered.
  if (code >= 500 || code === 409) return fail("retry", "CHANNEL_UNAVAILABLE", wait !== undefined && { retryAfterMs: wait })
  if (movedTo !== undefined) return fail("retry", "RECIPIENT_UNREACHABLE", { movedTo: String(movedTo) })
  // The answer to a token of the wrong form is 404.
  if (code === 401 || code === 404) return fail("credentials", "CREDENTIALS_REFUSED")
  if (code === 403 || unreachable.test(words)) return fail("permanent", "RECIPIENT_UNREACHABLE")
  return fail("permanent", code === 413 || aboutContent.test(words) ? "CONTENT_REFUSED" : "REFUSED")
}

const unreachable = /chat not found|user not found|PEER_ID_INVALID|deactivated|not enough rights|chat_write_forbidden/i
const aboutContent =
  /too long|too big|is empty|non-empty|wrong file|invalid file|file_|photo_|image_|video_|media_|can't parse|strings must be encoded/i
