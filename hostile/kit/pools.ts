/** Whose value a reference names: the company's, one that a deletion may use up, or the other company's. */
export type Owner = "ours" | "spare" | "foreign"

/** A stored value, such as an ID, that is chosen when the request is sent: a generated request can name what an earlier one has created. */
export class Ref {
  constructor(
    /** The GraphQL type of the object that an ID names, or another name of a pool. */
    readonly kind: string,
    readonly n: number,
    readonly owner: Owner = "ours",
  ) {}
}

/** So many values that requests have created are kept of each kind. */
const most = 200

/** The values that requests may name, by kind. */
export class Pools {
  /** Never deleted by the campaign. */
  readonly #kept = new Map<string, string[]>()
  readonly #spare = new Map<string, string[]>()
  readonly #foreign = new Map<string, string[]>()

  /** Adds a value of the company that no request deletes. */
  keep(kind: string, value: string) {
    listIn(this.#kept, kind).push(value)
  }

  /** The values of the company now, of a kind that nothing uses up. */
  namesOf(kind: string): readonly string[] {
    return [...listIn(this.#kept, kind), ...listIn(this.#spare, kind)]
  }

  /** What was added by `keep`. */
  get kept(): ReadonlyMap<string, readonly string[]> {
    return this.#kept
  }

  /** Adds a value that a request has created; the newest are kept. */
  add(kind: string, value: string, longest = most) {
    const list = listIn(this.#spare, kind)
    list.push(value)
    if (list.length > longest) list.shift()
  }

  /** Adds a value of the other company. */
  addForeign(kind: string, value: string) {
    listIn(this.#foreign, kind).push(value)
  }

  /** The value that a reference names now; an ID of nothing when there is none. A spare one is named once. */
  valueOf({ kind, n, owner }: Ref): string {
    const [kept, spare, foreign] = [this.#kept, this.#spare, this.#foreign].map((lists) => listIn(lists, kind)) as [
      string[],
      string[],
      string[],
    ]
    if (owner === "spare") return spare.splice(n % Math.max(1, spare.length), 1)[0] ?? unknown(n)
    const list = owner === "foreign" ? foreign : [...kept, ...spare]
    return list[n % Math.max(1, list.length)] ?? unknown(n)
  }

  /** A value in which every reference is replaced with what it names. */
  resolved(value: unknown): unknown {
    if (value instanceof Ref) return this.valueOf(value)
    if (Array.isArray(value)) return value.map((item) => this.resolved(item))
    if (!isPlain(value)) return value
    const entries = Object.entries(value).map(([name, item]) => [name, this.resolved(item)])
    return Object.fromEntries(entries)
  }
}

/** Whether a value is an object of JSON, whose fields can be replaced. */
export const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Ref)

function listIn(lists: Map<string, string[]>, kind: string): string[] {
  const list = lists.get(kind) ?? []
  lists.set(kind, list)
  return list
}

const unknown = (n: number) => `01890000-0000-7000-8000-${String(n % 1_000_000).padStart(12, "0")}`
