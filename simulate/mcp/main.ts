import { once } from "node:events"
import { createInterface } from "node:readline"
import { parseArgs } from "node:util"
import { type ListFault, listFaults, type McpFault, mcpFaults } from "./misbehaviour.js"
import { OrderBook } from "./order-book.js"
import { type ToolName, tools } from "./orders.js"

/** How the command is called. */
export const mcpUsage =
  "npm run simulate -- mcp [--port PORT] [--token TOKEN]: an MCP server with an order book; with TOKEN it asks for Authorization: Bearer TOKEN"

const print = (line: string) => void process.stdout.write(`${line}\n`)

const toolOf = (name: string): ToolName => {
  if (!Object.hasOwn(tools, name)) throw new Error(`there is no tool ${name}; there are ${Object.keys(tools).join(", ")}`)
  return name as ToolName
}

/** What can be typed on the terminal, by its first word. */
function commandsOf({ faults }: OrderBook): Record<string, { help: string; run(rest: string): void }> {
  const onCall = Object.entries(mcpFaults).map(([fault, says]) => [
    fault,
    {
      help: `the next call: ${says}`,
      run: () => faults.on("tools/call", fault as McpFault),
    },
  ])
  const onList = Object.entries(listFaults).map(([fault, says]) => [
    fault,
    { help: `from now on the server lists ${says}`, run: () => faults.listWith(fault as ListFault) },
  ])
  return {
    ...Object.fromEntries(onCall),
    ...Object.fromEntries(onList),
    describe: {
      help: "TOOL TEXT: the server describes a tool in other words",
      run(rest) {
        const [, name = "", text = ""] = /^(\S+)\s+(.+)$/.exec(rest) ?? []
        faults.describe(toolOf(name), text)
      },
    },
    vanish: { help: "TOOL: the server lists a tool no more", run: (rest) => faults.vanish(toolOf(rest.trim())) },
    clear: { help: "does from now on everything as it should be", run: () => faults.clear() },
  }
}

async function talk(book: OrderBook) {
  const commands = commandsOf(book)
  print("Calls are printed. What can go wrong:")
  for (const [name, { help }] of Object.entries(commands)) print(`  :${name} ${help}`)
  print("  :quit")
  for await (const line of createInterface({ input: process.stdin })) {
    const [, name = "", rest = ""] = /^:?(\S+)\s*(.*)$/.exec(line) ?? []
    if (name === "quit") break
    try {
      if (Object.hasOwn(commands, name)) commands[name]!.run(rest)
      else if (name) print(`! there is no :${name}`)
    } catch (error) {
      print(`! ${(error as Error).message}`)
    }
  }
}

/** Runs the order book: on a terminal until the user quits, otherwise until it is stopped. */
export async function simulateMcp(args: string[]) {
  const { values } = parseArgs({ args, options: { port: { type: "string" }, token: { type: "string" } } })
  const port = Number(values.port ?? 0)
  if (!Number.isInteger(port)) throw new Error("PORT is a whole number")
  const book = await OrderBook.start({ port, show: print, ...(values.token !== undefined && { token: values.token }) })
  print(book.url)
  if (process.stdin.isTTY) await talk(book)
  else await Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")])
  process.stdin.destroy()
  await book.close()
}
