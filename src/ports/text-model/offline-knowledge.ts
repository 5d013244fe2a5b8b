import { askedIn, type Concept, type Meaning, meaningOf } from "./offline-topics.js"

/** A sentence of the knowledge that can be quoted; `title` is its context (headings, the question of a Q/A pair, the name of the item). */
export interface Passage {
  text: string
  block: number
  /** Whether the title is a question, so that the whole block is the answer. */
  whole: boolean
  own: Meaning
  /** The meaning of each part of the title. */
  title: Meaning[]
}

const sentenceSegmenter = new Intl.Segmenter(undefined, { granularity: "sentence" })
const abbreviation = /(?:^|[\s(])(?:\p{L}|approx|ca|no|nr|mr|mrs|dr|st|e\.g|i\.e|z\.b|bzw|вул|ул|тел|грн|руб|буд|хв|стр|стор)\.$/iu

/** Splits a text into sentences, each line separately; abbreviations such as "approx." end no sentence. */
export function sentences(text: string): string[] {
  const found: string[] = []
  for (const line of text.split(/\r?\n/)) {
    let begin = 0
    for (const { segment, index } of sentenceSegmenter.segment(line)) {
      const end = index + segment.length
      const open = line.slice(begin, end).trim()
      // No abbreviation is as long as the part that is tested.
      if (abbreviation.test(open.slice(-20))) continue
      if (open) found.push(open)
      begin = end
    }
    const rest = line.slice(begin).trim()
    if (rest) found.push(rest)
  }
  return found
}

// Reading a long document takes tens of milliseconds, and every answer reads the same few.
const read = new Map<string, Passage[]>()

/** Splits a document into passages; the last few hundred documents are cached. */
export function passagesOf(name: string, content: string): Passage[] {
  const key = `${name}\n${content}`
  const passages = read.get(key) ?? parse(name, content)
  read.delete(key)
  read.set(key, passages)
  if (read.size > 200) read.delete(read.keys().next().value!)
  return passages
}

// No pattern takes more than a few steps for each character of a line, whatever a customer or a page wrote.
const heading = /^(#{1,6})\s+(.+)$|^\*\*([^*]+)\*\*:?$/s
const closingHashes = /(?<!#)#+$/
const questionMark = /^(?:q|question|п|питання|в|вопрос|f|frage|p|pregunta|pytanie)\s*(?:\d+\s*)?:\s*(.+)$/isu
const answerMark = /^(?:a|answer|відповідь|о|ответ|antwort|r|respuesta|réponse|odpowiedź)\s*(?:\d+\s*)?:\s*/iu
const bullet = /^\s*(?:[-*•–]|\d+[.)])\s+/

// A table row is read like an item of a list.
function linesOf(content: string): string[] {
  const lines = content.split(/\r?\n/).map((line) => line.trim())
  const row = (line: string) => line.split("|").flatMap((cell) => cell.trim() || [])
  return lines.filter((line) => !/^\|[\s:|-]+\|?$/.test(line)).map((line) => (line.startsWith("|") ? `- ${row(line).join(" – ")}` : line))
}

// The name of the document has the level 0, headings the levels 1 to 6; the question of a pair is below them.
const QUESTION = 7

function parse(name: string, content: string): Passage[] {
  const lines = linesOf(content)
  const passages: Passage[] = []
  const above: (Meaning | undefined)[] = [meaningOf(name)]
  let lead: Meaning | null = null
  let block = 0
  let paragraph: string[] = []
  const close = () => {
    const title = [...above, lead].filter((part) => part != null)
    for (const text of sentences(paragraph.join(" ")))
      passages.push({ text, block, whole: above.length > QUESTION, own: meaningOf(text), title })
    paragraph = []
  }
  const open = (title: string, level: number) => {
    close()
    // A heading applies to everything up to the next one of the same level.
    above.splice(level)
    above[level] = meaningOf(title)
    lead = null
    block++
  }
  for (const [at, line] of lines.entries()) {
    const marked = heading.exec(line)
    const asked = questionMark.exec(line)
    const next = lines[at + 1] ?? ""
    if (marked) open(marked[2]?.replace(closingHashes, "").trimEnd() || (marked[2] ?? marked[3]!), marked[1]?.length ?? 6)
    else if (asked) open(asked[1]!, QUESTION)
    else if (line.endsWith("?") && next && !next.endsWith("?")) open(line.replace(bullet, ""), QUESTION)
    else if (isTitle(line, lines[at - 1] ?? "", next)) open(line, 6)
    else if (!line) {
      close()
      // An answer ends with its paragraph; the next paragraph has another subject.
      if (passages.at(-1)?.block === block) above.splice(QUESTION)
      lead = null
      block++
    } else if (line.endsWith(":") && bullet.test(next)) {
      close()
      lead = meaningOf(line)
      block++
    } else if (bullet.test(line)) {
      close()
      paragraph = [line.replace(bullet, "")]
    } else paragraph.push(line.replace(answerMark, "").replace(/^>\s*/, ""))
  }
  close()
  return passages
}

// "Delivery" alone above a paragraph is a heading without markup.
function isTitle(line: string, before: string, next: string) {
  return (
    !before && next.length > line.length && !bullet.test(line) && /^\p{Lu}[^.!?:;,\d]{1,40}$/u.test(line) && line.split(/\s+/).length <= 5
  )
}

/** Subjects of a question for which each passage is searched. */
const SUBJECTS = 50

interface Match {
  passage: Passage
  matched: Set<Concept>
  score: number
  byTitle: boolean
}

/** Quotes the passages that answer a question, at most `most` sentences in their order; empty when none does. */
export function quote(question: string, passages: Passage[], most: number): string[] {
  const { asked: all, hope } = askedIn(question)
  if (!all.length) return []
  const asked = all.slice(0, SUBJECTS)
  const weigh = weights(asked, passages)
  const matches = passages.map((passage) => match(passage, asked, hope, weigh)).filter(({ matched }) => matched.size)
  const candidates = matches.filter((one) => answers(one, asked, weigh))
  const best = candidates.reduce<Match | null>((one, other) => (one && one.score >= other.score ? one : other), null)
  if (!best) return []
  const chosen = best.byTitle ? matches.filter(({ passage }) => passage.block === best.passage.block) : alike(best, matches, asked)
  const kept = new Set(chosen.slice(0, most).map(({ passage }) => passage))
  return passages.filter((passage) => kept.has(passage)).map(({ text }) => text)
}

type Weigh = (concept: Concept) => number

// Rare words distinguish passages; a word that the knowledge lacks weighs most, because it shows that the question is about something else.
function weights(asked: Concept[], passages: Passage[]): Weigh {
  const weight = new Map<Concept, number>()
  for (const concept of asked) {
    const times = passages.filter((passage) => has(passage.own, concept) || isInTitle(passage, concept)).length
    const rarity = times ? 1 - Math.log(times) / Math.log(passages.length + 1) : 1
    weight.set(concept, (concept.topic ? 1.5 : 1) * (0.6 + 0.4 * rarity))
  }
  return (concept) => weight.get(concept)!
}

const sharesStem = (meaning: Meaning, concept: Concept) => [...concept.stems].some((one) => meaning.stems.has(one))
const has = (meaning: Meaning, concept: Concept) =>
  sharesStem(meaning, concept) || (concept.topic !== null && meaning.topics.has(concept.topic))

const isInTitle = ({ title }: Passage, concept: Concept) => title.some((part) => has(part, concept))

function match(passage: Passage, asked: Concept[], hope: string | null, weigh: Weigh): Match {
  const matched = new Set<Concept>()
  let own = 0
  let onlyTitle = 0
  let title = 0
  for (const concept of asked) {
    const inTitle = isInTitle(passage, concept)
    if (inTitle) title += weigh(concept)
    if (has(passage.own, concept)) own += weigh(concept) * (sharesStem(passage.own, concept) ? 1 : 0.9)
    else if (inTitle) onlyTitle += weigh(concept) * 0.8
    else continue
    matched.add(concept)
  }
  const hoped = hope !== null && passage.own.topics.has(hope) ? 0.5 : 0
  return { passage, matched, score: own + onlyTitle + hoped, byTitle: passage.whole ? title >= own : title > own + hoped }
}

/** Whether a match is about the question, rather than sharing a word with it. */
function answers({ matched, passage }: Match, asked: Concept[], weigh: Weigh): boolean {
  const found = [...matched].reduce((sum, concept) => sum + weigh(concept), 0)
  if (!found || [...matched].every(({ named }) => named) !== asked.every(({ named }) => named)) return false
  const missing = asked.filter((concept) => !matched.has(concept))
  // Long passages about one subject still match, but a name that the knowledge lacks rules a match out.
  const story = missing.filter(({ named }) => !named).reduce((sum, concept) => sum + weigh(concept), 0)
  const names = missing.filter(({ named }) => named).length * 2
  const share = found / (found + Math.min(story, 2.5) + names)
  const onTopic = [...matched].some((concept) => concept.topic || isInTitle(passage, concept))
  return share >= (onTopic ? 0.35 : 0.55)
}

// Besides the best sentence, those with the same score, and those that answer another part of the question ("… and how much is delivery?").
function alike(best: Match, matches: Match[], asked: Concept[]): Match[] {
  const chosen = [best]
  const covered = new Set(best.matched)
  for (const other of [...matches].sort((one, two) => two.score - one.score)) {
    if (other === best) continue
    const fresh = asked.filter((concept) => concept.topic && other.matched.has(concept) && !covered.has(concept))
    if (other.score < best.score * 0.88 && !fresh.length) continue
    chosen.push(other)
    for (const concept of fresh) covered.add(concept)
  }
  return chosen
}
