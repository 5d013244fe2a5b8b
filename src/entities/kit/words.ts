import { registerEnumType } from "type-graphql"

/** Converts a REST word to its GraphQL spelling: `telegram-bot` to `TELEGRAM_BOT`, `FunctionCallOutput` to `FUNCTION_CALL_OUTPUT`. */
export const upperSnake = (word: string) =>
  word
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[-\s]/g, "_")
    .toUpperCase()

/**
 * Declares an enum by its REST words, each with its description; the database stores the same words. GraphQL spells them in
 * UPPER_SNAKE_CASE.
 * @example const ChatTypeEnum = words("ChatType", "Type of a chat.", { private: "With one customer.", group: "With a group." })
 */
export function words<const W extends string>(name: string, description: string, values: Record<W, string>): Record<string, W> {
  const list = Object.keys(values) as W[]
  const map = Object.fromEntries(list.map((word) => [upperSnake(word), word]))
  const valuesConfig = Object.fromEntries(list.map((word) => [upperSnake(word), { description: values[word] }]))
  registerEnumType(map, { name, description, valuesConfig })
  return map
}
