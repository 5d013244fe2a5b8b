import { v7 } from "uuid"
import { quietChats } from "../../src/jobs/quiet-chats.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { stillTime, stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

/**
 * The specification's table "Chat AI control", every state with every trigger. A cell is the resulting state: `on`, `auto` or `manual`
 * (off with that reason); `=` no change and no event; a status: refused with it, and no change.
 * Circumstances: `ordinary`; `unpaid`, without an active subscription; `group`; `nobody`, without an assistant.
 */
const table = `
  trigger                            | circumstances              | on     | auto   | manual
  ai-control off                     | all                        | manual | manual | =
  ai-control off, manual             | all                        | manual | manual | =
  ai-control off, auto               | all                        | auto   | =      | auto
  PATCH off                          | all                        | manual | manual | =
  PATCH on                           | all                        | =      | on     | on
  ai-control on                      | ordinary nobody            | =      | on     | on
  ai-control on                      | unpaid                     | 403    | 403    | 403
  ai-control on                      | group                      | 400    | 400    | 400
  assign-assistant                   | ordinary unpaid nobody     | =      | on     | on
  assign-assistant                   | group                      | 400    | 400    | 400
  assign-assistant, a draft          | all                        | 400    | 400    | 400
  assign-assistant, a foreign one    | all                        | 400    | 400    | 400
  assign-assistant, a missing one    | all                        | 400    | 400    | 400
  unassign-assistant                 | all                        | =      | =      | =
  a message of our side              | all                        | =      | =      | =
  the model calls turnOffAiMode      | ordinary                   | auto   | =      | =
  the model calls turnOffAiMode      | unpaid                     | auto   | =      | =
  the model calls turnOffAiMode      | group nobody               | =      | =      | =
  the model fails four times         | ordinary unpaid            | auto   | =      | =
  the model fails four times         | group nobody               | =      | =      | =
  almost ten quiet minutes           | all                        | =      | =      | =
  ten quiet minutes                  | ordinary                   | =      | on     | =
  ten quiet minutes                  | unpaid group nobody        | =      | =      | =
  nine minutes, a message, and nine  | all                        | =      | =      | =
  a customer after ten quiet minutes | ordinary                   | =      | on     | =
  a customer after ten quiet minutes | unpaid group nobody        | =      | =      | =`

const states = ["on", "auto", "manual"] as const
type State = (typeof states)[number]
const circumstances = ["ordinary", "unpaid", "group", "nobody"] as const
type Circumstance = (typeof circumstances)[number]

const cells = table
  .trim()
  .split("\n")
  .slice(1)
  .flatMap((line) => {
    const [trigger, where, ...becomes] = line.split("|").map((cell) => cell.trim()) as [string, string, ...string[]]
    const places = where === "all" ? circumstances : (where.split(/ +/) as Circumstance[])
    return places.flatMap((place) => states.map((state, index) => [state, place, trigger, becomes[index]!] as const))
  })

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

const w = world({ OPENAI_BASE_URL: openAi.url })
const { acme, globex, rest, sql } = w
const time = stillTime()
const minute = 60_000
let drafts: Map<string, string>

beforeAll(async () => {
  await stopScheduler(w)
  // The fixtures use the offline model: these assistants use the model of this test.
  for (const company of [acme, globex]) Object.assign(company.assistant, await company.makeAssistant({ name: "Ada" }))
  drafts = new Map([
    [acme.id, (await acme.makeAssistant({ isDraft: true })).id],
    [globex.id, (await globex.makeAssistant({ isDraft: true })).id],
  ])
})

const companyIn = (place: Circumstance) => (place === "unpaid" ? globex : acme)

/** A chat in a state that it reached through the API. */
async function chatIn(state: State, place: Circumstance): Promise<{ id: string }> {
  const company = companyIn(place)
  const { assistant, token } = company
  const chat = await company.chat({
    ...(place === "group" && { chatType: "group" }),
    ...((place === "ordinary" || place === "unpaid") && { assistantId: assistant.id }),
  })
  const as = rest.as(token)
  // PATCH skips the business rules, so that a group may have AI on and an assistant.
  if (place === "group") await as.patch(`/api/chats/${chat.id}`, { assistantId: assistant.id }).expect(200)
  if (!chat.isUnderAiControl) await as.patch(`/api/chats/${chat.id}`, { isUnderAiControl: true }).expect(200)
  if (state !== "on") await as.patch(`/api/chats/${chat.id}/ai-control`, { isUnderAiControl: false, aiDisableReason: state }).expect(200)
  return chat
}

type Act = (chat: { id: string }, place: Circumstance) => Promise<{ status: number } | undefined>

const patch =
  (path: string, body: (place: Circumstance) => object): Act =>
  (chat, place) =>
    rest.as(companyIn(place).token).patch(`/api/chats/${chat.id}${path}`, body(place))
const assign = (assistantId: (place: Circumstance) => string) =>
  patch("/assign-assistant", (place) => ({ assistantId: assistantId(place) }))
const write = (chat: { id: string }, place: Circumstance, role = "Customer") => companyIn(place).message({ chatId: chat.id, role })
const lookForQuietChats = async () => quietChats.run(w.services)
/** A customer writes, and the turn is tried until it ends. */
const turn: Act = async (chat, place) => {
  await write(chat, place)
  for (let tries = 0; tries < 4; tries += 1) {
    time.pass(7_000)
    await w.runDue()
  }
}

const triggers: Record<string, Act> = {
  "ai-control off": patch("/ai-control", () => ({ isUnderAiControl: false })),
  "ai-control off, manual": patch("/ai-control", () => ({ isUnderAiControl: false, aiDisableReason: "manual" })),
  "ai-control off, auto": patch("/ai-control", () => ({ isUnderAiControl: false, aiDisableReason: "auto" })),
  "ai-control on": patch("/ai-control", () => ({ isUnderAiControl: true })),
  "PATCH off": patch("", () => ({ isUnderAiControl: false })),
  "PATCH on": patch("", () => ({ isUnderAiControl: true })),
  "assign-assistant": assign((place) => companyIn(place).assistant.id),
  "assign-assistant, a draft": assign((place) => drafts.get(companyIn(place).id)!),
  "assign-assistant, a foreign one": assign((place) => (companyIn(place) === acme ? globex : acme).assistant.id),
  "assign-assistant, a missing one": assign(() => v7()),
  "unassign-assistant": patch("/unassign-assistant", () => ({})),
  "a message of our side": async (chat, place) => {
    await write(chat, place, "User")
    return undefined
  },
  "the model calls turnOffAiMode": async (chat, place) => {
    openAi.reply = async () => ({ toolCalls: [{ name: "turnOffAiMode" }] })
    await turn(chat, place)
  },
  "the model fails four times": async (chat, place) => {
    openAi.reply = async () => ({ status: 500 })
    await turn(chat, place)
  },
  "almost ten quiet minutes": async () => {
    time.pass(10 * minute - 1)
    await lookForQuietChats()
  },
  "ten quiet minutes": async () => {
    time.pass(10 * minute)
    await lookForQuietChats()
  },
  "nine minutes, a message, and nine": async (chat, place) => {
    time.pass(9 * minute)
    await write(chat, place, "User")
    time.pass(9 * minute)
    await lookForQuietChats()
  },
  "a customer after ten quiet minutes": async (chat, place) => {
    time.pass(10 * minute)
    await write(chat, place)
  },
}

/** The actor of a change: the caller, the assistant, or the system. */
function actorOf(trigger: string, place: Circumstance) {
  if (/quiet|fails/.test(trigger) || (place === "unpaid" && trigger.includes("turnOffAiMode")))
    return { actorKind: "system", actorId: null }
  if (trigger.includes("turnOffAiMode")) return { actorKind: "assistant", actorId: companyIn(place).assistant.id }
  return { actorKind: "token", actorId: companyIn(place).tokenId }
}

const asState: Record<State, object> = {
  on: { isUnderAiControl: true, aiDisableReason: null, needsAttention: false },
  auto: { isUnderAiControl: false, aiDisableReason: "auto", needsAttention: true },
  manual: { isUnderAiControl: false, aiDisableReason: "manual", needsAttention: false },
}

/** Triggers in which somebody writes for the company: then nobody else has to. */
const writing = ["a message of our side", "nine minutes, a message, and nine"]

/** The stored changes of control and their events, oldest first. */
async function changesOf(chat: { id: string }) {
  const [row] = await sql(
    `select (select coalesce(json_agg(json_build_object('isUnderAiControl', is_under_ai_control, 'aiDisableReason', ai_disable_reason,
         'actorKind', actor_kind, 'actorId', actor_id) order by created_at, id), '[]') from control_change where chat_id = $1) as kept,
       (select coalesce(json_agg(payload -> 'value' order by id), '[]') from event where chat_id = $1 and type = 'CHAT_MODE_CHANGED') as told`,
    [chat.id],
  )
  return row
}

it("has every state, trigger and circumstance", () => {
  expect(cells).toHaveLength(Object.keys(triggers).length * circumstances.length * states.length)
  expect(new Set(cells.map(([state, place, trigger]) => `${state} ${place} ${trigger}`)).size).toBe(cells.length)
})

describe.each(circumstances)("%s", (place) => {
  const own = cells.filter(([, where]) => where === place)

  it.each(own.map(([state, , trigger, becomes]) => [state, trigger, becomes] as const))("%s: %s → %s", async (state, trigger, becomes) => {
    const company = companyIn(place)
    const chat = await chatIn(state, place)
    if (place === "unpaid") await company.subscription(null)
    const before = await changesOf(chat)
    const answer = await triggers[trigger]!(chat, place)
    if (place === "unpaid") await company.subscription("active")

    const next = becomes in asState ? (becomes as State) : state
    if (answer) expect(answer.status).toBe(Number(becomes) || 200)
    const { body } = await rest.as(company.token).get(`/api/chats/${chat.id}`).expect(200)
    expect(body).toMatchObject({ ...asState[next], ...(writing.includes(trigger) && { needsAttention: false }) })
    if (trigger === "assign-assistant" && !Number(becomes)) expect(body.assistantId).toBe(company.assistant.id)
    if (trigger === "unassign-assistant") expect(body.assistantId).toBeNull()

    const { kept, told } = await changesOf(chat)
    if (!(becomes in asState)) return expect({ kept, told }).toEqual(before)
    const { isUnderAiControl, aiDisableReason } = body
    expect(told).toEqual([...before.told, { chatId: chat.id, isUnderAiControl, aiDisableReason }])
    expect(kept).toEqual([...before.kept, { isUnderAiControl, aiDisableReason, ...actorOf(trigger, place) }])
  })
})
