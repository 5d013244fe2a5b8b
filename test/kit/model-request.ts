import type { ModelMessage, ModelRequest, ModelTool } from "../../src/ports/text-model.js"

/** A customer's message. */
export const customer = (text: string): ModelMessage => ({ role: "customer", text })

/** An integrator's tool with a required number. */
export const orderStatus: ModelTool = {
  name: "getOrderStatus",
  description: "Looks an order up",
  parameters: {
    type: "object",
    properties: { orderId: { type: "integer" }, email: { type: "string", format: "email" } },
    required: ["orderId"],
  },
}
/** The system tool for the hand-off. */
export const turnOff: ModelTool = {
  name: "turnOffAiMode",
  description: "Hands over",
  parameters: { type: "object", properties: { reason: { type: "string" } } },
}
/** The system tool for searching knowledge. */
export const search: ModelTool = {
  name: "searchKnowledge",
  description: "Searches",
  parameters: { type: "object", properties: { query: { type: "string" } } },
}

/** A shop's knowledge: plain sentences, a Q/A pair, a heading. */
export const shop = {
  name: "Shop",
  content: `Delivery takes 2 to 3 working days within the country. Delivery is free for orders over 50 EUR.
Returns are accepted within 30 days of purchase. We are open Monday to Friday from 9:00 to 18:00.
We accept Visa, Mastercard and cash. Our store is in Kyiv, Khreshchatyk 1.

Q: Do you wrap gifts?
A: Yes, wrapping costs 3 EUR. Just ask at the till.

## Warranty
Every device is covered for two years.`,
}

/** A request to the model of that shop, with only messages by default. */
export function request(messages: ModelMessage[], rest: Partial<ModelRequest> = {}): ModelRequest {
  return {
    instructions: "You are Ada of Example Ltd.",
    greeting: "Hi, I am Ada!",
    language: "en",
    knowledge: [shop],
    notes: [],
    messages,
    tools: [],
    temperature: null,
    signal: new AbortController().signal,
    ...rest,
  }
}
