import { randomBytes } from "node:crypto"
import type pg from "pg"
import { ElevenLabsVendor, type VendorConversation } from "../../simulate/vendors/elevenlabs.js"
import { execute } from "../../src/admin/command-line.js"
import { voiceToolSecret } from "../../src/assistant/voice-tools.js"
import { callLimits } from "../../src/calls/limits.js"
import { call as callWork } from "../../src/jobs/call.js"
import { callLines } from "../../src/jobs/call-lines.js"
import { callRecord } from "../../src/jobs/call-record.js"
import { voiceAgent } from "../../src/jobs/voice-agent.js"
import { administration } from "../kit/command-line.js"
import { scraped } from "../kit/metrics.js"
import { promised } from "../kit/promise.js"
import { receiver } from "../kit/receiver.js"
import { stillTime, stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const vendor = new ElevenLabsVendor()
await vendor.server.listen()
const integrator = await receiver()
afterAll(() => Promise.all([vendor.server.close(), integrator.close()]))

const w = world({
  ELEVENLABS_BASE_URL: vendor.server.url,
  ELEVENLABS_API_KEY: "key",
  ELEVENLABS_WEBHOOK_SECRET: vendor.webhookSecret,
  PUBLIC_URL: "https://platform.example",
})
const { acme, rest, sql } = w
const time = stillTime()

beforeAll(async () => {
  await stopScheduler(w)
  await acme.subscription("active")
})
beforeEach(async () => {
  await sql("delete from call")
  await sql("delete from call_report")
  await acme.voice({ balance: 10, lines: 3 })
  vendor.dialed.length = 0
  vendor.conversations.clear()
  vendor.faults.clear()
  vendor.onDialed = () => {}
})

/** Runs due work once by the clock of the test. */
async function work() {
  for (const each of [callLines, voiceAgent.sweep, callWork.sweep, callRecord.sweep]) {
    await each.run(w.services)
    await w.services.running.idle()
  }
}
/** Lets the time between two look-ups pass, and runs what is due then. */
async function poll() {
  time.pass(callLimits.pollMs)
  await work()
}
const accept = async (assistant: { id: string } = acme.assistant): Promise<string> =>
  (await rest.as(acme.token).post(`/api/assistants/${assistant.id}/originate`, { phoneNumber: "+15557654321" }).expect(200)).body.workflowId
const look = async (id: string) => (await rest.as(acme.token).get(`/api/calls-history/${id}`).expect(200)).body
const conversationOf = (id: string) => [...vendor.conversations.values()].find(({ user_id }) => user_id === id)!
const post = ({ body, headers }: { body: string; headers: Record<string, string> }) =>
  fetch(`${w.url}/hooks/voice/elevenlabs`, { method: "POST", body, headers })
const webhook = (conversation: VendorConversation, type = "post_call_transcription") =>
  vendor.webhook(type, conversation, new Date(time.now()))
const said: ["user" | "agent", string][] = [
  ["agent", "Hello!"],
  ["user", "Hi."],
]
const balance = async () => (await sql("select voice_balance from company where id = $1", [acme.id]))[0].voice_balance
const providerIds = async (...ids: string[]) =>
  (await sql("select provider_call_id as id from call where id = any($1)", [ids])).map(({ id }) => id)
const lines = async () => (await sql("select count(*)::int as n from call where status in ('dialing', 'in_progress')"))[0].n

const metric = (name: string) => scraped(w, name)

/** A call that the vendor has dialed. */
async function dialed(): Promise<{ id: string; conversation: VendorConversation }> {
  const id = await accept()
  // The agent of the first call is created on demand.
  await voiceAgent.sweep.run(w.services)
  await w.services.running.idle()
  await work()
  return { id, conversation: conversationOf(id) }
}

it("a call is dialed with an agent on demand, followed by look-ups, transcribed and recorded without a webhook", async () => {
  const { id, conversation } = await dialed()
  expect(await look(id)).toMatchObject({ status: "dialing" })
  vendor.answer(conversation)
  await poll()
  expect(await look(id)).toMatchObject({ status: "in_progress", duration: null })
  vendor.end(conversation, { seconds: 90, said })
  await poll()
  const call = await look(id)
  expect(call).toMatchObject({
    status: "transcribed",
    endedReason: "customer_hung_up",
    duration: 90,
    transcript: "Agent: Hello!\nCustomer: Hi.",
  })
  expect((await fetch(call.recordingUrl.replace("https://platform.example", w.url))).headers.get("content-type")).toBe("audio/mpeg")
  expect(await balance()).toBe(8.5)
  expect(vendor.dialed).toHaveLength(1)
})

it("metrics tell lines in use, waiting calls, ended calls by outcome, the wait for a line and the provider's latency", async () => {
  const provider = 'provider="elevenlabs"'
  const completed = `{${provider},status="completed",reason="customer_hung_up"}`
  const expired = `{${provider},status="not_dialed",reason="queue_timeout"}`
  const latency = (operation: string, outcome: string) =>
    metric("platform_voice_request_duration_seconds_count").then(
      (counts) => counts.get(`{${provider},operation="${operation}",outcome="${outcome}"}`) ?? 0,
    )
  const ended = async (labels: string) => (await metric("platform_calls_total")).get(labels) ?? 0
  const waits = async () => [...(await metric("platform_call_wait_seconds_count")).values()][0] ?? 0
  const before = [
    await ended(completed),
    await ended(expired),
    await waits(),
    await latency("dial", "dialed"),
    await latency("look_up", "ok"),
  ]
  await acme.voice({ lines: 1 })
  const { conversation } = await dialed()
  await accept()
  const { prototype } = (w.services.database.pool as unknown as { Client: typeof pg.Client }).Client
  const sent = jest.spyOn(prototype, "query")
  const waiting = await metric("platform_calls_waiting")
  const counts = sent.mock.calls.filter(([statement]) => (statement as unknown as { name?: string }).name === "count-calls")
  sent.mockRestore()
  expect([...waiting.values()]).toEqual([1])
  // Both gauges of a scrape come from one statement.
  expect(counts).toHaveLength(1)
  expect([...(await metric("platform_voice_lines_in_use")).values()]).toEqual([1])

  vendor.answer(conversation)
  await poll()
  await sql("update call set call_date = call_date - interval '1 day' where status = 'queued'")
  await work()
  vendor.end(conversation, { seconds: 30, said })
  await poll()
  expect([...(await metric("platform_calls_waiting")).values(), ...(await metric("platform_voice_lines_in_use")).values()]).toEqual([0, 0])
  const after = [await ended(completed), await ended(expired), await waits(), await latency("dial", "dialed")]
  expect(after).toEqual([before[0]! + 1, before[1]! + 1, before[2]! + 1, before[3]! + 1])
  expect(await latency("look_up", "ok")).toBeGreaterThanOrEqual(before[4]! + 2)
})

it("a webhook ends a call at once; a repeated one changes nothing, and a forged one is 401", async () => {
  const { id, conversation } = await dialed()
  vendor.end(conversation, { seconds: 60, said })
  expect((await post(vendor.webhook("post_call_transcription", conversation, new Date(time.now()), "forged"))).status).toBe(401)
  expect((await post({ body: JSON.stringify({ type: "post_call_transcription", data: conversation }), headers: {} })).status).toBe(401)
  expect(await look(id)).toMatchObject({ status: "dialing" })
  expect((await post(webhook(conversation))).status).toBe(200)
  expect((await post(webhook(conversation))).status).toBe(200)
  await work()
  expect((await post(webhook(conversation))).status).toBe(200)
  await poll()
  expect(await look(id)).toMatchObject({ status: "transcribed", duration: 60 })
  expect(await balance()).toBe(9)
  const events = await sql("select type from event where payload #>> '{call,id}' = $1 order by id", [id])
  expect(events.map(({ type }) => type)).toEqual(["CALL_STARTED", "CALL_ENDED", "CALL_TRANSCRIBED"])
})

it("a failure that is reported before the dial is answered is kept, and used when the answer names the call", async () => {
  vendor.onDialed = async (conversation) => {
    const { conversation_id, metadata } = conversation
    const data = { conversation_id, failure_reason: "busy", metadata: { type: "twilio", body: { CallSid: metadata.phone_call.call_sid } } }
    expect((await post(webhook(data as never, "call_initiation_failure"))).status).toBe(200)
    expect((await post(webhook(data as never, "call_initiation_failure"))).status).toBe(200)
  }
  const { id } = await dialed()
  expect(await look(id)).toMatchObject({ status: "busy", endedReason: "busy", duration: null })
  expect(await sql("select 1 from call_report")).toEqual([])
  expect(await balance()).toBe(10)
})

it.each(["busy", "no-answer"])("an answered call that is then reported as %s has failed, and its line is free", async (failure_reason) => {
  const { id, conversation } = await dialed()
  vendor.answer(conversation)
  await poll()
  const data = { conversation_id: conversation.conversation_id, failure_reason }
  expect((await post(webhook(data as never, "call_initiation_failure"))).status).toBe(200)
  expect(await look(id)).toMatchObject({ status: "failed", endedReason: "provider_error", duration: null })
  expect(await lines()).toBe(0)
})

it("a report about a call that was not dialed changes nothing", async () => {
  await acme.voice({ lines: 0 })
  const id = await accept()
  const data = { conversation_id: "conv_1", user_id: id, metadata: { call_duration_secs: 30 }, transcript: [] }
  expect((await post(webhook(data as never))).status).toBe(200)
  expect(await look(id)).toMatchObject({ status: "queued", endedReason: null, duration: null })
})

it("a duration that no call can have is bounded, and the charge with it", async () => {
  const { id, conversation } = await dialed()
  vendor.end(conversation, { seconds: 1e300, said })
  expect((await post(webhook(conversation))).status).toBe(200)
  const longest = 600 + callLimits.overdueMs / 1000
  expect(await look(id)).toMatchObject({ duration: longest })
  expect(await balance()).toBe(10 - longest / 60)
})

it("fields of a report that are of a wrong type, too long or not storable are read as missing", async () => {
  const { id, conversation } = await dialed()
  const wrong = [{ toString: 1, valueOf: 2 }, ["done"], "constructor", "__proto__", "\u0000", "x".repeat(100_000), 1e308, null]
  for (const value of wrong)
    for (const field of [
      { status: value },
      { conversation_id: value },
      { user_id: value },
      { metadata: { phone_call: { call_sid: value } } },
    ]) {
      const known = { conversation_id: `conv-unknown-${wrong.indexOf(value)}`, status: "in-progress", ...field }
      expect((await post(webhook(known as never))).status).toBe(200)
    }
  expect(await look(id)).toMatchObject({ status: "dialing" })
  vendor.end(conversation, { seconds: 30, said: [["user", "a\u0000b \ud800"]] })
  expect((await post(webhook(conversation))).status).toBe(200)
  await work()
  expect(await look(id)).toMatchObject({ status: "transcribed", transcript: "Customer: ab \ufffd" })
})

it.each(["reset-after", "500"] as const)("a dial whose answer is lost (%s) is looked up, and never repeated", async (fault) => {
  vendor.faults.next({ fault, on: "outbound-call" })
  const { id, conversation } = await dialed()
  expect(await look(id)).toMatchObject({ status: "dialing" })
  if (conversation) vendor.end(conversation, { seconds: 30, said })
  for (let pass = 0; pass < 4; pass++) await poll()
  if (!conversation) {
    time.pass(callLimits.ringSeconds * 1000 + callLimits.doubtMs)
    await work()
  }
  expect(await look(id)).toMatchObject(
    conversation ? { status: "transcribed", duration: 30 } : { status: "failed", endedReason: "provider_error" },
  )
  expect(vendor.dialed).toHaveLength(conversation ? 1 : 0)
  expect(await lines()).toBe(0)
})

promised(
  "a dial that is answered with the ID of another call is in doubt, and gets nothing of what the other call's report says",
  async () => {
    const first = await dialed()
    vendor.onDialed = (conversation) => {
      conversation.conversation_id = first.conversation.conversation_id
    }
    const id = await accept()
    await work()
    expect(await providerIds(id)).toEqual([null])
    vendor.end(first.conversation, { said })
    expect((await post(webhook({ ...first.conversation, user_id: "" }))).status).toBe(200)
    await poll()
    expect(await look(first.id)).toMatchObject({ status: "transcribed" })
    expect(await look(id)).toMatchObject({ status: "dialing", transcript: null, duration: null })
    time.pass(callLimits.ringSeconds * 1000 + callLimits.doubtMs)
    await work()
    expect(await look(id)).toMatchObject({ status: "failed", endedReason: "provider_error", transcript: null, duration: null })
    expect([await lines(), vendor.dialed.length]).toEqual([0, 2])
  },
)

promised("two dials of two instances that are answered at once with one ID: one call has it", async () => {
  await dialed()
  const other = await w.another()
  await stopScheduler(other)
  const came = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const dials: string[] = []
  vendor.onDialed = async (conversation) => {
    conversation.conversation_id = "conv_same"
    came[dials.push(conversation.user_id) - 1]!.resolve()
    await Promise.all(came.map(({ promise }) => promise))
  }
  const ids = [await accept(), await accept()]
  await callLines.run(w.services)
  await Promise.all([w, other].map(({ services }) => callWork.sweep.run(services)))
  await Promise.all([w, other].map(({ services }) => services.running.idle()))
  expect(dials.sort()).toEqual(ids.sort())
  expect((await providerIds(...ids)).sort()).toEqual(["conv_same", null])
  await other.stop()
})

it.each([1, 2])("a report that one instance gets while another gets the answer of the dial is stored (%d)", async () => {
  const other = await w.another()
  await stopScheduler(other)
  const holder = await w.services.database.pool.connect()
  let reported: Promise<Response> | undefined
  vendor.onDialed = async ({ conversation_id }) => {
    await holder.query("select pg_advisory_lock(hashtextextended('call/elevenlabs/' || $1, 0))", [conversation_id])
    const data = { conversation_id, failure_reason: "busy", metadata: {} }
    const { body, headers } = webhook(data as never, "call_initiation_failure")
    reported = fetch(`${other.url}/hooks/voice/elevenlabs`, { method: "POST", body, headers })
  }
  const dial = dialed()
  const waiting =
    "select 1 from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())"
  await until("both wait for the lock", async () => (await sql(waiting)).length === 2)
  await holder.query("select pg_advisory_unlock_all()")
  holder.release()
  const { id } = await dial
  expect((await reported!).status).toBe(200)
  expect(await look(id)).toMatchObject({ status: "busy", endedReason: "busy", duration: null })
  await other.stop()
})

promised("a process that dies after the dial left the intent: the call is looked up, and not dialed again", async () => {
  const { id } = await dialed()
  // What another instance finds: the intent is there, and the answer was never stored.
  await sql("update call set provider_call_id = null, provider_reference = null, line_due_at = now() - interval '1 day' where id = $1", [
    id,
  ])
  await work()
  expect(vendor.dialed).toHaveLength(1)
  expect((await sql("select provider_call_id as conversation from call where id = $1", [id]))[0].conversation).toBe(
    conversationOf(id).conversation_id,
  )
})

it("a provider without a free line gets the call again until its wait is over", async () => {
  vendor.faults.next({ fault: "429", on: "outbound-call", retryAfter: 8 })
  const { id } = await dialed()
  expect(await look(id)).toMatchObject({ status: "queued" })
  await work()
  expect(vendor.dialed).toHaveLength(0)
  time.pass(8_000)
  await work()
  expect(await look(id)).toMatchObject({ status: "dialing" })
  expect(vendor.dialed).toHaveLength(1)
})

it("a call that never ends by the provider's word ends by time, and a later word replaces that once", async () => {
  const { id, conversation } = await dialed()
  time.pass(callLimits.ringSeconds * 1000 + callLimits.doubtMs)
  await work()
  expect(await look(id)).toMatchObject({ status: "no_answer", endedReason: "no_answer" })
  vendor.end(conversation, { seconds: 60, said })
  await post(webhook(conversation))
  await work()
  expect(await look(id)).toMatchObject({ status: "transcribed", endedReason: "customer_hung_up", duration: 60 })
  expect(await balance()).toBe(9)
  vendor.end(conversation, { seconds: 600, reason: "end_call tool was called." })
  await post(webhook(conversation))
  expect(await look(id)).toMatchObject({ endedReason: "customer_hung_up", duration: 60 })
  expect(await balance()).toBe(9)
})

it("a provider that does not answer look-ups is asked again", async () => {
  const { id, conversation } = await dialed()
  vendor.end(conversation, { seconds: 6, said })
  vendor.faults.next({ fault: "500", on: "/conversations/" })
  await poll()
  expect(await look(id)).toMatchObject({ status: "dialing" })
  await poll()
  expect(await look(id)).toMatchObject({ status: "transcribed", duration: 6 })
})

it("a recording that fails comes later, and the transcript does not wait for it", async () => {
  const { id, conversation } = await dialed()
  vendor.end(conversation, { said })
  vendor.faults.next({ fault: "500", on: "/audio" })
  await poll()
  expect(await look(id)).toMatchObject({ status: "transcribed", recordingUrl: null })
  time.pass(callLimits.recordRetryBaseMs)
  await work()
  expect((await look(id)).recordingUrl).toContain("/media/")
})

it("an agent calls a tool of its assistant on a live call, and no other", async () => {
  const tool = await acme.tool({ name: "getOrder", apiCallUrl: integrator.url, webhookSecret: "word" })
  integrator.answer({ json: { status: "shipped" } })
  const { id, conversation } = await dialed()
  vendor.answer(conversation)
  const [secret] = [...vendor.secrets.values()].filter(({ name }) => name.includes(acme.assistant.id))
  const address = `${w.url}/hooks/voice/elevenlabs/tools/${tool.id}`
  const ask = (headers: Record<string, string>, callId = id) =>
    fetch(address, { method: "POST", headers, body: JSON.stringify({ orderId: 77, call_id: callId }) })
  expect((await ask({})).status).toBe(401)
  expect((await ask({ "X-Voice-Tool-Secret": "00".repeat(32) })).status).toBe(401)
  const rightly = { "X-Voice-Tool-Secret": secret!.value }
  expect((await ask(rightly, acme.assistant.id)).status).toBe(404)
  const answer = await ask(rightly)
  expect([answer.status, await answer.json()]).toEqual([200, { status: "shipped" }])
  expect(JSON.parse(integrator.requests[0]!.body.toString())).toEqual({ orderId: 77 })
  expect(integrator.requests[0]!.headers["x-signature"]).toMatch(/^sha256=/)
  const { body } = await rest.as(acme.token).get(`/api/assistant-tools-new/${tool.id}/logs`).expect(200)
  expect(body.data).toMatchObject([{ callId: id, chatId: null, status: "success" }])
  // The tool call shows that the customer has answered.
  expect(await look(id)).toMatchObject({ status: "in_progress" })
  vendor.end(conversation, { said })
  await poll()
  expect((await ask(rightly)).status).toBe(404)
})

it("the tools of agents get a new secret when the encryption key is changed", async () => {
  const ada = await acme.makeAssistant({ name: "Rotated", vaRegistration: { provider: "elevenlabs" } })
  const tool = await acme.tool({ assistantId: ada.id, name: "getOrder", apiCallUrl: integrator.url })
  await until("the voice agent is ready", async () => {
    await work()
    return (await rest.as(acme.token).get(`/api/assistants-new/${ada.id}`)).body.voiceAgentStatus === "ready"
  })
  const { secrets } = w.services
  const [before, after] = [secrets.encryptionKey, randomBytes(32)]
  const secretAtVendor = () => {
    const schemas = [...vendor.tools.values()].map(({ tool_config }) => tool_config.api_schema)
    const { request_headers: headers } = schemas.find(({ url }) => url.endsWith(tool.id))
    return vendor.secrets.get(headers["X-Voice-Tool-Secret"].secret_id)!.value
  }
  expect(secretAtVendor()).toBe(voiceToolSecret(before, ada.id).toString("hex"))
  // As after a restart with the new key, and the old one beside it.
  Object.assign(secrets, { encryptionKey: after, encryptionKeyPrevious: before })
  try {
    const { done } = administration(w, (args, env) => execute(args, { ...env, ENCRYPTION_KEY: after.toString("base64") }))
    await done("encryption:rotate", { from: before.toString("base64") })
    await work()
    expect(secretAtVendor()).toBe(voiceToolSecret(after, ada.id).toString("hex"))
  } finally {
    Object.assign(secrets, { encryptionKey: before, encryptionKeyPrevious: null })
  }
})

it("the agent of a deleted assistant is removed after its calls have ended", async () => {
  const ada = await acme.makeAssistant({ name: "Ada", vaRegistration: { provider: "elevenlabs" } })
  await until("the voice agent is ready", async () => {
    await work()
    return (await rest.as(acme.token).get(`/api/assistants-new/${ada.id}`)).body.voiceAgentStatus === "ready"
  })
  const id = await accept(ada)
  await work()
  expect(vendor.agents.has(conversationOf(id).agent_id)).toBe(true)
  await rest.as(acme.token).delete(`/api/assistants-new/${ada.id}`).expect(200)
  await work()
  expect(vendor.agents.has(conversationOf(id).agent_id)).toBe(true)
  vendor.end(conversationOf(id), { said })
  await poll()
  await poll()
  expect(vendor.agents.has(conversationOf(id).agent_id)).toBe(false)
  await until("the assistant is removed", async () => {
    await work()
    return (await rest.as(acme.token).get(`/api/assistants-new/${ada.id}`)).status === 404
  })
  expect(await look(id)).toMatchObject({ status: "transcribed", assistantId: null })
})

it("the start log says what is missing for the tools and the webhooks of agents", async () => {
  const linesOf = async (options: Record<string, string>) => {
    const before = w.logged.length
    const { stop } = await w.another(options)
    await stop()
    return w.logged.slice(before).map(({ msg }) => String(msg))
  }
  const [address, secret] = [/without PUBLIC_URL, agents at ElevenLabs have no tools/, /without ELEVENLABS_WEBHOOK_SECRET, calls are only/]
  const without = async (options: Record<string, string>) => {
    const lines = await linesOf(options)
    return [address, secret].map((words) => lines.some((line) => words.test(line)))
  }
  expect(await without({ PUBLIC_URL: "" })).toEqual([true, false])
  expect(await without({ ELEVENLABS_WEBHOOK_SECRET: "" })).toEqual([false, true])
  expect(await without({})).toEqual([false, false])
})
