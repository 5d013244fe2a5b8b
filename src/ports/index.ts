import { join } from "node:path"
import type { Config, ModelService } from "../config.js"
import { webCrawler } from "./crawler/web.js"
import type { Crawler } from "./crawler.js"
import { offlineEmbedding } from "./embedding/offline.js"
import type { Embedding } from "./embedding.js"
import { DocumentProcesses } from "./extractor/processes.js"
import type { Extractor } from "./extractor.js"
import type { GuardedHttpClient } from "./kit/guarded-http-client.js"
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

/** The voice providers of this deployment: the simulated one always. */
export function voiceProviders(): VoiceProvider[] {
  return [simulatedVoice()]
}

/** The embedding of this deployment: the configured service, else the built-in one. */
export async function embedding(config: Config): Promise<Embedding> {
  if (!config.embedding) return offlineEmbedding()
  return (await import("./embedding/ai-sdk.js")).openAiEmbedding(options(config.embedding))
}

/** The crawler of this deployment, over the guarded HTTP client. */
export const crawler = (httpClient: GuardedHttpClient): Crawler => webCrawler(httpClient)

/** The document extractor of this deployment. */
export const extractor = (): Extractor => new DocumentProcesses()

/** The storage of uploaded files of this deployment: S3 when configured, else the disk. */
export async function storage(config: Config): Promise<Storage> {
  if (!config.s3) return diskStorage(join(config.dataDir, "media"))
  return (await import("./storage/s3.js")).s3Storage(config.s3)
}
