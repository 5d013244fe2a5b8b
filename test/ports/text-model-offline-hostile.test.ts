import { randomUUID } from "node:crypto"
import { entityLimits } from "../../src/entities/limits.js"
import { offlineModel } from "../../src/ports/text-model/offline.js"
import { customer, request } from "../kit/model-request.js"

const model = offlineModel()
const repeated = (part: string, length: number) => part.repeat(Math.ceil(length / part.length)).slice(0, length)

function distinct(length: number, end: string): string {
  const parts: string[] = []
  for (let index = 0; index * 8 < length; index += 1) parts.push(`w${index.toString(36)}q${end}`)
  return parts.join("").slice(0, length)
}

/** Texts of a length for which a pattern that begins again at each place takes the square of their length. */
const texts: Record<string, (length: number) => string> = {
  "one word": (length) => repeated("x", length),
  "one number": (length) => `${repeated("1", length - 1)}a`,
  hyphens: (length) => repeated("a-", length),
  abbreviations: (length) => repeated("a. ", length),
  "a heading of hashes": (length) => `# ${repeated("#", length - 3)}a`,
  "a heading of spaces": (length) => `#${repeated(" ", length - 4)}a\u2028b`,
  "a question of spaces": (length) => `q${repeated(" ", length - 2)}x`,
  "a question of digits": (length) => `q${repeated("1", length - 2)}x`,
  "different words": (length) => distinct(length, " "),
  "different sentences": (length) => distinct(length, ". "),
  "different questions": (length) => distinct(length, "? "),
  "headings below long ones": (length) => `# ${distinct(length / 2, " ")}\n${repeated("###### a\nb\n", length / 2)}`,
  "signs of addresses": (length) => repeated("a@", length),
  brackets: (length) => repeated("{", length),
}

const tool = {
  name: "getCustomer",
  description: "",
  parameters: {
    type: "object",
    properties: {
      email: { type: "string" },
      phone: { type: "string" },
      orderNumber: { type: "string" },
      count: { type: "integer" },
    },
    required: ["email"],
  },
}

/** CPU time of an answer, in microseconds. */
async function cost(asked: Parameters<typeof request>): Promise<number> {
  const before = process.cpuUsage()
  await model.answer(request(...asked))
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** How many times as long as for a plain text of the same length; before the patterns were mended it was up to 290. */
const mostTimes = 50
/** A plain text, another one each time, since documents that were read are kept. */
const plain = (length: number) => repeated(`We deliver lamps within three days from ${randomUUID()}.\n`, length)
const inKnowledge = (content: string) =>
  cost([[customer("How long does the delivery of w1q take?")], { knowledge: [{ name: "K", content }] }])
/** Of several, since one takes a few milliseconds. */
async function besideTools(make: () => string): Promise<number> {
  let sum = 0
  for (let times = 0; times < 10; times += 1) sum += await cost([[customer(`get customer ${make()}`)], { tools: [tool] }])
  return sum
}

describe.each(Object.entries(texts))("the offline model reads %s like any other text", (_name, make) => {
  it("in its knowledge", async () => {
    const length = entityLimits.knowledgeText
    expect((await inKnowledge(make(length))) / (await inKnowledge(plain(length)))).toBeLessThan(mostTimes)
  })

  it("in a message, beside tools", async () => {
    const length = entityLimits.messageText - 100
    expect((await besideTools(() => make(length))) / (await besideTools(() => plain(length)))).toBeLessThan(mostTimes)
  })
})
