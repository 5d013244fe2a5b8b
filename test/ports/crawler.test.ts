import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import { webCrawler } from "../../src/ports/crawler/web.js"
import { CrawlFailure } from "../../src/ports/crawler.js"
import { DocumentProcesses } from "../../src/ports/extractor/processes.js"
import { GuardedHttpClient } from "../../src/ports/kit/guarded-http-client.js"
import { portLimits } from "../../src/ports/limits.js"
import { pdf } from "../kit/documents.js"
import { openSite, webPage } from "../kit/site.js"

const site = await openSite()
const elsewhere = await openSite()
const httpClient = new GuardedHttpClient(true)
const guarded = new GuardedHttpClient(false)
const crawler = webCrawler(httpClient)
const extractor = new DocumentProcesses()
const company = "a company"
afterAll(() => Promise.all([site.close(), elsewhere.close(), httpClient.close(), guarded.close(), extractor.close()]))
beforeEach(() => {
  site.pages = {}
  site.requests.length = 0
})

const { signal } = new AbortController()
const fetched = async (path: string) => (await crawler.fetch(site.url + path, null, signal))!
const textOf = async (path: string) => extractor.text(company, await fetched(path), signal)
const failure = async (work: Promise<unknown>): Promise<CrawlFailure> => {
  const error = await work.then(
    () => null,
    (thrown) => thrown,
  )
  expect(error).toBeInstanceOf(CrawlFailure)
  return error
}
const redirect = (to: string, status = 302) => ({ status, headers: { location: to } })

describe("a page", () => {
  it("is read as its article, without navigation", async () => {
    site.pages["/"] = { body: webPage("Returns", "Goods may be returned within 30 days.", "Fees: 5 * 3 = $15 [net].") }
    expect(await textOf("/")).toBe("## Returns\n\nGoods may be returned within 30 days.\n\nFees: 5 * 3 = $15 [net].")
  })

  it("keeps its headings, lists and tables", async () => {
    site.pages["/"] = {
      body: `<title>Shipping</title><main><h2>Fees</h2><table><tr><th>Country</th><th>Fee</th></tr><tr><td>France</td><td>5.90</td></tr></table>
        <h2>Ways</h2><ul><li>By <a href="/bike">bike</a></li><li>By ship</li></ul></main>`,
    }
    expect(await textOf("/")).toBe("# Shipping\n\n## Fees\n\n- Country: France; Fee: 5.90\n\n## Ways\n\n- By bike\n- By ship")
  })

  it("is read whole when it is not an article, such as a list of questions", async () => {
    const answers = Array.from({ length: 12 }, (_, index) => `<div><h3>Question ${index}?</h3><div>Answer ${index}.</div></div>`)
    site.pages["/"] = { body: `<html><body><div>${answers.join("")}</div></body></html>` }
    const text = await textOf("/")
    for (let index = 0; index < 12; index += 1) expect(text).toContain(`### Question ${index}?\n\nAnswer ${index}.`)
  })

  it.each([
    ["by its header", Buffer.from("<p>Gr\xfc\xdfe aus K\xf6ln</p>", "latin1"), "text/html; charset=iso-8859-1"],
    ["by its own word", Buffer.from('<meta charset="windows-1252"><p>Gr\xfc\xdfe aus K\xf6ln</p>', "latin1"), "text/html"],
    ["by its first bytes", Buffer.from("\ufeff<p>Grüße aus Köln</p>", "utf16le"), "text/html; charset=utf-8"],
    ["by what it can be", Buffer.from("<p>Gr\xfc\xdfe aus K\xf6ln</p>", "latin1"), "text/html"],
    ["as UTF-8 otherwise", Buffer.from("<p>Grüße aus Köln</p>"), "text/html"],
  ])("is decoded %s", async (_how, body, type) => {
    site.pages["/"] = { body, headers: { "content-type": type } }
    expect(await textOf("/")).toBe("Grüße aus Köln")
  })

  it.each([
    ["plain text", Buffer.from("Just text.\r\nTwo lines."), "text/plain", "Just text.\nTwo lines."],
    ["a table of values", Buffer.from("Name;Price\nPen;2\n"), "text/csv", "- Name: Pen; Price: 2"],
    ["a PDF", pdf([["A page of a PDF."]]), "application/pdf", "A page of a PDF."],
    ["a PDF that its sender calls nothing", pdf([["A page of a PDF."]]), "application/octet-stream", "A page of a PDF."],
    ["a page that its sender calls nothing", Buffer.from("\n<p>Hello</p>"), "application/octet-stream", "Hello"],
  ])("may be %s", async (_what, body, type, text) => {
    site.pages["/"] = { body, headers: { "content-type": type } }
    expect(await textOf("/")).toBe(text)
  })

  it.each([
    ["a picture", "image/png", "holds no text (image/png): it must be a PDF, Word, Excel, PowerPoint, text or CSV file"],
    ["made by scripts alone", "text/html", "has no text"],
  ])("that is %s has no text", async (_what, type, reason) => {
    site.pages["/"] = { body: "<div id=app></div><script>render()</script>", headers: { "content-type": type } }
    await expect(textOf("/")).rejects.toThrow(reason)
  })

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ])("comes packed as %s", async (encoding, pack) => {
    site.pages["/"] = { body: pack(Buffer.from("<p>Packed</p>")), headers: { "content-encoding": encoding } }
    expect(await textOf("/")).toBe("Packed")
    expect(site.requests[0]!.headers["accept-encoding"]).toContain(encoding)
  })

  it("with an unexpected or damaged encoding is refused", async () => {
    site.pages["/"] = { body: deflateSync("x"), headers: { "content-encoding": "compress" } }
    expect((await failure(fetched("/"))).message).toBe("The page came in an encoding that was not asked for")
    site.pages["/"] = { body: "not packed", headers: { "content-encoding": "gzip" } }
    expect(await failure(fetched("/"))).toMatchObject({ message: "The page came damaged", isWorthRetrying: true })
  })
})

describe("a page that is too large", () => {
  it("is not read to its end", async () => {
    let sent = 0
    site.pages["/endless"] = (_request, response) => {
      response.writeHead(200, { "content-type": "text/html" })
      const part = Buffer.alloc(64 * 1024, "x")
      const more = () => {
        while (!response.destroyed) {
          sent += part.length
          if (!response.write(part)) return void response.once("drain", more)
        }
      }
      more()
    }
    expect(await failure(fetched("/endless"))).toMatchObject({ message: "The page is larger than 10 MB", isWorthRetrying: false })
    expect(sent).toBeLessThan(portLimits.crawlBytes * 2)
  })

  it("is not unpacked to its end", async () => {
    site.pages["/"] = { body: gzipSync(Buffer.alloc(100 * 1024 * 1024)), headers: { "content-encoding": "gzip" } }
    expect((await failure(fetched("/"))).message).toBe("The page is larger than 10 MB")
  })
})

describe("a redirect", () => {
  it.each([301, 302, 303, 307, 308])("%i is followed, to another host too", async (status) => {
    site.pages["/old"] = redirect("/newer?x=1#part", status)
    site.pages["/newer?x=1"] = redirect(`${elsewhere.url}/new`)
    elsewhere.pages["/new"] = { body: "<p>Here</p>" }
    expect(await textOf("/old")).toBe("Here")
  })

  it("in a circle fails with a reason", async () => {
    site.pages["/a"] = redirect("/b")
    site.pages["/b"] = redirect("/a")
    expect(await failure(fetched("/a"))).toMatchObject({ message: "The page redirects in a circle", isWorthRetrying: false })
    expect(site.requests).toHaveLength(2)
  })

  it("after a redirect is followed five times", async () => {
    for (let hop = 0; hop < 20; hop += 1) site.pages[`/${hop}`] = redirect(`/${hop + 1}`)
    expect((await failure(fetched("/0"))).message).toBe("The page redirects more than 5 times")
    expect(site.requests).toHaveLength(6)
    site.pages["/5"] = { body: "<p>There</p>" }
    expect(await textOf("/0")).toBe("There")
  })

  it.each([
    ["to a file", "file:///etc/passwd", "The page redirects to an address that is neither http nor https"],
    ["nowhere", "http://[", "The page redirects to no address"],
  ])("%s is refused", async (_where, location, message) => {
    site.pages["/"] = redirect(location)
    expect((await failure(fetched("/"))).message).toBe(message)
  })

  it("without a location is refused", async () => {
    site.pages["/"] = { status: 302 }
    expect((await failure(fetched("/"))).message).toBe("The page redirects to no address")
  })
})

describe("the guard", () => {
  const refused = { message: "The address is not on the public internet", isWorthRetrying: false }

  it.each([
    "http://127.0.0.1/",
    "http://localhost/",
    "http://169.254.169.254/latest/meta-data",
    "http://[::ffff:10.0.0.1]/",
    "http://2130706433/",
  ])("refuses %s", async (url) => expect(await failure(webCrawler(guarded).fetch(url, null, signal))).toMatchObject(refused))

  it("checks every hop, and sends no request to a refused one", async () => {
    // The first hop is allowed, like a public page; the second uses the guard.
    const ways = [httpClient, guarded]
    const first = { request: (...asked: Parameters<GuardedHttpClient["request"]>) => ways.shift()!.request(...asked) } as GuardedHttpClient
    site.pages["/public"] = redirect(`${elsewhere.url}/private`)
    elsewhere.requests.length = 0
    expect(await failure(webCrawler(first).fetch(`${site.url}/public`, null, signal))).toMatchObject(refused)
    expect([site.requests.length, elsewhere.requests.length]).toEqual([1, 0])
  })
})

describe("an invalid response", () => {
  it.each([
    [404, "The page answered 404 Not Found", false],
    [403, "The page answered 403 Forbidden", false],
    [410, "The page answered 410 Gone", false],
    [304, "The page answered 304 Not Modified", false],
    [429, "The page answered 429 Too Many Requests", true],
    [408, "The page answered 408 Request Timeout", true],
    [500, "The page answered 500 Internal Server Error", true],
    [503, "The page answered 503 Service Unavailable", true],
  ])("%i: %s", async (status, message, isWorthRetrying) => {
    site.pages["/"] = { status }
    expect(await failure(fetched("/"))).toMatchObject({ message, isWorthRetrying })
  })

  it.each([
    ["a closed connection", () => site.url, "The connection was closed before an answer came"],
    ["nobody at the port", () => "http://127.0.0.1:1", "The address refused the connection"],
    ["no such host", () => "http://nowhere.invalid", "The host of the address was not found"],
  ])("%s may have more luck later", async (_what, base, message) => {
    site.pages["/"] = (request) => void request.socket.destroy()
    expect(await failure(crawler.fetch(`${base()}/`, null, signal))).toMatchObject({ message, isWorthRetrying: true })
  })

  it("is not awaited after an abort", async () => {
    const stop = new AbortController()
    site.pages["/"] = () => stop.abort()
    expect((await failure(crawler.fetch(`${site.url}/`, null, stop.signal))).message).toBe("The request was stopped")
  })
})

describe("a page with a stored version", () => {
  const known = { etag: '"v1"', lastModified: "Sat, 21 Nov 2026 10:00:00 GMT" }

  it("is requested with its version, and null while it is unchanged", async () => {
    site.pages["/"] = { status: 304 }
    expect(await crawler.fetch(`${site.url}/`, known, signal)).toBeNull()
    expect(site.requests[0]!.headers).toMatchObject({ "if-none-match": '"v1"', "if-modified-since": known.lastModified })
  })

  it("has a version", async () => {
    site.pages["/"] = { body: "<p>x</p>", headers: { etag: 'W/"v2"', "last-modified": known.lastModified } }
    expect(await fetched("/")).toMatchObject({ etag: 'W/"v2"', lastModified: known.lastModified })
    expect(site.requests[0]!.headers["if-none-match"]).toBeUndefined()
  })
})
