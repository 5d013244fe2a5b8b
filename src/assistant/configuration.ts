import { LRUCache } from "lru-cache"
import type { RequestContext } from "../context/request-context.js"
import type { Database } from "../database/connect.js"
import type { UnitOfWork } from "../database/unit-of-work.js"
import { Assistant } from "../entities/assistant.js"
import { Knowledge } from "../entities/knowledge.js"
import { compileGuard } from "../guardrails/compile.js"
import type { Guard } from "../guardrails/guard.js"
import { oncePer } from "../once-per.js"
import { assistantLimits } from "./limits.js"
import { type OfferedTool, toolsOf } from "./tools.js"

/** What an assistant brings to each of its turns: settings, tools, and the knowledge that the model is given as a whole. */
export interface AssistantConfiguration {
  settings: Pick<Assistant, "id" | "prompt" | "greeting" | "handOffMessage" | "language" | "temperature">
  knowledge: { id: string; name: string; content: string }[]
  tools: OfferedTool[]
  /** Its guardrails; null when no rule is on. */
  guard: Guard | null
}

interface Remembered {
  version: string
  configuration: Promise<AssistantConfiguration>
}

const { rememberedAssistants, rememberedCharacters } = assistantLimits
const rememberedOf = oncePer(
  (_database: Database) => new LRUCache<string, Remembered>({ max: rememberedAssistants, maxSize: rememberedCharacters }),
)

/** The configuration of an assistant; it is read again only when the version, which the claim of a turn reads, has changed. */
export function configurationOf(context: RequestContext, assistantId: string, version: string): Promise<AssistantConfiguration> {
  const remembered = rememberedOf(context.services.database)
  const known = remembered.get(assistantId)
  if (known?.version === version) return known.configuration
  const fresh = { version, configuration: context.transaction(({ unit }) => readConfiguration(unit, assistantId)) }
  // Turns that begin meanwhile share the reading, whose size is not known yet.
  remembered.set(assistantId, fresh, { size: 1 })
  const isCurrent = () => remembered.peek(assistantId) === fresh
  fresh.configuration.then(
    (configuration) => void (isCurrent() && remembered.set(assistantId, fresh, { size: sizeOf(configuration) })),
    () => void (isCurrent() && remembered.delete(assistantId)),
  )
  return fresh.configuration
}

/** Its size in characters; one whose size is above the maximum is read for every turn. */
const sizeOf = (configuration: AssistantConfiguration) => JSON.stringify(configuration).length

/** Reads the configuration of an assistant. */
export async function readConfiguration(unit: UnitOfWork, assistantId: string): Promise<AssistantConfiguration> {
  const assistant = await unit.em.findOneOrFail(Assistant, { id: assistantId })
  const { id, prompt, greeting, handOffMessage, language, temperature } = assistant
  const items = await unit.em.find(Knowledge, { assistantId, isVector: false }, { orderBy: { createdAt: "asc", id: "asc" } })
  return {
    settings: { id, prompt, greeting, handOffMessage, language, temperature },
    knowledge: items.map((item) => ({ id: item.id, name: item.name, content: item.resourceContent ?? "" })),
    tools: await toolsOf(unit, assistant),
    guard: compileGuard(assistant.guardrailSettings),
  }
}
