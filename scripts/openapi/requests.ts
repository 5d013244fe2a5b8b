import { placeholder, type SampleRequest, samplesOf } from "./samples.js"

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is walked by name.
type Document = any

/** Where a demo on this machine listens; the reader fills in an access token, and a JWT where an operation takes no access token. */
const connection: [string, string][] = [
  ["url", "http://127.0.0.1:4000"],
  ["token", ""],
  ["jwt", ""],
]

/** The requests of an OpenAPI document as an `.http` file, which editors send: the format of the REST Client of VS Code and of JetBrains' HTTP Client. */
export function httpFile(document: Document): string {
  const { requests, variables } = samplesOf(document)
  const declared = [...connection, ...variables].map(([name, value]) => `@${name} = ${value}`.trim())
  const written = requests.map(({ summary, method, path, query, headers, body, file }) => {
    const lines = [`${method} ${placeholder("url")}${path}${search(query)}`, ...headers.map(([name, value]) => `${name}: ${value}`)]
    return [`### ${summary}`, ...lines, ...(file ? formOf(file) : body ? ["", body] : [])].join("\n")
  })
  return `${[declared.join("\n"), ...written].join("\n\n")}\n`
}

const search = (query: [string, string][]) => (query.length ? `?${query.map((pair) => pair.join("=")).join("&")}` : "")

const boundary = "a-boundary-of-the-form"

const formOf = (file: string) => [
  `Content-Type: multipart/form-data; boundary=${boundary}`,
  "",
  `--${boundary}`,
  `Content-Disposition: form-data; name="file"; filename="${file}"`,
  "Content-Type: text/plain",
  "",
  "Delivery: 2 to 3 working days.",
  `--${boundary}--`,
]

/** The requests of an OpenAPI document as a collection of Postman, version 2.1 (schema.getpostman.com/json/collection/v2.1.0). */
export function postmanCollection(document: Document): object {
  const { requests, variables } = samplesOf(document)
  const tags = [...new Set(requests.map(({ tag }) => tag))]
  return {
    info: {
      name: document.info.title,
      description: document.info.description,
      schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
    },
    variable: [...connection, ...variables].map(([key, value]) => ({ key, value })),
    item: tags.map((name) => ({ name, item: requests.filter(({ tag }) => tag === name).map(itemOf) })),
  }
}

function itemOf({ summary, method, path, query, headers, body, file }: SampleRequest) {
  const url = {
    raw: `${placeholder("url")}${path}${search(query)}`,
    host: [placeholder("url")],
    path: path.split("/").slice(1),
    ...(query.length > 0 && { query: query.map(([key, value]) => ({ key, value })) }),
  }
  const header = headers.map(([key, value]) => ({ key, value }))
  const form = file && { mode: "formdata", formdata: [{ key: "file", type: "file", src: file }] }
  const json = body && { mode: "raw", raw: body, options: { raw: { language: "json" } } }
  return { name: summary, request: { method, header, url, ...(form || json ? { body: form || json } : {}) } }
}
