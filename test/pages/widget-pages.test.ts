import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { buildSchema, parse, validate } from "graphql"
import supertest from "supertest"
import { v7 } from "uuid"
import { widgetOperations } from "../../src/pages/browser/widget/operations.js"
import { folderOfItsOwn } from "../kit/files.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, sql } = w
const folder = folderOfItsOwn()
const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
const get = (path: string, accept = browser) => supertest(w.url).get(path).set("Accept", accept)

/** Address of the chat, as the button loads it. */
const chatAddress = async () => /"(\/assets\/widget-chat-[\w-]{16}\.js)"/.exec((await get("/widget.js")).text)![1]!

describe("the scripts of the widget", () => {
  it("are loaded by pages of any site: the button from an address that stays, the chat from one that changes with it", async () => {
    const forAnySite = {
      "access-control-allow-origin": "*",
      "cross-origin-resource-policy": "cross-origin",
      "x-content-type-options": "nosniff",
    }
    const { headers } = await get("/widget.js").set("Origin", "https://shop.example").expect(200)
    expect(headers).toMatchObject({ ...forAnySite, "content-type": "text/javascript; charset=utf-8", "cache-control": "no-cache" })
    expect(headers["set-cookie"]).toBeUndefined()
    await get("/widget.js").set("If-None-Match", headers["etag"]!).expect(304)
    await supertest(w.url).post("/widget.js").expect(405).expect("Allow", "GET, HEAD")

    const chat = await get(await chatAddress())
      .set("Origin", "https://shop.example")
      .expect(200)
    expect(chat.headers).toMatchObject({ ...forAnySite, "cache-control": "public, max-age=31536000, immutable" })
    // The page was open while the server was updated.
    const earlier = await get("/assets/widget-chat-AAAAAAAAAAAAAAAA.js").expect(200)
    expect([earlier.text, earlier.headers["cache-control"]]).toEqual([chat.text, "no-cache"])
  })

  it("are together at most 25 KB compressed, and the button alone a fifth of that", async () => {
    const size = async (path: string) => gzipSync((await get(path).expect(200)).text).length
    const [button, chat] = [await size("/widget.js"), await size(await chatAddress())]
    expect(button).toBeLessThan(5 * 1024)
    expect(button + chat).toBeLessThan(25 * 1024)
  })

  it("send operations that the schema has, also when the server accepts trusted documents only", async () => {
    const schema = buildSchema(readFileSync("schema.graphql", "utf8"))
    const faults = widgetOperations.flatMap((text) => validate(schema, parse(text)))
    expect(faults).toEqual([])
    const { text } = await get(await chatAddress())
    for (const operation of widgetOperations) expect(text).toContain(/^\w+ (\w+)/.exec(operation)![0])

    const manifest = join(folder, "manifest.json")
    writeFileSync(manifest, "{}")
    const { url } = await w.another({ TRUSTED_DOCUMENTS: manifest })
    const { body: visitor } = await w.rest.anonymous.post(`/hooks/widget/${acme.widget.id}`, { text: "Hi" }).expect(201)
    const ask = (query: string) =>
      supertest(url)
        .post("/graphql")
        .set("Authorization", `Bearer ${visitor.visitorToken}`)
        .send({ query, variables: { chatId: visitor.chatId } })
    const { body } = await ask(widgetOperations[0]!)
    expect(body.data.messages.nodes).toMatchObject([{ text: "Hi", role: "CUSTOMER" }])
    expect((await ask("{ __typename }")).body.errors).toHaveLength(1)
  })
})

describe("the chat as a page of its own", () => {
  it("may be framed by any site, runs this server's scripts only, and sets no cookie", async () => {
    const { text, headers } = await get(`/widget/${acme.widget.id}`).expect(200)
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; script-src 'self';.* frame-ancestors \*$/)
    expect(headers["content-security-policy"]).not.toContain("unsafe")
    expect(headers["x-frame-options"]).toBeUndefined()
    expect(headers["set-cookie"]).toBeUndefined()
    expect(text).toContain(`src="/widget.js" data-connection="${acme.widget.id}"`)
    expect(text).not.toMatch(/<!-- |\{\{|<script[^>]*>[^<]|style=|\bon\w+="|(src|href)="(https?:)?\/\//)
  })

  it("is an unknown address for a connection that is unknown, malformed, disconnected or of another messenger", async () => {
    const other = await acme.chat()
    const [ended, telegram] = [v7(), v7()]
    for (const [id, messenger, isActive] of [
      [ended, "widget", false],
      [telegram, "custom-messenger", true],
    ])
      await sql(
        `insert into channel (id, created_at, updated_at, company_id, messenger, external_id, name, is_active)
         values ($1::uuid, now(), now(), $2, $3, $1::text, 'Another', $4)`,
        [id, acme.id, messenger, isActive],
      )
    for (const id of [v7(), ended, telegram, other.id, "x", `${acme.widget.id}/`, "%00", "------------------------------------"]) {
      const { text, headers } = await get(`/widget/${id}`).expect(404)
      expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'")
      expect(text).toContain("<h1>Page not found</h1>")
      await get(`/widget/${id}`, "application/json").expect(404)
    }
  })

  it("counts as a request without credentials", async () => {
    const { url } = await w.another({ RATE_LIMIT_ANONYMOUS_PER_MINUTE: "2" })
    const statuses: number[] = []
    for (let index = 0; index < 5; index += 1) statuses.push((await supertest(url).get(`/widget/${acme.widget.id}`)).status)
    expect(statuses).toContain(429)
  })
})

it("there is no shop without the demo", async () => {
  await get("/demo").expect(404)
})
