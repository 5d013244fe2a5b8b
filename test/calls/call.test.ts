import { bothProtocols } from "../kit/both-protocols.js"
import { promised } from "../kit/promise.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex } = w
const rest = bothProtocols(w)

beforeAll(async () => {
  await acme.subscription("active")
  await acme.voice({ balance: 100, lines: 20 })
})

const body = { phoneNumber: "+380 (44) 123-45-67" }
const originate = (fields: object = {}, assistantId = acme.assistant.id) =>
  rest.as(acme.token).post(`/api/assistants/${assistantId}/originate`, { ...body, ...fields })
const accepted = async (fields: object = {}, assistantId = acme.assistant.id): Promise<string> =>
  (await originate(fields, assistantId).expect(200)).body.workflowId
const detail = async (id: string) => (await w.rest.as(acme.token).get(`/api/calls-history/${id}`).expect(200)).body
const ended = (id: string) =>
  until(`call ${id} has ended`, async () => {
    const call = await detail(id)
    return call.endedReason && !["in_progress", "completed"].includes(call.status) && call
  })
const balance = async () => (await w.sql("select voice_balance from company where id = $1", [acme.id]))[0].voice_balance

const numbers = [
  ["99401", "no_answer", "no_answer"],
  ["99402", "busy", "busy"],
  ["99407", "failed", "provider_error"],
]
const scripts = [
  ["voicemail", "voicemail"],
  ["hang_up", "customer_hung_up"],
  ["silence", "silence"],
  ["max_duration", "max_duration"],
]

describe("a call", () => {
  // All at the same time, because each takes some seconds.
  const calls = new Map<string, string>()
  let balanceBefore = 0
  beforeAll(async () => {
    const assistant = await acme.makeAssistant({ name: "Ada", greeting: "Hello, this is {{ assistant_name }}." })
    balanceBefore = await balance()
    calls.set("answer", await accepted({ dynamicVariables: { name: "Ann" } }))
    for (const [digits] of numbers) calls.set(digits!, await accepted({ phoneNumber: `+1555${digits}` }))
    for (const [simulate] of scripts) calls.set(simulate!, await accepted({ dynamicVariables: { simulate } }, assistant.id))
  })

  it("is accepted, dialed on a free line, and transcribed with its recording", async () => {
    const id = calls.get("answer")!
    const call = await ended(id)
    expect(call).toMatchObject({
      id,
      workflowId: id,
      assistantId: acme.assistant.id,
      callerAssistantId: acme.assistant.id,
      status: "transcribed",
      endedReason: "customer_hung_up",
      source: "api",
      employeeName: null,
      phoneNumber: "+380441234567",
      dynamicVariables: { name: "Ann", phone_number: "+380441234567", call_id: id, company_name: "Acme", agent_number: null },
    })
    expect(call.replies.map(({ role }: { role: string }) => role)).toContain("agent")
    expect(call.transcript.split("\n")).toHaveLength(call.replies.length)
    const recording = await fetch(call.recordingUrl)
    expect(recording.headers.get("content-type")).toMatch(/^audio\//)
    expect(
      Buffer.from(await recording.arrayBuffer())
        .subarray(0, 4)
        .toString(),
    ).toBe("RIFF")
    // The list shows the same without the replies.
    const { body } = await w.rest.as(acme.token).get("/api/calls-history?phone=%2B380%2044%20123%2045%2067").expect(200)
    const { replies: _replies, recordingUrl: _signed, updatedAt: _later, ...shown } = call
    expect(body.data.find((each: { id: string }) => each.id === id)).toMatchObject(shown)
  })

  it.each(numbers)("to a number that ends in %s is %s", async (digits, status, endedReason) => {
    const call = await ended(calls.get(digits)!)
    expect(call).toMatchObject({ status, endedReason, duration: null, transcript: null, replies: [], recordingUrl: null })
  })

  it.each(scripts)("by the script %s ends with the reason %s, and is connected", async (simulate, endedReason) => {
    const call = await ended(calls.get(simulate)!)
    expect(call).toMatchObject({ status: "transcribed", endedReason })
    expect(call.replies[0]).toMatchObject({ role: "agent", text: "Hello, this is Ada.", startSeconds: 0 })
    expect(call.duration).toBeGreaterThan(0)
  })

  promised("is charged once for its duration, when it was connected", async () => {
    const all = await Promise.all([...calls.values()].map(ended))
    const minutes = all.map(({ duration }) => Math.round(((duration ?? 0) * 10_000) / 60) / 10_000)
    const cost = minutes.reduce((sum, each) => sum + each, 0)
    expect(await balance()).toBeCloseTo(balanceBefore - cost, 4)
  })
})

describe("a call is refused", () => {
  it.each([
    ["without a number", { phoneNumber: undefined }, "phoneNumber"],
    ["with a number without country code", { phoneNumber: "0441234567" }, "phoneNumber"],
    ["with a caller of another company", () => ({ callerAssistantId: globex.assistant.id }), "callerAssistantId"],
    ["with variables that are a list", { dynamicVariables: [] }, "dynamicVariables"],
    ["with a variable that is an object", { dynamicVariables: { name: {} } }, "dynamicVariables.name"],
    ["with a reserved name", { dynamicVariables: { system__x: 1 } }, "dynamicVariables.system__x"],
    ["with a malformed name", { dynamicVariables: { "a b": 1 } }, "dynamicVariables.a b"],
    ["with a text that is too long", { dynamicVariables: { a: "x".repeat(2_001) } }, "dynamicVariables.a"],
    [
      "with too many variables",
      { dynamicVariables: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`v${i}`, i])) },
      "dynamicVariables",
    ],
  ])("%s", async (_says, fields, path) => {
    const { body } = await originate(typeof fields === "function" ? fields() : fields).expect(400)
    expect(body.details.map((detail: { path: string }) => detail.path.replace(/^input\./, ""))).toContain(path)
  })

  promised("of an assistant of another company", () => originate({}, globex.assistant.id).expect(404))

  it("without an active subscription, and then without balance", async () => {
    await acme.subscription(null)
    await acme.voice({ balance: 0 })
    await originate().expect(403)
    await acme.subscription("active")
    await originate().expect(400)
    await acme.voice({ balance: 100 })
  })
})

it("a repetition with the same Idempotency-Key is the same call", async () => {
  await acme.voice({ lines: 0 })
  const send = (fields: object = {}) => originate(fields).set("Idempotency-Key", "call-once")
  const first = await send().expect(200)
  const second = await send().expect(200)
  expect(second.body).toEqual(first.body)
  expect(second.headers["idempotency-replayed"]).toBe("true")
  await send({ phoneNumber: "+15550000000" }).expect(422)
})
