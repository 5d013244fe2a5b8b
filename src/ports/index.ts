import { join } from "node:path"
import type { Logger } from "pino"
import type { Config, ModelService } from "../config/config.js"
import { bridge } from "./channel/bridge.js"
import { eventCapabilities } from "./channel/built-in.js"
import { gmail } from "./channel/gmail.js"
import { instagram } from "./channel/instagram.js"
import { MailReader } from "./channel/mail-reader.js"
import { messenger } from "./channel/messenger.js"
import { resend } from "./channel/resend.js"
import { telegramBot } from "./channel/telegram-bot.js"
import { whatsappBusiness } from "./channel/whatsapp-business.js"
import type { ChannelAdapter, Channels } from "./channel.js"
import { webCrawler } from "./crawler/web.js"
import type { Crawler } from "./crawler.js"
import { offlineEmbedding } from "./embedding/offline.js"
import type { Embedding } from "./embedding.js"
import { DocumentProcesses } from "./extractor/processes.js"
import type { Extractor } from "./extractor.js"
import type { GuardedHttpClient } from "./kit/guarded-http-client.js"
import { mcpClient } from "./mcp/client.js"
import type { McpClient } from "./mcp.js"
import { diskStorage } from "./storage/disk.js"
import type { Storage } from "./storage.js"
import { offlineModel } from "./text-model/offline.js"
import type { TextModel } from "./text-model.js"
import { simulatedVoice } from "./voice/simulated.js"
import type { VoiceProvider } from "./voice.js"

const options = ({ baseUrl, apiKey, model }: ModelService) => ({ baseUrl, model, ...(apiKey && { apiKey }) })

/** The text models of this deployment: configured ones first, the offline model last and always. */
export async function textModels(config: Config): Promise<TextModel[]> {
  if (!config.openai && !config.anthropic) return [offlineModel()]
  // Large clients are imported only where they are configured.
  const { anthropic, openAiCompatible } = await import("./text-model/ai-sdk.js")
  return [
    ...(config.openai ? [openAiCompatible(options(config.openai))] : []),
    ...(config.anthropic ? [anthropic(options(config.anthropic))] : []),
    offlineModel(),
  ]
}

/** The voice providers of this deployment, the default first: ElevenLabs where it is configured, the simulated one always. */
export async function voiceProviders({ elevenlabs }: Config): Promise<VoiceProvider[]> {
  if (!elevenlabs) return [simulatedVoice()]
  const { elevenLabsVoice } = await import("./voice/elevenlabs.js")
  return [elevenLabsVoice(elevenlabs), simulatedVoice()]
}

/** The embedding of this deployment: the configured service, else the built-in one. */
export async function embedding(config: Config): Promise<Embedding> {
  const made = config.embedding ? (await import("./embedding/ai-sdk.js")).openAiEmbedding(options(config.embedding)) : offlineEmbedding()
  return { ...made, foundFrom: config.embeddingFoundFrom ?? made.foundFrom, sameFrom: config.embeddingSameFrom ?? made.sameFrom }
}

/** The crawler of this deployment, over the guarded HTTP client. */
export const crawler = (httpClient: GuardedHttpClient): Crawler => webCrawler(httpClient)

/** The client of companies' MCP servers, over the guarded HTTP client. */
export const mcp = (httpClient: GuardedHttpClient): McpClient => mcpClient(httpClient)

/** The document extractor of this deployment. */
export const extractor = (): Extractor => new DocumentProcesses()

/** The storage of uploaded files of this deployment: S3 when configured, else the disk. */
export async function storage(config: Config): Promise<Storage> {
  if (!config.s3) return diskStorage(join(config.dataDir, "media"))
  return (await import("./storage/s3.js")).s3Storage(config.s3)
}

/** The messengers of this deployment: those with an adapter of their own, and the bridge for all others. */
export function channels(config: Config, httpClient: GuardedHttpClient, log: Logger): Channels {
  const mails = new MailReader(log)
  const connector = bridge({ httpClient, replies: "any" })
  const withoutReplies = bridge({ httpClient, replies: "none" })
  const native: Record<string, ChannelAdapter | null> = {
    widget: null,
    playground: null,
    "telegram-bot": telegramBot({ baseUrl: config.telegramBaseUrl }),
    "whatsapp-business": whatsappBusiness({ baseUrl: config.metaGraphBaseUrl }),
    messenger: messenger({ baseUrl: config.metaGraphBaseUrl }),
    instagram: instagram({ baseUrl: config.metaGraphBaseUrl }),
    resend: resend({ baseUrl: config.resendBaseUrl }, mails),
    gmail: gmail({ baseUrl: config.gmailBaseUrl, oauthBaseUrl: config.googleOauthBaseUrl }, mails),
    telegram: connector,
    whatsapp: connector,
    "custom-messenger": connector,
  }
  const adapter = (messenger: string) => native[messenger] ?? (messenger in native ? null : withoutReplies)
  return { adapter, capabilities: (messenger) => adapter(messenger)?.capabilities ?? eventCapabilities, close: () => mails.close() }
}
