import { mergeSchemas } from "@graphql-tools/schema"
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
} from "graphql"
import { compileQuery, isCompiledQuery } from "graphql-jit"
import { declareSnapshot } from "../context/snapshot.js"
import type { PlainRow, Selection } from "../database/read-model.js"
import type { Representer } from "../events/logged-event.js"
import { refuseFieldResolvers } from "../graphql/object-fields.js"
import { withMediaUrls } from "../schema/media.js"
import { chatExtras, chatFields } from "./chat.js"
import { mediaFields } from "./media.js"
import { messageFields } from "./message.js"

const fields = { Message: messageFields, Chat: chatFields }
const nulls = { Message: [] as string[], Chat: chatExtras }

/** Compiles the REST representations of what events carry, on REST's own schema, and declares what their snapshots select. */
export function representer(restSchema: GraphQLSchema, mediaUrl: (id: string) => string): Representer {
  declareSnapshot("Media", selected(rootSelection(parse(`{ ${mediaFields} }`))))
  const schema = mergeSchemas({
    schemas: [restSchema],
    typeDefs: "extend type Query { shownMessage: Message shownChat: Chat }",
    resolvers: { Query: { shownMessage: (row: PlainRow) => row, shownChat: (row: PlainRow) => row } },
  })
  const run = { Message: compile(schema, "Message"), Chat: compile(schema, "Chat") }
  return (type, row) => run[type](withMediaUrls(row, mediaUrl))
}

function compile(schema: GraphQLSchema, type: "Message" | "Chat") {
  const document = parse(`{ shown${type} { ${fields[type]} } }`)
  declareSnapshot(type, selected((rootSelection(document).selections[0] as FieldNode).selectionSet!))
  refuseFieldResolvers(schema, document)
  const query = compileQuery(schema, document)
  if (!isCompiledQuery(query)) throw new Error(`The REST representation of ${type} does not fit the schema`)
  const absent = Object.fromEntries(nulls[type].map((name) => [name, null]))
  return (row: PlainRow) => {
    // Everything is on the row already, so the compiled query answers at once.
    const result = query.query(row, {}, {}) as { data: Record<string, PlainRow>; errors?: Error[] }
    if (result.errors?.[0]) throw result.errors[0]
    return { ...result.data[`shown${type}`], ...absent }
  }
}

const rootSelection = (document: DocumentNode) => (document.definitions[0] as OperationDefinitionNode).selectionSet

/** What is kept of a row; addresses expire, and are signed when they are shown. */
function selected(set: SelectionSetNode): Selection {
  const kept = set.selections.filter((node): node is FieldNode => node.kind === Kind.FIELD && node.name.value !== "url")
  return Object.fromEntries(kept.map((node) => [node.name.value, node.selectionSet ? selected(node.selectionSet) : {}]))
}
