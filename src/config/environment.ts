import { z } from "zod"
import { rootLimits } from "../limits.js"

/** Longest delay of a Node timer, in milliseconds. */
const longestTimer = 2 ** 31 - 1

/** A rule for a variable: `parse` returns undefined for an invalid value, `must` completes "NAME: must be …". Secrets are not quoted. */
function rule<T>(must: string, parse: (text: string) => T | undefined, quoted = true) {
  return z.string().transform((text, context) => {
    const value = parse(text)
    if (value !== undefined) return value
    context.addIssue({ code: "custom", message: `must be ${must}${quoted && !text.includes("@") ? `, got ${JSON.stringify(text)}` : ""}` })
    return z.NEVER
  })
}

const text = z.string()

const whole = (min: number, max: number) =>
  rule(`a whole number from ${min} to ${max}`, (given) => {
    const value = Number(given)
    return /^\d{1,15}$/.test(given) && value >= min && value <= max ? value : undefined
  })

const words: Record<string, boolean> = { true: true, on: true, yes: true, "1": true, false: false, off: false, no: false, "0": false }
const flag = rule("true or false", (given) => words[given.toLowerCase()])

const oneOf = <const T extends string>(...values: T[]) =>
  rule(`one of ${values.join(", ")}`, (given) => values.find((value) => value === given.toLowerCase()))

/** A connection URL; never quoted, because it may contain a password. */
const connection = (...schemes: string[]) =>
  rule(`a URL that starts with ${schemes.join(" or ")}`, (given) => (schemes.some((s) => given.startsWith(s)) ? given : undefined), false)

/** An absolute http or https URL, stored without trailing slash, query and fragment. */
const web = rule("an absolute http or https URL such as https://example.com", (given) => {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash) return undefined
  return url.href.replace(/\/+$/, "")
})

const origins = rule('"*" or a comma-separated list of origins such as https://app.example.com', (given) => {
  const list = given.split(",").flatMap((part) => part.trim() || [])
  if (list.length === 1 && list[0] === "*") return ["*"]
  const parsed = list.map((one) => (URL.canParse(one) ? new URL(one) : undefined))
  const plain = parsed.every((url) => url && /^https?:$/.test(url.protocol) && url.pathname === "/" && !url.search && !url.username)
  return plain && list.length > 0 ? parsed.map((url) => url!.origin) : undefined
})

const folder = rule("a path without ~, which only a shell replaces by the home folder", (given) => (/^~/.test(given) ? undefined : given))

const jwtSecret = rule(
  `at least ${rootLimits.jwtSecretCharacters} characters long`,
  (given) => (given.length >= rootLimits.jwtSecretCharacters ? given : undefined),
  false,
)

/** Decodes an encryption key in hexadecimal or base64 (either alphabet); undefined when it is not 32 bytes. */
export function parseEncryptionKey(given: string): Buffer | undefined {
  const hex = /^[0-9a-f]+$/i.test(given) && given.length === rootLimits.encryptionKeyBytes * 2
  if (!hex && !/^[A-Za-z0-9+/_-]{43}=?$/.test(given)) return undefined
  const key = Buffer.from(given, hex ? "hex" : "base64")
  return key.length === rootLimits.encryptionKeyBytes ? key : undefined
}

const encryptionKey = rule(`${rootLimits.encryptionKeyBytes} bytes, written as base64 or hexadecimal`, parseEncryptionKey, false)

/** Number of proxies in front: as many entries of X-Forwarded-For are trusted. */
const proxies = rule("off, on (one proxy) or the number of proxies in front, up to 10", (given) => {
  const flagged = words[given.toLowerCase()]
  if (flagged !== undefined) return flagged ? 1 : 0
  return /^([2-9]|10)$/.test(given) ? Number(given) : undefined
})

const ms = (fallback: number, min = 0) => whole(min, longestTimer).default(fallback)
/** Age in days after which data is deleted; 0 is never. */
const days = whole(0, rootLimits.retentionDaysMax)
const hours = rule(`a number of hours above 0, up to ${rootLimits.stretchQuietHoursMax}`, (given) => {
  const value = Number(given)
  return /^\d{1,5}(\.\d{1,6})?$/.test(given) && value > 0 && value <= rootLimits.stretchQuietHoursMax ? value : undefined
})
const similarity = rule("a number from 0 to 1", (given) => (/^(0(\.\d{1,6})?|1(\.0{1,6})?)$/.test(given) ? Number(given) : undefined))
const model = (name: string) => text.default(name)

/** Every variable with its rule and its default, if any (contract, section 9). `NODE_ENV` decides which are required. */
const variables = z.object({
  NODE_ENV: text.optional(),
  PORT: whole(0, 65535).default(4000),
  HOST: text.default("127.0.0.1"),
  PUBLIC_URL: web.optional(),
  DATABASE_URL: connection("postgres://", "postgresql://").optional(),
  DATABASE_REPLICA_URL: connection("postgres://", "postgresql://").optional(),
  DATA_DIR: folder.default("./data"),
  MONGODB_URL: connection("mongodb://", "mongodb+srv://").optional(),
  REDIS_URL: connection("redis://", "rediss://").optional(),
  S3_BUCKET: text.optional(),
  S3_ENDPOINT: web.optional(),
  S3_REGION: text.default("us-east-1"),
  S3_ACCESS_KEY_ID: text.optional(),
  S3_SECRET_ACCESS_KEY: text.optional(),
  JWT_SECRET: jwtSecret.optional(),
  JWT_SECRET_PREVIOUS: jwtSecret.optional(),
  ENCRYPTION_KEY: encryptionKey.optional(),
  ENCRYPTION_KEY_PREVIOUS: encryptionKey.optional(),
  DEMO: flag.optional(),
  OPENAI_BASE_URL: web.default("https://api.openai.com/v1"),
  OPENAI_API_KEY: text.optional(),
  OPENAI_MODEL: model("gpt-4.1-mini"),
  ANTHROPIC_BASE_URL: web.default("https://api.anthropic.com/v1"),
  ANTHROPIC_API_KEY: text.optional(),
  ANTHROPIC_MODEL: model("claude-sonnet-4-6"),
  EMBEDDING_BASE_URL: web.default("https://api.openai.com/v1"),
  EMBEDDING_API_KEY: text.optional(),
  EMBEDDING_MODEL: model("text-embedding-3-small"),
  EMBEDDING_FOUND_FROM: similarity.optional(),
  EMBEDDING_SAME_FROM: similarity.optional(),
  ELEVENLABS_BASE_URL: web.default("https://api.elevenlabs.io"),
  ELEVENLABS_API_KEY: text.optional(),
  ELEVENLABS_WEBHOOK_SECRET: text.optional(),
  TELEGRAM_BASE_URL: web.default("https://api.telegram.org"),
  META_GRAPH_BASE_URL: web.default("https://graph.facebook.com"),
  RESEND_BASE_URL: web.default("https://api.resend.com"),
  GMAIL_BASE_URL: web.default("https://gmail.googleapis.com"),
  GOOGLE_OAUTH_BASE_URL: web.default("https://oauth2.googleapis.com"),
  ALLOW_PRIVATE_NETWORK: flag.optional(),
  REPLY_DEBOUNCE_MS: ms(rootLimits.replyDebounceMs),
  REPLY_MAX_WAIT_MS: ms(rootLimits.replyMaxWaitMs),
  CONTEXT_WINDOW_MS: ms(rootLimits.contextWindowMs, 1),
  AUTO_RESUME_AFTER_MS: ms(rootLimits.autoResumeAfterMs, 1),
  STRETCH_QUIET_HOURS: hours.default(rootLimits.stretchQuietHours),
  CALL_QUEUE_WAIT_MS: ms(rootLimits.callQueueWaitMs, 1),
  JWT_TTL_SECONDS: whole(1, rootLimits.refreshTokenSeconds).default(rootLimits.jwtSeconds),
  TURNS_AT_ONCE: whole(1, 1_000_000).default(rootLimits.turnsAtOnce),
  SIGN_IN_ATTEMPTS_PER_MINUTE: whole(0, 1_000_000).default(rootLimits.signInAttemptsPerMinute),
  RATE_LIMIT_PER_MINUTE: whole(0, 100_000_000).default(rootLimits.requestsPerMinute),
  RATE_LIMIT_ANONYMOUS_PER_MINUTE: whole(0, 100_000_000).default(rootLimits.anonymousRequestsPerMinute),
  GRAPHQL_INTROSPECTION: flag.default(true),
  PAGES: flag.default(true),
  TRUSTED_DOCUMENTS: text.optional(),
  MEDIA_BYTES_PER_COMPANY: whole(0, 1e15).default(rootLimits.mediaBytesPerCompany),
  MESSAGE_RETENTION_DAYS: days.default(0),
  TOOL_LOG_RETENTION_DAYS: days.default(rootLimits.toolLogRetentionDays),
  AUDIT_RETENTION_DAYS: days.default(rootLimits.auditRetentionDays),
  RECORDING_RETENTION_DAYS: days.default(0),
  METRICS_TOKEN: text.optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: web.optional(),
  LOG_LEVEL: oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent").default("info"),
  REQUEST_LOG: flag.default(false),
  TRUST_PROXY: proxies.default(0),
  CORS_ORIGINS: origins.default([]),
})

/** Name of an environment variable. */
export type VariableName = keyof typeof variables.shape

/** Names of all variables that the server reads, in the order of `.env.example`. */
export const variableNames = Object.keys(variables.shape) as VariableName[]

/** The result of reading: values by name (null when any is invalid), one line per invalid variable, and whether a variable is set. */
export interface Environment {
  readonly values: z.output<typeof variables> | null
  readonly faults: string[]
  readonly given: (name: VariableName) => boolean
}

/** Reads and validates every variable; an empty one counts as not set, and values are trimmed. Never throws. */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  const set = new Map(variableNames.map((name) => [name, env[name]?.trim()] as const).filter(([, value]) => value))
  const read = variables.safeParse(Object.fromEntries(set))
  return {
    values: read.success ? read.data : null,
    faults: read.success ? [] : read.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`),
    given: (name) => set.has(name),
  }
}
