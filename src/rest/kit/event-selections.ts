import { mergeSchemas } from "@graphql-tools/schema"
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql"
import { BadUserInput } from "../../errors/errors.js"
import type { OperationEngine } from "../../graphql/engine.js"
import { InvalidDocument, parseDocument } from "../../graphql/validation.js"
import { oncePer } from "../../once-per.js"
import { shownOf } from "./representation.js"

/** The fields that an event can be shown with, each with its own. */
interface Selectable {
  [field: string]: Selectable
}

interface Row {
  id: string
  [field: string]: unknown
}

/** An event, with what the log stores of it. */
interface StoredEvent {
  stored: object
}

/** What of an event is stored, so that it can be shown as it was at commit. */
const selectable = (): Selectable => ({
  id: {},
  type: {},
  createdAt: {},
  chatId: {},
  payload: {},
  message: shownOf("Message"),
  chat: shownOf("Chat"),
})

/** The schema with a root field that returns the event that it is given. */
const withEventField = oncePer((schema: GraphQLSchema) =>
  mergeSchemas({
    schemas: [schema],
    typeDefs: "extend type Query { shownEvent: Event }",
    resolvers: { Query: { shownEvent: (event: object) => event } },
  }),
)

/** Checks and runs selections on the type Event; `complete` adds the fields of a row that are not stored. */
export function eventSelections(engine: OperationEngine, platformSchema: GraphQLSchema, complete: (row: Row) => Row) {
  const prepare = (query: string, owner: string) =>
    engine.prepareForClient(withEventField(platformSchema), { query }, owner, () => operationOf(query))
  return {
    /** Throws for what is not one selection of stored fields; prepared, it is kept in the room of `owner`. */
    check(query: string, owner: string): string {
      try {
        prepare(query, owner)
        return query
      } catch (error) {
        throw refusal(error)
      }
    },
    /** Returns what the selection of a company shows of an event. */
    select(query: string, companyId: string, { stored, ...shown }: StoredEvent): unknown {
      const rows = Object.entries(stored).flatMap(([field, row]) =>
        field === "value" || !row ? [] : [[field, complete(row as Row)] as const],
      )
      const result = prepare(query, companyId).run({}, {}, { ...shown, ...Object.fromEntries(rows) })
      // The event has every field, so the operation returns synchronously.
      const { data, errors } = result as { data: { shownEvent: unknown }; errors?: Error[] }
      if (errors?.[0]) throw errors[0]
      return data.shownEvent
    },
  }
}

/** The document whose operation shows an event with a selection; throws for a document that is more than one selection. */
function operationOf(query: string): DocumentNode {
  const document = parseDocument(query)
  const [operation, ...others] = document.definitions.filter((each) => each.kind !== Kind.FRAGMENT_DEFINITION)
  if (operation?.kind !== Kind.OPERATION_DEFINITION || operation.operation !== "query" || others.length > 0)
    throw new BadUserInput("must be one selection, such as { type message { text } }")
  if (operation.variableDefinitions?.length || operation.directives?.length)
    throw new BadUserInput("must have no variables and no directives")
  refuseUnstored(document, operation.selectionSet)
  const field: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: "shownEvent" }, selectionSet: operation.selectionSet }
  const wrapped: OperationDefinitionNode = { ...operation, selectionSet: { kind: Kind.SELECTION_SET, selections: [field] } }
  return { ...document, definitions: document.definitions.map((each) => (each === operation ? wrapped : each)) }
}

/** Throws for a field that is not stored with an event: it could only be read later, when it may have changed. */
function refuseUnstored(document: DocumentNode, root: SelectionSetNode) {
  const fragments = new Map(
    document.definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [])),
  )
  walk(root, selectable(), "", fragments, new Set())
}

function walk(set: SelectionSetNode, fields: Selectable, path: string, fragments: Map<string, FragmentDefinitionNode>, seen: Set<string>) {
  for (const node of set.selections) {
    if (node.kind === Kind.FIELD) {
      const name = node.name.value
      if (name === "__typename") continue
      if (!Object.hasOwn(fields, name)) throw new BadUserInput(`must not select ${path}${name}, which is not stored with an event`)
      if (node.selectionSet) walk(node.selectionSet, fields[name]!, `${path}${name}.`, fragments, seen)
      continue
    }
    const key = node.kind === Kind.FRAGMENT_SPREAD ? `${path} ${node.name.value}` : null
    const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : node
    if (!fragment || (key && seen.has(key))) continue
    if (key) seen.add(key)
    walk(fragment.selectionSet, fields, path, fragments, seen)
  }
}

function refusal(error: unknown): unknown {
  const message = error instanceof InvalidDocument ? error.errors[0]!.message : (error as Error).message
  if (!(error instanceof InvalidDocument || error instanceof GraphQLError || error instanceof BadUserInput)) return error
  return new BadUserInput(`query ${message}`, [{ path: "query", message }])
}
