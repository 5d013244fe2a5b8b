import { otherThan, type Told, tell, withToken } from "../kit/answers.js"
import type { Attack } from "./attack.js"

const circle = (length: number) => Array.from({ length }, (_, n) => `fragment f${n} on Query { ...f${(n + 1) % length} }`).join(" ")
const doubling = (length: number) =>
  Array.from({ length }, (_, n) => `fragment f${n} on Query { ...f${n + 1} ...f${n + 1} }`).join(" ") +
  ` fragment f${length} on Query { __typename }`

const documents = [
  `{ ...f0 } ${circle(200)}`,
  `{ ...f0 } ${circle(1)}`,
  `{ ...f0 } ${doubling(30)}`,
  `{ ${"... on Query { ".repeat(190)} __typename ${"}".repeat(190)} }`,
  `{ ${"...on Query{".repeat(1_200)}${"}".repeat(1_200)}`,
  `{ chats { nodes { ${Array.from({ length: 800 }, () => "id").join(" ")} ${Array.from({ length: 400 }, (_, n) => `a: ${n % 2 ? "name" : "username"}`).join(" ")} } } }`,
]

/** Documents that are short to write and long to analyse. */
export const analysis: Attack = {
  title: "documents of fragments in a circle, that double, and that overlap",
  isLoad: true,
  async run({ server, attacker }, report) {
    const answers: Told[] = []
    for (let round = 0; round < 10; round += 1)
      for (const query of documents) answers.push(await tell(`${server.url}/graphql`, withToken(attacker), { query }))
    report.promise("each is refused", otherThan(["ok", "BAD_USER_INPUT", "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED"], answers))
  },
}
