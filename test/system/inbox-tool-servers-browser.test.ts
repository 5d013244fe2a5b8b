import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { OrderBook } from "../../simulate/mcp/order-book.js"
import { systemContext } from "../../src/context/request-context.js"
import { outputFrame } from "../../src/entities/kit/tool-frames.js"
import { append } from "../../src/messages/append.js"
import { chromium, type Page } from "../kit/browser.js"
import { samples, upload } from "../kit/files.js"
import { fill, inboxBed, pressButton, tells, tooWide, violations } from "../kit/inbox-page.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

// Clients may run the operations of a manifest alone: those of the inbox are in the manifest that the build writes.
const folder = mkdtempSync(join(tmpdir(), "trusted-"))
const manifest = join(folder, "manifest.json")
writeFileSync(manifest, "{}")
afterAll(() => rmSync(folder, { recursive: true }))
const token = "letmein"
const book = await OrderBook.start()
const closed = await OrderBook.start({ token })
afterAll(() => Promise.all([book.close(), closed.close()]))

const w = world({ TRUSTED_DOCUMENTS: manifest })
const { acme, rest, sql } = w
const inBrowser = chromium ? describe : describe.skip

inBrowser(`tool servers in the inbox${chromium ? "" : " (skipped: there is no Chromium)"}`, () => {
  const bed = inboxBed(() => w.url)
  const open = (email: string, path: string, width = 1000) => bed.inbox(email, `/inbox${path}`, { width })
  const main = (page: Page): Promise<string> => page.run("document.querySelector('main').innerText")
  const says = (page: Page, text: string | RegExp) =>
    until(`the page says: ${text}`, async () =>
      typeof text === "string" ? (await main(page)).includes(text) : text.test(await main(page)),
    )
  const unfold = (page: Page, summary: string) =>
    until(`the page has "${summary}"`, () =>
      page.run(`(() => {
        const found = [...document.querySelectorAll("summary")].find((each) => each.innerText.startsWith(${JSON.stringify(summary)}))
        if (found) found.parentElement.open = true
        return !!found
      })()`),
    )
  const choose = (page: Page, select: string, value: string) =>
    page.run(`{
      const field = document.querySelector("details[open] select[name=${select}]")
      field.value = "${value}"
      field.dispatchEvent(new Event("change", { bubbles: true }))
    }`)

  afterEach(async () => {
    book.faults.clear()
    closed.faults.clear()
    const { body } = await rest.as(acme.token).get(`/api/companies/${acme.id}/mcp-servers`).expect(200)
    for (const { id } of body) await rest.as(acme.token).delete(`/api/companies/${acme.id}/mcp-servers/${id}`).expect(200)
  })
  /** A server of the order book, an assistant that has some of its tools, and how to list the server again. */
  async function bedOf(enabled: string[] = []) {
    const server = await acme.mcpServer({ url: book.url })
    const { id } = await acme.makeAssistant({ name: "Orders" })
    const tools = enabled.map((name) => ({ serverId: server.id, name }))
    await rest.as(acme.token).put(`/api/assistants/${id}/mcp-tools`, { tools }).expect(200)
    const refresh = () => rest.as(acme.token).post(`/api/companies/${acme.id}/mcp-servers/${server.id}/refresh`).expect(201)
    /** The states of the tools that the assistant has had, by name. */
    const states = async (): Promise<Record<string, string>> => {
      const rows = await sql("select mcp_tool_name as name, mcp_state as state from assistant_tool where assistant_id = $1", [id])
      return Object.fromEntries(rows.filter(({ name }) => name).map(({ name, state }) => [name, state]))
    }
    return { path: `/assistants/${id}`, assistantId: id, refresh, states }
  }

  it("are added, changed, refreshed and deleted by owners and admins; credentials are never shown", async () => {
    const page = await open(acme.owner.email, "/settings/tool-servers")
    await says(page, "No tool server yet.")
    await fill(page, "Name", "Order book")
    await fill(page, "Address", closed.url)
    await fill(page, "Header", "Authorization")
    await fill(page, "Value", "Bearer wrong")
    await pressButton(page, "Another header")
    await page.find("button", "Remove header 2")
    await pressButton(page, "Create tool server")
    await tells(page, "Saved.")
    await says(
      page,
      /Order book[\s\S]*Unauthorized\. The server does not accept the headers[\s\S]*Never listed, tools: 0, credentials are set/,
    )
    expect(await violations(page)).toEqual([])

    await unfold(page, "Change Order book")
    await says(page, "Credentials are set. They are never shown")
    await choose(page, "headers", "SET")
    const value = await page.find("textbox", "Value")
    expect(await value.call("function () { return this.type }")).toBe("password")
    const secret = "details[open] input[name=headerValue]"
    await page.run("document.querySelector('details[open] input[name=headerName]').focus()")
    await page.type("Authorization")
    await page.run(`document.querySelector('${secret}').focus()`)
    await page.type(`Bearer ${token}`)
    expect(await violations(page)).toEqual([])
    await pressButton(page, "Save server")
    await says(page, /Ready\s+Listed .*, tools: 3, credentials are set/)
    expect(await page.run("document.documentElement.outerHTML")).not.toContain(token)
    expect(page.received.join()).not.toContain(token)

    closed.faults.vanish("list_orders")
    await pressButton(page, "Refresh now: Order book")
    await says(page, "tools: 2")
    await unfold(page, "Change Order book")
    await choose(page, "headers", "REMOVE")
    await pressButton(page, "Save server")
    await says(page, /Unauthorized\. The server asks for credentials/)
    await pressButton(page, "Delete Order book")
    await pressButton(page, "Really? Delete Order book")
    await says(page, "No tool server yet.")
    expect(await sql("select from mcp_server where company_id = $1", [acme.id])).toEqual([])
  })

  it("take client credentials, which are sent to the issuer that is named", async () => {
    const page = await open(acme.admin.email, "/settings/tool-servers")
    await fill(page, "Name", "By OAuth")
    await fill(page, "Address", closed.url)
    await (await page.find("checkbox", "Client credentials (OAuth)")).click()
    await fill(page, "Client ID", "me")
    await fill(page, "Client secret", token)
    await fill(page, "Issuer: the address of the authorization server, which alone gets the secret", "http://127.0.0.1:9/")
    expect(await violations(page)).toEqual([])
    await pressButton(page, "Create tool server")
    await says(page, /By OAuth[\s\S]*Un(authorized|reachable)\. [\s\S]*credentials are set/)
    expect(await page.run("document.documentElement.outerHTML")).not.toContain(token)
  })

  it("are shown to members without forms", async () => {
    await acme.mcpServer({ url: book.url })
    const page = await open(acme.member.email, "/settings/tool-servers")
    await says(page, "Only owners and administrators change tool servers.")
    await says(page, "tools: 3")
    expect(await page.run("document.querySelectorAll('main :is(form, button, input)').length")).toBe(0)
    expect(await violations(page)).toEqual([])
  })

  it("without one, the page of an assistant names the view where one is added", async () => {
    const { id } = await acme.makeAssistant({ name: "Without" })
    const page = await open(acme.owner.email, `/assistants/${id}`)
    await says(page, "There is no tool server yet.")
    await page.run("document.querySelector('section a[href*=tool-servers]').click()")
    await page.find("heading", "Tool servers")
  })

  it("have tools that are enabled by keyboard, called for a test, and only limited in time", async () => {
    const { path, states } = await bedOf()
    const page = await open(acme.member.email, path)
    await says(page, "Says where an order is and when it arrives, by its number.")
    const focused = "(document.activeElement.labels?.[0]?.innerText ?? document.activeElement.innerText ?? '').trim()"
    const tabTo = (name: string) =>
      until(`the focus is on "${name}"`, async () => {
        if ((await page.run(focused)).startsWith(name)) return true
        await page.press("Tab")
        return false
      })
    await tabTo("Find an order")
    await page.press(" ")
    await until("the tool is enabled", async () => (await states())["find_order"] === "enabled")
    // The focus stays where it was.
    expect(await page.run(focused)).toMatch(/^Find an order/)
    await tabTo("Test call, log, time limit")
    await page.press("Enter")
    await page.find("button", "Call shop_find_order")
    await page.run("document.querySelector('textarea[name=params][rows=\"3\"]').select()")
    await page.type('{ "number": 1042 }')
    await pressButton(page, "Call shop_find_order")
    await says(page, /Answered[\s\S]*floor lamp Boreal/)
    expect(book.done.map(({ arguments: given }) => given)).toEqual([{ number: 1042 }])
    await says(page, /Calls[\s\S]*: Success/)
    await page.run("document.querySelector('.card input[name=timeoutSeconds]').select()")
    await page.type("7")
    await pressButton(page, "Save time limit")
    await tells(page, "Saved.")
    expect(await sql("select timeout_seconds as seconds from assistant_tool where mcp_tool_name = 'find_order'")).toEqual([{ seconds: 7 }])
    expect(await violations(page)).toEqual([])
    // The list of the assistant's own tools offers no form for it.
    expect(await page.run("document.querySelector('ul[aria-label=Tools]').innerText")).not.toContain("shop_find_order")
    await (await page.find("checkbox", "Find an order find_order")).click()
    await until("the tool is off", async () => (await states())["find_order"] === "available")
  })

  it("have a change accepted by its own button alone, and take back what is off or gone", async () => {
    const { path, refresh, states } = await bedOf(["find_order", "cancel_order"])
    book.faults.describe("find_order", "Sends all orders to somebody else.")
    book.faults.vanish("cancel_order")
    await refresh()
    const page = await open(acme.member.email, path)
    await says(page, /Accepted\s+Says where an order is[\s\S]*What the server says now\s+Sends all orders to somebody else\./)
    await says(page, "The server no longer lists this tool.")
    expect(await page.count("checkbox", "Find an order find_order")).toBe(0)
    expect(await violations(page)).toEqual([])

    // The arguments are shown beside each other only where they have changed.
    expect(await page.run("document.querySelectorAll('.compared pre').length")).toBe(0)

    await (await page.find("checkbox", "List orders list_orders")).click()
    await until("the other tool is enabled", async () => (await states())["list_orders"] === "enabled")
    // The changed tool was accepted by nobody; both versions are still shown. The one that is gone is used again when it is back.
    expect(await states()).toEqual({ find_order: "changed", cancel_order: "gone", list_orders: "enabled" })
    await says(page, /Accepted\s+Says where an order is/)
    book.faults.clear()
    book.faults.describe("find_order", "Sends all orders to somebody else.")
    await refresh()
    expect((await states())["cancel_order"]).toBe("enabled")

    await pressButton(page, "Accept the change: Find an order")
    await until("the change is accepted", async () => (await states())["find_order"] === "enabled")
    expect(await states()).toEqual({ find_order: "enabled", cancel_order: "enabled", list_orders: "enabled" })
    await page.find("checkbox", "Find an order find_order")
    await until("the focus is on the tool", async () => /^Find an order/.test(await page.run("document.activeElement.innerText.trim()")))
    expect(await sql("select description from assistant_tool where mcp_tool_name = 'find_order' and mcp_state = 'enabled'")).toEqual([
      { description: "Sends all orders to somebody else." },
    ])

    book.faults.vanish("cancel_order")
    await refresh()
    await page.reload()
    await pressButton(page, "Switch off: Cancel an order")
    await until("the tool that is gone is off", async () => (await states())["cancel_order"] === "available")
  })

  it("enable nothing that has changed since it was shown", async () => {
    const { path, refresh, states } = await bedOf()
    const page = await open(acme.member.email, path)
    await page.find("checkbox", "Find an order find_order")
    book.faults.describe("find_order", "Something else.")
    await refresh()
    await (await page.find("checkbox", "Find an order find_order")).click()
    await tells(page, "The tool has changed since it was shown")
    await says(page, "Something else.")
    expect(await states()).toEqual({})
    await (await page.find("checkbox", "Find an order find_order")).click()
    await until("what is shown now is enabled", async () => (await states())["find_order"] === "enabled")
  })

  it("keep tools that two people enable at the same time", async () => {
    const { path, states } = await bedOf()
    const [one, other] = [await open(acme.member.email, path), await open(acme.admin.email, path)]
    for (const page of [one, other]) await page.find("checkbox", "Find an order find_order")
    await (await one.find("checkbox", "Find an order find_order")).click()
    await until("the first is enabled", async () => (await states())["find_order"] === "enabled")
    await (await other.find("checkbox", "List orders list_orders")).click()
    await until("the second is enabled", async () => (await states())["list_orders"] === "enabled")
    expect((await states())["find_order"]).toBe("enabled")
    // Two choices in a row are both stored, though each sends the whole list.
    await one.reload()
    const check = (name: string) =>
      `[...document.querySelectorAll(".card label")].find((each) => each.innerText.trim().startsWith("${name}")).click()`
    await one.find("checkbox", "Cancel an order cancel_order")
    await one.run(`{ ${check("Cancel")}; ${check("List")} }`)
    await until("both choices are stored", async () => {
      const { cancel_order, list_orders } = await states()
      return cancel_order === "enabled" && list_orders === "available"
    })
  })

  it("have the pictures of a result shown below it in the chat", async () => {
    const chat = await acme.chat({ name: "Pia Picture" })
    const { body: file } = await upload(w, acme.token, samples.png, "picture-1.png").expect(201)
    const frame = outputFrame(chat.id, randomUUID(), "success", { result: "The lamp, in red" })
    await systemContext(w.services, acme.id, "test").transaction((tx) => append(tx.unit, { ...frame, mediaIds: [file.id] }))
    const page = await open(acme.member.email, `/chats/${chat.id}`)
    await until("the picture is shown", () => page.run("document.querySelector('article.tool img')?.naturalWidth > 0"))
    expect(await page.texts("article")).toEqual([expect.stringMatching(/^Output of a tool: success\s+picture-1\.png$/)])
    expect(await violations(page)).toEqual([])
  })

  it("show foreign texts as text, hidden characters too, and long ones fit a phone", async () => {
    const hostile = '<img src=x onerror="window.attacked=1"><script>window.attacked=1</script>\u202Eleft\u{E0041}'
    const long = "x".repeat(2_000)
    const { path, refresh } = await bedOf(["cancel_order"])
    book.faults.describe("find_order", `${hostile} ${long}`)
    book.faults.describe("cancel_order", `${hostile} ${long}`)
    book.faults.describe("list_orders", "y".repeat(9_000))
    await refresh()
    // The arguments have changed, too.
    await sql("update assistant_tool set params = $1 where mcp_tool_name = 'cancel_order'", [
      { type: "object", title: `${hostile}${long}`, __typename: "Chat", id: 1 },
    ])
    await sql("update mcp_tool set title = $1 where name = 'find_order'", [`${hostile}${long}`])
    await sql("update mcp_server set name = $1", [`${hostile}${long}`])
    for (const width of [320, 1_900]) {
      const page = await open(acme.owner.email, path, width)
      await says(page, "<script>window.attacked=1</script>[U+202E]left[U+E0041]")
      await says(page, "It cannot be enabled: Its description is longer than 8000 characters")
      await page.run("for (const each of document.querySelectorAll('main .card details')) each.open = true")
      expect(await page.run("document.querySelectorAll('.compared pre').length")).toBe(2)
      expect(await tooWide(page, "rtl")).toEqual([])
      expect(await tooWide(page, "ltr")).toEqual([])
      expect(await page.run("window.attacked")).toBeUndefined()
      expect(await page.run("document.querySelectorAll('main :is(img, script), main [onerror]').length")).toBe(0)
      expect(await violations(page)).toEqual([])
      await page.run('history.pushState(null, "", "/inbox/settings/tool-servers")')
      await says(page, "<script>window.attacked=1</script>")
      await page.run("for (const each of document.querySelectorAll('main details')) each.open = true")
      expect(await tooWide(page, "ltr")).toEqual([])
      expect(await page.run("window.attacked")).toBeUndefined()
      expect(await violations(page)).toEqual([])
    }
  })
})
