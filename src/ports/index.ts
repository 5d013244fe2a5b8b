import type { Config } from "../config.js"
import { anthropic, openAiCompatible } from "./text-model/ai-sdk.js"
import { offlineModel } from "./text-model/offline.js"
import type { TextModel } from "./text-model.js"

/** The text models of this deployment: configured ones first, the offline model last and always. */
export function textModels(config: Config): TextModel[] {
  const options = ({ baseUrl, apiKey, model }: NonNullable<Config["openai"]>) => ({ baseUrl, model, ...(apiKey && { apiKey }) })
  return [
    ...(config.openai ? [openAiCompatible(options(config.openai))] : []),
    ...(config.anthropic ? [anthropic(options(config.anthropic))] : []),
    offlineModel(),
  ]
}
