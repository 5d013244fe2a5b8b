import { type Browser, chromium, startBrowser } from "../kit/browser.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme } = w
const inBrowser = chromium ? describe : describe.skip

inBrowser(`GraphiQL in a browser${chromium ? "" : " (skipped: there is no Chromium)"}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser?.close())

  it("begins with five operations, keeps its headers over a reload, and says in words that a token is wrong", async () => {
    const page = await browser.open(`${w.url}/graphql`, { profile: await browser.profile() })
    await until("GraphiQL has its five tabs", async () => (await page.count("tab")) >= 5)
    expect((await page.texts("tab")).map((text) => text.trim()).slice(0, 5)).toEqual([
      "Companies",
      "Chats",
      "Messages",
      "TakeOver",
      "Events",
    ])
    const editor = (index: number) => `document.querySelectorAll(".CodeMirror")[${index}]?.CodeMirror`
    /** GraphiQL takes over what is typed a moment later, when it also stores it. */
    const setHeaders = async (token: string) => {
      await page.run(`${editor(2)}.setValue('{ "X-Access-Token": "${token}" }')`)
      await until("GraphiQL has stored the headers", async () =>
        (await page.run("localStorage.getItem('graphiql:headers')"))?.includes(token),
      )
    }
    const result = (): Promise<string> => page.run(`${editor(3)}?.getValue() ?? ""`)
    const run = async () => (await page.find("button", "Execute query (Ctrl-Enter)")).click()
    await setHeaders(acme.token)
    await run()
    await until("the result has the company", async () => (await result()).includes(acme.id))
    await page.reload()
    await until("GraphiQL has its five tabs", async () => (await page.count("tab")) >= 5)
    await run()
    await until("the result has the company", async () => (await result()).includes(acme.id))

    await setHeaders(`${acme.token.slice(0, -1)}x`)
    await run()
    await until("the result says what is wrong with the token", async () => (await result()).includes("access token is"))
    expect(page.problems).toEqual([])
  })

  it("says in words what is missing when a subscription has no token", async () => {
    const page = await browser.open(`${w.url}/graphql`, { profile: await browser.profile() })
    await until("GraphiQL has its five tabs", async () => (await page.count("tab")) >= 5)
    await (await page.find("tab", "Events")).click()
    // GraphiQL reads the operation's name a moment after it shows the tab.
    await until(
      "GraphiQL has chosen the operation",
      async () => (await page.run("localStorage.getItem('graphiql:operationName')")) === "Events",
    )
    await (await page.find("button", "Execute query (Ctrl-Enter)")).click()
    await until("the result says that a token is missing", () =>
      page.run('document.querySelectorAll(".CodeMirror")[3]?.CodeMirror.getValue().includes("Put a token into the headers.")'),
    )
  })
})
