import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { evaluate } from "../kit/evaluate.js"

const folder = mkdtempSync(join(tmpdir(), "platform-eval-test-"))
afterAll(() => rmSync(folder, { recursive: true }))

function scriptOf(lines: object[]) {
  const file = join(folder, `${lines.length}-${JSON.stringify(lines).length}.json`)
  const knowledge = [{ name: "Hours", text: "The shop is open from 9:00 to 18:00 on weekdays." }]
  const assistant = { name: "Desk", prompt: "You answer from the shop's hours." }
  writeFileSync(file, JSON.stringify({ assistant, knowledge, conversations: [{ name: "Hours", lines }] }))
  return file
}

describe("evals", () => {
  it("the examples hold for the offline model", async () => {
    const examples = ["lamp-shop", "order-desk", "clinic-handbook", "injections", "phone", "guardrails"].map(
      (name) => `eval/examples/${name}.json`,
    )
    const { code, printed, told } = await evaluate(examples)
    expect({ code, told, printed }).toMatchObject({
      code: 0,
      told: "",
      printed: expect.stringMatching(/(\d+) of \1 lines as expected, by Offline/),
    })
  })

  it("says what was missed, line by line, and ends with 1", async () => {
    const missed = [
      { customer: "When are you open?", facts: ["from 10:00"], never: ["18:00"], tools: [{ name: "getHours" }] },
      { customer: "I want to talk to a human.", handOff: false },
      { customer: "Hello?" },
    ]
    const { code, printed } = await evaluate([scriptOf(missed), "--json"])
    const { rows, model } = JSON.parse(printed)
    expect({ code, model }).toEqual({ code: 1, model: "Offline" })
    const faults = rows.map(({ verdict }: { verdict: { faults: string[] } }) => verdict.faults)
    expect(faults).toEqual([
      ["does not call getHours", 'does not say "from 10:00"', 'says "18:00"'],
      ["hands over"],
      ["was handed over before"],
    ])
  })

  it("refuses a file that it does not understand, and a model that is not there", async () => {
    const unknown = await evaluate([scriptOf([{ customer: "Hello", fact: ["9:00"] }])])
    expect(unknown).toMatchObject({ code: 2, told: expect.stringContaining('Unrecognized key: "fact"') })
    const nobody = await evaluate([scriptOf([{ customer: "Hi" }]), "--model", "Nobody"])
    expect(nobody).toMatchObject({ code: 2, told: expect.stringContaining("There is no model Nobody; there are Offline") })
    expect(await evaluate([])).toMatchObject({ code: 2, told: expect.stringContaining("npm run eval -- FILE") })
  })
})
