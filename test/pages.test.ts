import Koa from "koa"
import request from "supertest"
import { pages } from "../src/pages/pages.js"

const app = new Koa({ env: "test" })
app.silent = true
app.use(pages())
app.use((context) => {
  context.body = "passed on"
})
const server = app.callback()
const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

describe("the pages", () => {
  it.each(["/", "/graphql", "/api/docs"])("%s loads from this server alone, and runs no script of its own", async (path) => {
    const { text, headers } = await request(server).get(path).set("Accept", browser).expect(200)

    expect(headers["content-type"]).toBe("text/html; charset=utf-8")
    expect(headers["content-security-policy"]).toContain("default-src 'none'; script-src 'self';")
    expect(text).not.toMatch(/<script[^>]*>[^<]|\bon\w+="|(src|href)="(https?:)?\/\//)
    for (const [, url] of text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)) {
      const asset = await request(server).get(url!).expect(200)
      expect(asset.headers).toMatchObject({ "cache-control": "public, max-age=31536000, immutable", "x-content-type-options": "nosniff" })
    }
  })

  it("leave /graphql to GraphQL for all but a browser that asks nothing", async () => {
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

  it("are only read: other methods are 405", async () => {
    await request(server).post("/api/docs").expect("Allow", "GET, HEAD").expect(405)
  })

  it.each(["/assets/", "/assets/../package.json", "/assets/%2e%2e/package.json", "/assets/nothing.js"])("know no file at %s", (path) =>
    request(server).get(path).expect("passed on"),
  )
})
