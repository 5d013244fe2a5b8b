import { TelegramBotVendor } from "../../simulate/vendors/telegram-bot.js"
import { askRatings } from "../../src/jobs/ask-ratings.js"
import { quietStretches } from "../../src/jobs/quiet-stretches.js"
import { administration } from "../kit/command-line.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { promised } from "../kit/promise.js"
import { subscribe } from "../kit/sockets.js"
import { chatViews, stillTime, stopScheduler } from "../kit/turns.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const vendor = new TelegramBotVendor({ secondMs: 20, pauseMs: () => 5 })
await vendor.listen()
afterAll(() => vendor.close())
const hour = 60 * 60 * 1_000
const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())
beforeEach(() => {
  openAi.reply = async () => ({ text: "An answer" })
})

describe("a visitor of the widget is asked for a rating", () => {
  const w = world({ OPENAI_BASE_URL: openAi.url })
  const { acme, globex, rest, gql } = w
  const { write } = chatViews(w)
  const time = stillTime()

  beforeAll(() => stopScheduler(w))
  beforeEach(() => setQuestion("How was our help?"))

  const setQuestion = (question: string | null, credential = acme.token, id = acme.widget.id) =>
    rest.as(credential).put(`/api/channels/${id}/rating-question`, { question })
  /** A visitor writes, and the assistant answers. */
  async function visit(text = "Hello"): Promise<{ id: string; token: string }> {
    const { body } = await rest.anonymous.post(`/hooks/widget/${acme.widget.id}`, { text }).expect(201)
    time.pass(4_000)
    await w.runDue()
    return { id: body.chatId, token: body.visitorToken }
  }
  const again = (chat: { token: string }) =>
    rest.anonymous.post(`/hooks/widget/${acme.widget.id}`, { text: "Once more", visitorToken: chat.token }).expect(201)
  const end = (chat: { id: string }) => rest.as(acme.token).post(`/api/chats/${chat.id}/end-stretch`).expect(201)
  const request = async (chat: { id: string; token: string }, credential = chat.token) => {
    const query = "query ($id: UUID!) { ratingRequest(chatId: $id) { stretchId question askedAt rating text } }"
    const { data, errors } = await gql(credential, query, { id: chat.id })
    return errors?.[0]?.extensions["code"] ?? data.ratingRequest
  }
  const rate = async (credential: string, id: string, rating: number, text?: string) => {
    const query =
      "mutation ($id: UUID!, $rating: Int!, $text: String) { rateStretch(id: $id, rating: $rating, text: $text) { stretchId rating text } }"
    const { data, errors } = await gql(credential, query, { id, rating, text })
    return errors?.[0]?.extensions["code"] ?? data.rateStretch
  }
  const lastStretch = async (chat: { id: string }) =>
    (await rest.as(acme.token).get(`/api/stretches?chatId=${chat.id}&take=1`).expect(200)).body.data[0]

  it("when a person ends the stretch, and shows the answer as it was sent", async () => {
    const chat = await visit()
    expect(await request(chat)).toBeNull()
    await end(chat)
    const asked = await request(chat)
    const { id: stretchId } = await lastStretch(chat)
    expect(asked).toEqual({
      stretchId,
      question: "How was our help?",
      askedAt: new Date(time.now()).toISOString(),
      rating: null,
      text: null,
    })
    expect(await rate(chat.token, stretchId, 4)).toEqual({ stretchId, rating: 4, text: null })
    expect(await rate(chat.token, stretchId, 5, " Quick! ")).toEqual({ stretchId, rating: 5, text: "Quick!" })
    expect(await request(chat)).toMatchObject({ rating: 5, text: "Quick!" })
    expect(await lastStretch(chat)).toMatchObject({ rating: 5, ratingText: "Quick!", ratingAskedAt: asked.askedAt })
    const { body } = await rest.as(acme.token).get("/api/outcomes").expect(200)
    expect(body.total.current).toMatchObject({ ratings: expect.any(Number), rating: expect.any(Number) })
  })

  it("when the chat has been quiet for a day, once, for 72 hours", async () => {
    const chat = await visit()
    time.pass(24 * hour)
    await quietStretches.run(w.services)
    await askRatings.run(w.services)
    const { stretchId } = await request(chat)
    time.pass(72 * hour)
    expect(await request(chat)).toBeNull()
    expect(await rate(chat.token, stretchId, 3)).toBe("CONFLICT")
  })

  it("and is not when the connection does not ask, nobody answered, the visitor waits for a person, or wrote again", async () => {
    await setQuestion(null).expect(200)
    const silent = await visit()
    await end(silent)
    expect(await request(silent)).toBeNull()
    await setQuestion("How was our help?").expect(200)
    const unanswered = (await rest.anonymous.post(`/hooks/widget/${acme.widget.id}`, { text: "Hello" }).expect(201)).body
    await end({ id: unanswered.chatId })
    expect(await request({ id: unanswered.chatId, token: unanswered.visitorToken })).toBeNull()
    const waits = await visit("I want to talk to a human")
    expect(await lastStretch(waits)).toMatchObject({ handOffReason: "assistant" })
    await end(waits)
    expect(await request(waits)).toBeNull()
    const goesOn = await visit()
    await end(goesOn)
    const { stretchId } = await request(goesOn)
    time.pass(1_000)
    await again(goesOn)
    expect(await request(goesOn)).toBeNull()
    expect(await rate(goesOn.token, stretchId, 3)).toBe("CONFLICT")
  })

  it("hears that the stretch has ended, if it asks for that, and nothing else about it", async () => {
    const chat = await visit()
    const own = await subscribe(w, chat.token, { types: ["STRETCH_ENDED"], select: "type payload chat { id } stretch { id }" })
    const everything = await subscribe(w, chat.token, { select: "type" })
    await end(chat)
    await acme.message({ chatId: chat.id, text: "Bye" })
    expect(await own.next()).toEqual({ type: "STRETCH_ENDED", payload: { chatId: chat.id }, chat: null, stretch: null })
    expect(await everything.next()).toEqual({ type: "MESSAGE_CREATED" })
    for (const socket of [own, everything]) await socket.stop()
  })

  it("and the company hears the rating as an event", async () => {
    const chat = await visit()
    await end(chat)
    const { stretchId } = await request(chat)
    const heard = await subscribe(w, acme.token, { types: ["STRETCH_RATED"], select: "type payload stretch { id rating ratingText }" })
    await rate(chat.token, stretchId, 2, "Too slow")
    const event = await heard.next()
    const { body } = await rest.as(acme.token).get(`/api/stretches?chatId=${chat.id}`).expect(200)
    expect(event).toEqual({ type: "STRETCH_RATED", payload: body.data[0], stretch: { id: stretchId, rating: 2, ratingText: "Too slow" } })
    await rest.as(acme.token).delete(`/api/chats/${chat.id}`).expect(200)
    const kept = await rest.as(acme.token).get(`/api/stretches?filter=rating:gte:2`).expect(200)
    expect(kept.body.data.find(({ id }: { id: string }) => id === stretchId)).toMatchObject({ rating: 2, ratingText: null, chatId: null })
    // The deletion is no rating.
    const other = await visit()
    await end(other)
    await rate(other.token, (await request(other)).stretchId, 1)
    expect(await heard.next()).toMatchObject({ stretch: { rating: 1 } })
    await heard.stop()
  })

  promised("in the own chat only, and no other company rates or asks", async () => {
    const [one, other] = [await visit(), await visit()]
    await end(one)
    const { stretchId } = await request(one)
    expect(await request(one, other.token)).toBe("FORBIDDEN")
    expect(await rate(other.token, stretchId, 1)).toBe("FORBIDDEN")
    expect(await request(one, globex.token)).toBe("NOT_FOUND")
    expect(await rate(globex.token, stretchId, 1)).toBe("NOT_FOUND")
    await setQuestion("?", globex.token).expect(404)
    await setQuestion("?", acme.member.jwt).expect(403)
    expect(await lastStretch(one)).toMatchObject({ rating: null })
  })

  it("from 1 to 5, of an ended stretch", async () => {
    const chat = await visit()
    const open = await lastStretch(chat)
    expect(await rate(acme.token, open.id, 3)).toBe("CONFLICT")
    await end(chat)
    for (const rating of [0, 6, -1]) expect(await rate(chat.token, open.id, rating)).toBe("BAD_USER_INPUT")
    expect(await rate(chat.token, chat.id, 3)).toBe("NOT_FOUND")
    await rest.as(acme.token).put(`/api/stretches/${open.id}/rating`, { rating: 3, text: "By the company's own page" }).expect(200)
    expect(await request(chat, acme.token)).toMatchObject({ stretchId: open.id, rating: 3, text: "By the company's own page" })
    await write(chat)
  })
})

describe("a customer of a messenger is asked for a rating", () => {
  const w = world({
    ...{ OPENAI_BASE_URL: openAi.url, REPLY_DEBOUNCE_MS: "1", REPLY_MAX_WAIT_MS: "1" },
    ...{ PUBLIC_URL: "http://127.0.0.1:1", TELEGRAM_BASE_URL: vendor.server.url },
  })
  const { acme, rest, sql } = w
  const { done } = administration(w, undefined, () => ({ TELEGRAM_BASE_URL: vendor.server.url, PUBLIC_URL: "http://127.0.0.1:1" }))
  let customers = 900

  beforeAll(async () => {
    const ada = await acme.makeAssistant({ name: "Ada" })
    const connection = await done("channel:connect", {
      ...{ company: acme.id, messenger: "telegram-bot", "external-id": "shop_bot", name: "Shop", assistant: ada.id },
      credentials: JSON.stringify({ botToken: vendor.token }),
    })
    vendor.hook = { url: `${w.url}/hooks/telegram-bot/${connection.id}`, secret: vendor.hook!.secret }
    await rest.as(acme.token).put(`/api/channels/${connection.id}/rating-question`, { question: "How was our help?" }).expect(200)
  })

  /** A customer writes, and the assistant answers. */
  async function talk() {
    const id = ++customers
    const say = (text: string) =>
      vendor.write(
        { id, type: "private", first_name: "Ann" } as never,
        { id, is_bot: false, first_name: "Ann" } as never,
        { text } as never,
      )
    const sent = () => vendor.sent.filter(({ chatId }) => chatId === id)
    say("Hello")
    await until("the answer is sent", () => sent().length === 1)
    const [chat] = await until("the chat is stored", async () => {
      const rows = await sql("select id from chat where external_id = $1 and delivery_id is null and delivery_due_at is null", [String(id)])
      return rows.length > 0 ? rows : null
    })
    return { id: chat.id as string, say, sent }
  }
  const stretchesOf = async (chat: { id: string }) =>
    (await rest.as(acme.token).get(`/api/stretches?chatId=${chat.id}`).expect(200)).body.data
  const end = (chat: { id: string }) => rest.as(acme.token).post(`/api/chats/${chat.id}/end-stretch`).expect(201)

  it("by a text with five buttons; a digit is the rating, is stored as a message, and gets no answer of AI", async () => {
    const chat = await talk()
    const { body: ended } = await end(chat)
    expect(ended).toMatchObject({ ratingAskedAt: expect.any(String), rating: null })
    await until("the question is sent", () => chat.sent().length === 2)
    expect(chat.sent()[1]).toMatchObject({ text: "How was our help?\n\n1 = 😞 … 5 = 😀", buttons: ["1", "2", "3", "4", "5"] })
    chat.say("4")
    await until("the rating is stored", async () => (await stretchesOf(chat))[0].rating === 4)
    expect(await stretchesOf(chat)).toHaveLength(1)
    const { body } = await rest.as(acme.token).get(`/api/messages?chatId=${chat.id}`).expect(200)
    expect(body.data.map(({ role, text }: { role: string; text: string }) => [role, text]).slice(0, 2)).toEqual([
      ["Customer", "4"],
      ["User", "How was our help?\n\n1 = 😞 … 5 = 😀"],
    ])
    expect(await sql("select reply_due_at, turn_id from chat where id = $1", [chat.id])).toEqual([{ reply_due_at: null, turn_id: null }])
    chat.say("Thank you! I also want 5 lamps")
    await until("the assistant answers what is no rating", () => chat.sent().length === 3)
    expect((await stretchesOf(chat)).map(({ rating }: { rating: number }) => rating)).toEqual([null, 4])
    // A digit in a conversation is no rating.
    chat.say("5")
    await until("the assistant answers a digit in a conversation", () => chat.sent().length === 4)
    expect((await stretchesOf(chat))[1]).toMatchObject({ rating: 4 })
  })

  it("once, also by two instances whose sweeps run at the same time", async () => {
    const other = await w.another()
    const chat = await talk()
    await sql(
      "update stretch set last_message_at = last_message_at - interval '25 hours', check_at = now() - interval '1 hour' where chat_id = $1",
      [chat.id],
    )
    await Promise.all([quietStretches.run(w.services), quietStretches.run(other.services)])
    await Promise.all([askRatings.run(w.services), askRatings.run(other.services), askRatings.run(w.services)])
    await until("the question is sent", () => chat.sent().length === 2)
    const asked = await sql("select 1 from message where chat_id = $1 and role = 'User'", [chat.id])
    expect(asked).toHaveLength(1)
    await other.stop()
  })

  it("and not when the customer wrote again before the question was sent", async () => {
    const chat = await talk()
    await sql(
      "update stretch set last_message_at = last_message_at - interval '25 hours', check_at = now() - interval '1 hour' where chat_id = $1",
      [chat.id],
    )
    chat.say("One more question")
    await until("the assistant answers", () => chat.sent().length === 2)
    await askRatings.run(w.services)
    expect(await stretchesOf(chat)).toMatchObject([{ endedAt: null }, { ratingAskedAt: null }])
    expect(await sql("select 1 from stretch where chat_id = $1 and rating_due_at is not null", [chat.id])).toEqual([])
    expect(await sql("select 1 from message where chat_id = $1 and role = 'User'", [chat.id])).toEqual([])
  })
})
