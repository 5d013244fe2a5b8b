/** A tool that every assistant has and that runs inside the server. */
export interface SystemTool {
  name: string
  description: string
  type: "webhook_action" | "webhook_postcall"
  params: Record<string, unknown>
}

const text = (description: string) => ({ type: "string", description })

/** The built-in tool with which an assistant hands a chat over to a person. */
export const turnOffAiMode: SystemTool = {
  name: "turnOffAiMode",
  description:
    "Hand this chat over to a human colleague, when the customer asks for one or when you cannot help. You will not answer until the chat is given back to you.",
  type: "webhook_action",
  params: { type: "object", properties: { reason: text("Why a person is needed, in one sentence.") } },
}

/** The built-in tool with which an assistant searches its indexed knowledge. */
export const searchKnowledge: SystemTool = {
  name: "searchKnowledge",
  description:
    "Search your indexed knowledge for passages about a question. Use it before you say that you do not know, and answer from what it finds alone.",
  type: "webhook_action",
  params: {
    type: "object",
    properties: { query: { ...text("What to look for, in the words of the question."), minLength: 1 } },
    required: ["query"],
  },
}

/** The built-in tool with which an assistant tags a chat. */
export const setChatTags: SystemTool = {
  name: "setChatTags",
  description: "Attach tags of the company's dictionary to this chat, so that colleagues find it. Only tags that exist can be attached.",
  type: "webhook_action",
  params: {
    type: "object",
    properties: { tags: { type: "array", items: { type: "string" }, minItems: 1, description: "Names of the tags." } },
    required: ["tags"],
  },
}

/** The built-in tool that receives the result of a call after its end; it cannot be changed. */
export const platformPostCall: SystemTool = {
  name: "platformPostCall",
  description: "Takes the result of a call after it has ended, for the call history.",
  type: "webhook_postcall",
  params: { type: "object", properties: {} },
}

/** The tools that every assistant is created with (contract, section 3). */
export const systemTools: readonly SystemTool[] = [turnOffAiMode, searchKnowledge, setChatTags, platformPostCall]

/** Whether a name is that of a built-in tool. */
export const isSystemToolName = (name: string): boolean => systemTools.some((tool) => tool.name === name)
