/** Limits that guardrails/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const guardrailLimits = {
  /** Largest sum of the counted repetitions of a pattern (`{n}`), which are compiled to as many copies; ours. */
  patternRepetitions: 200,
  /** Largest size of all patterns of an assistant when they are compiled, in instructions; ours: a character takes some 15 ns for each at worst. */
  patternInstructions: 1_000,
  /** Most digits of a card number (ISO/IEC 7812) … */
  cardDigits: 19,
  /** … and the fewest that cards in use have. */
  cardDigitsMin: 13,
  /** Most characters between two digits of a number; ours. */
  separators: 3,
  /** Longest IBAN (ISO 13616). */
  ibanCharacters: 34,
  /** Longest part of an e-mail address before the @ (RFC 5321) … */
  emailLocal: 64,
  /** … and after it. */
  emailDomain: 255,
  /** Most digits of a telephone number with its country code (E.164) … */
  phoneDigits: 15,
  /** … the fewest that are found; ours … */
  phoneDigitsMin: 7,
  /** … and the most of one without its country code; ours, so that longer order numbers are none. */
  nationalDigits: 12,
  /** Numbers of a text that are looked up in the plans of countries; ours: a look-up takes some ten microseconds. */
  phoneAttempts: 300,
  /** Characters of the text on each side of what was found that a hit shows; ours. */
  excerptCharacters: 40,
  /** Longest excerpt of a text in which nothing was found at a place; ours. */
  excerptStartCharacters: 80,
  /** A customer's text of up to so many words, without a question mark, is small talk, whose answer needs no source; ours. */
  smallTalkWords: 4,
  /** Judged messages of customers that the guardrails of an assistant remember, since each turn reads all of its window; ours. */
  judgedMessages: 2_000,
  /** Characters of these messages in all; ours. */
  judgedCharacters: 1_000_000,
} as const
