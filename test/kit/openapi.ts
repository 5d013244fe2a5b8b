import Ajv, { type ValidateFunction } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import type { Response } from "supertest"

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is walked by name.
type Document = any

/** Checks a response against the OpenAPI document: throws when it does not match, or when its status is not documented. */
export type FitsOpenApi = (method: string, path: string, response: Pick<Response, "status" | "headers" | "body">) => void

/** The component that a schema refers to, otherwise the schema itself. */
export const resolved = (document: Document, schema: Document): Document =>
  schema.$ref ? document.components.schemas[schema.$ref.split("/").at(-1)!] : schema

/** The schema of a route's JSON body. */
export const bodySchemaOf = (document: Document, path: string, method: string): Document =>
  resolved(document, document.paths[path][method].requestBody.content["application/json"].schema)

/** Checks by document text: all servers of a worker have the same document. */
const compiled = new Map<string, FitsOpenApi>()

/** Reads a server's own OpenAPI document. */
export async function readOpenApi(url: string): Promise<{ document: Document; fits: FitsOpenApi }> {
  const text = await (await fetch(`${url}/api/openapi.json`)).text()
  const fits = compiled.get(text) ?? compile(JSON.parse(text))
  compiled.set(text, fits)
  return { document: JSON.parse(text), fits }
}

/** Compiles the schemas of a document on first use. */
function compile(document: Document): FitsOpenApi {
  const ajv = new Ajv.default({ strict: false, allErrors: true })
  formats.default(ajv)
  // Stricter than the formats: ids in lower case, times in UTC with milliseconds (contract, section 1).
  ajv.addFormat("uuid", /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  ajv.addFormat("date-time", /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  ajv.addSchema(document, "api")
  const validator = (pointer: string) => {
    const found = ajv.getSchema(`api#${pointer}`)
    if (!found) throw new Error(`openapi.json has nothing at ${pointer}`)
    return found as ValidateFunction
  }
  const templates = templatesOf(document)
  return (method, path, response) => {
    const template = templates.find(({ pattern }) => pattern.test(path.split("?")[0]!))?.template
    hold(template, template && document.paths[template][method === "head" ? "get" : method], validator, method, path, response)
  }
}

/** The documented paths; literal ones before those with parameters, since both may match an address. */
function templatesOf(document: Document) {
  const templates = Object.keys(document.paths).sort((a, b) => a.split("{").length - b.split("{").length)
  return templates.map((template) => ({ template, pattern: new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}/?$`) }))
}

function hold(
  template: string | undefined,
  // biome-ignore lint/suspicious/noExplicitAny: an operation is walked by name.
  operation: any,
  validator: (pointer: string) => ValidateFunction,
  method: string,
  path: string,
  response: Parameters<FitsOpenApi>[2],
) {
  const asked = `${method.toUpperCase()} ${path} → ${response.status}`
  if (operation && !operation.responses[response.status])
    throw new Error(`${asked}: openapi.json does not know this status\n${JSON.stringify(response.body)}`)
  if (method === "head") return
  const type = response.headers["content-type"] ?? ""
  if (/^text\/csv\b/.test(type) && operation?.responses[response.status].content["text/csv"]) return
  if (!/^application\/json\b/.test(type)) throw new Error(`${asked}: not application/json`)
  const shared = operation?.responses[response.status].$ref?.slice(1)
  const documented = operation && (shared ?? `/paths/${pointerPart(template!)}/${method}/responses/${response.status}`)
  const pointer = documented ? `${documented}/content/application~1json/schema` : "/components/schemas/Error"
  const validate = validator(pointer)
  if (!validate(response.body)) {
    const wrong = validate.errors!.map((error) => `${error.instancePath} ${error.message}`).join("; ")
    throw new Error(`${asked} does not fit openapi.json: ${wrong}\n${JSON.stringify(response.body, null, 2)}`)
  }
}

const pointerPart = (name: string) => encodeURIComponent(name.replace(/~/g, "~0").replace(/\//g, "~1"))
