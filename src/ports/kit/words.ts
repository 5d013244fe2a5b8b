/** Languages for which the offline model has phrases. */
export type Language = "en" | "uk" | "ru" | "de" | "es" | "fr" | "pl"

/** Lower case without accents and apostrophes, so that "Öffnungszeiten" and "offnungszeiten" are one word. */
export function fold(text: string): string {
  return text
    .toLowerCase()
    .replace(/(?<![\p{L}])(l|d|j|c|n|s|m|t|qu)['’]/gu, "$1 ")
    .replace(/['’ʼ]/g, "")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/ł/g, "l")
    .replace(/ß/g, "ss")
}

const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u
const wordSegmenter = new Intl.Segmenter(undefined, { granularity: "word" })

/** The folded words and numbers of a text, in order. */
export function words(text: string): string[] {
  const folded = fold(text)
  // A segmenter is needed only where words are not spaced, and costs ten times as much.
  if (!unspaced.test(folded)) return folded.match(/[\p{L}\p{N}]+/gu) ?? []
  return [...wordSegmenter.segment(folded)].filter((part) => part.isWordLike).map((part) => part.segment)
}

const set = (list: string) => new Set(words(list))

/** Stop words by language; they also indicate the language of a text. */
const stopWords: Record<Language, Set<string>> = {
  en: set(`a about again all also am an and any are as at be been but by can could did do does doing don't for from get give go got had has
    have he her here him his how i i'd i'll i'm i've if in into is isn't it it's its just know let like long many may me might more most much my
    need no not now of off on one or our out over please possible really she should so some someone tell than that that's the their them then
    there these they thing this those time times to too up us very want was we well were what what's when where which while who whose why will with wonder
    wondering would yes yet you your yours take takes taking hi hello hey thanks thank sorry dear kindly question find explain say work works happen`),
  uk: set(`а або але б без був була були бути в ви вам вас ваш ваша ваше ваші від він вона вони воно все всі де для до довго є ж за з зі і й із
    її його їх коли кому ласка будь чи чим чого цей ця це ці я як яка яке який які якого мене мені ми мій моя моє мої можна можу може можете
    маю є на над нам нас не ні ну о об по під при про та так там те теж ти то той треба тут у хочу хотів хотіла час часу що щоб скільки потрібно
    підкажіть скажіть привіт вітаю дякую добрий`),
  ru: set(`а без бы был была были быть в вам вас ваш ваша ваше ваши во вот все всё вы где да для до долго его ее если есть еще же за здесь и из
    или их к как какая какие какое какой когда кто ли мне можно могу может можете мой моя мое мои мы на над нас нам не него нет ни но ну о об он
    она они от по под подскажите пожалуйста при про с сейчас скажите сколько со так там те тоже то только ты у уже хочу хотел хотела что чтобы
    это эти этот эта я нужно надо время времени привет здравствуйте спасибо`),
  de: set(`aber alle als also am an auch auf aus bei bin bis bist bitte da das dass dein dem den der des die dir dich du ein eine einem einen einer
    er es euch euer eure für gibt hab habe haben habt hat hallo ich ihr ihre ihnen im in ist ja kann kannst können könnt könnte lange machen man
    mein meine mich mir mit möchte muss nach nein nicht noch nur ob oder ohne sein seid sich sie sind so um und uns unser von vom vor wann war
    was welche welcher welches wenn wer wie wieviel wird wir wo wollen will zu zum zur danke über dauert viel`),
  es: set(`a al algo alguna algún aquí así cómo como con cuál cuáles cuando cuándo cuanto cuánto cuántos de del desde donde dónde dos e el él ella
    ellos en eres es esa ese eso esta está están este esto favor gracias ha hace hacen hacer hasta hay hola la las le les lo los me mi mis mucho
    muy no nos o os para pero por porque puede puedo pueden que qué quiero quisiera saber se ser si sí sin sobre son soy su sus también te
    tiene tienen tengo tienes tu tus un una uno usted ustedes y ya yo tarda`),
  fr: set(`a ai au aux avec avez avoir ce cela ces cet cette chez combien comment d dans de des du elle en es est et être eu il ils j je l la le les
    leur lui ma mais me merci mes moi mon n ne nos notre nous on ou où par pas peut peux plus pour pourquoi pouvez puis qu quand que quel quelle
    quelles quels qui s sa sans se ses si son sont suis sur t ta te tes toi ton tu un une vos votre vous voudrais veux y temps faire fait faut
    bonjour`),
  pl: set(`a aby ale bez bo by być był była było chcę ci co czy czas czasu dla do gdzie go i ich ile im ja jak jaka jaki jakie jaką je jego jej jest
    jestem już każdy kiedy kto która które który ma mam macie mają mi mnie mogę moje mój moja może można my na nad nam nas nie niż o od on ona
    one oni oraz po pod proszę przez przy są się ta tak także tam te tego ten to trwa tu ty tym w was wasz wasze we wy z za ze że długo
    chciałbym chciałabym dziękuję dzień dobry cześć`),
}

const everyStopWord = new Set(Object.values(stopWords).flatMap((list) => [...list]))

/** Whether a folded word is a stop word in any known language. */
export const isStopWord = (word: string): boolean => everyStopWord.has(word)

const latin = /(?:eries|ations|ation|ments|ment|ungen|ung|ings|ing|ies|ers|ery|ed|es|er|en|em|as|os|ow|ie|y|s|e|a|o)$/
const cyrillic =
  /(?:ями|ами|ого|ому|ими|ыми|ах|ях|ов|ев|ів|еи|ою|ею|ои|ии|ыи|ая|яя|ое|ее|ие|ые|их|ых|им|ым|ти|ть|ам|ям|ом|ем|а|я|и|і|ы|у|ю|е|є|о|ь)$/

/** Removes endings of a folded word, so that its forms share a stem ("deliveries", "delivery", "deliver"); short words are unchanged. */
export function stem(word: string): string {
  const endings = /\p{sc=Cyrillic}/u.test(word) ? cyrillic : latin
  let rest = word
  for (let turn = 0; turn < 3; turn++) {
    const shorter = rest.replace(endings, "")
    if (shorter === rest || shorter.length < 3 || (rest.endsWith("ss") && shorter.length === rest.length - 1)) break
    rest = shorter
  }
  return rest.length > 3 ? rest.replace(/([bdfglmnprt])\1$/, "$1") : rest
}

/** Guesses the language of a text: by its stop words, then its letters, otherwise `fallback` (BCP 47), otherwise English. */
export function languageOf(text: string, fallback: string): Language {
  const own = fallback.toLowerCase().split("-")[0]!
  const list = words(text)
  const lower = text.toLowerCase()
  const scores = Object.entries(stopWords).map(([language, known]) => {
    let score = list.filter((word) => known.has(word)).length + (language === own ? 0.5 : 0)
    if (language === "uk" && /[іїєґ]/.test(lower)) score += 2
    if (language === "ru" && /[ыэъё]/.test(lower)) score += 2
    return { language: language as Language, score }
  })
  const best = scores.reduce((one, other) => (other.score > one.score ? other : one))
  return best.score > 0 ? best.language : "en"
}
