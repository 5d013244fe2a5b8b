import { bothProtocols } from "../kit/both-protocols.js"
import { stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, gql } = w
const rest = bothProtocols(w)
let ada: { id: string }
const of = (assistant: { id: string }) => `/api/assistants/${assistant.id}/guardrails`
const put = (body: object, assistant = ada) => rest.as(acme.token).put(of(assistant), body)
const get = async (assistant = ada) => (await rest.as(acme.token).get(of(assistant)).expect(200)).body

const off = { customer: "off", answer: "off" }
const none = {
  ...{ card: off, iban: off, email: off, phone: { ...off, countries: [] }, words: { ...off, words: [], patterns: [] } },
  ...{ links: { ...off, hosts: [] }, sources: { answer: "off" }, length: { ...off, customerMax: null, answerMax: null } },
  ...{ scope: { ...off, outOfScope: null }, onBlock: "sentence", sentence: null },
}

beforeAll(async () => {
  await stopScheduler(w)
  ada = await acme.makeAssistant({ name: "Ada" })
})

describe("the guardrails of an assistant", () => {
  it("are off, until they are set as a whole", async () => {
    expect(await get()).toEqual(none)
    const settings = {
      card: { customer: "mask", answer: "block" },
      phone: { answer: "mask", countries: ["de", " UA "] },
      words: { answer: "log", words: ["  Competitor "], patterns: ["PRJ-\\d+"] },
      links: { answer: "block", hosts: ["Shop.Example", "bücher.example."] },
      length: { customer: "block", customerMax: 2_000 },
      onBlock: "hand_off",
      sentence: "I may not say that.",
    }
    const { body } = await put(settings).expect(200)
    const expected = {
      ...none,
      card: { customer: "mask", answer: "block" },
      phone: { customer: "off", answer: "mask", countries: ["DE", "UA"] },
      words: { customer: "off", answer: "log", words: ["Competitor"], patterns: ["PRJ-\\d+"] },
      links: { customer: "off", answer: "block", hosts: ["shop.example", "xn--bcher-kva.example"] },
      length: { customer: "block", answer: "off", customerMax: 2_000, answerMax: null },
      onBlock: "hand_off",
      sentence: "I may not say that.",
    }
    expect(body).toEqual(expected)
    expect(await get()).toEqual(expected)
    const copy = (await rest.as(acme.token).post(`/api/assistants-new/${ada.id}/copy`, {}).expect(201)).body
    expect(await get(copy)).toEqual(expected)
    expect(copy.guardrails).toEqual(expected)
    expect((await put({ email: { answer: "log" } }).expect(200)).body).toEqual({ ...none, email: { customer: "off", answer: "log" } })
    expect(await get(copy)).toEqual(expected)
  })

  it("of a draft are its own", async () => {
    const draft = await acme.makeAssistant({ name: "Draft", isDraft: true, draftOfId: ada.id })
    await put({ card: { answer: "log" } }, draft).expect(200)
    expect((await get(draft)).card.answer).toBe("log")
    expect((await get()).card.answer).toBe("off")
  })

  it.each<[string, object]>([
    ["words.customer", { words: { customer: "mask", words: ["a"] } }],
    ["sources.answer", { sources: { answer: "mask" } }],
    ["phone.countries.1", { phone: { answer: "log", countries: ["DE", "ZZ"] } }],
    ["phone.countries", { phone: { answer: "log", countries: ["DE", "AT", "CH", "UA", "US", "GB"] } }],
    ["words.words.0", { words: { answer: "log", words: ["\u200b\u2060"] } }],
    ["words.patterns.0", { words: { answer: "log", patterns: ["("] } }],
    ["words.patterns.1", { words: { answer: "log", patterns: ["a", "(?=b)c"] } }],
    ["words.patterns.0", { words: { answer: "log", patterns: ["x*"] } }],
    ["words.patterns.0", { words: { answer: "log", patterns: ["(a{200}){2}"] } }],
    ["words.patterns", { words: { answer: "log", patterns: ["(.*a){100}b", "(.*b){100}c"] } }],
    ["words.patterns", { words: { answer: "log", patterns: Array.from({ length: 51 }, (_, index) => `x${index}`) } }],
    ["links.hosts.0", { links: { answer: "log", hosts: ["https://shop.example"] } }],
    ["links.hosts.0", { links: { answer: "log", hosts: ["shop.example:8080"] } }],
    ["links.hosts.0", { links: { answer: "log", hosts: ["shop example"] } }],
    ["length.answerMax", { length: { answer: "log" } }],
    ["length.customerMax", { length: { customer: "log", customerMax: 0 } }],
    ["length.answerMax", { length: { answer: "log", answerMax: 16_001 } }],
    ["sentence", { card: { answer: "block" } }],
    ["sentence", { card: { answer: "block" }, sentence: "  " }],
    ["scope", { scope: { answer: "log", outOfScope: "Politics." } }],
    ["scope.outOfScope", { scope: { answer: "log" } }],
  ])("with a fault in %s are refused: %j", async (path, settings) => {
    const before = await get()
    const { body } = await put(settings).expect(400)
    expect(body.details.map((detail: { path: string }) => detail.path)).toContain(path)
    expect(await get()).toEqual(before)
  })

  it("need no sentence where a stopped text hands the chat over", async () => {
    expect((await put({ card: { answer: "block" }, onBlock: "hand_off" }).expect(200)).body.sentence).toBeNull()
  })

  it("of another company do not exist", async () => {
    await rest.as(globex.token).get(of(ada)).expect(404)
    await rest.as(globex.token).put(of(ada), {}).expect(404)
  })
})

describe("the list of hits", () => {
  it("is filtered, paged, and shows the newest first", async () => {
    const chat = await acme.chat()
    const other = await acme.chat()
    const hits = []
    for (const rule of ["card", "email", "links"]) hits.push((await acme.guardrailHit({ chatId: chat.id, rule })).id)
    const last = await acme.guardrailHit({ chatId: other.id, rule: "card", direction: "answer", action: "block" })
    await globex.guardrailHit({ chatId: (await globex.chat()).id })
    const list = async (query: string) => (await rest.as(acme.token).get(`/api/guardrail-hits?${query}`).expect(200)).body
    const ids = async (query: string) => (await list(query)).data.map(({ id }: { id: string }) => id)
    expect(await ids("")).toEqual([last.id, ...hits.toReversed()])
    expect(await ids(`filter=chatId:eq:${chat.id}`)).toEqual(hits.toReversed())
    expect(await ids("filter=rule:in:card,email;direction:eq:customer")).toEqual([hits[1], hits[0]])
    expect(await ids("filter=action:eq:block")).toEqual([last.id])
    const first = await list("take=3")
    expect(first).toMatchObject({ totalCount: 4 })
    expect(await ids(`take=3&cursor=${first.nextCursor}`)).toEqual([hits[0]])
    await rest.as(acme.token).get("/api/guardrail-hits?filter=rule:eq:nothing").expect(400)
    const query =
      "query ($id: UUID!) { guardrailHits(where: { chatId: { eq: $id }, rule: { eq: LINKS } }) { nodes { rule chat { id } message { id } } } }"
    expect((await gql(acme.token, query, { id: chat.id })).data.guardrailHits.nodes).toEqual([
      { rule: "LINKS", chat: { id: chat.id }, message: null },
    ])
  })

  it("loses the hits of a deleted chat, and keeps those of a deleted assistant and message", async () => {
    const bob = await acme.makeAssistant({ name: "Bob" })
    const chat = await acme.chat()
    const message = await acme.message({ chatId: chat.id })
    const { id } = await acme.guardrailHit({ chatId: chat.id, assistantId: bob.id, messageId: message.id })
    await rest.as(acme.token).delete(`/api/assistants-new/${bob.id}`).expect(200)
    await w.sql("delete from message where id = $1", [message.id])
    expect((await w.sql("select assistant_id, message_id, chat_id from guardrail_hit where id = $1", [id]))[0]).toEqual({
      assistant_id: null,
      message_id: null,
      chat_id: chat.id,
    })
    await rest.as(acme.token).delete(`/api/chats/${chat.id}`).expect(200)
    expect(await w.sql("select 1 from guardrail_hit where id = $1", [id])).toEqual([])
  })
})
