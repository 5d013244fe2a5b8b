import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { type DocumentNode, type GraphQLSchema, Kind, print } from "graphql"
import { z } from "zod"
import { DocumentNotTrusted } from "../errors/errors.js"
import { operatorError } from "../errors/operator-error.js"
import { checkShape } from "./operation-limits.js"
import { parseDocument, refuseCircles, validationErrors } from "./validation.js"

/** The parameters of a request that may name a document by its ID: `documentId`, `id`, or `extensions.persistedQuery.sha256Hash`. */
export interface NamedDocument {
  query?: unknown
  documentId?: unknown
  id?: unknown
  extensions?: unknown
}

/** The documents of a manifest: with one, clients run no others on its schema, except those of this server's own pages. */
export class TrustedDocuments {
  readonly #texts = new Map<string, string>()
  readonly #printed = new Set<string>()
  readonly #own: Set<string>

  constructor(
    private readonly schema: GraphQLSchema,
    documents: { id: string; text: string; document: DocumentNode }[],
    own: DocumentNode[] = [],
  ) {
    this.#own = new Set(own.map(printed))
    for (const { id, text, document } of documents) {
      this.#texts.set(id, text).set(sha256Of(text), text)
      this.#printed.add(printed(document))
    }
  }

  /** Number of the documents. */
  get size() {
    return this.#printed.size
  }

  /** Whether a document may run on a schema: the operations of REST have a schema of their own. */
  allows(schema: GraphQLSchema, document: DocumentNode): boolean {
    if (schema !== this.schema) return true
    const text = printed(document)
    return this.#printed.has(text) || this.#own.has(text)
  }

  /** The parameters with the text of the document that they name by its ID; those with a text of their own keep it. */
  resolve<P extends NamedDocument>({ documentId, id, extensions, ...rest }: P): P {
    const requested = rest as unknown as P
    const given = documentId ?? id ?? persistedQueryIn(extensions)
    if (requested.query || given == null) return requested
    const query = typeof given === "string" ? (this.#texts.get(given) ?? this.#texts.get(`sha256:${given}`)) : undefined
    if (query === undefined) throw new DocumentNotTrusted()
    return { ...requested, query }
  }
}

const persistedQueryIn = (extensions: unknown) =>
  (extensions as { persistedQuery?: { sha256Hash?: unknown } } | null)?.persistedQuery?.sha256Hash

/** The identifier of a text by the appendix on persisted documents of the GraphQL-over-HTTP specification. */
const sha256Of = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`

/** A document in a form that white space, comments and the order of its operations and fragments do not change. */
const printed = (document: DocumentNode) => document.definitions.map(print).sort().join("\n")

const apolloManifest = z.object({
  format: z.literal("apollo-persisted-query-manifest"),
  version: z.literal(1),
  operations: z.array(z.object({ id: z.string().min(1), body: z.string() })),
})
const textsById = z.record(z.string().min(1), z.string())

/** The documents of a manifest in the format of Apollo, or of Relay and GraphQL Code Generator; null for another format. */
function documentsIn(manifest: unknown): { id: string; text: string }[] | null {
  const apollo = apolloManifest.safeParse(manifest)
  if (apollo.success) return apollo.data.operations.map(({ id, body }) => ({ id, text: body }))
  const texts = textsById.safeParse(manifest)
  return texts.success ? Object.entries(texts.data).map(([id, text]) => ({ id, text })) : null
}

/**
 * Reads a manifest; throws an error for the operator unless each of its operations is valid and within the limits. The server's own pages
 * send the operations `own`.
 */
export async function readTrustedDocuments(
  file: string,
  schema: GraphQLSchema,
  hidesSchema: boolean,
  own: readonly string[],
): Promise<TrustedDocuments> {
  const fault = (what: string, cause?: unknown) => operatorError(`TRUSTED_DOCUMENTS: ${file} ${what}`, cause)
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw fault(`cannot be read: ${error.code ?? error.message}`, error)
  })
  let manifest: unknown
  try {
    manifest = JSON.parse(text)
  } catch (error) {
    throw fault("is not JSON", error)
  }
  const listed = documentsIn(manifest)
  if (!listed) throw fault("is no manifest of Apollo (apollo-persisted-query-manifest, version 1), and no object of document texts by ID")
  const known = new Map<string, string>()
  const documents = listed.map(({ id, text }) => {
    if ((known.get(id) ?? text) !== text) throw fault(`has two documents with the ID ${id}`)
    known.set(id, text)
    try {
      return { id, text, document: checked(text, schema, hidesSchema) }
    } catch (error) {
      throw fault(`has an operation that cannot run, ${id}: ${(error as Error).message.replace(/\s+/g, " ")}`, error)
    }
  })
  const ofPages = own.map((each) => checked(each, schema, hidesSchema))
  return new TrustedDocuments(schema, documents, ofPages)
}

/** Parses a document; throws its first error. */
function checked(text: string, schema: GraphQLSchema, hidesSchema: boolean): DocumentNode {
  const document = parseDocument(text)
  refuseCircles(document)
  for (const definition of document.definitions) if (definition.kind === Kind.OPERATION_DEFINITION) checkShape(document, definition)
  const [error] = validationErrors(schema, document, hidesSchema)
  if (error) throw error
  return document
}
