import { readFileSync } from "node:fs"
import { closeDatabases } from "../kit/databases.js"
import { world } from "../kit/world.js"

const w = world()
afterAll(closeDatabases)

interface Sent {
  name: string
  line: string
  headers: string[]
  body: string
}

const httpFile = readFileSync("docs/api/platform.http", "utf8")
const [declared = "", ...blocks] = httpFile.split(/^### /m)
const inHttpFile = blocks.map((block): Sent => {
  const [head = "", ...body] = block.trimEnd().split("\n\n")
  const [name = "", line = "", ...headers] = head.split("\n")
  return { name, line, headers, body: body.join("\n\n") }
})

// biome-ignore lint/suspicious/noExplicitAny: a collection is walked by name.
type Walked = any
const collection: Walked = JSON.parse(readFileSync("docs/api/platform.postman_collection.json", "utf8"))
const document = JSON.parse(readFileSync("openapi.json", "utf8"))
const operations = Object.values<object>(document.paths).flatMap((methods) => Object.keys(methods))

/** The text with the variables of a reader: those of the connection, and an assistant of the company's own. */
const filled = (text: string, assistantId: string) => {
  const own: Record<string, string> = { url: "", token: w.acme.token, jwt: w.acme.owner.jwt, companyId: w.acme.id, assistantId }
  const values = Object.fromEntries(declared.split("\n").map((line) => line.slice(1).split(/ = ?/)))
  return text.replace(/\{\{(\w+)\}\}/g, (_text, name) => own[name] ?? values[name] ?? `no variable ${name}`)
}

/** What a reader's own values mend: the password, the refresh token and most IDs are examples, and the company has no money for calls. */
const lacksOnly =
  /email or password|"code":"NOT_FOUND"|refresh token is invalid|no access to this chat|does not exist in this company|no voice balance left/i

describe("the requests for editors and Postman", () => {
  it("are one for each operation", () => {
    expect(inHttpFile).toHaveLength(operations.length)
  })

  it("are the same in both files", () => {
    const inCollection = collection.item.flatMap(({ item }: { item: object[] }) => item)
    const texts = inCollection.map(({ name, request: { method, url, header, body } }: Walked) => ({
      name,
      line: `${method} ${url.raw}`,
      headers: header.map(({ key, value }: { key: string; value: string }) => `${key}: ${value}`),
      body: body?.raw ?? "",
    }))
    const withoutForm = inHttpFile.map((sent) =>
      sent.headers.some((line) => line.includes("multipart")) ? { ...sent, headers: sent.headers.slice(0, -1), body: "" } : sent,
    )
    expect(texts).toEqual(expect.arrayContaining(withoutForm))
    expect(texts).toHaveLength(withoutForm.length)
    expect(collection.variable).toEqual(
      declared
        .trimEnd()
        .split("\n")
        .map((line) => ({ key: line.slice(1, line.indexOf(" ")), value: line.split(/ = ?/)[1]!.trim() })),
    )
  })

  it.each(inHttpFile)("are taken by a server: $name", async ({ name, line, headers, body }) => {
    const assistant = await w.acme.makeAssistant()
    const own = (text: string) => filled(text, assistant.id)
    const [method, path] = own(line).split(" ") as [string, string]
    const response = await fetch(`${w.url}${path}`, {
      method,
      headers: headers.map((text) => own(text).split(": ") as [string, string]),
      ...(body && { body: own(body).replaceAll("\n", body.startsWith("--") ? "\r\n" : "\n") }),
    })
    const answer = response.status === 204 ? "" : await response.text()
    expect([name, response.ok || lacksOnly.test(answer), answer]).toEqual([name, true, answer])
  })
})
