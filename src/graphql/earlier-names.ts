import { type DocumentNode, Kind, visit } from "graphql"

/** Scalars that had another name in an earlier version. */
const earlierNames: Record<string, string> = { Timestamp: "DateTime", WebAddress: "URL" }

/** The scalar of texts of a length, one for each pair of limits: String now. */
const textName = /^Text(?:\d+to|UpTo)\d+$/

/** A document whose variables have the scalars of this version: clients of an earlier one declare them by their names of then. */
export function withCurrentNames(document: DocumentNode): DocumentNode {
  return visit(document, {
    // Only variables name scalars.
    SelectionSet: () => false,
    NamedType(node) {
      const { value } = node.name
      const current = textName.test(value) ? "String" : Object.hasOwn(earlierNames, value) ? earlierNames[value]! : value
      return current === value ? undefined : { ...node, name: { kind: Kind.NAME, value: current } }
    },
  })
}
