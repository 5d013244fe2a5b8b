import { offlineModel } from "../../src/ports/text-model/offline.js"
import type { ModelMessage, ModelRequest, ModelTool } from "../../src/ports/text-model.js"
import { customer, orderStatus, request, search, turnOff } from "../kit/model-request.js"

describe("the offline model", () => {
  const model = offlineModel()
  const ask = (text: string | string[], rest: Partial<ModelRequest> = {}) => model.answer(request([text].flat().map(customer), rest))
  const says = async (text: string | string[], rest: Partial<ModelRequest> = {}) => (await ask(text, rest)).text
  const does = async (text: string | string[], rest: Partial<ModelRequest> = {}) =>
    (await ask(text, { tools: [turnOff], ...rest })).toolCalls.map((call) => [call.name, call.arguments])
  const HANDS_OVER = [["turnOffAiMode", { reason: expect.stringMatching(/\.$/) }]]

  it.each([
    ["how long does shipping take?", "Delivery takes 2 to 3 working days within the country."],
    ["is delivery free", "Delivery is free for orders over 50 EUR."],
    ["do you accept returns?", "Returns are accepted within 30 days of purchase."],
    ["Hi, can I get my money back if I don't like it?", "Returns are accepted within 30 days of purchase."],
    ["what are your opening hours", "We are open Monday to Friday from 9:00 to 18:00."],
    ["can I pay by card?", "We accept Visa, Mastercard and cash."],
    ["Where is your shop?", "Our store is in Kyiv, Khreshchatyk 1."],
    ["do you wrap gifts", "Yes, wrapping costs 3 EUR. Just ask at the till."],
    ["is there a guarantee?", "Every device is covered for two years."],
  ])("quotes the right sentence: %s", async (question, answer) => {
    expect(await says(question, { tools: [turnOff, orderStatus] })).toBe(answer)
  })

  it.each([
    ["скільки триває доставка?", "Доставка займає 2–3 робочі дні."],
    ["ви приймаєте повернення?", "Повернення можливе протягом 14 днів."],
    ["какие у вас часы работы?", "Ми працюємо з 9 до 18."],
  ])("reads other scripts: %s", async (question, answer) => {
    const content = "Доставка займає 2–3 робочі дні. Повернення можливе протягом 14 днів. Ми працюємо з 9 до 18."
    expect(await says(question, { knowledge: [{ name: "Магазин", content }], language: "uk" })).toBe(answer)
  })

  it("reads lists, tables and compounds", async () => {
    const content =
      "# Payments\n- Visa\n- PayPal\n\n# Shipping\n| Zone | Price |\n|---|---|\n| EU | 9 EUR |\n\nThe Wi-Fi password is sunflower."
    const knowledge = [{ name: "Help", content }]
    expect(await says("which payment methods are there?", { knowledge })).toBe("Visa. PayPal")
    expect(await says("how much is shipping to the EU?", { knowledge })).toBe("Zone – Price. EU – 9 EUR")
    expect(await says("wifi password?", { knowledge })).toBe("The Wi-Fi password is sunflower.")
  })

  it("answers each question of a burst, and says which it cannot", async () => {
    expect(await says(["Hi!", "How long is delivery?", "And do you accept returns?"])).toBe(
      "Delivery takes 2 to 3 working days within the country. Returns are accepted within 30 days of purchase.",
    )
    expect(await says(["Are returns possible?", "Do you sell elephants?"])).toBe(
      "Returns are accepted within 30 days of purchase. I do not know the answer to “Do you sell elephants?”: a person will have to help with that.",
    )
  })

  it("answers only messages after the last answer", async () => {
    const messages: ModelMessage[] = [customer("delivery?"), { role: "assistant", text: "2 to 3 days." }, customer("and returns?")]
    expect((await model.answer(request(messages))).text).toBe("Returns are accepted within 30 days of purchase.")
  })

  it.each([
    "What's the capital of Peru?",
    "Who is the president of France?",
    "What's the weather in Kyiv tomorrow?",
    "who won the football world cup last year?",
    "How much is the iPhone 15?",
    "Розкажи анекдот",
  ])("hands over what it does not know: %s", async (question) => {
    expect(await does(question)).toEqual(HANDS_OVER)
  })

  it("says that it does not know when it cannot hand over", async () => {
    expect(await says("What's the capital of Peru?")).toMatch(/do not know.*person/)
    expect(await says("Яка столиця Перу?")).toMatch(/Я не знаю/)
  })

  it.each([
    "I want to talk to a human",
    "operator",
    "Can I speak with a real person please?",
    "let me talk to your manager!",
    "Agent please",
    "I need a person",
    "Покличте людину",
    "З'єднайте з оператором, будь ласка",
    "живой человек",
    "Хочу поговорить с менеджером",
    "Ich möchte mit einem Menschen sprechen",
    "Quiero hablar con una persona",
    "Je veux parler à un conseiller",
    "Chcę rozmawiać z człowiekiem",
  ])("hands over to a person on request: %s", async (message) => {
    expect(await does(message)).toEqual(HANDS_OVER)
  })

  it.each(["I want a table for one person", "What does delivery cost per person?", "Is your delivery manager app free?"])(
    "does not take it for that: %s",
    async (text) => {
      const calls = await does(text)
      expect(JSON.stringify(calls)).not.toContain("asked for a person")
    },
  )

  it("says so when a person is requested and the hand-off is off or has failed", async () => {
    expect(await says("operator")).toMatch(/person will have to take over/)
    const messages: ModelMessage[] = [
      customer("operator"),
      { role: "call", callId: "1", name: "turnOffAiMode", arguments: {} },
      { role: "result", callId: "1", name: "turnOffAiMode", output: { error: "no" } },
    ]
    expect((await model.answer(request(messages, { tools: [turnOff] }))).text).toMatch(/person will have to take over/)
  })

  it.each([
    ["hi", "Hi, I am Ada!"],
    ["Good morning!", "Hi, I am Ada!"],
    ["Привіт 👋", "Hi, I am Ada!"],
    ["👋", "Hi, I am Ada!"],
    ["Hello! Can you help me?", "Hi, I am Ada!"],
    ["你好", "Hi, I am Ada!"],
    ["Thanks a lot!", "You are welcome. Write any time if there is something else."],
    ["ok", "You are welcome. Write any time if there is something else."],
    ["Дуже дякую", "Будь ласка! Пишіть, якщо буде ще щось."],
  ])("is polite: %s", async (text, answer) => {
    expect(await says(text, { tools: [turnOff] })).toBe(answer)
  })

  it("greets in the customer's language when the assistant has no greeting", async () => {
    expect(await says("Привіт", { greeting: null })).toBe("Вітаю! Чим можу допомогти?")
    expect(await says("hola", { greeting: null })).toBe("¡Hola! ¿En qué puedo ayudarle?")
    expect(await says("hi", { greeting: " ", language: "ja" })).toBe("Hello! How can I help you?")
  })

  it("calls the named tool, with arguments from the message", async () => {
    const book: ModelTool = {
      name: "book_table",
      description: "Books",
      parameters: {
        type: "object",
        properties: {
          guests: { type: "integer" },
          email: { type: "string" },
          area: { enum: ["garden", "hall"] },
          note: { type: "string" },
        },
        required: ["note"],
      },
    }
    const tools = [book, orderStatus, turnOff]
    const text = "Please book a table for 4 in the garden, my mail is ann@example.com."
    expect(await does(text, { tools })).toEqual([["book_table", { guests: 4, email: "ann@example.com", area: "garden", note: text }]])
    expect(await does('book_table guests=2 note: "by the window"', { tools })).toEqual([
      ["book_table", { guests: 2, note: "by the window" }],
    ])
    expect(await does('book_table {"guests": 3, "note": "late", "other": 1}', { tools })).toEqual([
      ["book_table", { guests: 3, note: "late" }],
    ])
    expect(await does("use getOrderStatus orderId: 12", { tools })).toEqual([["getOrderStatus", { orderId: 12 }]])
    expect(await does("turnOffAiMode is what? Do you take returns?", { tools })).toEqual([])
  })

  it("calls a tool that looks something up by its number, and none that changes something, unless that is said", async () => {
    const parameters = { type: "object", properties: { number: { type: "integer" } }, required: ["number"] }
    const find: ModelTool = { name: "shop_find_order", description: "Says where an order is.", parameters }
    const cancel: ModelTool = { name: "shop_cancel_order", description: "Cancels an order.", parameters }
    const tools = [cancel, find, turnOff]
    expect(await does("Where is my order 1042?", { tools })).toEqual([["shop_find_order", { number: 1042 }]])
    expect(await does("I want to order a lamp.", { tools })).not.toContainEqual(["shop_find_order", expect.anything()])
    expect(await does("Where is my order 1042?", { tools: [cancel, turnOff] })).not.toContainEqual(["shop_cancel_order", expect.anything()])
  })

  it.each([
    [{ status: "shipped", eta: "Friday" }, "Get order status: status: shipped, eta: Friday."],
    [{ success: true, status: 200, body: { message: "Your order left on Monday" } }, "Your order left on Monday."],
    ['{"status":"shipped"}', "Get order status: status: shipped."],
    ["It is on its way!", "It is on its way!"],
    [null, "Get order status: done."],
    [{ error: "ECONNREFUSED 10.0.0.1" }, "Sorry, “Get order status” did not work just now. A person will have to help you here."],
  ])("tells what a tool returned: %j", async (output, sentence) => {
    const messages: ModelMessage[] = [
      customer("getOrderStatus 5"),
      { role: "call", callId: "1", name: "getOrderStatus", arguments: {} },
      { role: "result", callId: "1", name: "getOrderStatus", output },
    ]
    expect((await model.answer(request(messages, { tools: [orderStatus] }))).text).toBe(sentence)
  })

  it("searches once when the prompt has no answer, and answers from the results", async () => {
    const tools = [search, turnOff]
    expect(await does("Do you sell bicycles?", { tools })).toEqual([["searchKnowledge", { query: "Do you sell bicycles?" }]])
    const having = (output: unknown) =>
      model.answer(
        request(
          [
            customer("Do you sell bicycles?"),
            { role: "call", callId: "1", name: "searchKnowledge", arguments: {} },
            { role: "result", callId: "1", name: "searchKnowledge", output },
          ],
          { tools },
        ),
      )
    const found = [{ content: "We sell bicycles of three makers.", knowledgeName: "Goods" }]
    expect((await having(found)).text).toBe("We sell bicycles of three makers.")
    expect((await having({ data: found })).text).toBe("We sell bicycles of three makers.")
    expect((await having(JSON.stringify({ data: found }))).text).toBe("We sell bicycles of three makers.")
    expect((await having({ data: [{ content: "Our cat is called Tom." }] })).toolCalls[0]?.name).toBe("turnOffAiMode")
  })

  it("gives the same answer every time", async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => says("how much is delivery and when are you open?")))
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toContain("9:00")
    expect(answers[0]).toContain("50 EUR")
  })
})
