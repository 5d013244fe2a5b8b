import { join } from "node:path"
import type { Config } from "../config.js"
import { diskStorage } from "./storage/disk.js"
import type { Storage } from "./storage.js"
import { anthropic, openAiCompatible } from "./text-model/ai-sdk.js"
import { offlineModel } from "./text-model/offline.js"
import type { TextModel } from "./text-model.js"
import { simulatedVoice } from "./voice/simulated.js"
import type { VoiceProvider } from "./voice.js"

/** The text models of this deployment: configured ones first, the offline model last and always. */
export function textModels(config: Config): TextModel[] {
  const options = ({ baseUrl, apiKey, model }: NonNullable<Config["openai"]>) => ({ baseUrl, model, ...(apiKey && { apiKey }) })
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

/** Where this deployment keeps uploaded files. */
export async function storage(config: Config): Promise<Storage> {
  if (!config.s3) return diskStorage(join(config.dataDir, "media"))
  // Loaded only where it is used: Amazon's client is large.
  return (await import("./storage/s3.js")).s3Storage(config.s3)
}
