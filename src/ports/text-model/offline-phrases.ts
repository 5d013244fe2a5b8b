import { fold, isStopWord, type Language, words } from "../kit/words.js"

/** Phrases of the offline model, by language. */
export interface Phrases {
  hello: string
  welcome: string
  unknown: string
  unknownRest: (question: string) => string
  noPerson: string
  failed: (tool: string) => string
  done: (tool: string) => string
}

/** The phrases. */
export const phrases: Record<Language, Phrases> = {
  en: {
    hello: "Hello! How can I help you?",
    welcome: "You are welcome. Write any time if there is something else.",
    unknown: "I do not know the answer to that. A person will have to help you here.",
    unknownRest: (question) => `I do not know the answer to “${question}”: a person will have to help with that.`,
    noPerson: "A person will have to take over here. Please wait for one of our team.",
    failed: (tool) => `Sorry, “${tool}” did not work just now. A person will have to help you here.`,
    done: (tool) => `${tool}: done.`,
  },
  uk: {
    hello: "Вітаю! Чим можу допомогти?",
    welcome: "Будь ласка! Пишіть, якщо буде ще щось.",
    unknown: "Я не знаю відповіді на це. Тут має допомогти людина.",
    unknownRest: (question) => `Я не знаю відповіді на «${question}»: тут має допомогти людина.`,
    noPerson: "Тут має допомогти людина. Зачекайте, будь ласка, на когось із нашої команди.",
    failed: (tool) => `Вибачте, «${tool}» зараз не спрацювало. Тут має допомогти людина.`,
    done: (tool) => `${tool}: готово.`,
  },
  ru: {
    hello: "Здравствуйте! Чем могу помочь?",
    welcome: "Пожалуйста! Пишите, если будет что-то ещё.",
    unknown: "Я не знаю ответа на это. Здесь должен помочь человек.",
    unknownRest: (question) => `Я не знаю ответа на «${question}»: здесь должен помочь человек.`,
    noPerson: "Здесь должен помочь человек. Подождите, пожалуйста, кого-нибудь из нашей команды.",
    failed: (tool) => `Извините, «${tool}» сейчас не сработало. Здесь должен помочь человек.`,
    done: (tool) => `${tool}: готово.`,
  },
  de: {
    hello: "Guten Tag! Wie kann ich helfen?",
    welcome: "Gern geschehen. Schreiben Sie jederzeit, wenn noch etwas ist.",
    unknown: "Das weiß ich nicht. Hier muss ein Mensch helfen.",
    unknownRest: (question) => `„${question}“ kann ich nicht beantworten: dabei muss ein Mensch helfen.`,
    noPerson: "Hier muss ein Mensch übernehmen. Bitte warten Sie auf jemanden aus unserem Team.",
    failed: (tool) => `Leider hat „${tool}“ gerade nicht funktioniert. Hier muss ein Mensch helfen.`,
    done: (tool) => `${tool}: erledigt.`,
  },
  es: {
    hello: "¡Hola! ¿En qué puedo ayudarle?",
    welcome: "De nada. Escriba cuando quiera si necesita algo más.",
    unknown: "No sé la respuesta a eso. Tendrá que ayudarle una persona.",
    unknownRest: (question) => `No sé la respuesta a «${question}»: tendrá que ayudarle una persona.`,
    noPerson: "Aquí tiene que ayudarle una persona. Espere, por favor, a alguien de nuestro equipo.",
    failed: (tool) => `Lo siento, «${tool}» no ha funcionado ahora. Tendrá que ayudarle una persona.`,
    done: (tool) => `${tool}: hecho.`,
  },
  fr: {
    hello: "Bonjour ! Comment puis-je vous aider ?",
    welcome: "Avec plaisir. Écrivez-nous si vous avez une autre question.",
    unknown: "Je ne connais pas la réponse. Une personne devra vous aider.",
    unknownRest: (question) => `Je ne connais pas la réponse à « ${question} » : une personne devra vous aider.`,
    noPerson: "Une personne doit prendre le relais. Merci d’attendre quelqu’un de notre équipe.",
    failed: (tool) => `Désolé, « ${tool} » n’a pas fonctionné. Une personne devra vous aider.`,
    done: (tool) => `${tool} : c’est fait.`,
  },
  pl: {
    hello: "Dzień dobry! W czym mogę pomóc?",
    welcome: "Nie ma za co. Proszę pisać, jeśli pojawi się coś jeszcze.",
    unknown: "Nie znam odpowiedzi na to pytanie. Tu musi pomóc człowiek.",
    unknownRest: (question) => `Nie znam odpowiedzi na „${question}”: tu musi pomóc człowiek.`,
    noPerson: "Tu musi pomóc człowiek. Proszę poczekać na kogoś z naszego zespołu.",
    failed: (tool) => `Przepraszam, „${tool}” teraz nie zadziałało. Tu musi pomóc człowiek.`,
    done: (tool) => `${tool}: gotowe.`,
  },
}

const list = (text: string) => new Set(words(text))
const beginnings = (text: string) => new RegExp(`^(?:${fold(text).trim().split(/\s+/).join("|")})`)

const greetings =
  list(`hi hello hey hiya greetings morning afternoon evening привіт вітаю доброго добрий день дня вечір вечора ранок ранку здрастуйте привет
  здравствуйте здравствуй добрый вечер утро hallo moin servus guten tag morgen abend hola buenos buenas dias tardes noches bonjour salut bonsoir
  coucou czesc witam hej siema dzien dobry wieczor ciao 你好 您好 こんにちは 안녕하세요 مرحبا`)
const besideGreetings = list("there all everyone team good day dear bot assistant friend guys und zusammen a todos tout le monde wszystkim")
const openings = list("help question assist допомогти питання помочь вопрос helfen frage ayudar pregunta aider question pomoc pytanie")
const thanks =
  list(`thank thanks thx ty cheers bye goodbye ok okay great perfect fine cool super awesome excellent good got clear understood дякую спасибі зрозуміло чудово
  добре гаразд ок окей супер спасибо понятно хорошо отлично ладно danke alles klar gut prima gracias perfecto vale genial adios merci parfait daccord
  dziekuje dzieki rozumiem super swietnie`)
const besideThanks = list(
  "very much lot help helping so nice day it all дуже велике за допомогу большое очень за помощь vielen schon sehr hilfe mucho ayuda beaucoup aide bardzo pomoc",
)

/** Recognizes a burst that only greets or thanks; null when it says more. */
export function smallTalk(text: string): "hello" | "thanks" | null {
  const wordsOfText = words(text)
  // A single emoji or question mark is treated like a greeting.
  if (!wordsOfText.length) return "hello"
  const only = (core: Set<string>, beside: Set<string>) =>
    wordsOfText.some((word) => core.has(word)) && wordsOfText.every((word) => core.has(word) || beside.has(word))
  // "Hello, can you help me?" contains no question yet.
  const opening = new Set([...besideGreetings, ...openings, ...wordsOfText.filter(isStopWord)])
  if (only(greetings, opening)) return "hello"
  if (text.includes("?")) return null
  const polite = new Set([...besideThanks, ...greetings])
  return wordsOfText.some((word) => thanks.has(word)) &&
    wordsOfText.every((word) => thanks.has(word) || polite.has(word) || isStopWord(word))
    ? "thanks"
    : null
}

// Words for people who take over a chat, and words that can also mean any person ("a table for one person").
const staff =
  beginnings(`human operator representative$ agent$ agents$ manager supervisor оператор менеджер консультант спеціаліст специалист адміністратор
  администратор mitarbeiter berater humano$ humana$ operador agente gerente encargad representante humain operateur conseiller responsable konsultant
  kierownik menedzer pracownik`)
const anyone = beginnings(
  "person$ people$ somebody$ someone$ людин людьми человек людьм mensch jemand persona$ alguien personne$ quelquun czlowiek osob kims$",
)
const talk =
  beginnings(`talk speak chat$ connect transfer contact escalat forward$ handover through$ говор погово спілку звяж зєдна поклич переключ перевед
  общат поговор свяж соедин позов sprech reden verbind weiterleit hablar conect comunic pasar paseme pasame transfier parler joindre passe$ passer$
  relation contacter rozmaw porozmaw polacz przelacz skontakt`)
const want =
  beginnings(`want need get$ give like$ please prefer real$ live$ actual$ хоч потріб треба нуж дай можна можно будь ласка пожалуй жив mochte will$ brauche
  bitte echt quiero necesito quisiera favor$ real veux voudrais besoin vrai$ vraie$ chce potrzeb prosz zyw`)

/** Whether the customer asks for a person, in any of the supported languages. */
export function wantsPerson(sentences: string[]): boolean {
  return sentences.some((sentence) => {
    const wordsOfText = words(sentence)
    const talks = wordsOfText.some((word) => talk.test(word))
    const wants = wordsOfText.some((word) => want.test(word))
    const rest = wordsOfText.filter((word) => !isStopWord(word) && !want.test(word))
    if (wordsOfText.some((word) => staff.test(word))) return talks || (wants && rest.length <= 2) || rest.length <= 1
    return wordsOfText.some((word) => anyone.test(word)) && (talks || (wants && wordsOfText.length <= 5 && !/\d/.test(sentence)))
  })
}
