import { setImmediate as yieldToEventLoop } from "node:timers/promises"
import { v4 as uuidV4 } from "uuid"
import { type Language, languageOf } from "../kit/words.js"
import { type ModelAnswer, ModelFailure, type ModelMessage, type ModelRequest, type TextModel, textModelId } from "../text-model.js"
import { type Passage, passagesOf, quote, sentences } from "./offline-knowledge.js"
import { phrases, smallTalk, wantsPerson } from "./offline-phrases.js"
import { resultSentence, searchResults } from "./offline-results.js"
import { argumentsFor, isSystemTool, namedTools } from "./offline-tools.js"
import { askedIn } from "./offline-topics.js"

const HAND_OVER = "turnOffAiMode"
const SEARCH = "searchKnowledge"
/** Questions of one burst that are answered. */
const QUESTIONS = 20

/** The built-in model: without network, and deterministic. It quotes the knowledge, calls tools that are named, or else hands over. */
export function offlineModel(): TextModel {
  return {
    id: textModelId("offline", "offline"),
    name: "Offline",
    provider: "offline",
    async answer(request) {
      if (request.signal.aborted) throw new ModelFailure("The answer is no longer wanted")
      const answer = await answered(request)
      // Other work has run meanwhile: a person may have taken over.
      if (request.signal.aborted) throw new ModelFailure("The answer is no longer wanted")
      if (answer.text) request.onText?.(answer.text)
      return answer
    },
  }
}

/** The unanswered part of a conversation: the last burst of messages, and the results of tools for it. */
interface Pending {
  text: string
  sentences: string[]
  language: Language
  results: Extract<ModelMessage, { role: "result" }>[]
}

async function answered(request: ModelRequest): Promise<ModelAnswer> {
  const pending = pendingIn(request)
  const say = phrases[pending.language]
  const results = pending.results.filter(({ name }) => !isSystemTool(name))
  if (results.length) return textAnswer(results.map(({ name, output }) => resultSentence(name, output, pending.language)).join(" "))
  if (wantsPerson(pending.sentences)) return handOver("The customer asked for a person.", say.noPerson, request, pending)
  const named = namedTools(pending.sentences, request.tools)
  if (named.length) return calls(...named.map((tool) => ({ name: tool.name, arguments: argumentsFor(tool, pending.text) })))
  const manners = smallTalk(pending.text)
  if (manners === "hello") return textAnswer(request.greeting?.trim() || say.hello)
  if (manners === "thanks") return textAnswer(say.welcome)
  return fromKnowledge(request, pending)
}

function pendingIn({ messages, language }: ModelRequest): Pending {
  const last = messages.findLastIndex(({ role }) => role === "customer")
  const before = messages.slice(0, last + 1)
  const start = before.findLastIndex(({ role }) => role === "assistant" || role === "person") + 1
  const text = before
    .slice(start)
    .flatMap((message) => (message.role === "customer" ? [message.text] : []))
    .join("\n")
  return {
    text,
    sentences: sentences(text),
    language: languageOf(text, language),
    results: messages.slice(last + 1).filter((message) => message.role === "result"),
  }
}

async function fromKnowledge(request: ModelRequest, pending: Pending): Promise<ModelAnswer> {
  const say = phrases[pending.language]
  const searches = pending.results.filter(({ name }) => name === SEARCH)
  const known = [...request.knowledge, ...searches.flatMap(({ output }) => searchResults(output))]
  const { quotes, open } = await answersTo(pending, known)
  const offered = (name: string) => request.tools.some((tool) => tool.name === name)
  if ((open.length || !quotes.length) && !searches.length && offered(SEARCH)) {
    return calls({ name: SEARCH, arguments: { query: (open.join(" ") || pending.text).slice(0, 1_000) } })
  }
  if (!quotes.length) return handOver("The knowledge has no answer to the customer's question.", say.unknown, request, pending)
  return textAnswer(paragraph([...quotes, ...open.map((question) => say.unknownRest(question.replace(/\s*\?+$/, "?")))]))
}

/** Answers the questions of the burst; `open` are those without an answer. Other requests run between documents and between questions. */
async function answersTo(pending: Pending, known: ModelRequest["knowledge"]): Promise<{ quotes: string[]; open: string[] }> {
  const passages: Passage[] = []
  for (const [item, { name, content }] of known.entries()) {
    if (item > 0) await yieldToEventLoop()
    for (const passage of passagesOf(name, content)) passages.push({ ...passage, block: item * 100_000 + passage.block })
  }
  const asking = pending.sentences.filter((sentence) => askedIn(sentence).asked.length)
  const questions = asking.filter((sentence) => sentence.includes("?"))
  // Sentences around a question are its context; without a question mark every sentence may be a question.
  const tried = (questions.length ? questions : asking).slice(0, QUESTIONS)
  const most = tried.length > 2 ? 1 : tried.length === 2 ? 2 : 3
  const found: { question: string; quotes: string[] }[] = []
  for (const question of tried) {
    await yieldToEventLoop()
    found.push({ question, quotes: quote(question, passages, most) })
  }
  const quotes = [...new Set(found.flatMap((one) => one.quotes))]
  if (quotes.length) return { quotes, open: questions.length ? found.filter((one) => !one.quotes.length).map((one) => one.question) : [] }
  // "It is about a sofa. Can it go back?": the context may explain the question.
  return { quotes: quote(pending.text, passages, 3), open: [] }
}

// Quoted sentences are unchanged; one without a full stop would run into the next.
function paragraph(quotes: string[]): string {
  return quotes.map((text, at) => (at < quotes.length - 1 && /[\p{L}\p{N})%]$/u.test(text) ? `${text}.` : text)).join(" ")
}

function handOver(reason: string, instead: string, { tools }: ModelRequest, { results }: Pending): ModelAnswer {
  // The tool was called in this turn already, so the hand-off did not work: the customer is told.
  const tried = results.some(({ name }) => name === HAND_OVER)
  return tools.some(({ name }) => name === HAND_OVER) && !tried ? calls({ name: HAND_OVER, arguments: { reason } }) : textAnswer(instead)
}

const usage = { inputTokens: null, outputTokens: null }

const textAnswer = (text: string): ModelAnswer => ({ text, toolCalls: [], usage })

function calls(...asked: { name: string; arguments: unknown }[]): ModelAnswer {
  return { text: null, toolCalls: asked.map((call) => ({ callId: uuidV4(), ...call })), usage }
}
