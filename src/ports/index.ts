import { join } from "node:path"
import type { Config, ModelService } from "../config.js"
import { webCrawler } from "./crawler/web.js"
import type { Crawler } from "./crawler.js"
import { openAiEmbedding } from "./embedding/ai-sdk.js"
import { offlineEmbedding } from "./embedding/offline.js"
import type { Embedding } from "./embedding.js"
import { DocumentProcesses } from "./extractor/processes.js"
import type { Extractor } from "./extractor.js"
import type { Outside } from "./kit/outside.js"
import { diskStorage } from "./storage/disk.js"
import type { Storage } from "./storage.js"
import { anthropic, openAiCompatible } from "./text-model/ai-sdk.js"
import { offlineModel } from "./text-model/offline.js"
import type { TextModel } from "./text-model.js"
import { simulatedVoice } from "./voice/simulated.js"
import type { VoiceProvider } from "./voice.js"

const options = ({ baseUrl, apiKey, model }: ModelService) => ({ baseUrl, model, ...(apiKey && { apiKey }) })

/** The text models of this deployment: configured ones first, the offline model last and always. */
export function textModels(config: Config): TextModel[] {
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

/** What this deployment makes vectors with: the configured service, else the built-in embedding. */
export function embedding(config: Config): Embedding {
  return config.embedding ? openAiEmbedding(options(config.embedding)) : offlineEmbedding()
}

/** How pages are fetched: through the guard, like everything that customers choose. */
export const crawler = (outside: Outside): Crawler => webCrawler(outside)

/** How documents are read. */
export const extractor = (): Extractor => new DocumentProcesses()

/** Where this deployment keeps uploaded files. */
export async function storage(config: Config): Promise<Storage> {
  if (!config.s3) return diskStorage(join(config.dataDir, "media"))
  // Loaded only where it is used: Amazon's client is large.
  return (await import("./storage/s3.js")).s3Storage(config.s3)
}
