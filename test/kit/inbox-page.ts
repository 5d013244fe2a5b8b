import { readFileSync } from "node:fs"
import { type Browser, type Page, type PageOptions, startBrowser } from "./browser.js"
import { password } from "./company-fixture.js"
import { root } from "./house-rules.js"
import { until } from "./wait.js"

/** Types text into a field. */
export async function fill(page: Page, field: string, text: string, role = "textbox") {
  await (await page.find(role, field)).click()
  await page.type(text)
}

/** Presses a button by its name. */
export const pressButton = async (page: Page, name: string) => (await page.find("button", name)).click()

/** A script for `before`: `asked` are the operations that the page requests; it learns where the log of events ends after `begin()`. */
export const heldCursor = `{
  const { fetch } = window
  const begins = new Promise((resolve) => (window.begin = resolve))
  window.asked = []
  window.fetch = async (url, init) => {
    const name = /"(?:operationName":"|query":"\\w+ )(\\w+)/.exec(init?.body)?.[1]
    window.asked.push(name)
    if (name === "EventCursor") await begins
    return fetch(url, init)
  }
}`

/** Opens an address of the inbox in a profile of its own, and signs in. */
export async function openInbox(
  browser: Browser,
  server: string,
  email: string,
  path = "/inbox",
  options: PageOptions = {},
): Promise<Page> {
  const page = await browser.open(new URL(path, server).href, { profile: await browser.profile(), ...options })
  await fill(page, "Email", email)
  await fill(page, "Password", password)
  await pressButton(page, "Sign in")
  await page.find("button", "Sign out")
  return page
}

/** A browser for the tests of a block, and inboxes in it whose pages may log nothing as an error, what their policy refused included. */
export function inboxBed(server: () => string) {
  let browser: Browser
  const pages: Page[] = []
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterEach(async () => {
    for (const page of pages.splice(0)) {
      const { problems } = page
      await page.close()
      expect(problems).toEqual([])
    }
  })
  afterAll(() => browser?.close())
  return {
    /** The inbox in a profile of its own, signed in. */
    async inbox(email: string, path = "/inbox", options: PageOptions = {}): Promise<Page> {
      const page = await openInbox(browser, server(), email, path, options)
      pages.push(page)
      return page
    },
    /** Any page of the server in a profile of its own. */
    async page(path: string, options: PageOptions = {}): Promise<Page> {
      const page = await browser.open(server() + path, { profile: await browser.profile(), ...options })
      pages.push(page)
      return page
    },
  }
}

/** Waits until the articles of the log are these texts, by what each contains. */
export const shows = (page: Page, texts: string[]) =>
  until(`the log shows: ${texts.join(" | ")}`, async () => {
    const found = await page.texts("article")
    return found.length === texts.length && found.every((text, index) => text.includes(texts[index]!))
  })

/** Waits until the inbox or the widget tells a sentence. */
export const tells = (page: Page, text: string) =>
  until(`the page tells: ${text}`, async () => (await page.texts("status")).some((each) => each.includes(text)))

/** Chooses a file, as a person does in the dialog that "Attach files" opens. */
export const attach = (page: Page, name: string, bytes: Buffer) =>
  page.run(`{
    const dataTransfer = new DataTransfer()
    const bytes = Uint8Array.from(atob("${bytes.toString("base64")}"), (each) => each.charCodeAt(0))
    dataTransfer.items.add(new File([bytes], ${JSON.stringify(name)}))
    const field = document.querySelector("input[type=file]")
    field.files = dataTransfer.files
    field.dispatchEvent(new Event("change", { bubbles: true }))
  }`)

/** Elements that reach out of the page, or scroll from side to side where a text should wrap, in a direction of writing. */
export const tooWide = (page: Page, direction: "ltr" | "rtl"): Promise<string[]> =>
  page.run(`(() => {
    document.documentElement.dir = "${direction}"
    return [...document.querySelectorAll("body *")].filter((each) => {
      const box = each.getBoundingClientRect()
      const isHidden = each.closest("details:not([open]), .unseen, select") && !each.matches("details")
      let around = each.parentElement
      while (around && getComputedStyle(around).overflowX === "visible") around = around.parentElement
      const isOutside = !around && (box.left < -1 || box.right > innerWidth + 1)
      const scrolls = getComputedStyle(each).overflowX === "auto" && each.scrollWidth > each.clientWidth + 1
      return !isHidden && box.width > 0 && (isOutside || (scrolls && !each.matches(".scroll, .table, pre, table")))
    }).map((each) => each.tagName + "." + each.className)
  })()`)

let axe: string | undefined

/** What axe-core, with its default rules (WCAG 2.2 AA among them), finds wrong on a page in light and in dark colours. */
export async function violations(page: Page): Promise<string[]> {
  axe ??= readFileSync(`${root}node_modules/axe-core/axe.min.js`, "utf8")
  await page.run(`${axe}; 0`)
  const found: string[] = []
  for (const scheme of ["dark", "light"]) {
    await page.media({ "prefers-color-scheme": scheme })
    const inScheme = await page.run(
      "axe.run(document).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map((node) => id + ': ' + node.target + ' ' + node.failureSummary)))",
    )
    found.push(...inScheme.map((text: string) => `${scheme}: ${text}`))
  }
  return found
}
