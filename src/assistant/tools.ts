import { turnOffAiMode as definition, systemTools } from "../entities/kit/system-tools.js"
import type { ModelTool } from "../ports/text-model.js"

/** The built-in tool by which an assistant hands a chat over to a person; what it answers is what the model is told. */
export const turnOffAiMode = {
  name: definition.name,
  output: { success: true, message: "A human colleague takes over from here." },
}

/** The tools that a model is offered. */
export const offeredTools: ModelTool[] = systemTools
  .filter((tool) => tool.name === turnOffAiMode.name)
  .map(({ name, description, params }) => ({ name, description, parameters: params }))
