import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { OrderBook } from "../../simulate/mcp/order-book.js"
import { chromium, type Page } from "../kit/browser.js"
import { fill, inboxBed, pressButton, tells, violations } from "../kit/inbox-page.js"
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
})
