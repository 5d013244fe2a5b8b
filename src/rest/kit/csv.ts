import type { FieldNode, OperationDefinitionNode, SelectionSetNode } from "graphql"
import papa from "papaparse"
import { oncePer } from "../../once-per.js"
import { fieldsIn } from "./fragments.js"
import type { Operation } from "./operation.js"

/** Paths of the scalar fields that an operation selects of the rows in its list, in their order. */
const columnsOf = oncePer((operation: Operation): string[][] => {
  const { selectionSet } = operation.document.definitions[0] as OperationDefinitionNode
  const [root] = fieldsIn(selectionSet)
  const list = fieldsIn(root!.selectionSet).find(({ name }) => name.value === operation.route.csv)
  return leavesOf(list!.selectionSet!)
})

const leavesOf = (set: SelectionSetNode): string[][] =>
  fieldsIn(set).flatMap(({ name, selectionSet }: FieldNode) =>
    selectionSet ? leavesOf(selectionSet).map((path) => [name.value, ...path]) : [[name.value]],
  )

/** What a spreadsheet would run as a formula is quoted, because customers write some of the texts. */
const lines = (rows: unknown[][]) => `${papa.unparse(rows, { escapeFormulae: true, newline: "\r\n" })}\r\n`

/** The line with the names of the columns: `current.firstAnswerMs.ai.p50` for a field of a field. */
export const csvHeader = (operation: Operation): string => lines([columnsOf(operation).map((path) => path.join("."))])

/** Rows of the operation's list as lines of CSV (RFC 4180); empty without a row. */
export const csvLines = (operation: Operation, rows: object[]): string =>
  rows.length === 0 ? "" : lines(rows.map((row) => columnsOf(operation).map((path) => valueAt(row, path))))

const valueAt = (row: object, path: string[]): unknown =>
  path.reduce<unknown>((value, name) => (value as Record<string, unknown> | null)?.[name], row) ?? null
