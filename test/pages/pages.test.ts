import Koa from "koa"
import pino from "pino"
import request from "supertest"
import { demoFacts } from "../../src/admin/welcome.js"
import { requestMiddleware } from "../../src/http/request.js"
import { pages } from "../../src/pages/pages.js"
import type { StartPageFacts } from "../../src/pages/start-page.js"

const bare: StartPageFacts = { configuration: [["Database", "PostgreSQL"]], metrics: false, schema: true, demo: null }
let facts = bare
const owner = { token: "amp_demo", email: "owner@demo.example", password: 'a "password"' }
const { serve, unknownPath } = pages({ hasPages: true, facts: () => facts, findWidget: async () => false, demoAccess: () => owner })

const app = new Koa({ env: "test" })
app.silent = true
app.use(requestMiddleware(pino({ level: "silent" })))
app.use(serve)
app.use((context, next) => {
  if (context.path.startsWith("/unknown")) return next()
  context.body = "passed on"
})
app.use(unknownPath)
const server = app.callback()
const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

describe("the pages", () => {
  it.each([
    ["/", 200],
    ["/graphql", 200],
    ["/api/docs", 200],
    ["/inbox", 200],
    ["/inbox/chats/any", 200],
    ["/unknown", 404],
  ])("%s loads from this server alone, runs no script of its own and sets no cookie", async (path, status) => {
    const { text, headers } = await request(server).get(path).set("Accept", browser).expect(status)

    expect(headers["content-type"]).toBe("text/html; charset=utf-8")
    expect(headers["content-security-policy"]).toContain("default-src 'none'; script-src 'self';")
    expect(headers["set-cookie"]).toBeUndefined()
    expect(text).toMatch(/^<!doctype html>\s<html lang="en">.*<title>[^<]+<\/title>/s)
    expect(text).not.toMatch(/<!-- |\{\{|<script[^>]*>[^<]|\bon\w+="|(src|href)="(https?:)?\/\//)
    for (const [, url] of text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)) {
      const asset = await request(server).get(url!).expect(200)
      expect(asset.headers).toMatchObject({ "cache-control": "public, max-age=31536000, immutable", "x-content-type-options": "nosniff" })
    }
  })

  it("leave /graphql to GraphQL, except for a browser without a query", async () => {
    await request(server).get("/graphql").set("Accept", "*/*").expect("passed on")
    await request(server).get("/graphql").set("Accept", "application/json").expect("passed on")
    await request(server).get("/graphql?query={me{id}}").set("Accept", browser).expect("passed on")
    await request(server).post("/graphql").set("Accept", browser).expect("passed on")
    const { headers } = await request(server).get("/graphql").set("Accept", "*/*")
    expect(headers["vary"]).toContain("Accept")
  })

  it("answer HEAD, and 304 to a browser that has them", async () => {
    const { headers, text } = await request(server).head("/").expect(200)
    expect(text).toBeUndefined()
    await request(server).get("/").set("If-None-Match", headers["etag"]!).expect(304)
  })

  it("take GET and HEAD only: other methods are 405", async () => {
    await request(server).post("/api/docs").expect("Allow", "GET, HEAD").expect(405)
  })

  it.each(["/assets/", "/assets/../package.json", "/assets/%2e%2e/package.json", "/assets/nothing.js"])("serve no file at %s", (path) =>
    request(server).get(path).expect("passed on"),
  )
})

describe("GraphiQL", () => {
  const token = async (headers: Record<string, string>) => {
    const { text } = await request(server)
      .get("/graphql")
      .set({ Accept: browser, ...headers })
      .expect(200)
    return /data-token="([^"]*)"/.exec(text)![1]
  }

  it("has the demo's token for a browser on this machine alone", async () => {
    expect(await token({ Host: "localhost:4000" })).toBe("amp_demo")
    expect(await token({ Host: "127.0.0.1" })).toBe("amp_demo")
    expect(await token({ Host: "chat.example.com" })).toBe("")
    expect(await token({ Host: "localhost", "X-Forwarded-For": "203.0.113.7" })).toBe("")
  })
})

describe("the start page", () => {
  const home = async (shown: StartPageFacts) => {
    facts = shown
    return (await request(server).get("/").expect(200)).text
  }
  afterAll(() => {
    facts = bare
  })

  const links = [
    ...["/inbox", "/inbox/outcomes", "/graphql", "/api/docs", "/graphql/schema.graphql", "/api/openapi.json"],
    ...["/health/live", "/health/ready"],
  ]

  it("links to everything that the server offers, and shows its configuration", async () => {
    const text = await home({ ...bare, configuration: [["Text model", `<b>"A" & 'B'</b>`]] })
    expect([...text.matchAll(/<a href="([^"]+)"/g)].map(([, href]) => href)).toEqual(links)
    expect(text).toContain('<th scope="row">Text model</th><td>&lt;b&gt;&quot;A&quot; &amp; &#39;B&#39;&lt;/b&gt;</td>')
    expect(text).not.toMatch(/Metrics|Demo company/)
    expect(await home({ ...bare, metrics: true })).toContain('<a href="/metrics">Metrics</a>')
  })

  it("shows in the demo how to sign in and what to paste, without a secret", async () => {
    const demo = {
      companyId: "c-1",
      assistantId: "a-1",
      widgetId: "w-1",
      token: "amp_secret",
      email: "owner@demo.example",
      password: "pass",
    }
    const text = await home({ ...bare, demo: demoFacts("http://127.0.0.1:4000", demo) })
    expect(text).toContain("sign-in</code> as <code>owner@demo.example</code>")
    expect(text).toContain("curl -s http://127.0.0.1:4000/hooks/widget/w-1 ")
    expect(text.match(/<li>[A-Z][^<]+:<pre><code>[^<]+<\/code><\/pre><\/li>/g)).toHaveLength(4)
    expect(text).toContain('<a href="/demo">')
    expect(text).not.toMatch(/amp_secret|pass\b/)
  })
})

describe("the demo's owner", () => {
  const local = { Host: "localhost:4000", Accept: browser }
  const get = async (path: string, headers: Record<string, string>) => (await request(server).get(path).set(headers).expect(200)).text
  afterAll(() => {
    facts = bare
  })

  it("is signed in by a button of the start page, in a browser on this machine that opens a page, alone", async () => {
    facts = { ...bare, demo: { email: owner.email, widgetId: "w-1", commands: [] } }
    const password = 'data-password="a &quot;password&quot;"'
    expect(await get("/", local)).toContain('<a class="button" href="/inbox?demo">')
    expect(await get("/", local)).toContain('<script src="/widget.js" data-connection="w-1" async></script>')
    expect(await get("/inbox", local)).toContain(password)
    expect(await get("/inbox", { ...local, "Sec-Fetch-Mode": "navigate" })).toContain(password)
    const others: Record<string, string>[] = [
      { Host: "chat.example.com" },
      { ...local, "X-Forwarded-For": "203.0.113.7" },
      { ...local, Origin: "https://elsewhere.example" },
      { ...local, "Sec-Fetch-Mode": "cors" },
      { ...local, "Sec-Fetch-Mode": "no-cors" },
    ]
    for (const headers of others) {
      expect(await get("/", headers)).not.toContain("/inbox?demo")
      expect(await get("/inbox", headers)).not.toContain("password")
      expect(await get("/graphql", { Accept: browser, ...headers })).not.toContain("amp_demo")
    }
  })
})

describe("without pages for people (PAGES=off)", () => {
  const bareApp = new Koa({ env: "test" })
  bareApp.silent = true
  const off = pages({ hasPages: false, facts: () => bare, findWidget: async () => true, demoAccess: () => owner })
  bareApp.use(requestMiddleware(pino({ level: "silent" })))
  bareApp.use(off.serve)
  bareApp.use(off.unknownPath)
  const handle = bareApp.callback()

  it.each(["/", "/inbox", "/inbox/chats", "/graphql", "/api/docs", "/demo", "/nothing"])("%s is JSON with status 404", async (path) => {
    const { body } = await request(handle).get(path).set("Accept", browser).expect(404)
    expect(body).toMatchObject({ statusCode: 404, code: "NOT_FOUND" })
  })

  it("the chat widget is served all the same, and no file of the other pages", async () => {
    const { text } = await request(handle).get("/widget.js").expect(200)
    await request(handle)
      .get(/\/assets\/widget-chat-[\w-]{16}\.js/.exec(text)![0])
      .expect(200)
    await request(handle).get("/widget/01a210c5-467f-7725-b489-0f5f9395f7b6").expect(200)
    const inbox = (await request(server).get("/inbox").set("Accept", browser).expect(200)).text
    for (const [, url] of inbox.matchAll(/(?:src|href)="(\/assets\/inbox\/[^"]+)"/g)) await request(handle).get(url!).expect(404)
  })
})

describe("the demo shop", () => {
  afterAll(() => {
    facts = bare
  })

  it("has the widget of the demo, from this server alone", async () => {
    await request(server).get("/demo").set("Accept", browser).expect("passed on")
    facts = { ...bare, demo: { email: "owner@demo.example", widgetId: "w-1", commands: [] } }
    const { text, headers } = await request(server).get("/demo").expect(200)
    expect(text).toContain('data-connection="w-1"')
    expect(text).not.toMatch(/<!-- |\{\{|<script[^>]*>[^<]|style=|\bon\w+="|(src|href)="(https?:)?\/\//)
    expect(headers["content-security-policy"]).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';.* frame-ancestors 'none'$/,
    )
    expect(headers["set-cookie"]).toBeUndefined()
    for (const [, url] of text.matchAll(/(?:src|href)="(\/(?:assets\/|widget)[^"]+)"/g)) await request(server).get(url!).expect(200)
  })
})

describe("an unknown address", () => {
  const plain = (name: string) => [name, "/unknown/here"] as const

  it.each([plain("get"), plain("post"), plain("delete")])("is a page with status 404 for a browser: %s %s", async (method, path) => {
    const { text, headers } = await request(server)[method as "get"](path).set("Accept", browser).expect(404)
    expect(headers).toMatchObject({ "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" })
    expect(headers["vary"]).toContain("Accept")
    expect(text).toContain("<h1>Page not found</h1>")
    expect(text).not.toContain("unknown/here")
  })

  it.each(["*/*", "application/json", "text/html;q=0.5, application/json", "image/avif,image/*"])(
    "is JSON for Accept: %s",
    async (accept) => {
      const { body, headers } = await request(server).get("/unknown").set("Accept", accept).expect(404)
      expect(body).toMatchObject({ statusCode: 404, code: "NOT_FOUND", message: "Path not found" })
      expect(headers["vary"]).toContain("Accept")
    },
  )

  it("answers a second request with 404 too, never with 304", async () => {
    const { headers } = await request(server).get("/unknown").set("Accept", browser).expect(404)
    await request(server).get("/unknown").set("Accept", browser).set("If-None-Match", headers["etag"]!).expect(404)
    await request(server).head("/unknown").set("Accept", browser).expect(404)
  })
})
