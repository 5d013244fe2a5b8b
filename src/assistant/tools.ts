import type { ModelTool } from "../ports/text-model.js"

/** The built-in tool by which an assistant hands a chat over to a person; what it answers is what the model is told. */
export const turnOffAiMode = {
  name: "turnOffAiMode",
  description:
    "Hand this chat over to a human colleague, when the customer asks for one or when you cannot help. You will not answer until the chat is given back to you.",
  parameters: {
    type: "object",
    properties: { reason: { type: "string", description: "Why a person is needed, in one sentence." } },
  },
  output: { success: true, message: "A human colleague takes over from here." },
}

/** The tools that a model is offered. */
export const offeredTools: ModelTool[] = [turnOffAiMode]
