import { otherThan, tell, withToken } from "../kit/answers.js"
import { Ref } from "../kit/pools.js"
import type { Attack } from "./attack.js"

const fields = (count: number, value: (n: number) => object) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, value(n)]))

/** A JSON Schema of 6 KB that takes almost a second to compile, since references to a definition are replaced with it. */
export function bomb(seed: number) {
  const definition = { properties: fields(40, (n) => ({ type: "string", minLength: seed * 100 + n })) }
  return { type: "object", $defs: { a: definition }, properties: fields(140, () => ({ $ref: "#/$defs/a" })) }
}

/** Schemas of tools that take long to compile, in thirty aliases of one request. */
export const schemaBombs: Attack = {
  title: "JSON Schemas that take long to compile",
  isLoad: true,
  async run({ server, attacker }, report) {
    const id = attacker.pools.valueOf(new Ref("AssistantTool", 0))
    const numbers = Array.from({ length: 30 }, (_, n) => n)
    const declared = numbers.map((n) => `$p${n}: JSON`)
    const aliases = numbers.map((n) => `a${n}: updateAssistantTool(id: "${id}", input: { params: $p${n} }) { id }`)
    const query = `mutation (${declared.join(", ")}) { ${aliases.join(" ")} }`
    const send = (seed: number) => {
      const variables = Object.fromEntries(numbers.map((n) => [`p${n}`, bomb(seed + n)]))
      return tell(`${server.url}/graphql`, withToken(attacker), { query, variables })
    }
    const answers = await Promise.all([send(100), send(200)])
    report.promise("the schemas are compiled or refused", otherThan(["ok", "BAD_USER_INPUT", "RATE_LIMITED"], answers))
  },
}
