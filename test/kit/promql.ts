/** A condition on a label in a selector. */
interface Matcher {
  label: string
  operator: string
  value: string
}

/** A metric that a query selects, with its conditions. */
export interface Selector {
  metric: string
  matchers: Matcher[]
}

/** The words of PromQL in our queries that name neither a metric nor a label. */
const words = new Set(["absent", "and", "histogram_quantile", "increase", "max", "min", "or", "rate", "sum", "vector"])

/** What a query selects. A word that is not known here counts as a metric, so that a mistyped one is found. */
export function selectorsOf(query: string): Selector[] {
  const bare = query.replace(/\bby\s*\([^)]*\)/g, "").replace(/\[[^\]]*\]|\boffset\s+\w+/g, "")
  return [...bare.matchAll(/(?<![\w.])([a-zA-Z_]\w*)\s*(?:\{([^{}]*)\})?(?=[^"]*(?:"[^"]*"[^"]*)*$)/g)].flatMap(
    ([, name, conditions = ""]) => (words.has(name!) ? [] : [{ metric: name!, matchers: matchersOf(conditions) }]),
  )
}

const matchersOf = (conditions: string) =>
  [...conditions.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)].map(([, label, operator, value]) => ({
    label: label!,
    operator: operator!,
    value: value!,
  }))

/** The labels by which a query groups. */
export const groupingsOf = (query: string) =>
  [...query.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, labels]) => labels!.split(",").map((label) => label.trim()))
