import { registerEnumType } from "type-graphql"

/** The GraphQL spelling of a REST word: `telegram-bot` is `TELEGRAM_BOT`, `FunctionCallOutput` is `FUNCTION_CALL_OUTPUT`. */
export const upperSnake = (word: string) =>
  word
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[-\s]/g, "_")
    .toUpperCase()

/**
 * Declares an enum by its REST words, which are also what the database stores; GraphQL spells them in UPPER_SNAKE_CASE.
 * @example const Role = words("MemberRole", "What a member may do.", ["owner", "admin", "member"])
 */
export function words<const W extends string>(name: string, description: string, list: readonly W[]): Record<string, W> {
  const map = Object.fromEntries(list.map((word) => [upperSnake(word), word])) as Record<string, W>
  registerEnumType(map, { name, description })
  return map
}
