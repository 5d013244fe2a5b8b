import { systemContext } from "../../src/context/request-context.js"
import type { Services } from "../../src/context/services.js"
import { Assistant } from "../../src/entities/assistant.js"
import { voiceAgent } from "../../src/jobs/voice-agent.js"
import { VoiceFailure } from "../../src/ports/voice.js"
import { fakeVoice } from "../kit/fake-voice.js"
import { promised } from "../kit/promise.js"
import { stillTime, stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, rest, gql, sql } = w
const time = stillTime()
const fake = fakeVoice()
const other = fakeVoice("other")
const path = "/api/assistants-new"

beforeAll(async () => {
  await stopScheduler(w)
  w.services.voices.push(fake.provider, other.provider)
})
beforeEach(async () => {
  fake.reset()
  other.reset()
  // Unfinished work of an earlier test must not affect this one.
  await sql("update assistant set voice_due_at = null, voice_work_id = null, voice_lease_until = null")
})

/** Runs due work on one instance until it is done; each sweep does one step. */
async function work({ services }: { services: Services } = w) {
  await voiceAgent.sweep.run(services)
  await services.running.idle()
}

const voice = (more: object = {}) => ({ provider: "fake", ...more })
const make = (fields: object = {}) => acme.makeAssistant({ name: "Ada", vaRegistration: voice(), ...fields })
const made = async (fields: object = {}) => {
  const assistant = await make(fields)
  await work()
  return assistant
}
const look = async ({ id }: { id: string }) => (await rest.as(acme.token).get(`${path}/${id}`).expect(200)).body
const change = async ({ id }: { id: string }, body: object) => (await rest.as(acme.token).patch(`${path}/${id}`, body).expect(200)).body
const remove = async ({ id }: { id: string }) => (await rest.as(acme.token).delete(`${path}/${id}`).expect(200)).body
const gone = ({ id }: { id: string }) => rest.as(acme.token).get(`${path}/${id}`).expect(404)
const status = async (assistant: { id: string }) => (await look(assistant)).voiceAgentStatus
const errorOf = async ({ id }: { id: string }) =>
  (await gql(acme.token, "query ($id: UUID!) { assistant(id: $id) { voiceAgentError } }", { id })).data.assistant.voiceAgentError
const tasks = (provider = fake) => provider.calls.map(({ task }) => task)

describe("the voice registration of an assistant", () => {
  it("is completed with defaults, and its number is E.164", async () => {
    const { vaRegistration, voiceAgentStatus } = await make({ vaRegistration: voice({ phoneNumber: " +380 (44) 123-45-67 " }) })
    expect(voiceAgentStatus).toBe("provisioning")
    expect(vaRegistration).toEqual({
      provider: "fake",
      voiceId: null,
      phoneNumber: "+380441234567",
      firstMessage: null,
      interruptible: true,
      silenceTimeoutSeconds: 30,
      maxDurationSeconds: 600,
    })
  })

  it("is stored unchanged, and GraphQL shows the same", async () => {
    const said = {
      provider: "fake",
      voiceId: "v".repeat(100),
      phoneNumber: "+15551234567",
      firstMessage: "é".repeat(2_000),
      interruptible: false,
      silenceTimeoutSeconds: 600,
      maxDurationSeconds: 14_400,
    }
    const query = `mutation ($input: CreateAssistantInput!) { createAssistant(input: $input) { voiceAgentStatus
      vaRegistration { provider voiceId phoneNumber firstMessage interruptible silenceTimeoutSeconds maxDurationSeconds } } }`
    const { data } = await gql(acme.token, query, { input: { name: "Ada", vaRegistration: said } })
    expect(data.createAssistant).toEqual({ voiceAgentStatus: "PROVISIONING", vaRegistration: said })
  })

  it.each([
    ["provider", "elevenlabs"],
    ["provider", ""],
    ["provider", undefined],
    ["voiceId", ""],
    ["voiceId", "v".repeat(101)],
    ["phoneNumber", "044 123 45 67"],
    ["phoneNumber", "+0441234567"],
    ["phoneNumber", "+1234567890123456"],
    ["phoneNumber", "call me"],
    ["firstMessage", "x".repeat(2_001)],
    ["interruptible", null],
    ["interruptible", "yes"],
    ["silenceTimeoutSeconds", 0],
    ["silenceTimeoutSeconds", 601],
    ["silenceTimeoutSeconds", null],
    ["silenceTimeoutSeconds", 1.5],
    ["maxDurationSeconds", 0],
    ["maxDurationSeconds", 14_401],
  ])("with a bad %s (%p) is 400 over both protocols and for create and update", async (field, value) => {
    const { id } = acme.assistant
    const input = { name: "Ada", vaRegistration: voice({ [field]: value }) }
    for (const answer of [await rest.as(acme.token).post(path, input), await rest.as(acme.token).patch(`${path}/${id}`, input)]) {
      expect(answer.status).toBe(400)
      expect(`${answer.body.details[0].path} ${answer.body.details[0].message}`).toContain(field)
    }
    const { errors } = await gql(acme.token, "mutation ($input: CreateAssistantInput!) { createAssistant(input: $input) { id } }", {
      input,
    })
    expect(errors![0]!.extensions).toMatchObject({ code: "BAD_USER_INPUT", statusCode: 400 })
    expect(await status({ id })).toBe("none")
  })

  it("names a provider of this server; without its key there is no elevenlabs", async () => {
    const { body } = await rest
      .as(acme.token)
      .post(path, { name: "Ada", vaRegistration: { provider: "elevenlabs" } })
      .expect(400)
    expect(body.message).toMatch(/"elevenlabs" is not configured on this server; available providers: simulated/)
  })
})

describe("a voice agent", () => {
  it("is created in the background from the assistant's settings", async () => {
    const assistant = await make({ prompt: "Answer for {{shop}}.", greeting: "Hi", language: "uk" })
    expect([await status(assistant), fake.calls]).toEqual(["provisioning", []])
    await work()
    expect(await status(assistant)).toBe("ready")
    const { provider: _named, ...settings } = assistant.vaRegistration
    expect(fake.agents.get(assistant.id)?.settings).toEqual({
      ...settings,
      ...{ model: null, temperature: null, tools: [] },
      assistantId: assistant.id,
      agentId: null,
      name: "Ada",
      instructions: "Answer for {{shop}}.",
      firstMessage: "Hi",
      language: "uk",
    })
    await work()
    expect(tasks()).toEqual(["provision"])
  })

  it("of the built-in provider is ready without an external service", async () => {
    const assistant = await made({ vaRegistration: { provider: "simulated" } })
    expect(await status(assistant)).toBe("ready")
    const [row] = await sql("select voice_agent_id from assistant where id = $1", [assistant.id])
    expect(row.voice_agent_id).toMatch(/^simulated-/)
  })

  it("moves updatedAt when its visible state changes, and not during work on it", async () => {
    const assistant = await make()
    const { next } = fake.hold()
    time.pass(1_000)
    const working = work()
    const call = await next()
    expect((await look(assistant)).updatedAt).toBe(assistant.updatedAt)
    time.pass(1_000)
    call.answer()
    await working
    const ready = await look(assistant)
    expect(Date.parse(ready.updatedAt) - Date.parse(assistant.updatedAt)).toBe(2_000)
    fake.reply = async () => {}
    const renamed = await change(assistant, { name: "Bea" })
    time.pass(1_000)
    await work()
    expect(await look(assistant)).toEqual(renamed)
  })

  it("follows a change of the registration, and is not ready meanwhile", async () => {
    const assistant = await made()
    const { id } = fake.agents.get(assistant.id)!
    expect(await change(assistant, { vaRegistration: voice({ voiceId: "calm" }) })).toMatchObject({ voiceAgentStatus: "provisioning" })
    await work()
    expect(await status(assistant)).toBe("ready")
    expect(fake.agents.get(assistant.id)).toMatchObject({ id, settings: { agentId: id, voiceId: "calm" } })
  })

  it("follows a change of its prompt, and stays ready meanwhile", async () => {
    const assistant = await made()
    for (const changed of [{ name: "Bea" }, { prompt: "Be brief." }, { greeting: "Hello" }, { language: "de" }, { temperature: 0.5 }]) {
      expect(await change(assistant, changed)).toMatchObject({ voiceAgentStatus: "ready" })
      await work()
    }
    expect(fake.agents.get(assistant.id)?.settings).toMatchObject({
      name: "Bea",
      instructions: "Be brief.",
      firstMessage: "Hello",
      language: "de",
      temperature: 0.5,
    })
    fake.calls.length = 0
    for (const same of [{ name: "Bea" }, { temperature: 0.5 }, { excludedTags: ["vip"] }]) await change(assistant, same)
    await work()
    expect(fake.calls).toEqual([])
  })

  it("is not sent what the provider has confirmed, and is ready again", async () => {
    const assistant = await made()
    fake.calls.length = 0
    await change(assistant, { vaRegistration: voice() })
    await work()
    await change(assistant, { prompt: "Be brief." })
    await change(assistant, { prompt: assistant.prompt })
    await work()
    expect([await status(assistant), fake.calls]).toEqual(["ready", []])
  })

  it("whose update failed says why, stays ready, and is sent everything, also what it had before", async () => {
    const assistant = await made()
    fake.calls.length = 0
    fake.reply = async () => {
      throw new VoiceFailure("Out of order")
    }
    await change(assistant, { prompt: "Be brief." })
    await work()
    expect([await status(assistant), await errorOf(assistant)]).toEqual(["ready", "Out of order"])
    fake.reply = async () => {}
    // What arrived of the failed request is not known.
    await change(assistant, { prompt: assistant.prompt })
    await work()
    expect([tasks(), await status(assistant), await errorOf(assistant)]).toEqual([["provision", "provision"], "ready", null])
  })

  it("is deleted when the voice is removed", async () => {
    const assistant = await made()
    const { id: agentId } = fake.agents.get(assistant.id)!
    expect(await change(assistant, { vaRegistration: null })).toMatchObject({ vaRegistration: null, voiceAgentStatus: "none" })
    await work()
    expect(fake.calls.at(-1)).toMatchObject({ task: "tearDown", assistantId: assistant.id, agentId })
    expect([fake.agents.size, await status(assistant)]).toEqual([0, "none"])
    await work()
    expect(fake.calls).toHaveLength(2)
  })

  it("is deleted before another provider creates one", async () => {
    const assistant = await made()
    await change(assistant, { vaRegistration: { provider: "other" } })
    await work()
    expect([fake.agents.size, tasks(other), await status(assistant)]).toEqual([0, [], "provisioning"])
    await work()
    expect(other.agents.get(assistant.id)?.settings.agentId).toBeNull()
    expect([tasks(), tasks(other), await status(assistant)]).toEqual([["provision", "tearDown"], ["provision"], "ready"])
  })
})

describe("a voice provider that refuses", () => {
  it("is called six times with growing pauses, then the agent has failed, with the reason", async () => {
    const assistant = await make()
    fake.reply = async () => {
      throw new VoiceFailure("Our line is down")
    }
    for (const [tries, pause] of [2, 4, 8, 16, 32].entries()) {
      await work()
      expect([fake.calls.length, await status(assistant), await errorOf(assistant)]).toEqual([
        tries + 1,
        "provisioning",
        "Our line is down",
      ])
      time.pass(pause * 1_000 - 1)
      await work()
      expect(fake.calls).toHaveLength(tries + 1)
      time.pass(1)
    }
    await work()
    expect([fake.calls.length, await status(assistant), await errorOf(assistant)]).toEqual([6, "failed", "Our line is down"])
    time.pass(24 * 60 * 60_000)
    await work()
    expect(fake.calls).toHaveLength(6)
  })

  it("permanently is not called again until something changes", async () => {
    const assistant = await make({ vaRegistration: voice({ voiceId: "nobody" }) })
    fake.reply = async () => {
      throw new VoiceFailure("There is no such voice", true)
    }
    await work()
    expect([fake.calls.length, await status(assistant)]).toEqual([1, "failed"])
    fake.reply = async () => {}
    for (const changed of [{ vaRegistration: voice({ voiceId: "calm" }) }, { prompt: "Hello" }]) {
      await sql("update assistant set voice_agent_status = 'failed' where id = $1", [assistant.id])
      expect(await change(assistant, changed)).toMatchObject({ voiceAgentStatus: "provisioning" })
      await work()
      expect([await status(assistant), await errorOf(assistant)]).toEqual(["ready", null])
    }
  })

  it("by an internal fault is logged with it, and shown without it", async () => {
    const assistant = await make()
    fake.reply = async () => {
      throw new TypeError("undefined is not a voice")
    }
    await work()
    expect(await errorOf(assistant)).toBe("The voice provider could not be reached")
    expect(w.logged.find(({ msg }) => msg === "work on a voice agent failed")).toMatchObject({
      level: 50,
      assistantId: assistant.id,
      err: { message: "undefined is not a voice" },
    })
  })

  it("to delete an agent is called until it does", async () => {
    const assistant = await made()
    expect(await remove(assistant)).toEqual({ id: assistant.id, deleted: false, terminating: true })
    fake.reply = async () => {
      throw new VoiceFailure("Not now", true)
    }
    for (let tries = 0; tries < 12; tries += 1) {
      await work()
      time.pass(600_000)
    }
    expect([fake.calls.length, await status(assistant)]).toEqual([13, "terminating"])
    fake.reply = async () => {}
    await work()
    await work()
    await gone(assistant)
  })

  it("because it is no longer configured blocks nothing for ever; the log names the remaining agent", async () => {
    const assistant = await made({ vaRegistration: { provider: "other" } })
    w.services.voices.splice(w.services.voices.indexOf(other.provider), 1)
    await change(assistant, { prompt: "Hello" })
    for (let tries = 0; tries < 6; tries += 1) {
      await work()
      time.pass(60_000)
    }
    expect([await status(assistant), await errorOf(assistant)]).toEqual(["failed", 'The voice provider "other" is not configured'])
    await remove(assistant)
    for (let tries = 0; tries < 7; tries += 1) {
      await work()
      time.pass(60_000)
    }
    await gone(assistant)
    expect(w.logged.find(({ msg }) => /remains at a voice provider/.test(String(msg)))).toMatchObject({
      level: 50,
      provider: "other",
      assistantId: assistant.id,
      agentId: other.agents.get(assistant.id)!.id,
    })
    w.services.voices.push(other.provider)
  })
})

describe("concurrent changes", () => {
  it("a change while the agent is made is made afterwards", async () => {
    const assistant = await make()
    const { next } = fake.hold()
    const working = work()
    const first = await next()
    await change(assistant, { vaRegistration: voice({ voiceId: "calm" }), prompt: "New" })
    await voiceAgent.sweep.run(w.services)
    first.answer()
    await working
    expect(fake.calls).toHaveLength(1)
    expect(await status(assistant)).toBe("provisioning")
    fake.reply = async () => {}
    await work()
    expect(await status(assistant)).toBe("ready")
    expect(fake.agents.get(assistant.id)?.settings).toMatchObject({ voiceId: "calm", instructions: "New", agentId: expect.any(String) })
  })

  it("an agent whose voice is removed while it is created is deleted afterwards", async () => {
    const assistant = await make()
    const { next } = fake.hold()
    const working = work()
    const first = await next()
    await change(assistant, { vaRegistration: null })
    first.answer()
    await working
    fake.reply = async () => {}
    await work()
    expect([fake.agents.size, tasks(), await status(assistant)]).toEqual([0, ["provision", "tearDown"], "none"])
  })

  it("a deletion while the agent is created deletes it afterwards, with the assistant", async () => {
    const assistant = await make()
    const { next } = fake.hold()
    const working = work()
    const first = await next()
    expect(await remove(assistant)).toEqual({ id: assistant.id, deleted: false, terminating: true })
    expect(await status(assistant)).toBe("terminating")
    first.answer()
    await working
    expect([fake.agents.size, await status(assistant)]).toEqual([1, "terminating"])
    fake.reply = async () => {}
    await work()
    expect([fake.agents.size, tasks()]).toEqual([0, ["provision", "tearDown"]])
    await work()
    await gone(assistant)
  })

  it("a deletion whose request died leaves no chat with AI on, however long the provider refuses", async () => {
    const assistant = await made()
    const chat = await acme.chat({ assistantId: assistant.id })
    await systemContext(w.services, acme.id, "test").transaction(async (tx) => (await tx.find(Assistant, assistant.id)).terminate())
    fake.reply = async () => {
      throw new VoiceFailure("Not now")
    }
    await work()
    const { body } = await rest.as(acme.token).get(`/api/chats/${chat.id}`).expect(200)
    expect(body).toMatchObject({ assistantId: null, isUnderAiControl: false, aiDisableReason: "manual" })
    expect(await status(assistant)).toBe("terminating")
  })

  it("a deletion before the provider was called does not call it", async () => {
    const assistant = await make()
    expect(await remove(assistant)).toEqual({ id: assistant.id, deleted: false, terminating: true })
    await work()
    await gone(assistant)
    expect(fake.calls).toEqual([])
  })

  it("a deletion of a failed agent asks the provider to delete what may exist", async () => {
    const assistant = await make()
    fake.reply = async () => {
      throw new VoiceFailure("No", true)
    }
    await work()
    fake.reply = async () => {}
    expect(await remove(assistant)).toMatchObject({ terminating: true })
    await work()
    await work()
    expect(tasks()).toEqual(["provision", "tearDown"])
    await gone(assistant)
  })

  it("twenty deletions at once are one, with the same response", async () => {
    const assistant = await made()
    const answers = await Promise.all(Array.from({ length: 20 }, () => remove(assistant)))
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([JSON.stringify({ id: assistant.id, deleted: false, terminating: true })]),
    )
    await Promise.all(Array.from({ length: 5 }, () => work()))
    await work()
    expect(tasks()).toEqual(["provision", "tearDown"])
    await gone(assistant)
    await rest.as(acme.token).delete(`${path}/${assistant.id}`).expect(404)
  })
})

describe("a worker", () => {
  /** A second server that does nothing by itself and knows the same provider. */
  async function another() {
    const server = await w.another()
    await stopScheduler(server)
    server.services.voices.push(fake.provider)
    return server
  }

  it("has the agent to itself, however many instances sweep", async () => {
    const second = await another()
    const assistants = [await make(), await make(), await make()]
    await Promise.all([w, second, w, second].map(work))
    expect(fake.calls.map(({ assistantId }) => assistantId).sort()).toEqual(assistants.map(({ id }) => id).sort())
    for (const assistant of assistants) expect(await status(assistant)).toBe("ready")
  })

  promised("that is lost for a minute is replaced; there is one agent, and its later result is not stored", async () => {
    const lost = await another()
    const assistant = await make()
    const { next } = fake.hold()
    await voiceAgent.sweep.run(lost.services)
    const first = await next()
    time.pass(59_999)
    await work()
    expect(fake.calls).toHaveLength(1)
    time.pass(1)
    const working = work()
    ;(await next()).answer()
    await working
    expect(await status(assistant)).toBe("ready")
    await change(assistant, { vaRegistration: voice({ voiceId: "calm" }) })
    first.answer()
    await lost.services.running.idle()
    expect([await status(assistant), fake.agents.size]).toEqual(["provisioning", 1])
    fake.reply = async () => {}
    await work()
    expect(fake.agents.get(assistant.id)?.settings.voiceId).toBe("calm")
  })

  promised("that was only slow and ends last does not leave its older settings", async () => {
    const lost = await another()
    const assistant = await make()
    const { next } = fake.hold()
    await voiceAgent.sweep.run(lost.services)
    const first = await next()
    await change(assistant, { vaRegistration: voice({ voiceId: "calm" }) })
    time.pass(60_000)
    const working = work()
    ;(await next()).answer()
    await working
    expect([await status(assistant), fake.agents.get(assistant.id)?.settings.voiceId]).toEqual(["ready", "calm"])
    first.answer()
    await lost.services.running.idle()
    expect(fake.agents.get(assistant.id)?.settings.voiceId).toBeNull()
    fake.reply = async () => {}
    await work()
    expect([await status(assistant), fake.agents.get(assistant.id)?.settings.voiceId]).toEqual(["ready", "calm"])
  })

  it("that was only slow leaves no agent of an assistant that was deleted meanwhile", async () => {
    const lost = await another()
    const assistant = await make()
    const { next } = fake.hold()
    await voiceAgent.sweep.run(lost.services)
    const first = await next()
    await remove(assistant)
    time.pass(60_000)
    fake.reply = async () => {}
    await work()
    await work()
    await gone(assistant)
    first.answer()
    await lost.services.running.idle()
    expect([fake.agents.size, fake.calls.at(-1)]).toMatchObject([0, { task: "tearDown", agentId: expect.any(String) }])
  })

  it("gives its provider half a minute", async () => {
    const assistant = await make({ vaRegistration: { provider: "simulated" } })
    const { timeout } = AbortSignal
    const asked: number[] = []
    AbortSignal.timeout = (ms) => {
      asked.push(ms)
      return AbortSignal.abort()
    }
    await work()
    AbortSignal.timeout = timeout
    expect([asked, await status(assistant)]).toEqual([[30_000], "provisioning"])
    expect(await errorOf(assistant)).toMatch(/was stopped/)
  })

  it("that is stopped releases its work at once", async () => {
    const stopped = await another()
    const assistant = await make()
    const { next } = fake.hold()
    await voiceAgent.sweep.run(stopped.services)
    const call = await next()
    call.signal.addEventListener("abort", () => call.refuse(new VoiceFailure("Stopped")))
    await stopped.stop()
    fake.reply = async () => {}
    await work()
    expect([await status(assistant), tasks(), await errorOf(assistant)]).toEqual(["ready", ["provision", "provision"], null])
  })
})
