import { printSchemaWithDirectives } from "@graphql-tools/utils"
import type { GraphQLSchema } from "graphql"

/** The schema as a document, with the lengths of texts, which graphql-js's printer leaves out; an empty line is before each description. */
export function printedSchema(schema: GraphQLSchema): string {
  let isInDescription = false
  let before = "{"
  const lines = printSchemaWithDirectives(schema)
    .split("\n")
    .flatMap((line) => {
      const quotes = line.split('"""').length - 1
      const begins = quotes > 0 && !isInDescription
      if (quotes === 1) isInDescription = !isInDescription
      const needsSpace = begins && before !== "" && !/[{(]$/.test(before)
      before = line
      return needsSpace ? ["", line] : [line]
    })
  return `${lines.join("\n").trimEnd()}\n`
}
