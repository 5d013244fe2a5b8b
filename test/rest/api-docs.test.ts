import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { world } from "../kit/world.js"

const w = world()
const { acme, rest } = w
const page = (name: string) => readFileSync(join("docs/api", name), "utf8")
/** What the first cell of each row of a page's tables has in code style. */
const firstCells = (name: string) => [...page(name).matchAll(/^\| `([^`]+)`/gm)].map(([, code]) => code!)

describe("the pages for integrators", () => {
  it("explain every code of an error", () => {
    const inSources = [
      ...readFileSync("src/errors/errors.ts", "utf8").matchAll(/"([A-Z]+(?:_[A-Z]+)+|FORBIDDEN|CONFLICT|UNAUTHENTICATED)"/g),
    ].map(([, code]) => code!)
    expect(inSources.length).toBeGreaterThan(10)
    expect(firstCells("errors.md")).toEqual(expect.arrayContaining([...new Set(inSources)]))
  })

  it.each(firstCells("filters.md").filter((cell) => cell.includes(":")))("have filters that the server takes: %s", async (filter) => {
    await rest
      .as(acme.token)
      .get(`/api/chats?filter=${encodeURIComponent(filter)}`)
      .expect(200)
  })

  it("name filters of calls that the server takes", async () => {
    const filter = /for example `(status:[^`]+)`/.exec(page("filters.md"))![1]!
    await rest
      .as(acme.token)
      .get(`/api/calls-history?filter=${encodeURIComponent(filter)}`)
      .expect(200)
  })

  it("are all in their table of contents", () => {
    const pages = readdirSync("docs/api").filter((name) => name !== "README.md")
    for (const name of pages) expect(page("README.md")).toContain(`](${name})`)
  })

  it("lead through a visitor's chat, step by step", async () => {
    const [first, second] = [...page("visitors.md").matchAll(/-d '([^']+)'/g)].map(([, body]) => JSON.parse(body!))
    const { chatId, visitorToken } = (await rest.as(null).post(`/hooks/widget/${acme.widget.id}`, first).expect(201)).body
    const { query } = second
    const { data } = await w.gql(visitorToken, query, { chatId })
    expect(data!["messages"].nodes).toMatchObject([{ role: "CUSTOMER", text: "Hello" }])
  })
})
