import { type Report, tally, worst } from "../test/kit/campaign/report.js"
import { must, sleep, until } from "../test/kit/campaign/wait.js"
import { type Chance, count } from "./kit/chance.js"
import { Customer } from "./kit/customer.js"
import { Endpoint, type ToolEndpoint } from "./kit/endpoint.js"
import { McpEndpoint } from "./kit/mcp-endpoint.js"
import { comeToRest, gaps, misheard, notToldOnce, storedIn } from "./kit/store.js"
import { type Deployment, post } from "./kit/test-bed.js"

/** A kill that is planned: so long after its customers asked, or after one of their calls arrived; the model and the endpoint think as long. */
interface Plan {
  from: "the questions" | "a call"
  afterMs: number
  customers: { modelMs: number; endpointMs: number; isCut: boolean }[]
  /** How long an MCP server is away after the kill. */
  awayMs: number
}

/** How many kills, with how many customers each. */
export interface ToolSize {
  lane: string
  kills: number
  customers: number
}

export const framesInPairs = "each call in a chat has exactly one output, behind it"

export const calledOnce = "the endpoint saw each call id once at most"

/** Kills a server again and again, with -9, at random points of turns that call a tool; every customer expects one answer. */
export async function toolCampaign(deployment: Deployment, report: Report, chance: Chance, size: ToolSize) {
  const endpoint = await Endpoint.start()
  await struckTurns(deployment, report, chance, size, endpoint, (url) => giveTool(deployment, url, endpoint))
}

/** The same with a tool of an MCP server, which also cuts connections after its work, and is away for a while after some kills. */
export async function mcpToolCampaign(deployment: Deployment, report: Report, chance: Chance, size: ToolSize) {
  const endpoint = await McpEndpoint.start()
  await struckTurns(deployment, report, chance, size, endpoint, (url) => giveMcpTool(deployment, url, endpoint))
  report.note(`${endpoint.cut} calls were cut after their work`)
  await report.reached("calls that were cut after their work", endpoint.cut, size.kills / 4)
}

/** Strikes turns that call the tool that `give` makes; it returns the tool's name. */
async function struckTurns(
  deployment: Deployment,
  report: Report,
  chance: Chance,
  { lane, kills, customers }: ToolSize,
  endpoint: Endpoint | McpEndpoint,
  give: (url: string) => Promise<string>,
) {
  const plans = count(kills).map((index): Plan => {
    // Every third is aimed: by chance alone a small campaign may never strike while a tool is waited for.
    const from = index % 3 === 0 ? "a call" : "the questions"
    return {
      from,
      afterMs: from === "a call" ? chance.whole(0, 50) : chance.whole(0, 1_400),
      customers: count(customers).map((place) => ({
        modelMs: chance.whole(0, 250),
        endpointMs: chance.whole(100, 600),
        isCut: (index + place) % 3 === 1,
      })),
      awayMs: index % 4 === 3 ? chance.whole(200, 1_500) : 0,
    }
  })
  const instance = await deployment.start(lane)
  try {
    deployment.model.callsTool(await give(instance.url))
    const all: Customer[] = []
    const struck: string[] = []
    for (const [index, plan] of plans.entries()) {
      const asking = plan.customers.map(async ({ modelMs, endpointMs, isCut }, place) => {
        const customer = new Customer(deployment, `question-${lane}-${index}-${place}`, [instance])
        all.push(customer)
        deployment.model.thinks(customer.tag, modelMs)
        endpoint.thinks(customer.tag, endpointMs)
        if (isCut && endpoint instanceof McpEndpoint) endpoint.hangsUp(customer.tag)
        await customer.ask(instance)
      })
      if (plan.from === "a call") await must("a call reaches the endpoint", () => endpoint.inHands > 0)
      await sleep(plan.afterMs)
      struck.push(endpoint.inHands > 0 ? "in a call" : deployment.model.isQuiet ? "in between" : "in the model")
      await instance.kill()
      const away = plan.awayMs > 0 && endpoint instanceof McpEndpoint ? endpoint.vanish(plan.awayMs) : null
      await instance.start()
      await Promise.all([...asking, away])
    }
    const lastStart = performance.now()
    await until(() => all.every(({ answers }) => answers.length > 0), 60_000)
    const afterwards = all.flatMap(({ answers }) => answers.slice(0, 1).map(({ at }) => at - lastStart))
    if (afterwards.length === all.length) await comeToRest(deployment, [instance])
    report.note(`${kills} kills during ${all.length} turns: ${tally(struck)}; ${endpoint.requests.length} requests reached the endpoint`)
    report.note(`longest wait for an answer after the last start ${worst(afterwards)}`)
    await judge(deployment, report, endpoint, all)
    await report.reached("kills while a tool was waited for", struck.filter((where) => where === "in a call").length, kills / 5)
  } finally {
    endpoint.close()
  }
}

const assistantOf = async (deployment: Deployment): Promise<string> =>
  (await deployment.sql("select id from assistant where company_id = $1", [deployment.companyId]))[0].id

/** Gives the deployment's assistant a tool at the endpoint; returns its name. */
async function giveTool(deployment: Deployment, url: string, endpoint: Endpoint): Promise<string> {
  const params = { type: "object", properties: { question: { type: "string" } }, required: ["question"] }
  const named = { assistantId: await assistantOf(deployment), name: "lookUp", description: "Looks something up." }
  const made = await post(`${url}/api/assistant-tools-new`, deployment.token, { ...named, params, apiCallUrl: endpoint.url })
  await must("the tool is made", () => made.status === 201, 0)
  return named.name
}

/** Connects an MCP server and enables its tool for the deployment's assistant; returns the tool's name. */
async function giveMcpTool(deployment: Deployment, url: string, endpoint: McpEndpoint): Promise<string> {
  const { companyId, token } = deployment
  const made = await post(`${url}/api/companies/${companyId}/mcp-servers`, token, { name: "orders", url: endpoint.url })
  await must("the MCP server is ready", () => made.body.status === "ready", 0)
  const tools = [{ serverId: made.body.id, name: "lookUp" }]
  const mutation = "mutation ($id: UUID!, $tools: [McpToolInput!]!) { setAssistantMcpTools(assistantId: $id, tools: $tools) { id } }"
  const set = await post(`${url}/graphql`, token, { query: mutation, variables: { id: await assistantOf(deployment), tools } })
  await must("its tool is enabled", () => set.body.data?.setAssistantMcpTools !== undefined, 0)
  return "orders_lookUp"
}

async function judge(deployment: Deployment, report: Report, endpoint: ToolEndpoint, all: Customer[]) {
  const { requests } = endpoint
  const twice = (names: string[]) => names.filter((name, index) => names.indexOf(name) !== index)
  const stored = await storedIn(
    deployment,
    all.map(({ chatId }) => chatId),
  )
  const faults = { answers: [] as string[], heard: [] as string[] }
  for (const { tag, chatId, listener } of all) {
    const said = stored.filter((message) => message.chatId === chatId && message.text !== null)
    const answers = said.filter(({ role }) => role === "Assistant").length
    if (answers !== 1) faults.answers.push(`${tag}: ${answers} answers`)
    faults.heard.push(...misheard(tag, listener, said))
  }
  report.promise(calledOnce, twice(requests.map(({ callId }) => callId)))
  report.promise("the endpoint was asked for each customer once at most", twice(requests.map(({ question }) => question)))
  report.promise("each question has exactly one answer", faults.answers)
  report.promise("each customer heard what was said, each once and in order", faults.heard)
  report.promise(framesInPairs, await unpaired(deployment))
  report.promise("each request is in the log, and no entry is left pending", await unlogged(deployment, requests))
  report.promise("messages are numbered without gaps, with one event each", [...gaps(stored), ...notToldOnce(stored)])
}

/** Calls without their output, outputs without their call, and pairs that disagree with the log. */
async function unpaired(deployment: Deployment): Promise<string[]> {
  const rows = await deployment.sql(
    `select coalesce(c.id, o.id) as id, count(*) over (partition by coalesce(c.id, o.id)) as outputs, c.sequence as call, o.sequence as output, o.status
     from (select function_call->>'callId' as id, sequence from message where function_call is not null) c
     full join (select function_call_output->>'callId' as id, function_call_output->>'status' as status, sequence from message
       where function_call_output is not null) o on o.id = c.id`,
  )
  return rows
    .filter(({ outputs, call, output }) => Number(outputs) !== 1 || call === null || output === null || output < call)
    .map(({ id, outputs, call, output }) => `${id}: call at ${call}, output at ${output}, ${outputs} in all`)
}

async function unlogged(deployment: Deployment, requests: Endpoint["requests"]): Promise<string[]> {
  const rows = await deployment.sql("select id, status from tool_call")
  const known = new Map(rows.map(({ id, status }) => [id, status]))
  const missing = requests.filter(({ callId }) => !known.has(callId)).map(({ callId }) => `${callId} is not in the log`)
  return [...missing, ...rows.filter(({ status }) => status === "pending").map(({ id }) => `${id} is pending`)]
}
