import { createHash } from "node:crypto"
import { openAiEmbedding } from "../../src/ports/embedding/ai-sdk.js"
import { offlineEmbedding } from "../../src/ports/embedding/offline.js"
import { type Embedding, EmbeddingFailure } from "../../src/ports/embedding.js"
import { type FakeEmbeddings, startFakeEmbeddings } from "../kit/fake-embeddings.js"
import { until } from "../kit/wait.js"

const KEY = "sk-test-51secret"
const patient = new AbortController().signal

async function failureOf(vectors: Promise<unknown>): Promise<EmbeddingFailure> {
  const failure = await vectors.then(
    () => null,
    (error: unknown) => error,
  )
  expect(failure).toBeInstanceOf(EmbeddingFailure)
  return failure as EmbeddingFailure
}

const dot = (one: Float32Array, other: Float32Array) => one.reduce((sum, value, at) => sum + value * other[at]!, 0)

interface Adapter {
  name: string
  start?: () => Promise<FakeEmbeddings>
  make: (url: string, capMs?: number) => Embedding
  /** Tests that the adapter skips, with the reason. */
  skips: Record<string, string>
}

const noVendor = "there is no vendor to fail, and nothing to wait for"
const adapters: Adapter[] = [
  {
    name: "offline",
    make: () => offlineEmbedding(),
    skips: { "one request": noVendor, "vendor errors": noVendor, "broken answers": noVendor, "waiting ends": noVendor },
  },
  {
    name: "openai",
    start: startFakeEmbeddings,
    make: (baseUrl, capMs) => openAiEmbedding({ baseUrl, apiKey: KEY, model: "m-1", capMs }),
    skips: {},
  },
]

describe.each(adapters)("embedding contract: $name", ({ name, start, make, skips }) => {
  let fake: FakeEmbeddings | undefined
  beforeEach(async () => {
    fake = await start?.()
  })
  afterEach(() => fake?.close())
  const embedding = (capMs?: number) => make(fake?.url ?? "", capMs)
  const proves = (title: string, test: () => Promise<void>) =>
    skips[title] ? it.skip(`${title} (skipped: ${skips[title]})`, test) : it(title, test)

  proves("has an id that names vendor and model, wherever it runs", async () => {
    expect(embedding().id).toMatch(new RegExp(`^${name}/.`))
    expect(make("http://elsewhere.test/v1").id).toBe(embedding().id)
  })

  proves("makes one vector of length one for each text, the like for the like", async () => {
    const texts = [
      "The parcel arrives on Friday.",
      "Посилка прибуде в п'ятницю.",
      "包裹星期五到。",
      "the parcel arrives on friday",
      "🎉 4711",
    ]
    const vectors = await embedding().embed(texts, patient)
    expect(vectors).toHaveLength(texts.length)
    const { dimensions } = embedding()
    for (const vector of vectors) {
      expect(vector).toBeInstanceOf(Float32Array)
      expect(vector).toHaveLength(dimensions ?? vectors[0]!.length)
      expect(dot(vector, vector)).toBeCloseTo(1, 5)
    }
    const likeness = vectors.map((vector) => dot(vectors[0]!, vector))
    expect(likeness[3]).toBeGreaterThan(Math.max(likeness[1]!, likeness[2]!, likeness[4]!))
    expect((await embedding().embed(texts, patient)).map((vector) => [...vector])).toEqual(vectors.map((vector) => [...vector]))
  })

  proves("takes no texts, one, and more than a request can hold, in their order", async () => {
    expect(await embedding().embed([], patient)).toEqual([])
    const texts = Array.from(
      { length: 250 },
      (_, n) => `${"delivery ".repeat((n * 37) % 11)}number ${n} ${"abcdefghij"[n % 10]!.repeat(n)}`,
    )
    const together = await embedding().embed(texts, patient)
    for (const at of [0, 95, 96, 97, 249]) {
      const [alone] = await embedding().embed([texts[at]!], patient)
      expect(dot(together[at]!, alone!)).toBeCloseTo(1, 5)
    }
  })

  proves("takes any text", async () => {
    const vectors = await embedding().embed(["?!", "\u0000\ud800", "x".repeat(20_000), "'", "ก็", "e\u0301"], patient)
    for (const vector of vectors) expect(vector.every(Number.isFinite)).toBe(true)
  })

  proves("a withdrawn request ends at once", async () => {
    expect(await failureOf(embedding().embed(["x"], AbortSignal.abort()))).toMatchObject({ isWorthRetrying: false })
    if (fake) fake.reply = async () => "hang"
    const controller = new AbortController()
    const vectors = embedding().embed(["x"], controller.signal)
    if (fake) await until("the vendor has the request", () => fake!.requests.length > 0)
    controller.abort()
    expect((await failureOf(vectors)).message).toMatch(/no longer wanted/)
  })

  proves("one request", async () => {
    fake!.reply = async () => ({ status: 503 })
    await failureOf(embedding().embed(["x", "y"], patient))
    expect(fake!.requests).toHaveLength(1)
  })

  proves("vendor errors", async () => {
    for (const status of [400, 401, 403, 404, 408, 413, 422, 429, 500, 503]) {
      fake!.reply = async () => ({ status, message: `Bad key ${KEY} or sk-live-****abcd` })
      const failure = await failureOf(embedding().embed(["x"], patient))
      expect(failure).toMatchObject({ status, isWorthRetrying: [408, 429, 500, 503].includes(status) })
      expect(failure.message).toContain(String(status))
      expect(failure.message).not.toMatch(/secret|abcd/)
    }
  })

  proves("broken answers", async () => {
    const broken = [
      [],
      [[1, 0]],
      [[1], [1, 0]],
      [[], []],
      [
        [1, 0],
        ["x", 0],
      ],
      [
        [1, 0],
        [null, 0],
      ],
    ] as number[][][]
    for (const reply of ["reset", "garbage", ...broken.map((vectors) => ({ vectors }))] as const) {
      fake!.reply = async () => reply
      const failure = await failureOf(embedding().embed(["x", "y"], patient))
      expect(failure.message).toMatch(/could not be reached|failed|cannot be read/)
      expect(failure.isWorthRetrying).toBe(true)
    }
  })

  proves("waiting ends", async () => {
    fake!.reply = async () => "hang"
    const failure = await failureOf(embedding(100).embed(["x"], patient))
    expect(failure).toMatchObject({ message: expect.stringMatching(/no answer within 0.1 s/), isWorthRetrying: true })
  })
})

describe("the HTTP requests", () => {
  let fake: FakeEmbeddings
  beforeEach(async () => {
    fake = await startFakeEmbeddings()
  })
  afterEach(() => fake.close())

  it("have the key, the model and the texts; no key without one", async () => {
    await openAiEmbedding({ baseUrl: fake.url, apiKey: KEY, model: "m-1" }).embed(["one", "two"], patient)
    await openAiEmbedding({ baseUrl: `${fake.url}/`, model: "local" }).embed(["three"], patient)
    expect(fake.requests.map(({ path, headers, model, input }) => [path, headers.authorization, model, input])).toEqual([
      ["/v1/embeddings", `Bearer ${KEY}`, "m-1", ["one", "two"]],
      ["/v1/embeddings", undefined, "local", ["three"]],
    ])
  })

  it("are several for many texts and long texts, one after the other", async () => {
    let open = 0
    fake.reply = async ({ input }) => {
      expect(++open).toBe(1)
      await new Promise(setImmediate)
      open--
      return { vectors: input.map((text) => [text.length, 1]) }
    }
    const embedding = openAiEmbedding({ baseUrl: fake.url, model: "m-1" })
    const texts = [...Array<string>(200).fill("x"), ...Array<string>(3).fill("y".repeat(40_000)), "z".repeat(150_000), "z"]
    expect(await embedding.embed(texts, patient)).toHaveLength(205)
    expect(fake.requests.map(({ input }) => input.length)).toEqual([96, 96, 10, 1, 1, 1])
  })

  it("return vectors in the order of their texts", async () => {
    fake.reply = async () => ({
      vectors: [
        [1, 0],
        [0, 1],
        [3, 4],
      ],
      order: [2, 0, 1],
    })
    const vectors = await openAiEmbedding({ baseUrl: fake.url, model: "m-1" }).embed(["x", "y", "z"], patient)
    expect(vectors.map((vector) => [...vector].map((value) => Math.round(value * 10) / 10))).toEqual([
      [1, 0],
      [0, 1],
      [0.6, 0.8],
    ])
  })
})

describe("the offline embedding", () => {
  const likeness = async (one: string, other: string) => {
    const [first, second] = await offlineEmbedding().embed([one, other], patient)
    return dot(first!, second!)
  }

  it.each([
    ["inflections", "How are deliveries paid?", "Paying for a delivery", "Opening on Sundays"],
    ["a slip of the pen", "warrenty of the washing mashine", "warranty of a washing machine", "parking at the store"],
    ["accents and case", "ÖFFNUNGSZEITEN am Samstag", "Offnungszeiten samstags", "Versand nach Wien"],
    ["Ukrainian", "повернення коштів за посилку", "як повернути кошти за посилки", "графік роботи магазину"],
    ["Chinese", "退货需要几天", "退货在几天内处理", "商店营业时间"],
    ["Japanese", "返品の送料はいくらですか", "返品の送料は無料です", "営業時間のお知らせ"],
  ])("finds the like in spite of %s", async (_what, text, like, unlike) => {
    expect(await likeness(text, like)).toBeGreaterThan((await likeness(text, unlike)) + 0.15)
  })

  it("creates the same vectors under the same id", async () => {
    const { id, embed } = offlineEmbedding()
    const vectors = await embed(["How long does delivery take?", "Скільки коштує доставка?", "退货运费 4711"], patient)
    const digest = createHash("sha256")
      .update(vectors.map((vector) => [...vector].map((value) => value.toFixed(4)).join()).join())
      .digest("hex")
    // Stored vectors do not change with the code: when this fails, change the id, so that all of them are created again.
    expect([id, digest]).toEqual(["offline/words-1", "da24122bd4d5402e43ca823edc89328f1035f270a342b09a2ec3fe660e1ce1ee"])
  })

  it("creates an empty vector for a text without a word", async () => {
    expect(await likeness("?!", "?!")).toBe(0)
  })
})
