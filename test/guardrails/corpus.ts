import { GuardrailSettings } from "../../src/entities/kit/guardrail-settings.js"

/** A text that breaks a rule, and the part that nobody may read. */
export interface Violation {
  rule: string
  text: string
  needle: string
}

/** Sentences around what is planted, in three languages. */
const frames = [
  (planted: string) => `Thank you for waiting. The number that we have noted is ${planted} and it was stored on Monday.`,
  (planted: string) => `Vielen Dank für Ihre Geduld. Notiert haben wir ${planted} – bitte prüfen Sie das bis Freitag.`,
  (planted: string) => `Дякуємо за очікування. Ми записали ${planted} і відповімо вам у середу.`,
]

const planted: Record<string, string[]> = {
  card: [
    "4111 1111 1111 1111",
    "5500005555555559",
    "3782-822463-10005",
    "4111\u200b1111\u200b1111\u200b1111",
    "４１１１ １１１１ １１１１ １１１１",
    "6011.1111.1111.1117",
    "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
    "4111\u00a01111–1111_1111",
  ],
  iban: [
    "DE89 3704 0044 0532 0130 00",
    "DE89370400440532013000",
    "UA21 3223 1300 0002 6007 2335 6600 1",
    "AT61 1904 3002 3457 3201",
    "GB29NWBK60161331926819",
    "de89\u200b3704 0044\u2009 0532 0130 00",
    "FR14 2004 1010 0505 0001 3M02 606",
    "CH93-0076-2011-6238-5295-7",
  ],
  email: [
    "ann@lee-family.example",
    "Ann.Lee+shop@mail.example.co.uk",
    "ann＠lee-family.example",
    "ann@\u200blee-family.example",
    "ann(at)lee-family(dot)example",
    "ann [at] lee-family.example",
    "müller@straße.example",
    "info@xn--bcher-kva.example",
  ],
  phone: [
    "+49 30 12345678",
    "+38 (067) 123-45-67",
    "0049 89 1234567",
    "+1 (212) 555-0123",
    "+44 20 7946 0958",
    "+\u0664\u0669 30 12345678",
    "030/12345678",
    "067 123 45 67",
  ],
  words: [
    "Competitor GmbH",
    "COMPETITOR  GMBH",
    "compe\u00adtitor gmbh",
    "Refund\nguarantee",
    "GESCHENKT",
    "Безкоштовно назавжди",
    "STRASSENPREIS",
    "ｄａｍｎ",
  ],
  patterns: ["PRJ-2041", "prj-0001", "ＰＲＪ-1234", "internal   only", "INTERNAL only", "секретно"],
  links: [
    "https://evil.example/x",
    "http://shop.example.evil.com",
    "www.evil.com",
    "evil.com/win",
    "https://shop.example@evil.com/",
    "[shop.example](https://evil.org)",
    "HTTPS://EVIL.COM",
    "https://evil\u200b.com",
    "https://xn--80ak6aa92e.com",
    "https://еvil.com",
    "http://192.168.0.1/a",
    "ftp://files.evil.net/a",
  ],
}

/** The settings under which all of them are violations. */
export function settingsOf(action: "block" | "mask"): GuardrailSettings {
  const both = { customer: action, answer: action }
  const stops = { customer: "block", answer: "block" } as const
  return Object.assign(new GuardrailSettings(), {
    card: both,
    iban: both,
    email: both,
    phone: { ...both, countries: ["DE", "UA"] },
    words: {
      ...stops,
      words: ["competitor gmbh", "refund guarantee", "geschenkt", "безкоштовно назавжди", "Straßenpreis", "damn"],
      patterns: ["PRJ-\\d{4}", "internal\\s+only", "секрет(ний|на|но)"],
    },
    links: { ...stops, hosts: ["shop.example"] },
    length: { ...stops, customerMax: 600, answerMax: 600 },
    sentence: "I may not say that.",
  })
}

const long = (text: string) => text.repeat(Math.ceil(650 / text.length))

/** 189 texts that break a rule by what is in them, or by their length. */
export const violations: Violation[] = [
  ...Object.entries(planted).flatMap(([rule, needles]) =>
    needles.flatMap((needle) => frames.map((frame) => ({ rule: rule === "patterns" ? "words" : rule, text: frame(needle), needle }))),
  ),
  ...["All lamps have a switch. ", "Alle Lampen haben einen Schalter. ", "Усі лампи мають вимикач. "].flatMap((sentence) =>
    [sentence, sentence.toUpperCase(), `${sentence}🙂 `, `${sentence}\n`, `- ${sentence}`].map((one) => ({
      rule: "length",
      text: long(one),
      needle: sentence.trim().slice(0, 12),
    })),
  ),
]

/** Answers without a source, each to a question. */
export const unsourced = [
  "We deliver within three days.",
  "The lamp costs 49 euros in the sale.",
  "You can return it for a year.",
  "Our shop is in Kyiv.",
  "Wir liefern innerhalb von drei Tagen.",
  "Die Lampe kostet 49 Euro im Angebot.",
  "Sie können sie ein Jahr lang zurückgeben.",
  "Unser Laden ist in Berlin.",
  "Ми доставляємо за три дні.",
  "Лампа коштує 49 євро зі знижкою.",
  "Її можна повернути протягом року.",
  "Наш магазин у Києві.",
]

const orders = [
  "4711-0815",
  "2026-000123",
  "ORD-88123-7",
  "AB1234567",
  "100200300400",
  "7781 2234 9",
  "#2026/11/25-003",
  "Rechnung 30012345",
]
const trackings = [
  "00340434161094042557",
  "1Z 999 AA1 01 2345 6784",
  "JJD000390007882823421",
  "20450012345678",
  "RR 123 456 789 DE",
  "0140 5123 4567 8901 23",
  "CP123456789DE",
  "59000012345678",
]
const dates = [
  "01.02.2026",
  "2026-11-25",
  "25/11/2026",
  "02.03.2026–04.05.2026",
  "25.11.2026 18:30",
  "1.–24. 12.",
  "12. Dezember 2026",
  "2026/12/24 and 2026/12/31",
]
const prices = ["1.299,00 €", "EUR 12,345.67", "49.90", "2 x 19,99 €", "1 200 грн", "-20 %", "99,- €", "1 299 USD"]
const versions = ["24.18.1", "2.10.0-beta.3", "Node.js 24", "v1.2.3.4", "ISO 27001", "README.md", "iOS 18.2", "SHA-256"]
const sizes = ["90 x 200 cm", "1920×1080", "DIN A4", "12/24 V", "230 V / 50 Hz", "5,5 mm", "1/2 Zoll", "E27, 806 lm, 2700 K"]
const places = [
  "Hauptstr. 12, 10115 Berlin",
  "вул. Хрещатик 1, 01001 Київ",
  "221B Baker Street, London NW1 6XE",
  "Raum 3.14",
  "Gleis 7",
  "P.O. Box 1234",
  "Postfach 10 20 30, 50670 Köln",
  "кв. 45, під. 3",
]
const hours = [
  "9:00–18:00",
  "Mo–Fr 9–18 Uhr",
  "Пн–Пт 09:00–18:00",
  "24/7",
  "10 a.m. to 2 p.m.",
  "8:15, 12:30 and 17:45",
  "0–24 Uhr",
  "у вихідні 10–14",
]
const others = [
  "z.B. heute",
  "e.g. on Monday",
  "https://shop.example/returns?order=4711",
  "www.shop.example",
  "help.shop.example/faq",
  "10.000 Stück",
  "5 of 5 stars",
  "Wir sind da.Es geht weiter",
]

/** 216 texts that break no rule, with what looks similar: 72 things in three languages. */
export const harmless: string[] = [orders, trackings, dates, prices, versions, sizes, places, hours, others]
  .flat()
  .flatMap((thing) => [
    `Your question about ${thing} is answered in the handbook, chapter 4.`,
    `Ihre Frage zu ${thing} beantwortet das Handbuch in Kapitel 4.`,
    `На ваше запитання про ${thing} відповідає розділ 4 довідника.`,
  ])
