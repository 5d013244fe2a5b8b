import { fold, isStopWord, stem, words } from "../kit/words.js"
import type { ModelTool } from "../text-model.js"

const systemTools = ["turnOffAiMode", "searchKnowledge", "setChatTags", "platformPostCall"]

/** Whether a tool is a system tool, which customers do not call by name. */
export const isSystemTool = (name: string): boolean => systemTools.includes(name)

const nameWords = (name: string) => words(name.replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2").replace(/[_-]+/g, " "))

/** Readable form of a tool's name: "getOrderStatus" becomes "Get order status". */
export function toolTitle(name: string): string {
  const title = nameWords(name).join(" ")
  return title.charAt(0).toUpperCase() + title.slice(1)
}

/** Tools that a burst names: those spelled exactly, otherwise the one whose words occur in one sentence. */
export function namedTools(sentences: string[], tools: ModelTool[]): ModelTool[] {
  const own = tools.filter(({ name }) => !isSystemTool(name))
  const text = sentences.join("\n").toLowerCase()
  const spelled = own
    .map((tool) => ({ tool, at: text.search(new RegExp(`(?<![\\p{L}\\p{N}_-])${tool.name.toLowerCase()}(?![\\p{L}\\p{N}_-])`, "u")) }))
    .filter(({ at }) => at >= 0)
  if (spelled.length) return spelled.sort((one, two) => one.at - two.at).map(({ tool }) => tool)
  const stated = sentences.map((sentence) => new Set(words(sentence).map(stem)))
  const meant = own
    .map((tool) => ({ tool, wanted: subjectOf(tool, text) }))
    .filter(({ wanted }) => wanted.length && stated.some((stems) => wanted.every((word) => stems.has(word))))
    .sort((one, two) => two.wanted.length - one.wanted.length)
  return meant.slice(0, 1).map(({ tool }) => tool)
}

const looking = /^(?:get|fetch|find|check|look|lookup|show|list|read)$/

/**
 * The words, by their stems, that a sentence must have to mean a tool. Customers write "my order status", without "get" or "fetch", or what is
 * before that: the name of an MCP server. One word alone is too common, unless the text has all that the tool needs, such as an order's number.
 */
function subjectOf(tool: ModelTool, text: string): string[] {
  const all = nameWords(tool.name)
  const stems = (list: string[]) => [...new Set(list.map(stem))]
  const verb = all.findLastIndex((word) => looking.test(word))
  const subject = stems(all.slice(verb + 1).filter((word) => !isStopWord(word)))
  return subject.length > 1 || (subject.length === 1 && hasAllOf(tool, text)) ? subject : stems(all)
}

/** Whether a text has a value for each required argument, of which there is at least one; not just any text. */
function hasAllOf(tool: ModelTool, text: string): boolean {
  const { properties = {}, required } = tool.parameters as Schema
  const names = Array.isArray(required) ? required.map(String) : []
  return names.length > 0 && names.every((name) => Object.hasOwn(properties, name) && unnamed(name, properties[name]!, text) !== null)
}

interface Schema {
  type?: unknown
  format?: unknown
  enum?: unknown
  description?: unknown
  properties?: Record<string, Schema>
  required?: unknown
}

/** Fills a tool's arguments from the customer's text, as far as the schema allows; required strings get the message itself. */
export function argumentsFor(tool: ModelTool, text: string): Record<string, unknown> {
  const schema = tool.parameters as Schema
  const required = Array.isArray(schema.required) ? (schema.required as unknown[]) : []
  const properties = Object.entries(schema.properties ?? {})
  const given = spelledOut(text, schema.properties ?? {})
  // A number after the name of an argument is not available for another one.
  let free = text
  for (const [name, property] of properties) {
    const stated = name in given ? null : afterName(name, free)
    const value = stated && shaped(stated.value, property)
    if (value === undefined || value === null || value === "") continue
    given[name] = value
    free = free.replace(stated!.whole, " ")
  }
  for (const [name, property] of properties) {
    if (name in given) continue
    const found = unnamed(name, property, free)
    if (found) {
      given[name] = found.value
      free = free.replace(found.stated, " ")
    } else if (required.includes(name) && property.type === "string" && !property.enum && !property.format) given[name] = text
  }
  return given
}

// People who test a tool write its arguments as JSON.
function spelledOut(text: string, properties: Record<string, Schema>): Record<string, unknown> {
  try {
    const [begin, end] = [text.indexOf("{"), text.lastIndexOf("}")]
    const value = JSON.parse(begin < 0 ? "{}" : text.slice(begin, end + 1)) as object
    return Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(properties, name)))
  } catch {
    return {}
  }
}

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")

function afterName(name: string, text: string): { whole: string; value: string } | null {
  const spelled = [escaped(name), nameWords(name).join("[\\s_-]*")].join("|")
  const stated = new RegExp(
    `(?<![\\p{L}\\p{N}])(?:${spelled})\\s*(?:[:=#№]|is\\s|number\\s)\\s*(?:"([^"]+)"|'([^']+)'|([^\\s,;]+))`,
    "iu",
  ).exec(text)
  return stated && { whole: stated[0], value: stated[1] ?? stated[2] ?? stated[3]!.replace(/[.!?)}\]]+$/, "") }
}

function shaped(stated: string, { type, enum: choices }: Schema): unknown {
  if (Array.isArray(choices)) return choices.find((choice) => fold(String(choice)) === fold(stated))
  if (type === "number" || type === "integer") {
    const number = Number(stated.replace(",", "."))
    return Number.isFinite(number) && (type === "number" || Number.isInteger(number)) ? number : undefined
  }
  if (type === "boolean") return /^(?:true|yes|1)$/i.test(stated) ? true : /^(?:false|no|0)$/i.test(stated) ? false : undefined
  return type === "string" || type === undefined ? stated : undefined
}

function unnamed(name: string, property: Schema, text: string): { value: unknown; stated: string } | null {
  const { type, format, enum: choices } = property
  const first = (pattern: RegExp) => {
    const stated = pattern.exec(text)?.[0]
    const value = stated === undefined ? undefined : shaped(stated, property)
    return value === undefined ? null : { value, stated: stated! }
  }
  if (Array.isArray(choices)) {
    const stated = choices.find((choice) => new RegExp(`(?<!\\p{L})${escaped(fold(String(choice)))}(?!\\p{L})`, "u").test(fold(text)))
    return stated === undefined ? null : { value: stated, stated: String(stated) }
  }
  if (type === "integer") return first(/(?<![\p{L}\d.])-?\d{1,30}(?![\d.]*\d|\p{L})/u)
  if (type === "number") return first(/(?<![\p{L}\d])-?\d+(?:[.,]\d+)?/u)
  if (type !== "string") return null
  if (format === "email" || /mail/i.test(name)) return first(/(?<![^\s<>,;:"'@])[^\s<>,;:"'@]+@[^\s<>,;"'@]+\.\p{L}{2,}/u)
  if (format === "uri" || /url|link/i.test(name)) return first(/https?:\/\/[^\s<>"']+/)
  if (format === "uuid") return first(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i)
  if (format === "date" || /date/i.test(name)) return first(/\d{4}-\d\d-\d\d/)
  if (/phone/i.test(name)) return first(/\+?\d[\d\s()-]{6,}\d/)
  // IDs and numbers of objects are words with a digit: A-1042, #77.
  if (/(?:id|number|no|code|order|sku|ref\w*)$/i.test(name)) return first(/(?<=#|№|\b)(?=[\w-]{0,99}\d)[\p{L}\d][\p{L}\d-]*/u)
  return null
}
