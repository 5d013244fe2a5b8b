// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is walked by name.
type Document = any

/** A request of an operation, with the values of its examples; IDs are variables. */
export interface SampleRequest {
  tag: string
  summary: string
  method: string
  path: string
  query: [name: string, value: string][]
  headers: [name: string, value: string][]
  /** JSON text. */
  body?: string
  /** Name of the file of a multipart body. */
  file?: string
}

/** A variable in a text, as `.http` files and Postman write it. */
export const placeholder = (name: string) => `{{${name}}}`

/** One request of each operation of a document that has examples, and the variables in them with their examples. Of optional parameters a request has the size of a page alone, since others would narrow a list to nothing. */
export function samplesOf(document: Document): { requests: SampleRequest[]; variables: Map<string, string> } {
  const variables = new Map<string, string>()
  const requests = Object.entries<Document>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Document>(methods).map(([method, operation]) => sampleOf(path, method.toUpperCase(), operation, variables)),
  )
  return { requests, variables }
}

function sampleOf(path: string, method: string, operation: Document, variables: Map<string, string>): SampleRequest {
  const { tags, summary, security, parameters, requestBody } = operation
  const values: Record<string, string> = Object.fromEntries(parameters.map(({ name, example }: Document) => [name, String(example)]))
  const sent = (name: string, value: string) => {
    if (!isId(value)) return value
    if (!variables.has(name)) variables.set(name, value)
    return placeholder(name)
  }
  const query = parameters.filter(({ in: place, required, name }: Document) => place === "query" && (required || name === "take"))
  const { "application/json": json, "multipart/form-data": form } = requestBody?.content ?? {}
  // An ID in a list, `tagIds`, is the one that another request sends in its path.
  const inList = (id: string) => [...variables].find(([, value]) => value === id)?.[0]
  const body = (json ? JSON.stringify(json.example, null, 2) : "")
    .replace(/"(\w+Id)": "([^"]+)"/g, (_text, name, id) => `"${name}": "${sent(name, id)}"`)
    .replace(/(?<=^ +")[0-9a-f-]{36}(?=")/gm, (id) => (inList(id) ? placeholder(inList(id)!) : id))
  return {
    tag: tags[0],
    summary,
    method,
    path: path.replace(
      /([\w-]+)\/\{(\w+)\}/g,
      (_text, segment, name) => `${segment}/${sentInPath(sent(name === "id" ? idOf(segment) : name, values[name]!))}`,
    ),
    query: query.map(({ name }: Document) => [name, sent(name, values[name]!)]),
    headers: [...credential(security), ...(json ? [["Content-Type", "application/json"] as [string, string]] : [])],
    ...(json && { body }),
    ...(form && { file: form.example.file }),
  }
}

const isId = (value: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)

const sentInPath = (value: string) => (value.startsWith("{{") ? value : encodeURIComponent(value))

/** The name of the ID of a resource, `serverId` for `mcp-servers`, so that it is the one of other requests' bodies. */
function idOf(segment: string): string {
  const word = segment
    .replace(/-(new|history)$/, "")
    .split("-")
    .at(-1)!
  return `${word.replace(/ies$/, "y").replace(/(?<=ch)es$|s$/, "")}Id`
}

/** An access token where one is taken, else a JWT; nothing where no credential is needed. */
function credential(security: Record<string, unknown>[]): [string, string][] {
  if (security.length === 0) return []
  return security.some((scheme) => "access-token" in scheme)
    ? [["X-Access-Token", placeholder("token")]]
    : [["Authorization", `Bearer ${placeholder("jwt")}`]]
}
