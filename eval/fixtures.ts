import "reflect-metadata"
import { inTransaction } from "../src/context/transaction.js"
import type { Scope } from "../src/database/unit-of-work.js"
import { AccessToken } from "../src/entities/access-token.js"
import { Company, Subscription } from "../src/entities/company.js"
import { clock } from "../src/entities/kit/clock.js"
import { reply } from "../src/jobs/reply.js"
import type { ModelMessage } from "../src/ports/text-model.js"
import type { Script } from "./script.js"
import type { Endpoints, TestServer } from "./test-server.js"

/** A client of the API with the credentials of the script's company; throws when a request is refused. */
export interface Client {
  // biome-ignore lint/suspicious/noExplicitAny: answers of any shape.
  rest(method: string, path: string, body?: unknown): Promise<any>
  // biome-ignore lint/suspicious/noExplicitAny: answers of any shape.
  gql(query: string, variables: object): Promise<any>
  /** The messages of a call that has ended, with its tool calls; null while it runs. */
  conversationOf(callId: string): Promise<ModelMessage[] | null>
  /** Takes the turns that are due, and waits until they are done; the job scheduler would look up to seconds later. */
  runDue(): Promise<void>
}

/** Voice balance of the company of a script. */
const minutes = 1_000

const conversation = "select conversation, status from call where id = $1 and reported_at is not null"

/** Creates a company with a subscription, a voice balance and a token. */
export async function createCompany({ server, url }: TestServer): Promise<Client> {
  const company = Object.assign(new Company(), { name: "Evaluation", voiceBalance: minutes })
  const inCompany = { companyId: company.id }
  const subscription = Object.assign(new Subscription(), { ...inCompany, plan: "eval", status: "active", startsAt: clock.now() })
  const token = AccessToken.issue(company.id, "eval", null)
  const scope: Scope = { companyIds: [company.id], actor: { kind: "system", id: null }, action: "eval", request: null }
  await inTransaction(server.services, scope, async ({ em }) => void em.persist([company, subscription, token]))
  const headers = { "X-Access-Token": token.token!, "Content-Type": "application/json" }
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(url + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
    const value = (await answer.json()) as { errors?: { message: string }[]; message?: string }
    if (!answer.ok || value.errors) throw new Error(`${method} ${path}: ${value.errors?.[0]?.message ?? value.message}`)
    return value
  }
  return {
    rest: send,
    gql: async (query, variables) => ((await send("POST", "/graphql", { query, variables })) as { data: unknown }).data,
    async conversationOf(callId) {
      const { rows } = await server.services.database.pool.query(conversation, [callId])
      if (rows[0] && rows[0].status !== "transcribed") throw new Error(`The call ended as ${rows[0].status}`)
      return rows[0]?.conversation ?? null
    },
    async runDue() {
      await reply.sweep.run(server.services)
      await server.services.running.idle()
    },
  }
}

/** Creates the script's assistant with its knowledge and tools; returns its id. */
export async function makeAssistant(client: Client, endpoints: Endpoints, script: Script, textModelId: string): Promise<string> {
  const { id } = await client.rest("POST", "/api/assistants-new", { ...script.assistant, textModelId })
  if (script.guardrails) await client.rest("PUT", `/api/assistants/${id}/guardrails`, script.guardrails)
  const items = script.knowledge.map((item) =>
    "page" in item
      ? { name: item.name, kind: "url", resourceUrl: endpoints.address(item.name) }
      : { name: item.name, kind: "text", resourceContent: item.text, isVector: item.searched },
  )
  for (const item of items) await client.rest("POST", "/api/assistant-knowledge-new", { assistantId: id, ...item })
  for (const { name, description, params } of script.tools) {
    const tool = { name, description, ...(params && { params }), apiCallUrl: endpoints.address(name), httpMethod: "POST" }
    await client.rest("POST", "/api/assistant-tools-new", { assistantId: id, ...tool })
  }
  await untilIndexed(client, id)
  return id
}

async function untilIndexed(client: Client, assistantId: string) {
  for (;;) {
    const { data } = await client.rest("GET", `/api/assistant-knowledge-new?assistantId=${assistantId}&take=100`)
    // biome-ignore lint/suspicious/noExplicitAny: as answered.
    const failed = data.find((item: any) => item.indexStatus === "failed")
    if (failed) throw new Error(`The knowledge ${failed.name} was not indexed: ${failed.indexError}`)
    // biome-ignore lint/suspicious/noExplicitAny: as answered.
    if (data.every((item: any) => item.indexStatus !== "pending")) return
    await new Promise((later) => setTimeout(later, 100))
  }
}
