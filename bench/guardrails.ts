import "reflect-metadata"
import { GuardrailSettings } from "../src/entities/kit/guardrail-settings.js"
import { compileGuard } from "../src/guardrails/compile.js"

const characters = 4_000
const runs = 400

/** Usual texts: what people and assistants write, with dates, prices, orders and numbers in it. */
const texts: Record<string, string> = {
  English:
    "Your order 4711-0815 of 12 November 2026 costs €49.90 and is on its way; the parcel 00340434161094042557 arrives on Monday between 9:00 and 12:00. If it does not, write to us or look at https://shop.example/orders. Returns are free for 30 days. ",
  German:
    "Ihre Bestellung 4711-0815 vom 12.11.2026 kostet 49,90 € und ist unterwegs; das Paket 00340434161094042557 kommt am Montag zwischen 9:00 und 12:00 Uhr. Falls nicht, schreiben Sie uns oder sehen Sie auf https://shop.example/bestellungen nach. ",
  Ukrainian:
    "Ваше замовлення 4711-0815 від 12.11.2026 коштує 1 299 грн і вже в дорозі; посилка 20450012345678 прибуде в понеділок з 9:00 до 12:00. Якщо ні, напишіть нам або подивіться на https://shop.example/orders. Повернення безкоштовне 30 днів. ",
}

const log = { customer: "log", answer: "log" } as const
const words = Array.from({ length: 200 }, (_, index) => `forbidden${index} phrase`)
const patterns = Array.from({ length: 20 }, (_, index) => `PRJ${index}-\\d{4}|internal ${index} only`)

/** Settings with one rule each. */
const rules: Record<string, Partial<GuardrailSettings>> = {
  card: { card: log },
  iban: { iban: log },
  email: { email: log },
  "phone, two countries": { phone: { ...log, countries: ["DE", "UA"] } },
  "200 words": { words: { ...log, words, patterns: [] } },
  "20 patterns": { words: { ...log, words: [], patterns } },
  links: { links: { ...log, hosts: ["shop.example"] } },
  length: { length: { ...log, customerMax: 16_000, answerMax: 16_000 } },
}
rules["all of them"] = Object.assign({}, ...Object.values(rules), { words: { ...log, words, patterns } })

/** Times each rule over a usual text; the median and the 99th percentile in milliseconds. */
export function measureGuardrails(): string {
  const rows = Object.entries(rules).map(([name, settings]) => {
    const guard = compileGuard(Object.assign(new GuardrailSettings(), settings))!
    const times = Object.values(texts).map((text) => {
      const whole = text.repeat(Math.ceil(characters / text.length)).slice(0, characters)
      const all = Array.from({ length: runs }, () => {
        const begin = performance.now()
        guard.judge("answer", whole)
        return performance.now() - begin
      })
      // The first runs compile.
      const sorted = all.slice(runs / 4).sort((one, other) => one - other)
      const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]!.toFixed(3)
      return `${at(0.5)} | ${at(0.99)}`
    })
    return `| ${name} | ${times.join(" | ")} |`
  })
  const languages = Object.keys(texts).flatMap((language) => [`${language} p50`, "p99"])
  return [
    `Milliseconds of a rule over a text of ${characters} characters in which it finds nothing`,
    `| rule | ${languages.join(" | ")} |`,
    `|${" --- |".repeat(languages.length + 1)}`,
    ...rows,
  ].join("\n")
}
