import { readFileSync } from "node:fs"
import { buildSchema, Lexer, Source, TokenKind, validate } from "graphql"
import supertest from "supertest"
import { rulesOf } from "../../src/graphql/hidden-schema.js"
import { graphqlLimits } from "../../src/graphql/limits.js"
import { parseDocument, withinStack } from "../../src/graphql/validation.js"
import { rootLimits } from "../../src/limits.js"
import { world } from "../kit/world.js"

const w = world()
const { acme } = w

/** The number of tokens of a text. */
function tokensOf(text: string): number {
  const lexer = new Lexer(new Source(text))
  let tokens = 0
  while (lexer.advance().kind !== TokenKind.EOF) tokens += 1
  return tokens
}

/** As many parts as a share of the tokens of a document allows, beside some others. */
const most = (part: (index: number) => string, share = 1) =>
  Array.from({ length: Math.floor((rootLimits.graphqlTokens * share - 40) / tokensOf(part(0))) }, (_, index) => part(index)).join(" ")
/** As many characters as fit into a body beside a short document. */
const longest = "a".repeat(rootLimits.bodyBytes - 500)
const levels = graphqlLimits.graphqlNesting - 10

/** Documents at the limits of size, depth or number, by what they have most of. */
const documents: Record<string, string> = {
  "one field": `{ chatFolders { ${most(() => "id")} } }`,
  "fields of one alias": `{ chatFolders { ${most((index) => `a: ${index % 2 ? "id" : "name"}`)} } }`,
  "fields of one alias with other arguments": `{ ${most((index) => `a: chats(first: ${index}) { nodes }`)} }`,
  aliases: `{ chatFolders { ${most((index) => `a${index}: id`)} } }`,
  "unknown fields": `{ chatFolders { ${most((index) => `unknown${index}`)} } }`,
  "unknown fields with long names": `{ chatFolders { ${most((index) => `nam${index}${"e".repeat(190)}`)} } }`,
  "unknown arguments": `{ chatFolders(${most((index) => `a${index}: 1`)}) { id } }`,
  "one argument": `{ chats(${most(() => "first: 1")}) { nodes { id } } }`,
  directives: `{ chatFolders { id ${most(() => "@include(if: true)")} } }`,
  "unknown directives": `{ chatFolders { id ${most((index) => `@a${index}`)} } }`,
  fragments: `{ chatFolders { id } } ${most((index) => `fragment A${index} on ChatFolder { id }`)}`,
  "fragments that overlap": `{ chatFolders { ${most((index) => `...A${index}`, 0.16)} } } ${most((index) => `fragment A${index} on ChatFolder { a: ${index % 2 ? "id" : "name"} }`, 0.8)}`,
  "fragments in a chain": `{ chatFolders { ...A0 } } ${most((index) => `fragment A${index} on ChatFolder { ...A${index + 1} }`)} fragment A620 on ChatFolder { id }`,
  "fragments of one name": `{ chatFolders { ...A } } ${most(() => "fragment A on ChatFolder { id }")}`,
  "fragments of unknown types": `{ chatFolders { id } } ${most((index) => `fragment A${index} on Unknown${index} { id }`)}`,
  variables: `query (${most((index) => `$a${index}: Int`)}) { chatFolders { id } }`,
  "variables of one name": `query (${most(() => "$a: Int")}) { chatFolders { id } }`,
  "variables of unknown types": `query (${most((index) => `$a${index}: Unknown${index}`)}) { chatFolders { id } }`,
  "undefined variables": `{ ${most((index) => `a${index}: chats(first: $a${index}) { nodes }`)} }`,
  operations: most((index) => `query A${index} { __typename }`),
  "operations of one name": most(() => "query A { __typename }"),
  definitions: `{ chatFolders { id } } ${most((index) => `type A${index} { id: ID }`)}`,
  "values in a list": `{ chats(where: { tagIds: { in: [${most((index) => `"${index}"`)}] } }) { nodes { id } } }`,
  "fields of an input": `{ chats(where: { ${most((index) => `a${index}: 1`)} }) { nodes { id } } }`,
  "one field of an input": `{ chats(where: { ${most(() => "search: 1")} }) { nodes { id } } }`,
  "characters of a value": `{ chats(search: "${longest}") { nodes { id } } }`,
  "characters of a name": `{ chatFolders { ${longest} } }`,
  "characters of a number": `{ chats(first: ${"9".repeat(longest.length)}) { nodes { id } } }`,
  "characters of an enum's value": `{ chats(sortOrder: ${longest}) { nodes { id } } }`,
  "levels of inline fragments": `{ chatFolders { ${"... on ChatFolder { id ".repeat(levels)}${"}".repeat(levels)} } }`,
  "levels of fields": `{ ${"chats { id ".repeat(levels)}${"}".repeat(levels)} }`,
  "levels of a value": `{ chats(where: ${"{ and: ".repeat(levels)}1${"}".repeat(levels)}) { nodes { id } } }`,
  "levels of a type": `query ($a: ${"[".repeat(levels)}Int${"]".repeat(levels)}) { chats(first: $a) { nodes { id } } }`,
}

const schema = buildSchema(readFileSync("schema.graphql", "utf8"))

describe.each(Object.entries(documents))("a document with as many %s as it may have", (_what, query) => {
  it("is valid or refused", async () => {
    const { status, body } = await supertest(w.url).post("/graphql").set("X-Access-Token", acme.token).send({ query })
    const codes = (body.errors ?? []).map(({ extensions }: { extensions: { code: string } }) => extensions.code)
    expect([200, 400]).toContain(status)
    for (const code of codes) expect(["BAD_USER_INPUT", "GRAPHQL_VALIDATION_FAILED", "GRAPHQL_PARSE_FAILED"]).toContain(code)
  })

  it.each(rulesOf(true).map((rule) => [rule.name, rule] as const))("fails no rule otherwise than with errors: %s", (_name, rule) => {
    const judged = () => withinStack(() => validate(schema, parseDocument(query), [rule]))
    // A RangeError is the client's error.
    try {
      expect(judged()).toBeInstanceOf(Array)
    } catch (error) {
      expect(error).toMatchObject({ message: expect.stringMatching(/nests/) })
    }
  })
})
