import type { Instance } from "../../test/kit/campaign/instance.js"
import { brokenPdf, pdf, wordDocument } from "../../test/kit/documents.js"
import type { Site } from "../../test/kit/site.js"
import { webPage } from "../../test/kit/site.js"
import type { Chance } from "./chance.js"
import { type Deployment, post } from "./test-bed.js"

/** A knowledge item of a campaign: what is sent, and the expected result. */
export interface Book {
  name: string
  /** Why it has to fail; null for one that has to be indexed. */
  fails: RegExp | null
  /** A word that no other has. */
  mark: string
  fields(upload: (bytes: Buffer, filename: string) => Promise<string>): Promise<object>
}

const some = (mark: string, paragraphs: number) =>
  Array.from({ length: paragraphs }, (_, index) => `${mark} paragraph ${index}: ${"a sentence of some length. ".repeat(6)}`)
const sized = { isVector: true, chunkSize: 300, chunkOverlap: 0 }

/** So many items that can be indexed: texts, and pages and files of several kinds when they are wanted. */
export function goodBooks(site: Site, chance: Chance, count: number, isVaried: boolean): Book[] {
  return Array.from({ length: count }, (_, index) => {
    const mark = `mark${isVaried ? "v" : "t"}${index}x`
    const text = some(mark, chance.whole(1, 5))
    const kind = isVaried ? chance.pick(["text", "text", "page", "docx", "pdf"]) : "text"
    const book = { name: `${kind} ${mark}`, fails: null, mark }
    if (kind === "page") {
      site.pages[`/${mark}`] = { body: webPage(mark, ...text) }
      return { ...book, fields: async () => ({ kind: "url", resourceUrl: `${site.url}/${mark}`, ...sized }) }
    }
    if (kind === "text") return { ...book, fields: async () => ({ kind: "text", resourceContent: text.join("\n\n"), ...sized }) }
    const bytes = kind === "docx" ? wordDocument([`# ${mark}`, ...text]) : pdf(text.map((paragraph) => [paragraph.slice(0, 80)]))
    return { ...book, fields: async (upload) => ({ kind: "file", fileId: await upload(bytes, `${mark}.${kind}`), ...sized }) }
  })
}

/** Items that nobody can index: of each sort so many. */
export function poisonedBooks(site: Site, each: number): Book[] {
  site.pages["/loop"] = { status: 302, headers: { location: "/loop/again" } }
  site.pages["/loop/again"] = { status: 302, headers: { location: "/loop" } }
  site.pages["/huge"] = (_request, response) => {
    response.writeHead(200, { "content-type": "text/html", "content-length": String(100 * 1024 * 1024) })
    const part = Buffer.alloc(1024 * 1024, "<p>Too much.</p>")
    const send = (left: number): void => void (left > 0 && !response.destroyed && response.write(part, () => send(left - 1)))
    send(100)
  }
  const page = (path: string) => async () => ({ kind: "url", resourceUrl: site.url + path })
  const sorts: [string, RegExp, Book["fields"]][] = [
    ["missing page", /^The page answered 404 Not Found$/, page("/missing")],
    ["loop of redirects", /^The page redirects in a circle$/, page("/loop")],
    ["page of 100 MB", /^The page is larger than 10 MB$/, page("/huge")],
    [
      "broken PDF",
      /^The file is no PDF that can be read/,
      async (upload) => ({ kind: "file", isVector: true, fileId: await upload(brokenPdf(), "broken.pdf") }),
    ],
  ]
  return sorts.flatMap(([name, fails, fields]) =>
    Array.from({ length: each }, (_, index) => ({ name: `${name} ${index}`, fails, mark: "", fields })),
  )
}

/** Pages that are there, on an address that a guarded server must not visit. */
export function privateBooks(site: Site, count: number): Book[] {
  site.pages["/private"] = { body: webPage("Private", "Nobody's business.") }
  const fields = async () => ({ kind: "url", resourceUrl: `${site.url}/private` })
  return Array.from({ length: count }, (_, index) => ({
    name: `private address ${index}`,
    fails: /^The address is not on the public internet$/,
    mark: "",
    fields,
  }))
}

/** Gives an assistant all of them, some at once; answers their ids by name. */
export async function fill(deployment: Deployment, server: Instance, assistantId: string, books: Book[]): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  const upload = async (bytes: Buffer, filename: string) => {
    const form = new FormData()
    form.append("file", new Blob([new Uint8Array(bytes)]), filename)
    const answer = await fetch(`${server.url}/api/media/upload`, {
      method: "POST",
      headers: { "x-access-token": deployment.token },
      body: form,
    })
    const { id } = (await answer.json()) as { id: string }
    return id
  }
  const waiting = [...books]
  const clerk = async () => {
    for (let book = waiting.shift(); book; book = waiting.shift()) {
      const body = { assistantId, name: book.name, ...(await book.fields(upload)) }
      const answer = await post(`${server.url}/api/assistant-knowledge-new`, deployment.token, body)
      if (answer.status !== 201) throw new Error(`${book.name} was not taken: ${JSON.stringify(answer.body)}`)
      ids.set(book.name, answer.body.id)
    }
  }
  await Promise.all(Array.from({ length: 8 }, clerk))
  return ids
}
