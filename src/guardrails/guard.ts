import { LRUCache } from "lru-cache"
import type { GuardrailSettings } from "../entities/kit/guardrail-settings.js"
import type { GuardrailAction, GuardrailDirection, GuardrailRule } from "../entities/kit/guardrail-words.js"
import { codePoints } from "../entities/kit/scalars.js"
import { excerptAt, excerptOfStart } from "./excerpt.js"
import { type Folded, fold } from "./folded.js"
import { guardrailLimits } from "./limits.js"
import type { Finder, MaskFinder } from "./rule.js"
import { joined, replaced, type Span } from "./span.js"

/** A rule that judges texts of one direction by what it finds in them. */
export interface ActiveRule {
  rule: GuardrailRule
  action: Exclude<GuardrailAction, "off">
  finder: Finder | MaskFinder
}

/** The rules of one direction, as they are compiled. */
export interface DirectionRules {
  finders: ActiveRule[]
  /** Longest text in code points, and what happens to a longer one. */
  length: { most: number; action: Exclude<GuardrailAction, "off"> } | null
}

/** What a rule found in a text, as it is recorded. */
export interface Finding {
  rule: GuardrailRule
  direction: GuardrailDirection
  action: Exclude<GuardrailAction, "off">
  reason: string
  excerpt: string | null
}

/** What the rules say of a text. */
export interface Judgement {
  /** One for each rule that found something. */
  findings: Finding[]
  isBlocked: boolean
  /** The text with what is to be masked replaced. */
  text: string
}

/** A text in the forms that rules read, each made when it is needed. */
function formsOf(original: string) {
  const made: Partial<Record<"folded" | "clean", Folded>> = {}
  return (form: "folded" | "clean" = "folded") => {
    made[form] ??= fold(original, form)
    return made[form]
  }
}

/** The guardrails of an assistant, compiled. */
export class Guard {
  private readonly judged = new LRUCache<string, Judgement>({
    max: guardrailLimits.judgedMessages,
    maxSize: guardrailLimits.judgedCharacters,
    sizeCalculation: (judgement, text) => text.length + judgement.text.length + 1,
  })

  constructor(
    readonly settings: GuardrailSettings,
    private readonly rules: Record<GuardrailDirection, DirectionRules>,
    private readonly personal: readonly MaskFinder[],
  ) {}

  /** Its settings, which stand for it where the size of a configuration is counted. */
  toJSON() {
    return this.settings
  }

  /** Judges a text by the rules of a direction that need no model and no source. */
  judge(direction: GuardrailDirection, text: string): Judgement {
    const { finders, length } = this.rules[direction]
    const formOf = formsOf(text)
    const found = finders.map(({ rule, action, finder }) => ({ rule, action, spans: spansIn(finder, formOf(finder.form)) }))
    const hits = found.filter(({ spans }) => spans.length > 0)
    const isTooLong = length !== null && text.length > length.most && codePoints(text) > length.most
    if (hits.length === 0 && !isTooLong) return { findings: [], isBlocked: false, text }
    const hidden = [...hits.flatMap(({ spans }) => spans), ...this.personalIn(text)]
    const findings = hits.map(({ rule, action, spans }): Finding => {
      const [first] = spans
      return { rule, direction, action, reason: first!.reason, excerpt: excerptAt(text, first!, hidden) }
    })
    if (isTooLong)
      findings.push({ rule: "length", direction, action: length.action, reason: "too_long", excerpt: excerptOfStart(text, hidden) })
    const isBlocked = findings.some(({ action }) => action === "block")
    const masked = hits.flatMap(({ action, spans }) => (action === "mask" ? spans : []))
    return { findings, isBlocked, text: replaced(text, masked) }
  }

  /** Judges a message of the customer; each turn reads those of its whole window, so judgements are remembered. */
  judgeMessage(text: string): Judgement {
    const known = this.judged.get(text)
    if (known) return known
    const judgement = this.judge("customer", text)
    this.judged.set(text, judgement)
    return judgement
  }

  /** A finding about a text as a whole. */
  findingAbout(finding: Omit<Finding, "excerpt">, text: string): Finding {
    return { ...finding, excerpt: excerptOfStart(text, this.personalIn(text)) }
  }

  /** Personal data in a text, whether or not a rule looks for it: an excerpt shows none. */
  private personalIn(text: string): Span[] {
    const folded = fold(text)
    return this.personal.flatMap((finder) => spansIn(finder, folded))
  }

  /** Whether an answer is shown only when the whole of it was judged, because it may be stopped. */
  get judgesWholeAnswers(): boolean {
    const { finders, length } = this.rules.answer
    const { sources, scope } = this.settings
    const all = [...finders, ...(length ? [length] : [])].map(({ action }) => action)
    return [...all, sources.answer, scope.answer].includes("block")
  }

  /** What may be shown of an answer that is being written: a beginning of it that further text does not change, as it will be stored. */
  shownOf(text: string): string {
    if (this.judgesWholeAnswers) return ""
    const masks = this.rules.answer.finders.filter(({ action }) => action === "mask")
    if (masks.length === 0) return text
    const begun = text.trimStart()
    const folded = fold(begun)
    const undecided = Math.min(...masks.map(({ finder }) => (finder as MaskFinder).undecidedFrom(folded.text)))
    // Joined, because one that is cut may overlap another one before it.
    const spans = joined(masks.flatMap(({ finder }) => spansIn(finder, folded)))
    const decided = folded.start(undecided)
    const end = spans.find((span) => span.start < decided && span.end > decided)?.start ?? decided
    const final = spans.filter((span) => span.end <= end)
    // White space at the end of what is stored is removed, and half a character cannot be stored.
    return replaced(begun.slice(0, end).replace(/[\uD800-\uDBFF]$/, ""), final).trimEnd()
  }
}

const spansIn = (finder: Finder, folded: Folded): Span[] =>
  finder.find(folded).map(({ start, end, reason }) => ({ start: folded.start(start), end: folded.end(end), reason }))
