import fc from "fast-check"
import { toolTable } from "../../src/mcp/tools.js"
import type { Report } from "../../test/kit/campaign/report.js"
import { generate } from "../kit/all-requests.js"
import { Client } from "../kit/client.js"
import { isDeep, Judge } from "../kit/judge.js"
import { foreignArguments, keyOfTool, type ListedTool, messageRequests, tellMcp, toolRequests, toolsOf } from "../kit/mcp-requests.js"
import type { TestBed } from "../kit/test-bed.js"
import type { Attack } from "./attack.js"

const limits = { warmUp: 2_000, requests: 6_000, lanes: 8, foreignSets: 10, lists: 500 }

/** What an agent with a credential of one company can try at `/mcp`. */
export const mcp: Attack = {
  title: "agents at /mcp: hostile calls and messages, IDs of another company, thousands of requests",
  isLoad: true,
  async warmUp(bed) {
    await sendGenerated(bed, await toolsOf(bed.server.url, bed.attacker), 1, limits.warmUp)
    await listAtOnce(bed)
  },
  async run(bed, report) {
    const tools = await toolsOf(bed.server.url, bed.attacker)
    const names = tools.map(({ name }) => name)
    report.promise(
      "every tool is listed",
      Object.keys(toolTable).filter((name) => !names.includes(name)),
    )
    judged(await sendGenerated(bed, tools, 7, limits.requests), tools, report)
    report.promise("IDs of another company name nothing in any tool", await foreignData(bed, tools))
    report.promise(`${limits.lists} lists at once are answered`, await listAtOnce(bed))
  },
}

/** Sends generated calls and messages. */
async function sendGenerated({ server, attacker, victim }: TestBed, tools: ListedTool[], seed: number, requests: number): Promise<Judge> {
  const judge = new Judge(victim.marker, () => {})
  const client = new Client(server.url, attacker, judge)
  const arbitrary = fc.oneof({ arbitrary: fc.oneof(...tools.map(toolRequests)), weight: 4 }, { arbitrary: messageRequests, weight: 3 })
  const generated = generate(arbitrary, seed)
  let sent = 0
  const lane = async () => {
    while (sent < requests) {
      sent += 1
      await generated.next().value.send(client)
    }
  }
  await Promise.all(Array.from({ length: limits.lanes }, lane))
  client.close()
  return judge
}

function judged({ tallies, faults }: Judge, tools: ListedTool[], report: Report) {
  for (const [key, tally] of tallies) report.note(`${key}: ${[...tally].map(([outcome, times]) => `${times} ${outcome}`).join(", ")}`)
  report.promise("no 5xx, every error in its shape, no data of another company", faults)
  const wasRun = (key: string) => [...(tallies.get(key)?.keys() ?? [])].some(isDeep)
  report.promise(
    "every tool was run",
    tools.map(keyOfTool).filter((key) => !wasRun(key)),
  )
}

/** The calls with IDs of another company whose result shows data of it. */
async function foreignData({ server, attacker, victim }: TestBed, tools: ListedTool[]): Promise<string[]> {
  const shown: string[] = []
  for (const tool of tools) {
    const sets = Array.from({ length: limits.foreignSets }, (_, n) => foreignArguments(tool, attacker, n)).flat()
    for (const given of sets) {
      const { body } = await tellMcp(server.url, attacker, "2026-07-28", "tools/call", { name: tool.name, arguments: given })
      if (JSON.stringify(body).includes(victim.marker)) shown.push(`${tool.name} ${JSON.stringify(given)}`)
    }
  }
  return shown
}

/** Lists the tools many times at once; returns the statuses of failures. */
async function listAtOnce({ server, attacker }: TestBed): Promise<string[]> {
  const [token] = attacker.tokens
  const lists = Array.from({ length: limits.lists }, () => tellMcp(server.url, { token: token! }, "2025-11-25", "tools/list", {}))
  return (await Promise.all(lists)).map(({ status }) => String(status)).filter((status) => status !== "200" && status !== "429")
}
