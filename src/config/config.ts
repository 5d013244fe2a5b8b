import { resolve } from "node:path"
import ipaddr from "ipaddr.js"
import { type Environment, readEnvironment, type VariableName } from "./environment.js"

/** An HTTP service of an AI vendor: its base URL, its API key and its model. */
export interface ModelService {
  /** Without a trailing slash and with the version, so that `${baseUrl}/chat/completions` (`/messages`, `/embeddings`) is the endpoint. */
  readonly baseUrl: string
  readonly apiKey: string | null
  readonly model: string
}

/** The validated environment, read once and frozen. Names of times and rates end in their unit. */
export interface Config {
  /** `NODE_ENV=production`: secrets are required. */
  readonly production: boolean
  /** 0 lets the system choose a free port. */
  readonly port: number
  readonly host: string
  /** The configured URL without a trailing slash; null when `publicUrl()` derives it. */
  readonly publicUrl: string | null
  /** null means the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | null
  /** Connection string of a streaming standby, on which lists are read; null reads everything on the primary. */
  readonly databaseReplicaUrl: string | null
  /** An absolute path. */
  readonly dataDir: string
  readonly mongodbUrl: string | null
  readonly redisUrl: string | null
  /** null means that media are files in `dataDir`. An `endpoint` of null means Amazon S3. */
  readonly s3: {
    readonly bucket: string
    readonly endpoint: string | null
    readonly region: string
    readonly accessKeyId: string
    readonly secretAccessKey: string
  } | null
  /** null, like `encryptionKey`, when `loadSecrets()` generates it in `dataDir`. */
  readonly jwtSecret: string | null
  /** Still verifies what it signed before a rotation. */
  readonly jwtSecretPrevious: string | null
  readonly encryptionKey: Buffer | null
  /** Still decrypts what it encrypted before a rotation. */
  readonly encryptionKeyPrevious: Buffer | null
  /** Whether an empty database gets the demo company. */
  readonly demo: boolean
  /** null, like `anthropic`, `embedding` and `elevenlabs`, when not configured. */
  readonly openai: ModelService | null
  readonly anthropic: ModelService | null
  readonly embedding: ModelService | null
  /** null, like `embeddingSameFrom`, for the number of the embedding itself. */
  readonly embeddingFoundFrom: number | null
  readonly embeddingSameFrom: number | null
  readonly elevenlabs: { readonly baseUrl: string; readonly apiKey: string; readonly webhookSecret: string | null } | null
  readonly telegramBaseUrl: string
  readonly metaGraphBaseUrl: string
  readonly resendBaseUrl: string
  readonly gmailBaseUrl: string
  readonly googleOauthBaseUrl: string
  /** Whether requests of webhooks, crawling, media and events may go to loopback and private addresses. */
  readonly allowPrivateNetwork: boolean
  readonly replyDebounceMs: number
  readonly replyMaxWaitMs: number
  readonly contextWindowMs: number
  readonly autoResumeAfterMs: number
  /** Hours without a message after which a stretch of a chat ends. */
  readonly stretchQuietHours: number
  readonly callQueueWaitMs: number
  readonly jwtTtlSeconds: number
  /** Turns of assistants that this instance runs at once. */
  readonly turnsAtOnce: number
  /** 0, as of the two limits below, means no limit. */
  readonly signInAttemptsPerMinute: number
  readonly rateLimitPerMinute: number
  readonly rateLimitAnonymousPerMinute: number
  /** Whether clients can read the GraphQL schema. */
  readonly graphqlIntrospection: boolean
  /** Whether pages for people are served; the chat widget is in any case. */
  readonly pages: boolean
  /** Absolute path of the manifest of operations that clients may run; null allows all. */
  readonly trustedDocuments: string | null
  /** Size of all files of a company; 0 means no limit. */
  readonly mediaBytesPerCompany: number
  /** Age in days after which messages are deleted; 0, as of the two below, means never. */
  readonly messageRetentionDays: number
  /** Age after which tool calls lose their bodies. */
  readonly toolLogRetentionDays: number
  readonly auditRetentionDays: number
  /** Age at which recordings of calls are deleted; 0 is never. */
  readonly recordingRetentionDays: number
  /** Bearer token of `/metrics`; null allows only clients on this machine. */
  readonly metricsToken: string | null
  /** OTLP/HTTP endpoint for traces, without `/v1/traces`; null turns tracing off. */
  readonly otlpEndpoint: string | null
  readonly logLevel: "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent"
  /** Whether each HTTP request is logged at level info. */
  readonly requestLog: boolean
  /** Number of trusted proxies whose `X-Forwarded-*` headers are used. For Koa: `proxy: trustProxy > 0, maxIpsCount: trustProxy`. */
  readonly trustProxy: number
  /** Origins that browsers may send requests from; `["*"]` allows any, `[]` only the server's own. */
  readonly corsOrigins: readonly string[]
}

/** Errors of the environment, one line each, beginning with the variable. The server does not start. */
export class ConfigError extends Error {
  override name = "ConfigError"
}

/** Reads the environment; throws a `ConfigError` with all errors. Has no side effects. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const environment = readEnvironment(env)
  const faults = [...environment.faults, ...missing(env, environment.given)]
  if (!environment.values || faults.length > 0) throw new ConfigError(faults.join("\n"))
  return frozen(configOf(environment.values, environment.given))
}

/** The public URL of the server: `PUBLIC_URL`, otherwise its own address with the actual port. */
export function publicUrl(config: Config, port = config.port): string {
  if (config.publicUrl) return config.publicUrl
  const isAnyAddress = config.host === "0.0.0.0" || config.host === "::"
  const host = isAnyAddress ? "localhost" : config.host.includes(":") ? `[${config.host}]` : config.host
  return `http://${host}:${port}`
}

/** Errors of variables that are valid on their own, but require others. */
function missing(env: NodeJS.ProcessEnv, given: Environment["given"]): string[] {
  const faults: string[] = []
  const needs = (name: VariableName, why: string, when: boolean) => {
    if (when && !given(name)) faults.push(`${name}: ${why}`)
  }
  const any = (...names: VariableName[]) => names.find(given)

  const production = env["NODE_ENV"]?.trim() === "production"
  needs("JWT_SECRET", "is required when NODE_ENV=production", production)
  needs("ENCRYPTION_KEY", "is required when NODE_ENV=production", production)

  needs("DATABASE_URL", "is required when DATABASE_REPLICA_URL is set", given("DATABASE_REPLICA_URL"))

  const s3 = any("S3_ENDPOINT", "S3_REGION", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY")
  needs("S3_BUCKET", `is required when ${s3} is set`, s3 !== undefined)
  needs("S3_ACCESS_KEY_ID", "is required when S3_BUCKET is set", given("S3_BUCKET"))
  needs("S3_SECRET_ACCESS_KEY", "is required when S3_BUCKET is set", given("S3_BUCKET"))

  // A key without a URL means the public service; a URL without a key means a private server, which may need none.
  for (const service of ["OPENAI", "ANTHROPIC", "EMBEDDING"] as const) {
    const configured = given(`${service}_API_KEY`) || given(`${service}_BASE_URL`)
    needs(`${service}_API_KEY`, `or ${service}_BASE_URL is required when ${service}_MODEL is set`, given(`${service}_MODEL`) && !configured)
    const host = vendors.find((vendor) => env[`${service}_BASE_URL`]?.includes(`//${vendor}`))
    needs(`${service}_API_KEY`, `is required by ${host}`, host !== undefined)
  }

  const voice = any("ELEVENLABS_BASE_URL", "ELEVENLABS_WEBHOOK_SECRET")
  needs("ELEVENLABS_API_KEY", `is required when ${voice} is set`, voice !== undefined)
  return faults
}

/** Public services that require a key. */
const vendors = ["api.openai.com", "api.anthropic.com"]

function configOf(values: NonNullable<Environment["values"]>, given: Environment["given"]): Config {
  const demo = values.DEMO ?? !values.DATABASE_URL
  const service = (name: "OPENAI" | "ANTHROPIC" | "EMBEDDING"): ModelService | null =>
    given(`${name}_API_KEY`) || given(`${name}_BASE_URL`)
      ? { baseUrl: values[`${name}_BASE_URL`], apiKey: values[`${name}_API_KEY`] ?? null, model: values[`${name}_MODEL`] }
      : null
  const anthropic = service("ANTHROPIC")
  return {
    production: values.NODE_ENV === "production",
    port: values.PORT,
    host: values.HOST,
    publicUrl: values.PUBLIC_URL ?? null,
    databaseUrl: values.DATABASE_URL ?? null,
    databaseReplicaUrl: values.DATABASE_REPLICA_URL ?? null,
    dataDir: resolve(values.DATA_DIR),
    mongodbUrl: values.MONGODB_URL ?? null,
    redisUrl: values.REDIS_URL ?? null,
    s3: values.S3_BUCKET
      ? {
          bucket: values.S3_BUCKET,
          endpoint: values.S3_ENDPOINT ?? null,
          region: values.S3_REGION,
          accessKeyId: values.S3_ACCESS_KEY_ID!,
          secretAccessKey: values.S3_SECRET_ACCESS_KEY!,
        }
      : null,
    jwtSecret: values.JWT_SECRET ?? null,
    jwtSecretPrevious: values.JWT_SECRET_PREVIOUS ?? null,
    encryptionKey: values.ENCRYPTION_KEY ?? null,
    encryptionKeyPrevious: values.ENCRYPTION_KEY_PREVIOUS ?? null,
    demo,
    openai: service("OPENAI"),
    // Anthropic's tools take the base URL without its version, the AI SDK with it: both are accepted.
    anthropic: anthropic && { ...anthropic, baseUrl: anthropic.baseUrl.replace(/(\/v1)?$/, "/v1") },
    embedding: service("EMBEDDING"),
    embeddingFoundFrom: values.EMBEDDING_FOUND_FROM ?? null,
    embeddingSameFrom: values.EMBEDDING_SAME_FROM ?? null,
    elevenlabs: values.ELEVENLABS_API_KEY
      ? {
          baseUrl: values.ELEVENLABS_BASE_URL,
          apiKey: values.ELEVENLABS_API_KEY,
          webhookSecret: values.ELEVENLABS_WEBHOOK_SECRET ?? null,
        }
      : null,
    telegramBaseUrl: values.TELEGRAM_BASE_URL,
    metaGraphBaseUrl: values.META_GRAPH_BASE_URL,
    resendBaseUrl: values.RESEND_BASE_URL,
    gmailBaseUrl: values.GMAIL_BASE_URL,
    googleOauthBaseUrl: values.GOOGLE_OAUTH_BASE_URL,
    allowPrivateNetwork: values.ALLOW_PRIVATE_NETWORK ?? (demo && values.NODE_ENV !== "production" && isLoopback(values.HOST)),
    replyDebounceMs: values.REPLY_DEBOUNCE_MS,
    turnsAtOnce: values.TURNS_AT_ONCE,
    replyMaxWaitMs: values.REPLY_MAX_WAIT_MS,
    contextWindowMs: values.CONTEXT_WINDOW_MS,
    autoResumeAfterMs: values.AUTO_RESUME_AFTER_MS,
    stretchQuietHours: values.STRETCH_QUIET_HOURS,
    callQueueWaitMs: values.CALL_QUEUE_WAIT_MS,
    jwtTtlSeconds: values.JWT_TTL_SECONDS,
    signInAttemptsPerMinute: values.SIGN_IN_ATTEMPTS_PER_MINUTE,
    rateLimitPerMinute: values.RATE_LIMIT_PER_MINUTE,
    rateLimitAnonymousPerMinute: values.RATE_LIMIT_ANONYMOUS_PER_MINUTE,
    graphqlIntrospection: values.GRAPHQL_INTROSPECTION,
    pages: values.PAGES,
    trustedDocuments: values.TRUSTED_DOCUMENTS ? resolve(values.TRUSTED_DOCUMENTS) : null,
    mediaBytesPerCompany: values.MEDIA_BYTES_PER_COMPANY,
    messageRetentionDays: values.MESSAGE_RETENTION_DAYS,
    toolLogRetentionDays: values.TOOL_LOG_RETENTION_DAYS,
    auditRetentionDays: values.AUDIT_RETENTION_DAYS,
    recordingRetentionDays: values.RECORDING_RETENTION_DAYS,
    metricsToken: values.METRICS_TOKEN ?? null,
    otlpEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
    logLevel: values.LOG_LEVEL,
    requestLog: values.REQUEST_LOG,
    trustProxy: values.TRUST_PROXY,
    corsOrigins: values.CORS_ORIGINS,
  }
}

/** Whether only this machine reaches a server that listens there; an IPv6 address may be in brackets, as in a URL. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, "")
  return name === "localhost" || (ipaddr.isValid(name) && ipaddr.process(name).range() === "loopback")
}

/** Freezes an object and the objects in it, except Buffers, whose bytes cannot be frozen. */
function frozen<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (inner && typeof inner === "object" && !Buffer.isBuffer(inner)) frozen(inner)
  }
  return Object.freeze(value)
}
