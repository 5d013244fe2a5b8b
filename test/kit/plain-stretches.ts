/** What is stored about a chat, beside its stretches; times in milliseconds since the epoch. */
export interface StoredChat {
  assistantId: string | null
  /** Whether AI was on when the chat was created. */
  beganWithAi: boolean
  messages: { id: string; at: number; sequence: number; role: string; authorId: string | null }[]
  controls: { at: number; isOn: boolean; why: string | null; userId: string | null; bySystem: boolean }[]
  calls: { at: number; failed: boolean; searched: boolean; found: boolean }[]
  turns: { at: number; input: number; output: number }[]
  /** When a person ended the open stretch, or the chat was deleted. */
  ends: { at: number; why: string }[]
}

/** The facts of a stretch, as a plain reading of what is stored gives them. */
export interface PlainStretch {
  id: string
  assistantId: string | null
  startedAt: number
  endedAt: number | null
  endReason: string | null
  outcome: string | null
  reopened: boolean
  messages: [customer: number, assistant: number, user: number]
  aiAnswers: number[]
  peopleAnswers: number[]
  handedOffAt: number | null
  handOffReason: string | null
  personId: string | null
  returnedAt: number | null
  toolCalls: number
  toolFailures: number
  searches: number
  misses: number
  tokens: [input: number, output: number]
}

const hour = 60 * 60 * 1_000

/** Divides what is stored about a chat at the ends of its stretches, and reads the facts of each part. */
export function plainStretches(chat: StoredChat, quietHours: number, now: number): PlainStretch[] {
  const stretches: PlainStretch[] = []
  for (const part of partsOf(chat, quietHours * hour, now)) {
    const before = stretches.at(-1)
    const stretch = factsOf(chat, part)
    if (before?.outcome === "AI_ALONE" && stretch.startedAt - before.endedAt! <= 72 * hour) before.reopened = true
    stretches.push(stretch)
  }
  return stretches
}

interface Part {
  messages: StoredChat["messages"]
  from: number
  /** The end, or infinity. */
  until: number
  /** The beginning of the next part, or infinity. */
  next: number
  endReason: string | null
}

/** The messages between a customer's first message after an end and the next end. */
function partsOf({ messages, ends }: StoredChat, quietMs: number, now: number): Part[] {
  const parts: Part[] = []
  const sorted = [...messages].sort((one, other) => one.at - other.at || one.sequence - other.sequence)
  let open: Part | null = null
  /** When the open part ends if nobody writes before this time; null when it does not end until then. */
  const endBefore = (at: number) => {
    const last = open!.messages.at(-1)!.at
    const ended = ends.filter((end) => end.at >= last && end.at <= at && end.at < last + quietMs).sort((one, other) => one.at - other.at)[0]
    if (ended) return { at: ended.at, why: ended.why }
    return last + quietMs <= at ? { at: last + quietMs, why: "QUIET" } : null
  }
  const close = (end: { at: number; why: string }) => {
    Object.assign(open!, { until: end.at, endReason: end.why })
    open = null
  }
  for (const message of sorted) {
    const end = open && endBefore(message.at)
    if (end) close(end)
    if (open) (open as Part).messages.push(message)
    else if (message.role === "Customer") {
      if (parts.length > 0) parts.at(-1)!.next = message.at
      open = { messages: [message], from: message.at, until: Number.POSITIVE_INFINITY, next: Number.POSITIVE_INFINITY, endReason: null }
      parts.push(open)
    }
  }
  const end = open && endBefore(now)
  if (end) close(end)
  return parts
}

function factsOf(chat: StoredChat, { messages, from, until, next, endReason }: Part): PlainStretch {
  const count = (role: string) => messages.filter((message) => message.role === role).length
  const [customer, assistant, user] = [count("Customer"), count("Assistant"), count("User")]
  const outcome = assistant > 0 ? (user > 0 ? "AI_THEN_PERSON" : "AI_ALONE") : user > 0 ? "PERSON_ALONE" : "UNANSWERED"
  const calls = chat.calls.filter(({ at }) => at >= from && at < next)
  const turns = chat.turns.filter(({ at }) => at >= from && at < next)
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
  return {
    id: messages[0]!.id,
    assistantId: chat.assistantId,
    startedAt: from,
    endedAt: endReason ? until : null,
    endReason,
    outcome: endReason ? outcome : null,
    reopened: false,
    messages: [customer, assistant, user],
    ...waitsAndControls(chat, messages, from, until),
    toolCalls: calls.length,
    toolFailures: calls.filter(({ failed }) => failed).length,
    searches: calls.filter(({ searched }) => searched).length,
    misses: calls.filter(({ searched, found }) => searched && !found).length,
    tokens: [sum(turns.map(({ input }) => input)), sum(turns.map(({ output }) => output))],
  }
}

/**
 * The place of a change of AI control among what is stored for the same millisecond: after the messages. A customer's message can turn AI on again
 * in its transaction, before another message.
 */
function placeOf({ at, isOn, bySystem }: StoredChat["controls"][number], messages: StoredChat["messages"]) {
  const cause = isOn && bySystem && messages.find((message) => message.at === at && message.role === "Customer")
  return cause ? { order: 0, sequence: cause.sequence } : { order: 1, sequence: 0 }
}

/** Walks through the messages and changes of AI control of a stretch: how long the customer waited for whom, and who turned AI off. */
function waitsAndControls(chat: StoredChat, messages: StoredChat["messages"], from: number, until: number) {
  const earlier = chat.controls.filter(({ at }) => at < from)
  let isOn = earlier.at(-1)?.isOn ?? chat.beganWithAi
  let unanswered: number | null = null
  let handedOver: number | null = null
  const found = {
    aiAnswers: [] as number[],
    peopleAnswers: [] as number[],
    handedOffAt: null as number | null,
    handOffReason: null as string | null,
    personId: null as string | null,
    returnedAt: null as number | null,
  }
  const facts = [
    ...messages.map((message) => ({ ...message, order: 0 })),
    ...chat.controls.filter(({ at }) => at >= from && at < until).map((control) => ({ ...control, ...placeOf(control, messages) })),
  ].sort((one, other) => one.at - other.at || one.order - other.order || one.sequence - other.sequence)
  for (const fact of facts) {
    if ("isOn" in fact) {
      if (isOn && !fact.isOn && found.handedOffAt === null) Object.assign(found, { handedOffAt: fact.at, handOffReason: fact.why })
      if (isOn && !fact.isOn && ["assistant", "failure", "guardrail"].includes(fact.why!)) handedOver = fact.at
      if (fact.why === "person") found.personId ??= fact.userId
      if (fact.isOn) handedOver = null
      if (fact.isOn && found.handedOffAt !== null) found.returnedAt ??= fact.at
      isOn = fact.isOn
    } else if (fact.role === "Customer") unanswered ??= fact.at
    else if (fact.role === "Assistant") {
      if (unanswered !== null) found.aiAnswers.push(fact.at - unanswered)
      unanswered = null
    } else {
      const since = [unanswered, handedOver].filter((at) => at !== null)
      if (since.length > 0) found.peopleAnswers.push(fact.at - Math.min(...since))
      found.personId ??= fact.authorId
      unanswered = handedOver = null
    }
  }
  return found
}
