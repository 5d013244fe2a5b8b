import { setTimeout } from "node:timers/promises"
import type { ToolName } from "./orders.js"

/** What can go wrong with one request: the commands of the terminal use the same names. */
export const mcpFaults = {
  slow: "answered late",
  "500": "refused by a broken server",
  "hang-up": "the connection is cut before it was carried out",
  "hang-up-after": "the connection is cut after it was carried out",
  redirect: "redirected to an address inside",
} as const
export type McpFault = keyof typeof mcpFaults

/** What can be wrong with the list of tools. */
export const listFaults = {
  huge: "a list of 10 MB",
  endless: "a list whose pages never end",
} as const
export type ListFault = keyof typeof listFaults

interface Planned {
  fault: McpFault
  method: string
  /** With `slow`: the request is answered when this is fulfilled, in place of after a time. */
  until: Promise<unknown> | null
}

interface ListedTool {
  name: string
  description: string
  inputSchema: object
}

/** Makes an MCP server misbehave, on demand. */
export class Misbehaviour {
  /** What is wrong with each list from now on. */
  private list: ListFault | null = null
  private isReversed = false
  private readonly planned: Planned[] = []
  private readonly described = new Map<string, string>()
  private readonly vanished = new Set<string>()
  /** How late a slow response is, in milliseconds. */
  slowMs = 15_000

  /** Makes the next request of a method fail; several calls count one after the other. */
  on(method: "tools/call" | "tools/list" | "any", fault: McpFault, until: Promise<unknown> | null = null) {
    this.planned.push({ fault, method, until })
  }

  /** Lists wrongly from now on. */
  listWith(fault: ListFault) {
    this.list = fault
  }

  /** Lists the properties of each schema in another order from now on, as servers do that do not keep it. */
  reverse() {
    this.isReversed = true
  }

  /** Describes a tool in other words from now on. */
  describe(tool: ToolName, description: string) {
    this.described.set(tool, description)
  }

  /** Lists a tool no more, and refuses its calls. */
  vanish(tool: ToolName) {
    this.vanished.add(tool)
  }

  isVanished(tool: string) {
    return this.vanished.has(tool)
  }

  /** Does from now on everything as it should be. */
  clear() {
    this.list = null
    this.isReversed = false
    this.planned.length = 0
    this.described.clear()
    this.vanished.clear()
  }

  /** The fault of a request, or null; a slow one waits here. */
  async next(method: string): Promise<McpFault | null> {
    const index = this.planned.findIndex((each) => each.method === "any" || each.method === method)
    if (index === -1) return null
    const [{ fault, until }] = this.planned.splice(index, 1) as [Planned]
    if (fault === "slow") await (until ?? setTimeout(this.slowMs, undefined, { ref: false }))
    return fault
  }

  /** The page of the list that is shown. */
  shownList(tools: ListedTool[], cursor: string | undefined) {
    if (this.list === "endless") return { tools: [], nextCursor: `page ${Number(cursor?.slice(5) ?? 0) + 1}` }
    if (this.list === "huge") return { tools: tools.map((tool) => ({ ...tool, description: "x".repeat(10 * 1024 * 1024) })) }
    const left = tools.filter(({ name }) => !this.vanished.has(name))
    const { isReversed } = this
    return {
      tools: left.map(({ inputSchema, ...tool }) => ({
        ...tool,
        description: this.described.get(tool.name) ?? tool.description,
        inputSchema: isReversed ? Object.fromEntries(Object.entries(inputSchema).reverse()) : inputSchema,
      })),
    }
  }
}
