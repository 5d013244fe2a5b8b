import { startFakeOpenAi } from "../kit/fake-openai.js"
import { promised } from "../kit/promise.js"
import { chatViews, hold, stillTime, stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

const w = world({ OPENAI_BASE_URL: openAi.url })
const { acme, rest, gql } = w
const { write, look, said, due, control } = chatViews(w)
const time = stillTime()
const told = "A colleague will answer you here."
let ada: { id: string }

beforeAll(async () => {
  await stopScheduler(w)
  ada = await acme.makeAssistant({ name: "Ada", handOffMessage: told })
})
beforeEach(() => {
  openAi.requests.length = 0
})

/** A chat with a message whose reply is due. */
async function chatToAnswer(fields = {}) {
  const chat = await acme.chat({ assistantId: ada.id, ...fields })
  await write(chat)
  time.pass(4_000)
  return chat
}

const handsOver = { toolCalls: [{ name: "turnOffAiMode", arguments: { reason: "Lost parcel" } }] }

/** Runs all tries of a turn whose model fails. */
async function failUntilGivenUp(chat: { id: string }) {
  for (;;) {
    await w.runDue()
    const next = await due(chat)
    if (next === null) return
    time.pass(next - time.now())
  }
}

describe("the message of an assistant on a hand-off", () => {
  it("is null unless it is set, at most as long as a message, and taken back with null", async () => {
    const path = "/api/assistants-new"
    const { body } = await rest.as(acme.token).post(path, { name: "Bea" }).expect(201)
    expect(body.handOffMessage).toBeNull()
    const set = (handOffMessage: unknown) => rest.as(acme.token).patch(`${path}/${body.id}`, { handOffMessage })
    expect((await set("é".repeat(16_000)).expect(200)).body.handOffMessage).toHaveLength(16_000)
    await set("é".repeat(16_001)).expect(400)
    const copy = await rest.as(acme.token).post(`${path}/${body.id}/copy`, {}).expect(201)
    expect(copy.body.handOffMessage).toHaveLength(16_000)
    expect((await set(null).expect(200)).body.handOffMessage).toBeNull()
    const mutation = `mutation ($id: UUID!) { updateAssistant(id: $id, input: { handOffMessage: "Wait." }) { handOffMessage } }`
    expect((await gql(acme.token, mutation, { id: body.id })).data.updateAssistant).toEqual({ handOffMessage: "Wait." })
  })

  promised("is stored once when the model hands over without a word", async () => {
    openAi.reply = async () => handsOver
    const chat = await chatToAnswer()
    await w.runDue()
    await w.runDue()
    expect(await said(chat)).toEqual(["Customer: Hello", `Assistant: ${told}`, "Assistant: FunctionCall", "Assistant: FunctionCallOutput"])
    expect(await look(chat)).toMatchObject({ isUnderAiControl: false, aiDisableReason: "auto", needsAttention: true })
  })

  it("is not stored beside a text of the model", async () => {
    openAi.reply = async () => ({ text: "I ask a colleague.", ...handsOver })
    const chat = await chatToAnswer()
    await w.runDue()
    expect((await said(chat)).filter((line) => line.startsWith("Assistant: ")).slice(0, 2)).toEqual([
      "Assistant: I ask a colleague.",
      "Assistant: FunctionCall",
    ])
    expect(await said(chat)).not.toContain(`Assistant: ${told}`)
  })

  promised("is stored once when the assistant cannot answer, and waits for its delivery", async () => {
    openAi.reply = async () => ({ status: 500 })
    await acme.connection("telegram-bot", "hand-off-bot")
    const chat = await chatToAnswer({ messenger: "telegram-bot", fromId: "hand-off-bot", externalId: "77" })
    await failUntilGivenUp(chat)
    expect(await said(chat)).toEqual(["Customer: Hello", `Assistant: ${told}`])
    const [newest] = (await rest.as(acme.token).get(`/api/messages?chatId=${chat.id}`).expect(200)).body.data
    expect(newest).toMatchObject({ role: "Assistant", text: told, status: "queued" })
    expect(await look(chat)).toMatchObject({ isUnderAiControl: false, aiDisableReason: "auto" })
  })

  it.each([null, "", "  \n "])("is nothing when it is %j", async (handOffMessage) => {
    const silent = await acme.makeAssistant({ name: "Silent", handOffMessage })
    openAi.reply = async () => handsOver
    const chat = await chatToAnswer({ assistantId: silent.id })
    await w.runDue()
    expect(await said(chat)).toEqual(["Customer: Hello", "Assistant: FunctionCall", "Assistant: FunctionCallOutput"])
  })

  promised("is not stored when a person takes the chat over, also while the assistant hands it over", async () => {
    const model = hold(openAi)
    const chat = await chatToAnswer()
    const done = w.runDue()
    const call = await model.next()
    await control(chat, false)
    call.answer(handsOver)
    await done
    expect(await said(chat)).toEqual(["Customer: Hello"])
    openAi.reply = async () => ({ status: 500 })
    const taken = await chatToAnswer()
    await w.runDue()
    await control(taken, false)
    time.pass(60_000)
    await w.runDue()
    expect(await said(taken)).toEqual(["Customer: Hello"])
  })
})
