import { measureBurst } from "./burst.js"
import { type Deployment, openDeployment } from "./deployment.js"
import { countInbound, measureInbound } from "./inbound.js"
import { measureLatency } from "./latency.js"
import type { TurnOptions, TurnWorkload } from "./options.js"
import { countDeliveries, measureDeliveries } from "./outbound.js"
import { turnReport } from "./report.js"
import type { TurnFindings } from "./targets.js"
import { countTurns, measureThroughput, type Workload } from "./throughput.js"

/** Measures customers' messages and assistants' turns; returns the report. What was measured before a workload failed is told all the same. */
export async function measureTurns(options: TurnOptions, say: (line: string) => void): Promise<string> {
  await using stack = new AsyncDisposableStack()
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(1)))
  const deployment = await openDeployment(stack, options, say)
  const found: TurnFindings = { measurements: [], statements: {}, memory: [], burst: [] }
  try {
    await measureAll(deployment, options, found)
  } catch (error) {
    say(turnReport(found))
    throw error
  }
  const { rounds, seconds } = options
  return `${rounds} rounds of ${seconds} s; Node ${process.version}\n${turnReport(found)}`
}

async function measureAll(deployment: Deployment, options: TurnOptions, found: TurnFindings) {
  // The number of statements does not depend on the number of chats.
  const isCounting = !options.isWithTenth
  const has = (name: TurnWorkload) => options.workloads.includes(name)
  const throughputs: Workload[] = [...(has("T2") ? (["T2"] as const) : []), ...(has("T3") ? (["T3", "T3 MCP"] as const) : [])]
  if (has("T1")) {
    if (isCounting) Object.assign(found.statements, await countInbound(deployment), await countDeliveries(deployment))
    found.measurements.push(...(await measureInbound(deployment, options)))
    found.measurements.push(...(await measureDeliveries(deployment, options)))
  }
  if (throughputs.length > 0) {
    if (isCounting) Object.assign(found.statements, await countTurns(deployment, throughputs))
    const { measurements, memory } = await measureThroughput(deployment, throughputs, options)
    found.measurements.push(...measurements)
    found.memory = memory
  }
  if (has("L")) found.measurements.push(...(await measureLatency(deployment, options)))
  if (has("B")) found.burst = await measureBurst(deployment, options)
}
