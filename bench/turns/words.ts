/** The name of the tool that the model calls where it is offered. */
export const toolName = "look_up_order"

/** The name of an MCP server with the same tool, and that of its tool for an assistant. */
export const mcpServerName = "orders"
export const mcpToolName = `${mcpServerName}_${toolName}`

/** The tool, as an MCP server lists it. */
export const listedTool = {
  name: toolName,
  description: "Looks up where an order is.",
  inputSchema: { type: "object", properties: { question: { type: "string" } }, required: ["question"] },
}

/** A customer's question, with a tag by which the model's stand-in knows it. */
export const question = (tag: string) => `Where is my order (${tag})? I have been waiting for it since Monday.`

/** The tag of the last question in a text. */
export const tagIn = (text: string) => text.match(/q\d+-\d+/g)?.at(-1)

/** The tag of a question: no UUID contains one. */
export const tagOf = (batch: number, place: number) => `q${batch}-${place}`
