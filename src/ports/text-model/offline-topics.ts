import { fold, isStopWord, languageOf, stem, words } from "../kit/words.js"

/** Subjects of a text: stems of its words, and topics that group different words for one subject. */
export interface Meaning {
  stems: Set<string>
  topics: Set<string>
}

/** One subject of a question, which any of its stems or its topic answers; `named` when it is a name or a number. */
export interface Concept {
  stems: Set<string>
  topic: string | null
  named: boolean
}

// Common subjects of customers of a shop or a service, as prefixes of folded words ($: whole words).
const topics: [topic: string, beginnings: string][] = [
  [
    "delivery",
    "deliver ship$ ships$ shipp shipment dispatch courier arriv доставк доставл доставит відправ отправ посилк посылк liefer versand versend envio envia entreg livr expedi dostaw dostarcz wysyl przesylk",
  ],
  [
    "return",
    "return refund повернен повернут повертат возврат вернут возвращ ruckgab zuruckgeb retour ruckerstatt erstatt devol reembols rembours zwrot zwroc",
  ],
  [
    "price",
    "price pricing cost fee$ fees$ charge tariff rate$ rates$ ціна ціни ціну вартіст кошту цена цены цену стоимост стоит preis kost precio cuesta cuestan coste tarif prix cout cena$ ceny$ cene cennik kosztu koszt",
  ],
  [
    "hours",
    "hour open opens closed$ close$ closes$ closing schedule графік график години часы працює працюєте работает работаете відчин открыт закрит зачин offnungs geoffnet offen schliess horario abre abren abiert cierr horaire ouvert ouvr ferme godzin otwart czynn zamkniet",
  ],
  [
    "payment",
    "pay$ pays$ paid paying payment card$ cards$ cash$ visa$ mastercard paypal оплат сплат плат zahl bezahl pago$ pagos$ pagar paiement payer payez plac platnos zaplac",
  ],
  [
    "contact",
    "contact phone telephone email reach телефон пошт почт контакт связат звязат telefon erreich contacto correo joindre kontakt",
  ],
  [
    "address",
    "address locat situated street$ avenue вул$ вулиц улиц strasse calle$ ulica адрес знаход находит розташ располож adress standort befind direccion ubica situe emplacement znajduj siedzib",
  ],
  ["warranty", "warrant guarante гарант garant gewahrl gwaranc"],
  ["discount", "discount coupon promo sale$ sales$ знижк скидк rabatt gutschein descuento remise reduction znizk rabat"],
  ["cancel", "cancel скасу відмін отмен stornier kundig annul odwol anulow"],
  ["booking", "book$ books$ booking reserv appointment бронюв заброн бронир запис termin$ buchen buchung reserva rendez rezerw"],
  ["stock", "stock availab наявн наличи verfugbar vorrat disponib dostepn"],
]

const topicOf = topics.map(([topic, list]) => [topic, new RegExp(`^(?:${fold(list).trim().split(/\s+/).join("|")})`)] as const)

// Topics of several words together; the single words are then ignored.
const phrases: [topic: string, said: RegExp][] = [
  [
    "price",
    /\bhow (?:much|expensive)\b|\bwieviel\b|\bwie viel\b|\bcuanto (?:cuesta|vale|es)\b|\bc(?:e|est) combien\b|\bile kosztuje\b|[€$£₴₽]|\b(?:usd|eur|uah|gbp|pln)\b/g,
  ],
  ["return", /\b(?:money|cash) back\b|\b(?:send|give|bring) (?:\w+ ){1,3}back\b/g],
  [
    "address",
    /\bwhere (?:are you|is (?:your|the) (?:shop|store|office|place|restaurant|cafe|salon))\b|\bwo (?:seid ihr|sind sie)\b|\bdonde estan\b|де ви(?= |$|\?)|где вы(?= |$|\?)/g,
  ],
  ["address", /(?<=\b(?:store|shop|office|restaurant|cafe|salon)s?) (?:is|are) (?=in\b|at\b|on\b)/g],
  ["hours", /\b24\/7\b/g],
  ["duration", /(?<!\d)\d+\s*(?:hours?|hrs?|h|minutes?|days?|weeks?|months?)\b|\b(?:(?:working|business) )?(?:days?|weeks?|months?)\b/g],
  [
    "duration",
    /(?<!\p{L})(?:дн(?:я|ів|еи|і)|день|доб[аиу]|тиж\p{L}*|недел\p{L}*|хвилин\p{L}*|минут\p{L}*|tage?n?|wochen?|stunden|dias?|semanas?|jours?|semaines?|dni|tygodni\p{L}*)(?!\p{L})/gu,
  ],
]

// Topics that a good answer should contain, but need not.
const hopes: [topic: string, asked: RegExp][] = [
  [
    "duration",
    /\bhow (?:long|fast|quick\w*|soon)\b|\bwhen\b|як довго|скільки (?:часу|днів)|коли|сколько (?:времени|днеи)|как (?:долго|быстро)|когда|wie lange|\bwann\b|cuanto (?:tarda|tiempo)|cuando|combien de temps|\bquand\b|jak dlugo|kiedy/,
  ],
]

/** Finds the subjects of a text. */
export function meaningOf(text: string): Meaning {
  const meaning: Meaning = { stems: new Set(), topics: new Set() }
  for (const { stems, topic } of concepts(text)) {
    for (const one of stems) meaning.stems.add(one)
    if (topic) meaning.topics.add(topic)
  }
  // "Wi-Fi" also occurs as "wifi".
  for (const [, one, two] of fold(text).matchAll(/(?<!\p{L})(\p{L}+)-(\p{L}+)/gu)) meaning.stems.add(stem(`${one}${two}`))
  return meaning
}

/** Finds the subjects of a question, and the topic that its answer should preferably contain. */
export function askedIn(question: string): { asked: Concept[]; hope: string | null } {
  const folded = fold(question)
  // German capitalizes all nouns; in other languages a capital inside a sentence marks a name.
  const capitals = languageOf(question, "en") === "de" ? [] : (question.match(/(?<=[\p{L}\p{N},] )\p{Lu}\p{L}+/gu) ?? [])
  const names = new Set(capitals.map((name) => stem(fold(name))))
  const asked = concepts(question).filter(({ topic }) => topic !== "duration")
  for (const concept of asked) concept.named = !concept.topic && [...concept.stems].some((one) => names.has(one) || /\d/.test(one))
  return { asked, hope: hopes.find(([, pattern]) => pattern.test(folded))?.[0] ?? null }
}

function concepts(text: string): Concept[] {
  const found: Concept[] = []
  const byTopic = new Map<string, Concept>()
  const byStem = new Map<string, Concept>()
  const add = (concept: Concept) => {
    found.push(concept)
    if (concept.topic && !byTopic.has(concept.topic)) byTopic.set(concept.topic, concept)
    return concept
  }
  let rest = fold(text)
  for (const [topic, pattern] of phrases) {
    const without = rest.replace(pattern, " ")
    if (without !== rest) add({ stems: new Set(), topic, named: false })
    rest = without
  }
  for (const word of words(rest)) {
    if (isStopWord(word) || (word.length < 2 && /[a-zа-яіїєґ]/.test(word))) continue
    const topic = topicOf.find(([, beginning]) => beginning.test(word))?.[0] ?? null
    const root = stem(word)
    const known = topic ? byTopic.get(topic) : byStem.get(root)
    const concept = known ?? add({ stems: new Set(), topic, named: false })
    concept.stems.add(root)
    if (!byStem.has(root)) byStem.set(root, concept)
  }
  return found
}
