import { GraphQLScalarType, Kind } from "graphql"
import { BadUserInput } from "../../errors/errors.js"
import { entityLimits } from "../limits.js"

function webAddress(value: unknown): string {
  if (typeof value !== "string") throw new BadUserInput("must be a string")
  const text = value.trim()
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) throw new BadUserInput("must be a web address, http:// or https://")
  if (url.username || url.password) throw new BadUserInput("must not contain a user name or password")
  if (text.length > entityLimits.webAddress) throw new BadUserInput(`must be at most ${entityLimits.webAddress} characters`)
  return text
}

/** An http or https URL that the server requests; without credentials, stored unchanged. */
export const WebAddress = new GraphQLScalarType({
  name: "URL",
  specifiedByURL: "https://url.spec.whatwg.org/",
  description: "An absolute http or https URL without user name and password.",
  extensions: { jsonSchema: { type: "string", maxLength: entityLimits.webAddress, pattern: "^\\s*[hH][tT][tT][pP][sS]?:" } },
  serialize: (value) => value,
  parseValue: webAddress,
  parseLiteral: (node) => webAddress(node.kind === Kind.STRING ? node.value : undefined),
})

/** The origin of a stored URL; null without one. */
export const originOf = (url: string | null) => url && new URL(url).origin
