import { execFile } from "node:child_process"
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { ConfigError, publicUrl, readConfig } from "../../src/config/config.js"
import { readEnvironment, variableNames } from "../../src/config/environment.js"
import { misspelt } from "../../src/config/misspelt.js"
import { loadSecrets } from "../../src/config/secrets.js"
import { startWarnings } from "../../src/config/start-warnings.js"

const secret = "a secret of more than thirty-two characters"
const key = Buffer.alloc(32, 7)

/** The lines that the operator is shown. */
function faultsOf(env: NodeJS.ProcessEnv): string[] {
  try {
    readConfig(env)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as ConfigError).message.split("\n")
  }
  throw new Error("this environment was accepted")
}

describe("the configuration", () => {
  it("runs a demo on loopback when nothing is set", () => {
    expect(readConfig({})).toMatchObject({
      port: 4000,
      host: "127.0.0.1",
      publicUrl: null,
      databaseUrl: null,
      dataDir: resolve("data"),
      demo: true,
      allowPrivateNetwork: true,
      openai: null,
      anthropic: null,
      embedding: null,
      elevenlabs: null,
      s3: null,
      replyDebounceMs: 4000,
      replyMaxWaitMs: 7000,
      contextWindowMs: 600_000,
      autoResumeAfterMs: 600_000,
      callQueueWaitMs: 300_000,
      jwtTtlSeconds: 900,
      signInAttemptsPerMinute: 10,
      rateLimitPerMinute: 6000,
      rateLimitAnonymousPerMinute: 600,
      mediaBytesPerCompany: 10_737_418_240,
      messageRetentionDays: 0,
      toolLogRetentionDays: 30,
      auditRetentionDays: 365,
      logLevel: "info",
      trustProxy: 0,
      corsOrigins: [],
    })
  })

  it("cannot be changed afterwards, at any depth", () => {
    const config = readConfig({ OPENAI_API_KEY: "k", ENCRYPTION_KEY: key.toString("hex") })
    expect(Object.isFrozen(config)).toBe(true)
    expect(Object.isFrozen(config.openai)).toBe(true)
    expect(Object.isFrozen(config.corsOrigins)).toBe(true)
  })

  it("treats an empty value, and one of blanks, as absent", () => {
    expect(readConfig({ PORT: "", DATABASE_URL: "  ", DEMO: "" })).toEqual(readConfig({}))
  })

  it("reports all faults at once, each with its variable", () => {
    const faults = faultsOf({
      PORT: "abc",
      LOG_LEVEL: "loud",
      DEMO: "maybe",
      REDIS_URL: "http://redis",
      DATABASE_REPLICA_URL: "postgres://replica",
      S3_BUCKET: "media",
      OPENAI_MODEL: "m",
    })
    expect(faults).toEqual([
      'PORT: must be a whole number from 0 to 65535, got "abc"',
      "REDIS_URL: must be a URL that starts with redis:// or rediss://",
      'DEMO: must be true or false, got "maybe"',
      'LOG_LEVEL: must be one of fatal, error, warn, info, debug, trace, silent, got "loud"',
      "DATABASE_URL: is required when DATABASE_REPLICA_URL is set",
      "S3_ACCESS_KEY_ID: is required when S3_BUCKET is set",
      "S3_SECRET_ACCESS_KEY: is required when S3_BUCKET is set",
      "OPENAI_API_KEY: or OPENAI_BASE_URL is required when OPENAI_MODEL is set",
    ])
  })

  it.each([
    ["PORT", "65536"],
    ["PORT", "-1"],
    ["PORT", "1e3"],
    ["PUBLIC_URL", "example.com"],
    ["PUBLIC_URL", "https://example.com/?a=b"],
    ["DATABASE_URL", "mysql://host/db"],
    ["MONGODB_URL", "localhost:27017"],
    ["ENCRYPTION_KEY", "abcd"],
    ["ENCRYPTION_KEY", key.toString("base64").slice(4)],
    ["JWT_SECRET", "short"],
    ["JWT_SECRET_PREVIOUS", "short"],
    ["ENCRYPTION_KEY_PREVIOUS", "short"],
    ["JWT_TTL_SECONDS", "0"],
    ["REPLY_DEBOUNCE_MS", "4s"],
    ["TRUST_PROXY", "11"],
    ["CORS_ORIGINS", "https://a.example/path"],
    ["CORS_ORIGINS", "*, https://a.example"],
  ])("refuses %s=%s", (name, value) => {
    expect(faultsOf({ [name]: value })).toEqual([expect.stringMatching(`^${name}: must be `)])
  })

  it("never prints a possible secret", () => {
    const message = faultsOf({
      JWT_SECRET: "hunter2",
      JWT_SECRET_PREVIOUS: "hunter2",
      ENCRYPTION_KEY_PREVIOUS: "hunter2",
      ENCRYPTION_KEY: "hunter2",
      DATABASE_URL: "pg://me:hunter2@host",
      PUBLIC_URL: "me:hunter2@host",
    }).join()
    expect(message).not.toContain("hunter2")
  })

  it("demands both secrets in production, and no more", () => {
    expect(faultsOf({ NODE_ENV: "production" })).toEqual([
      "JWT_SECRET: is required when NODE_ENV=production",
      "ENCRYPTION_KEY: is required when NODE_ENV=production",
    ])
    const config = readConfig({ NODE_ENV: "production", JWT_SECRET: secret, ENCRYPTION_KEY: key.toString("base64") })
    expect(config).toMatchObject({ production: true, jwtSecret: secret, encryptionKey: key })
  })

  it.each(["hex", "base64", "base64url"] as const)("reads an encryption key written as %s", (encoding) => {
    expect(readConfig({ ENCRYPTION_KEY: key.toString(encoding) }).encryptionKey).toEqual(key)
  })

  it("creates the demo only with the embedded database, unless configured", () => {
    const database = { DATABASE_URL: "postgres://db/platform" }
    expect(readConfig(database)).toMatchObject({ demo: false, allowPrivateNetwork: false })
    expect(readConfig({ ...database, DEMO: "true" })).toMatchObject({ demo: true, allowPrivateNetwork: true })
    expect(readConfig({ ...database, DEMO: "true", ALLOW_PRIVATE_NETWORK: "false" })).toMatchObject({
      demo: true,
      allowPrivateNetwork: false,
    })
    expect(readConfig({ DEMO: "off" })).toMatchObject({ demo: false, allowPrivateNetwork: false })
  })

  it("allows private addresses by default in a demo on loopback alone", () => {
    const allowed = (env: NodeJS.ProcessEnv) => readConfig(env).allowPrivateNetwork
    for (const HOST of ["127.0.0.1", "127.8.8.8", "::1", "localhost", "::ffff:127.0.0.1"])
      expect([HOST, allowed({ HOST })]).toEqual([HOST, true])
    for (const HOST of ["0.0.0.0", "::", "10.0.0.1", "192.0.2.1", "localhost.example", "127.example"])
      expect([HOST, allowed({ HOST })]).toEqual([HOST, false])
    const production = { NODE_ENV: "production", JWT_SECRET: secret, ENCRYPTION_KEY: key.toString("hex") }
    expect(allowed(production)).toBe(false)
    expect(allowed({ ...production, DEMO: "true" })).toBe(false)
    expect(allowed({ ...production, HOST: "0.0.0.0", ALLOW_PRIVATE_NETWORK: "true" })).toBe(true)
  })

  it("configures a model by its key, or by the address of a server without keys", () => {
    expect(readConfig({ OPENAI_API_KEY: "k" }).openai).toEqual({ baseUrl: "https://api.openai.com/v1", apiKey: "k", model: "gpt-4.1-mini" })
    const own = readConfig({ OPENAI_BASE_URL: "http://127.0.0.1:8080/v1/", OPENAI_MODEL: "qwen" })
    expect(own.openai).toEqual({ baseUrl: "http://127.0.0.1:8080/v1", apiKey: null, model: "qwen" })
    expect(faultsOf({ EMBEDDING_BASE_URL: "https://api.openai.com/v1" })).toEqual(["EMBEDDING_API_KEY: is required by api.openai.com"])
    expect(faultsOf({ ELEVENLABS_WEBHOOK_SECRET: "s" })).toEqual(["ELEVENLABS_API_KEY: is required when ELEVENLABS_WEBHOOK_SECRET is set"])
  })

  it.each(["https://api.anthropic.com", "https://api.anthropic.com/v1", "https://api.anthropic.com/v1/"])(
    "finds Anthropic's version at %s",
    (url) => {
      expect(readConfig({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url }).anthropic?.baseUrl).toBe("https://api.anthropic.com/v1")
    },
  )

  it("reads lists of origins and numbers of proxies", () => {
    expect(readConfig({ CORS_ORIGINS: "https://a.example/, http://localhost:3000" }).corsOrigins).toEqual([
      "https://a.example",
      "http://localhost:3000",
    ])
    expect(readConfig({ CORS_ORIGINS: "*" }).corsOrigins).toEqual(["*"])
    expect(["off", "on", "2"].map((given) => readConfig({ TRUST_PROXY: given }).trustProxy)).toEqual([0, 1, 2])
  })

  it("derives the public address from the actual port", () => {
    expect(publicUrl(readConfig({ PORT: "0" }), 50123)).toBe("http://127.0.0.1:50123")
    expect(publicUrl(readConfig({ HOST: "0.0.0.0" }))).toBe("http://localhost:4000")
    expect(publicUrl(readConfig({ HOST: "::1" }))).toBe("http://[::1]:4000")
    expect(publicUrl(readConfig({ PUBLIC_URL: "https://chat.example.com/" }))).toBe("https://chat.example.com")
  })
})

describe(".env.example", () => {
  it("lists every variable, with the default that the server takes", async () => {
    const lines = (await readFile(".env.example", "utf8")).matchAll(/^#([A-Z0-9_]+)=(.*)$/gm)
    const example = Object.fromEntries([...lines].map(([, name, value]) => [name!, value]))
    expect(Object.keys(example)).toEqual(variableNames)
    expect(readEnvironment(example)).toMatchObject({ faults: [], values: readEnvironment({}).values })
  })
})

describe("the secrets", () => {
  let dataDir: string
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "secrets-"))
  })
  afterEach(() => rm(dataDir, { recursive: true }))

  it("are generated once, readable only by the owner, and stay", async () => {
    const config = readConfig({ DATA_DIR: join(dataDir, "not/yet/there") })
    const first = await loadSecrets(config)
    expect(first.encryptionKey).toHaveLength(32)
    expect(await loadSecrets(config)).toEqual(first)
    expect((await stat(join(config.dataDir, "secrets.json"))).mode & 0o777).toBe(0o600)
  })

  it("are the same for servers that start at once", async () => {
    const config = readConfig({ DATA_DIR: dataDir })
    const all = await Promise.all(Array.from({ length: 20 }, () => loadSecrets(config)))
    expect(new Set(all.map((one) => one.jwtSecret)).size).toBe(1)
    expect(await readdir(dataDir)).toEqual(["secrets.json"])
  })

  it("come from the environment first, and then nothing is written", async () => {
    const config = readConfig({ DATA_DIR: dataDir, JWT_SECRET: secret, ENCRYPTION_KEY: key.toString("hex") })
    expect(await loadSecrets(config)).toEqual({
      jwtSecret: secret,
      jwtSecretPrevious: null,
      encryptionKey: key,
      encryptionKeyPrevious: null,
    })
    expect(await readdir(dataDir)).toEqual([])
  })

  it("do not replace a damaged file, since that would lose what they encrypted", async () => {
    await writeFile(join(dataDir, "secrets.json"), '{"jwtSecret":')
    await expect(loadSecrets(readConfig({ DATA_DIR: dataDir }))).rejects.toThrow("secrets.json is damaged")
  })
})

describe("a misspelt variable", () => {
  it("is told with the name that is probably meant, and never with its value", () => {
    const lines = misspelt({ OPENAI_API_KEYS: "sk-secret", REPLY_DEBOUCE_MS: "1", DATABASE_URI: "postgres://me:word@host" })
    expect(lines).toEqual([
      "the environment variable OPENAI_API_KEYS is not known and is ignored; is OPENAI_API_KEY meant?",
      "the environment variable REPLY_DEBOUCE_MS is not known and is ignored; is REPLY_DEBOUNCE_MS meant?",
      "the environment variable DATABASE_URI is not known and is ignored; is DATABASE_URL meant?",
    ])
  })

  it("is not seen in variables that are right, or that belong to other programs", () => {
    const others = { NODE_OPTIONS: "", OPENAI_ORG_ID: "", S3_FORCE_PATH_STYLE: "", PORTS: "", PATH: "", HOSTNAME: "", XPUBLIC_URL: "" }
    expect(misspelt({ PUBLIC_URL: "x", PORT: "1", ...others })).toEqual([])
  })
})

describe("the file .env", () => {
  const list = (cwd: string, env: Record<string, string> = {}) =>
    promisify(execFile)(process.execPath, [join(process.cwd(), "dist/server/admin.js"), "company:list"], { cwd, env }).catch(
      ({ stderr }: { stderr: string }) => ({ stderr }),
    )

  it("is read from the working directory, and the real environment wins", async () => {
    const folder = await mkdtemp(join(tmpdir(), "env-file-"))
    await writeFile(join(folder, ".env"), "DATABASE_URL=mysql://from-the-file\nPORT=nonsense\n")
    const [file, real] = await Promise.all([list(folder), list(folder, { PORT: "4001", DATABASE_URL: "redis://real" })])
    expect(file.stderr).toMatch(
      /^DATABASE_URL: must be [^\n]+\nPORT: must be [^\n]+\n$|^PORT: must be [^\n]+\nDATABASE_URL: must be [^\n]+\n$/,
    )
    expect(real.stderr).toMatch(/^DATABASE_URL: must be [^\n]+\n$/)
    await rm(folder, { recursive: true })
  })

  it("that cannot be read is one sentence", async () => {
    const folder = await mkdtemp(join(tmpdir(), "env-file-"))
    await mkdir(join(folder, ".env"))
    expect((await list(folder)).stderr).toMatch(/^\.env cannot be read: [^\n]+\n$/)
    await rm(folder, { recursive: true })
  })
})

describe("a DATA_DIR that cannot be used", () => {
  const start = (program: string, env: Record<string, string>) =>
    promisify(execFile)(process.execPath, [program], { env: { DEMO: "false", PORT: "0", ...env } }).catch(
      ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
    )

  it("is one sentence, from the embedded database and from the secrets", async () => {
    const folder = await mkdtemp(join(tmpdir(), "data-dir-"))
    const file = join(folder, "file")
    await writeFile(file, "")
    const refused = { code: 1, stderr: `DATA_DIR: the folder ${file} cannot be used: it, or a part of its path, is a file\n` }
    expect(await start("dist/server/main.js", { DATA_DIR: file })).toEqual(refused)
    await expect(loadSecrets({ ...readConfig({}), dataDir: file })).rejects.toThrow(refused.stderr.trim())
    await expect(loadSecrets({ ...readConfig({}), dataDir: join(file, "below") })).rejects.toThrow(/a part of its path, is a file$/)
    await rm(folder, { recursive: true })
  })
})

describe("the warnings of a start", () => {
  const secrets = { NODE_ENV: "production", JWT_SECRET: secret, ENCRYPTION_KEY: key.toString("hex") }
  const shared = { DATABASE_URL: "postgres://db/platform", S3_BUCKET: "files", S3_ACCESS_KEY_ID: "id", S3_SECRET_ACCESS_KEY: "word" }
  const full = { ...secrets, ...shared, PUBLIC_URL: "https://chat.example.com", HOST: "0.0.0.0", TRUST_PROXY: "1" }
  const warnings = (env: NodeJS.ProcessEnv) => startWarnings(readConfig(env))

  it("name each setting that production lacks, in one line", () => {
    expect(warnings(full)).toEqual([])
    expect(warnings({ ...full, DATABASE_URL: "" })).toEqual([expect.stringMatching(/^without DATABASE_URL/)])
    expect(warnings({ ...secrets, ...full, S3_BUCKET: "", S3_ACCESS_KEY_ID: "", S3_SECRET_ACCESS_KEY: "" })).toEqual([
      expect.stringMatching(/^without S3_BUCKET/),
    ])
    expect(warnings({ ...full, PUBLIC_URL: "" })).toEqual([expect.stringMatching(/^without PUBLIC_URL/)])
    expect(warnings({ ...full, PUBLIC_URL: "http://chat.example.com" })).toEqual([expect.stringMatching(/^PUBLIC_URL is not https/)])
    expect(warnings({ ...full, PUBLIC_URL: "http://[::1]:4000" })).toEqual([expect.stringMatching(/^PUBLIC_URL is a loopback address/)])
    expect(warnings({ ...full, TRUST_PROXY: "off" })).toEqual([expect.stringMatching(/^HOST accepts other machines/)])
    expect(warnings({ ...full, ALLOW_PRIVATE_NETWORK: "true" })).toEqual([expect.stringMatching(/ALLOW_PRIVATE_NETWORK/)])
  })

  it("say nothing of production elsewhere, nor of a server behind loopback", () => {
    expect(warnings({ ...shared, HOST: "0.0.0.0" })).toEqual([])
    expect(warnings({ ...full, HOST: "127.0.0.1", TRUST_PROXY: "off", PUBLIC_URL: "http://localhost:4000" })).toEqual([])
  })
})
