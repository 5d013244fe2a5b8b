import "reflect-metadata"
import fc from "fast-check"
import { GuardrailSettings } from "../../src/entities/kit/guardrail-settings.js"
import { compileGuard } from "../../src/guardrails/compile.js"
import { fold } from "../../src/guardrails/folded.js"
import type { Guard } from "../../src/guardrails/guard.js"
import { needsSource } from "../../src/guardrails/source.js"
import { compilePattern } from "../../src/guardrails/words.js"
import { promised } from "../kit/promise.js"
import { harmless, settingsOf, unsourced, violations } from "./corpus.js"

const stops = compileGuard(settingsOf("block"))!
const masks = compileGuard(settingsOf("mask"))!

const guardOf = (settings: object): Guard => compileGuard(Object.assign(new GuardrailSettings(), settings))!
const log = { customer: "log", answer: "log" } as const
const personal = guardOf({ card: log, iban: log, email: log, phone: { ...log, countries: ["DE", "UA", "US"] } })
const found = (text: string, guard = personal) => guard.judge("answer", text).findings.map(({ reason }) => reason)

describe("planted violations", () => {
  it("are 200", () => {
    expect(violations.length + unsourced.length).toBeGreaterThanOrEqual(200)
  })

  promised("are all found, in both directions", () => {
    const missed = violations.filter(({ rule, text }) =>
      (["customer", "answer"] as const).some((direction) => {
        const { isBlocked, findings } = stops.judge(direction, text)
        return !isBlocked || !findings.some((finding) => finding.rule === rule)
      }),
    )
    expect(missed).toEqual([])
    expect(unsourced.filter((text) => !needsSource(["How long does it take?"], text))).toEqual([])
  })

  promised("show nothing of what was found in an excerpt", () => {
    const shown = violations.filter(({ text, needle, rule }) => {
      if (rule === "length") return false
      return stops.judge("answer", text).findings.some(({ excerpt }) => excerpt?.includes(needle) || excerpt?.length === 0)
    })
    expect(shown).toEqual([])
  })

  promised("of personal data are replaced, and the rest of the text stays", () => {
    const own = violations.filter(({ rule }) => ["card", "iban", "email", "phone"].includes(rule))
    expect(own.length).toBeGreaterThan(90)
    const wrong = own.filter(({ text, needle }) => masks.judge("answer", text).text !== text.replace(needle, "••••"))
    expect(wrong.map(({ text }) => [text, masks.judge("answer", text).text])).toEqual([])
  })
})

it("at most one of 200 harmless texts is stopped", () => {
  expect(harmless.length).toBeGreaterThanOrEqual(200)
  const stopped = harmless.filter((text) => stops.judge("answer", text).isBlocked || stops.judge("customer", text).isBlocked)
  // Shown by a failure.
  expect(stopped.slice(1)).toEqual([])
})

describe("a text that is being written", () => {
  const texts = [
    ...violations.filter(({ rule }) => rule !== "length").map(({ text }) => text),
    ...harmless,
    `Cards: 4111 1111 1111 1111, 5500005555555559; ann@lee.example and bob@lee.example. ${"Call +49 30 12345678 or 030/12345678. ".repeat(8)}`,
    `1 2 3 4 5 6 7 8 9 0 ${"4 1 1 1 ".repeat(40)}`,
  ]

  promised("is shown as a beginning of what is stored, however it is cut", () => {
    const onlyMasks = guardOf({
      card: { customer: "off", answer: "mask" },
      iban: { customer: "off", answer: "mask" },
      email: { customer: "off", answer: "mask" },
      phone: { customer: "off", answer: "mask", countries: ["DE", "UA"] },
    })
    for (const text of texts) {
      const stored = onlyMasks.judge("answer", text.trim()).text
      let last = ""
      for (let end = 1; end <= text.length; end += 1) {
        const shown = onlyMasks.shownOf(text.slice(0, end))
        if (!stored.startsWith(shown) || shown.length < last.length) throw new Error(`${JSON.stringify({ shown, stored, last })}`)
        last = shown
      }
    }
  })

  promised("is shown as a beginning of what is stored also when it is random", () => {
    const part = fc.constantFrom(
      "4111",
      " ",
      "1111",
      "-",
      "ann",
      "@",
      ".",
      "com",
      "+49",
      "30",
      "DE89",
      "3704 0044",
      "0532 0130 00",
      "(",
      "at",
      ")",
      "\u200b",
      "x",
      "\n",
      "12345678",
      "0",
    )
    const onlyMasks = guardOf({
      card: { customer: "off", answer: "mask" },
      iban: { customer: "off", answer: "mask" },
      email: { customer: "off", answer: "mask" },
      phone: { customer: "off", answer: "mask", countries: ["DE", "US"] },
    })
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 60 }), (parts) => {
        const text = parts.join("")
        const stored = onlyMasks.judge("answer", text.trim()).text
        for (let end = 1; end <= text.length; end += 1) expect(stored.startsWith(onlyMasks.shownOf(text.slice(0, end)))).toBe(true)
      }),
      { numRuns: 300, examples: [[["+49", "0532 0130 00", ".", "0532 0130 00", "@", "4111"]]] },
    )
  })

  promised("is not shown at all where a rule may stop it", () => {
    for (const { text } of violations) expect(stops.shownOf(text)).toBe("")
  })

  it("is shown as it is where rules only record", () => {
    expect(personal.shownOf("Card 4111 1111 1111 1111")).toBe("Card 4111 1111 1111 1111")
  })

  it("is shown while it is written, but for its end", () => {
    const text = `${"All lamps have a switch. ".repeat(30)}`
    expect(guardOf({ card: { customer: "off", answer: "mask" } }).shownOf(text).length).toBeGreaterThan(text.length - 5)
  })
})

describe("the rule about", () => {
  it.each([
    ["card numbers", "4111 1111 1111 1112", []],
    ["card numbers", "My order 4111111111111111 is late", ["card_number"]],
    ["card numbers", "4111 1111 1111 1111 12", ["card_number"]],
    ["card numbers", "41111111111111111111", []],
    ["card numbers of other networks", "9999 9999 9999 9999", []],
    ["IBANs", "DE89 3704 0044 0532 0130 01", []],
    ["IBANs", "XDE89370400440532013000", []],
    ["IBANs", "ZZ89370400440532013000", []],
    ["e-mail addresses", "react@18.3.1 and @scope/name", []],
    ["e-mail addresses", "Meet me @ example.com", []],
    ["telephone numbers", "030 12345678", ["phone"]],
    ["telephone numbers", "+49 1", []],
    ["telephone numbers of a country without a 0", "212-555-0123", ["phone"]],
    ["telephone numbers of a country without a 0", "2125550123", []],
    ["two texts at once", "ann@lee.example, 4111111111111111", ["card_number", "email"]],
  ])("%s: %j", (_what, text, reasons) => {
    expect(found(text)).toEqual(reasons)
  })

  it("telephone numbers finds those without a country code only for configured countries", () => {
    expect(found("Call 030 12345678", guardOf({ phone: { ...log, countries: [] } }))).toEqual([])
    expect(found("Call +49 30 12345678", guardOf({ phone: { ...log, countries: [] } }))).toEqual(["phone"])
  })

  it("words finds whole words, and says which", () => {
    const guard = guardOf({ words: { ...log, words: ["cat", "black dog", "C++"], patterns: ["b[aeiou]t"] } })
    expect(found("concatenate", guard)).toEqual([])
    expect(found("A CAT.", guard)).toEqual(["word:1"])
    expect(found("a black\n dog", guard)).toEqual(["word:2"])
    expect(found("I write C++ now", guard)).toEqual(["word:3"])
    expect(found("The BUTTER", guard)).toEqual(["pattern:1"])
  })

  it("links accepts the hosts of the company and their subdomains alone", () => {
    const guard = guardOf({ links: { ...log, hosts: ["shop.example", "bücher.example"] } })
    for (const text of [
      "https://shop.example",
      "www.shop.example/x",
      "https://a.b.shop.example:8443/?u=https%3A%2F%2Fevil.com",
      "https://BÜCHER.example",
      "(https://shop.example).",
    ])
      expect([text, found(text, guard)]).toEqual([text, []])
    for (const text of [
      "https://notshop.example",
      "https://shop.example.com",
      "evil.com",
      "http:evil.com",
      "https:\\\\evil.com",
      "http://[::1]/",
    ])
      expect([text, found(text, guard)]).toEqual([text, ["foreign_host"]])
  })

  it("length counts characters, not their parts", () => {
    const guard = guardOf({ length: { ...log, customerMax: 3, answerMax: 2 } })
    expect(guard.judge("customer", "🙂🙂🙂").findings).toEqual([])
    expect(guard.judge("answer", "🙂🙂🙂").findings).toMatchObject([{ rule: "length", reason: "too_long" }])
  })

  it.each([
    ["Thanks a lot!", "You are welcome.", false],
    ["Hello", "Hello! How can I help you today?", false],
    ["Дякую!", "Будь ласка.", false],
    ["How long does it take?", "Which order do you mean?", false],
    ["How long does it take?", "Three days.", true],
    ["I would like to know the price of the lamp", "It costs 49 euros.", true],
  ])("sources: to %j the answer %j", (asked, answer, needed) => {
    expect(needsSource([asked], answer)).toBe(needed)
  })
})

it("an assistant without a rule that is on has no guard", () => {
  expect([compileGuard(null), compileGuard(new GuardrailSettings()), compileGuard({})]).toEqual([null, null, null])
})

it("folding keeps the places of what it folds", () => {
  const original = "Straße\u200b ４１\u00a0🙂ÄX"
  const folded = fold(original)
  const at = folded.text.indexOf("41")
  expect(original.slice(folded.start(at), folded.end(at + 2))).toBe("４１")
  expect(folded.text).toContain("strasse 41 ")
})

describe("a pattern", () => {
  it.each([
    ["(", /no regular expression/],
    ["(a)\\1", /no regular expression/],
    ["(?=a)b", /no regular expression/],
    ["a*", /empty text/],
    ["(a{100}){3}b{100}", /repeats too much/],
  ])("%s is refused", (pattern, message) => {
    expect(() => compilePattern(pattern)).toThrow(message)
  })
})

describe("the time of a rule", () => {
  const fastest = (work: () => void) => {
    const times = Array.from({ length: 7 }, () => {
      const begin = performance.now()
      work()
      return performance.now() - begin
    })
    return Math.min(...times)
  }
  const hostile: Record<string, string> = {
    digits: "4111 1111 1111 1112 ",
    letters: "de89 a@b (at) ",
    dots: "a.b-c.1.2/",
    plus: "+49 30 1 ",
    zeros: "00 0 0 0 ",
    a: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaab ",
  }

  it.each(Object.keys(hostile))("grows linearly with a text of %s", (kind) => {
    const guard = guardOf({
      ...settingsOf("block"),
      words: { ...log, words: ["a b", "aaab"], patterns: ["(a+)+c", "a.*b|c", "(a|aa)+$"] },
    })
    const text = (size: number) => hostile[kind]!.repeat(Math.ceil(size / hostile[kind]!.length)).slice(0, size)
    const [small, large] = [text(2_000), text(64_000)]
    guard.judge("answer", small)
    // 32 times the text: quadratic time would be 1,024 times, and a busy machine measures a few times too much.
    expect(fastest(() => guard.judge("answer", large)) / fastest(() => guard.judge("answer", small))).toBeLessThan(200)
  })
})
