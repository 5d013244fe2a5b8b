/** An order of the book. */
export interface Order {
  number: number
  customer: string
  item: string
  state: "packed" | "on its way" | "delivered" | "cancelled"
  arrives: string
}

/** The orders at the start. */
export const ordersOf = (): Order[] => [
  { number: 1041, customer: "Ada", item: "desk lamp Aurora", state: "delivered", arrives: "last Tuesday" },
  { number: 1042, customer: "Ada", item: "floor lamp Boreal", state: "on its way", arrives: "tomorrow, between 9 and 12" },
  { number: 1043, customer: "Lin", item: "wall lamp Cirrus", state: "packed", arrives: "on Friday" },
]

const number = { type: "integer", description: "Number of the order." }

/** The tools, as the server lists them. */
export const tools = {
  find_order: {
    title: "Find an order",
    description: "Says where an order is and when it arrives, by its number.",
    inputSchema: { type: "object", properties: { number }, required: ["number"], additionalProperties: false },
    annotations: { readOnlyHint: true },
  },
  cancel_order: {
    title: "Cancel an order",
    description: "Cancels an order that is not on its way yet, by its number.",
    inputSchema: {
      type: "object",
      properties: { number, reason: { type: "string", description: "Why the customer cancels it." } },
      required: ["number"],
      additionalProperties: false,
    },
    annotations: { destructiveHint: true },
  },
  list_orders: {
    title: "List orders",
    description: "Lists the orders of a customer, by the customer's name.",
    inputSchema: { type: "object", properties: { customer: { type: "string" } }, required: ["customer"], additionalProperties: false },
    annotations: { readOnlyHint: true },
  },
} as const
export type ToolName = keyof typeof tools

/** The list of tools. */
export const listOf = () => Object.entries(tools).map(([name, tool]) => ({ name, ...tool }))

const text = (said: string, structured?: object) => ({
  content: [{ type: "text", text: said }],
  ...(structured && { structuredContent: structured }),
})
const refused = (said: string) => ({ ...text(said), isError: true })

/** Carries out a call. */
export function run(orders: Order[], tool: ToolName, given: Record<string, unknown>) {
  if (tool === "list_orders") {
    const found = orders.filter(({ customer }) => customer === given["customer"])
    return text(JSON.stringify({ orders: found }), { orders: found })
  }
  const order = orders.find((each) => each.number === given["number"])
  if (!order) return refused(`There is no order ${given["number"]}`)
  if (tool === "find_order") return text(`Order ${order.number} (${order.item}) is ${order.state} and arrives ${order.arrives}.`)
  if (order.state !== "packed") return refused(`Order ${order.number} is ${order.state} and cannot be cancelled`)
  order.state = "cancelled"
  return text(`Order ${order.number} is cancelled.`)
}
