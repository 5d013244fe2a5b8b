import { createClient } from "graphql-ws"
import { WebSocket } from "ws"
import { TurnProgress } from "../../src/assistant/progress.js"
import { reply } from "../../src/jobs/reply.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { promised } from "../kit/promise.js"
import { parametersOf } from "../kit/sockets.js"
import { chatViews, stillTime, stopScheduler } from "../kit/turns.js"
import { happens, until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

const w = world({ OPENAI_BASE_URL: openAi.url })
const { acme, globex } = w
const { write, said, control } = chatViews(w)
const time = stillTime()
let ada: { id: string }
const leave: (() => unknown)[] = []

beforeAll(async () => {
  await stopScheduler(w)
  ada = await acme.makeAssistant({ name: "Ada" })
})
beforeEach(() => {
  openAi.requests.length = 0
})
afterEach(async () => {
  for (const go of leave.splice(0)) await go()
})

/** The texts that turns were given by the model's stream, from now on. */
function spyOnText(): string[] {
  const given: string[] = []
  const { get } = Object.getOwnPropertyDescriptor(TurnProgress.prototype, "onText")!
  jest.spyOn(TurnProgress.prototype, "onText", "get").mockImplementation(function (this: TurnProgress) {
    const onText = get!.call(this)
    return (
      onText &&
      ((text: string) => {
        onText(text)
        given.push(text)
      })
    )
  })
  leave.push(() => jest.restoreAllMocks())
  return given
}

interface Heard {
  turnId: string
  text: string
  done: boolean
}

/** Subscribes to the answers of a chat on a server; resolves when the worker's server knows the subscription. */
async function watch(chat: { id: string }, { url, credential = acme.token }: { url: string; credential?: string }) {
  const client = createClient({
    url: `${url.replace("http", "ws")}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: parametersOf(credential),
    retryAttempts: 0,
  })
  const query = "subscription ($id: UUID!) { answerProgress(chatId: $id) { turnId text done } }"
  const answers = client.iterate<{ answerProgress: Heard }>({ query, variables: { id: chat.id } })
  leave.push(() => client.dispose())
  const next = answers.next()
  let first: typeof next | null = next
  return {
    async next(): Promise<Heard> {
      const { value } = await happens("a part of the answer arrives", first ?? answers.next())
      first = null
      if (value?.errors) throw Object.assign(new Error(value.errors[0]!.message), value.errors[0]!.extensions)
      return value!.data!.answerProgress
    },
    stop: () => client.dispose(),
  }
}

const known = async (chat: { id: string }, { services } = w) => {
  await until("the worker's server knows the subscription", () => services.progress.isWatched(chat.id))
}

/** Parts of an answer that arrive when the test sends them. */
function pieces() {
  let give!: (piece: string | null) => void
  let given = new Promise<string | null>((resolve) => {
    give = resolve
  })
  async function* stream() {
    for (;;) {
      const piece = await given
      given = new Promise((resolve) => {
        give = resolve
      })
      if (piece === null) return
      yield piece
    }
  }
  openAi.reply = async () => ({ pieces: stream() })
  return { say: (piece: string) => give(piece), end: () => give(null) }
}

/** A chat whose reply is due. */
async function chatToAnswer() {
  const chat = await acme.chat({ assistantId: ada.id })
  await write(chat)
  time.pass(4_000)
  return chat
}

it("is published while the model streams, on another instance than the worker's, and the message follows", async () => {
  const second = await w.another()
  await stopScheduler(second)
  const chat = await chatToAnswer()
  const watching = await watch(chat, second)
  await known(chat)
  const model = pieces()
  const done = w.runDue()
  const heard: Heard[] = []
  for (const piece of ["We are", " open", " until six."]) {
    model.say(piece)
    heard.push(await watching.next())
  }
  model.end()
  await done
  heard.push(await watching.next())
  expect(heard.map(({ text }) => text)).toEqual(["We are", "We are open", "We are open until six.", "We are open until six."])
  expect(heard.map(({ done }) => done)).toEqual([false, false, false, true])
  expect(new Set(heard.map(({ turnId }) => turnId)).size).toBe(1)
  expect(await said(chat)).toEqual(["Customer: Hello", "Assistant: We are open until six."])
})

it("is published to its last word when that arrives while the previous text is being published", async () => {
  const chat = await chatToAnswer()
  const watching = await watch(chat, w)
  await known(chat)
  const model = pieces()
  const { publish } = w.services.wakeUp
  let goOn!: () => void
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  w.services.wakeUp.publish = async (topic, message) => {
    await publish.call(w.services.wakeUp, topic, message)
    if (topic === "progress") await held
  }
  try {
    const said = spyOnText()
    const done = w.runDue()
    model.say("Until")
    expect(await watching.next()).toMatchObject({ text: "Until" })
    model.say(" six.")
    await until("the turn has the word", () => said.includes("Until six."))
    goOn()
    expect(await watching.next()).toMatchObject({ text: "Until six.", done: false })
    model.end()
    await done
  } finally {
    w.services.wakeUp.publish = publish
  }
})

it("that cannot be published does not affect the answer, and the next word retries", async () => {
  const chat = await chatToAnswer()
  const watching = await watch(chat, w)
  await known(chat)
  const model = pieces()
  // biome-ignore lint/suspicious/noExplicitAny: any query.
  const progress = TurnProgress.prototype as any
  const { isStillOurs } = progress
  const failed = new Promise<void>((resolve) => {
    progress.isStillOurs = async () => {
      progress.isStillOurs = isStillOurs
      resolve()
      throw new Error("The database is away")
    }
  })
  const logged = w.logged.length
  const done = w.runDue()
  model.say("At")
  await happens("a publication fails", failed)
  await until("the failure is logged", () => w.logged.length > logged)
  model.say(" nine.")
  expect(await watching.next()).toMatchObject({ text: "At nine.", done: false })
  model.end()
  await done
  expect(w.logged.slice(logged)).toMatchObject([{ msg: "the text of a running answer could not be published" }])
  expect(await said(chat)).toEqual(["Customer: Hello", "Assistant: At nine."])
})

it("costs nothing without subscribers: the model is not asked to stream", async () => {
  openAi.reply = async () => ({ text: "In one piece" })
  const [watched, other] = [await chatToAnswer(), await chatToAnswer()]
  await watch(watched, w)
  await known(watched)
  await w.runDue()
  const streams = openAi.requests.map(({ body }) => Boolean(body.stream))
  expect(streams.toSorted()).toEqual([false, true])
  expect(await said(other)).toEqual(["Customer: Hello", "Assistant: In one piece"])
})

promised("stops when a person takes the chat over: further text of the model is not published", async () => {
  const chat = await chatToAnswer()
  const watching = await watch(chat, w)
  await known(chat)
  const model = pieces()
  const done = w.runDue()
  model.say("I think")
  expect(await watching.next()).toMatchObject({ text: "I think", done: false })
  await control(chat, false)
  model.say(" that you should")
  model.end()
  await done
  expect(await watching.next()).toMatchObject({ text: "", done: true })
  expect(await said(chat)).toEqual(["Customer: Hello"])
})

it("is cut at its end when it is longer than a notification, in any script", async () => {
  const chat = await chatToAnswer()
  const watching = await watch(chat, w)
  await known(chat)
  const text = `"${"👋🏽 Добрий день! ".repeat(900)}"`
  openAi.reply = async () => ({ text })
  await w.runDue()
  let heard = await watching.next()
  while (!heard.done) heard = await watching.next()
  expect(heard.text.length).toBeGreaterThan(1_000)
  expect(text.startsWith(heard.text)).toBe(true)
  expect(Buffer.from(heard.text).toString()).toBe(heard.text)
  expect((await said(chat)).at(-1)).toBe(`Assistant: ${text}`)
})

it("is visible only to the chat's company", async () => {
  const chat = await acme.chat()
  await expect((await watch(chat, { url: w.url, credential: globex.token })).next()).rejects.toMatchObject({ code: "NOT_FOUND" })
})

promised(
  "tells the chat's visitor that the assistant is writing, and not what, since a take-over may still drop it; no other visitor",
  async () => {
    const { body } = await w.rest.anonymous.post(`/hooks/widget/${acme.widget.id}`, { text: "Hi" }).expect(201)
    const { body: other } = await w.rest.anonymous.post(`/hooks/widget/${acme.widget.id}`, { text: "Hi" }).expect(201)
    const chat = { id: body.chatId }
    await expect((await watch(chat, { url: w.url, credential: other.visitorToken })).next()).rejects.toMatchObject({ code: "FORBIDDEN" })
    await w.rest.as(acme.token).patch(`/api/chats/${chat.id}/assign-assistant`, { assistantId: ada.id }).expect(200)
    const watching = await watch(chat, { url: w.url, credential: body.visitorToken })
    await known(chat)
    time.pass(7_000)
    openAi.reply = async () => ({ text: "We are open" })
    await w.runDue()
    const heard = [await watching.next()]
    while (!heard.at(-1)!.done) heard.push(await watching.next())
    expect(heard.map(({ text }) => text)).toEqual(heard.map(() => ""))
    expect((await said(chat)).at(-1)).toBe("Assistant: We are open")
  },
)

it("publishes the end of a turn without an answer once", async () => {
  const chat = await chatToAnswer()
  const watching = await watch(chat, w)
  await known(chat)
  openAi.reply = async () => ({ status: 500 })
  await reply.sweep.run(w.services)
  await w.services.running.idle()
  expect(await watching.next()).toMatchObject({ text: "", done: true })
})
