import type { JsonSchema } from "../../src/rest/kit/json-schema.js"

const prefix = "#/components/schemas/"

/** The named schemas of an OpenAPI document. */
export class Components {
  readonly #schemas = new Map<string, JsonSchema>()
  readonly #reserved: Set<string>

  /** With names that only `define()` gives. */
  constructor(reserved: readonly string[]) {
    this.#reserved = new Set(reserved)
  }

  /** Gives a reserved name to a schema. */
  define(name: string, schema: JsonSchema) {
    this.#schemas.set(name, schema)
  }

  has(name: string): boolean {
    return this.#schemas.has(name)
  }

  /** Returns a reference to a schema, under the first of the names that is free or means the same schema already; throws when there is none. */
  reference(names: readonly string[], schema: JsonSchema): JsonSchema {
    const text = JSON.stringify(schema)
    const isFree = (name: string) => !this.#reserved.has(name) && !this.#schemas.has(name)
    const name = names.find((each) => isFree(each) || JSON.stringify(this.#schemas.get(each)) === text)
    if (!name) throw new Error(`OpenAPI: ${names.join(", ")} mean other schemas than ${text.slice(0, 200)}`)
    this.#schemas.set(name, schema)
    return { $ref: prefix + name }
  }

  /** The name of a schema that is a reference, also to an array's items. */
  static nameOf(schema: JsonSchema): string {
    const { $ref, items } = schema as { $ref?: string; items?: JsonSchema }
    if (items) return Components.nameOf(items)
    if (!$ref) throw new Error(`OpenAPI: a schema without a name: ${JSON.stringify(schema).slice(0, 200)}`)
    return $ref.slice(prefix.length)
  }

  /** The schemas that a document refers to, by name. */
  usedBy(document: unknown): Record<string, JsonSchema> {
    const used = new Set<string>()
    const walk = (text: string) => {
      for (const [, name] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
        if (used.has(name!)) continue
        used.add(name!)
        walk(JSON.stringify(this.#schemas.get(name!)))
      }
    }
    walk(JSON.stringify(document))
    return Object.fromEntries([...used].sort().map((name) => [name, this.#schemas.get(name)!]))
  }
}
