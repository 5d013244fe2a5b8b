import Ajv, { type ValidateFunction } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import type { Response } from "supertest"

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is walked by name.
type Document = any

/** Holds an answer against the OpenAPI document: throws when it does not fit, or when its status is not in it. */
export type FitsOpenApi = (method: string, path: string, response: Pick<Response, "status" | "headers" | "body">) => void

/** Reads a server's own OpenAPI document; its schemas are compiled as they are needed. */
export async function readOpenApi(url: string): Promise<{ document: Document; fits: FitsOpenApi }> {
  const document: Document = await (await fetch(`${url}/api/openapi.json`)).json()
  const ajv = new Ajv.default({ strict: false, allErrors: true })
  formats.default(ajv)
  // Narrower than the words: ids in lower case, moments in UTC with milliseconds (contract, section 1).
  ajv.addFormat("uuid", /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  ajv.addFormat("date-time", /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  ajv.addSchema(document, "api")
  const validator = (pointer: string) => {
    const found = ajv.getSchema(`api#${pointer}`)
    if (!found) throw new Error(`openapi.json has nothing at ${pointer}`)
    return found as ValidateFunction
  }
  return { document, fits: (method, path, response) => hold(document, validator, method, path, response) }
}

function hold(
  document: Document,
  validator: (pointer: string) => ValidateFunction,
  method: string,
  path: string,
  response: Parameters<FitsOpenApi>[2],
) {
  const asked = `${method.toUpperCase()} ${path} → ${response.status}`
  const template = templateOf(document, path.split("?")[0]!)
  const operation = template && document.paths[template][method === "head" ? "get" : method]
  if (operation && !operation.responses[response.status])
    throw new Error(`${asked}: openapi.json does not know this status\n${JSON.stringify(response.body)}`)
  if (method === "head") return
  if (!/^application\/json\b/.test(response.headers["content-type"] ?? "")) throw new Error(`${asked}: not application/json`)
  const pointer = operation
    ? `/paths/${pointerPart(template)}/${method}/responses/${response.status}/content/application~1json/schema`
    : "/components/schemas/Error"
  const validate = validator(pointer)
  if (!validate(response.body)) {
    const wrong = validate.errors!.map((error) => `${error.instancePath} ${error.message}`).join("; ")
    throw new Error(`${asked} does not fit openapi.json: ${wrong}\n${JSON.stringify(response.body, null, 2)}`)
  }
}

const pointerPart = (name: string) => encodeURIComponent(name.replace(/~/g, "~0").replace(/\//g, "~1"))

/** The documented path that an address is one of; a literal one before one with parameters. */
function templateOf(document: Document, path: string): string | undefined {
  const fits = Object.keys(document.paths).filter((template) => new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}/?$`).test(path))
  return fits.sort((a, b) => a.split("{").length - b.split("{").length)[0]
}
