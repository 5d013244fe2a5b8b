import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import papa from "papaparse"
import { writePast } from "../../src/admin/demo-past.js"
import { systemContext } from "../../src/context/request-context.js"
import { chromium, type Page } from "../kit/browser.js"
import { createCompany } from "../kit/company-fixture.js"
import { inboxBed, pressButton, tooWide, violations } from "../kit/inbox-page.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

// Clients may run the operations of a manifest alone: those of the inbox are in the manifest that the build writes.
const folder = mkdtempSync(join(tmpdir(), "trusted-"))
const manifest = join(folder, "manifest.json")
writeFileSync(manifest, "{}")
afterAll(() => rmSync(folder, { recursive: true }))
const w = world({ REPLY_DEBOUNCE_MS: "1000000000", REPLY_MAX_WAIT_MS: "1000000000", TRUSTED_DOCUMENTS: manifest })
const { acme, globex, rest } = w
const inBrowser = chromium ? describe : describe.skip
const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone

inBrowser(`the outcomes in the inbox${chromium ? "" : " (skipped: there is no Chromium)"}`, () => {
  const { inbox } = inboxBed(() => w.url)
  beforeAll(async () => {
    const { id: companyId, assistant, owner, knowledge, widget } = acme
    const rows = { companyId, assistantId: assistant.id, ownerId: owner.id, knowledge, siteId: widget.externalId }
    await systemContext(w.services, companyId, "demo").transaction((tx) => writePast(tx.unit, rows, new Date()))
  })

  const main = (page: Page): Promise<string> => page.run("document.querySelector('main')?.innerText ?? ''")
  const search = (page: Page): Promise<Record<string, string>> => page.run("Object.fromEntries(new URLSearchParams(location.search))")
  const path = (page: Page): Promise<string> => page.run("location.pathname")
  const contains = (page: Page, text: string | RegExp) =>
    until(`the page shows ${text}`, async () =>
      typeof text === "string" ? (await main(page)).includes(text) : text.test(await main(page)),
    )
  const isRead = (page: Page) =>
    until("everything is read", () =>
      page.run("!document.querySelector('[aria-busy=true]') && !document.body.innerText.includes('Reading …')"),
    )
  /** Chooses an option, as a person does. */
  const choose = (page: Page, label: string, value: string) =>
    page.run(`{
      const field = document.querySelector("select[aria-label='${label}']")
      Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, "value").set.call(field, "${value}")
      field.dispatchEvent(new Event("change", { bubbles: true }))
    }`)
  /** Presses a link by the beginning of its name. */
  const follow = async (page: Page, name: string) => {
    const link = `[...document.querySelectorAll("main a")].find((each) => (each.ariaLabel ?? each.innerText).includes("${name}"))`
    await until(`the page has the link "${name}"`, () => page.run(`${link} !== undefined`))
    await page.run(`${link}.click()`)
  }
  /** What the API answers for the period that the page shows. */
  async function report(page: Page, by = "DAY") {
    const asked: string = await until("the page asked for a report", () => page.run("window.lastReport"))
    const { from, to } = JSON.parse(asked)
    const query = new URLSearchParams({ from, to, by, timeZone: zone })
    return (await rest.as(acme.token).get(`/api/outcomes?${query}`).expect(200)).body
  }
  /** Notes the period of each report that the page asks for. */
  const noting = `{
    const { fetch } = globalThis
    globalThis.fetch = (input, init) => {
      const { variables } = typeof init?.body === "string" ? JSON.parse(init.body) : {}
      if (variables?.timeZone) globalThis.lastReport = JSON.stringify(variables)
      return fetch(input, init)
    }
    const { createObjectURL } = URL
    URL.createObjectURL = (blob) => {
      globalThis.saved = blob.text()
      return createObjectURL.call(URL, blob)
    }
  }`
  const open = (email: string, at: string, options = {}) => inbox(email, at, { before: noting, height: 2_000, ...options })
  const percent = (share: number) => `${Math.round(share * 1_000) / 10}%`

  it("show an owner that containment fell, why, and the chats behind it", async () => {
    const page = await open(acme.owner.email, "/inbox")
    await (await page.find("link", "Outcomes")).click()
    await contains(page, "What lowered containment")
    await isRead(page)
    const { total, groups } = await report(page, "HANDOFF_REASON")
    const { current, before } = total
    const shown = await main(page)
    for (const text of [percent(current.containment), percent(current.durableContainment), percent(current.handOffRate)])
      expect(shown).toContain(text)
    expect(shown).toContain(`from ${percent(before.containment)} to ${percent(current.containment)}`)
    expect(shown).toContain("No customer has rated.")
    expect(await page.run("document.querySelector('.change[data-better]').innerText")).toMatch(
      /^↓ [\d.]+ points less than before \([\d.]+%\), worse$/,
    )
    await page.find("image", "Chart of containment, hand-off rate and number of conversations; the table below has its numbers.")
    await until("the chart is drawn", () => page.run("document.querySelector('.chart canvas')?.width > 0"))
    // A finger on the chart shows the numbers of the day below it.
    await page.run(`{
      const { left, top, width } = document.querySelector(".u-over").getBoundingClientRect()
      const place = { clientX: left + width / 2, clientY: top + 5, pointerType: "touch", bubbles: true }
      document.querySelector(".u-over").dispatchEvent(new PointerEvent("pointerdown", place))
    }`)
    await contains(page, /Thu, \w+ \d+: containment [\d.]+%, hand-off rate [\d.]+%, conversations: \d+/)

    // A week has days, and no weeks to compare.
    expect(shown).not.toContain("By week")
    // What contributed adds up to the change, for each kind of cause.
    await page.run("document.querySelector('.causes details').open = true")
    const sums: string[] = await page.run("[...document.querySelectorAll('.causes tr:last-child td')].map((cell) => cell.innerText)")
    const fell = Number(shown.match(/Containment fell by ([\d.]+) points/)![1])
    expect(sums).toEqual(sums.map(() => sums[0]))
    expect(Math.abs(Number(sums[0]!.match(/^−([\d.]+) points$/)![1]) - fell)).toBeLessThan(0.11)

    // The hand-offs of the assistant are the first of what lowered it; the list has as many conversations as the line says.
    const first: string = await page.run("document.querySelector('.causes li').innerText")
    // The demo's customers asked for gift wrapping, of which the handbook says nothing.
    expect(shown).toMatch(/What the knowledge does not say[\s\S]*(gift|wrap|present)[\s\S]*Add the answers/)
    const ofAssistant = groups.find(({ key }: { key: string }) => key === "assistant").current
    const byPeople = ofAssistant.aiThenPerson + ofAssistant.personAlone
    expect(first).toMatch(new RegExp(`^−[\\d.]+ points The assistant handed over: ${byPeople} of`))
    await follow(page, "The assistant handed over:")
    await until("the list is shown", async () => (await path(page)) === "/inbox/outcomes/chats")
    await until("the list has all conversations", async () => (await page.run("document.querySelectorAll('tbody tr').length")) === byPeople)
    expect(await main(page)).toContain("who answered: AI, then a person / People alone; The assistant handed over")

    // A conversation opens its chat where it began; the way back is the browser's.
    await page.run("document.querySelector('tbody a').click()")
    await until("the chat is shown where the conversation began", () =>
      page.run("document.getElementById(location.pathname.split('/').at(-1))?.matches('article[aria-current]') ?? false"),
    )
    await page.run("history.back()")
    await until("the list is shown again", async () => (await page.run("document.querySelectorAll('tbody tr').length")) === byPeople)
    await page.run("history.back()")
    await contains(page, "What lowered containment")
  })

  it("have the period in the address, as rows, and as CSV", async () => {
    const page = await open(acme.member.email, "/inbox/outcomes")
    await isRead(page)
    await choose(page, "Period", "30-days")
    await until("the address has the period", async () => (await search(page))["period"] === "30-days")
    expect((await search(page))["zone"]).toBe(zone)
    await isRead(page)
    const { total } = await report(page)
    await follow(page, "Hand-off rate")
    await until("the list is shown", async () => (await path(page)) === "/inbox/outcomes/chats")
    expect(await search(page)).toMatchObject({ period: "30-days", handed: "true" })
    await pressButton(page, "Save as CSV")
    const csv: string = await until("the file is saved", () => page.run("globalThis.saved"))
    const rows = papa.parse<Record<string, string>>(csv.trim(), { header: true }).data
    expect(rows).toHaveLength(total.current.handedOff)
    expect(rows.every(({ handOffReason }) => handOffReason !== "")).toBe(true)

    await page.run("history.go(-2)")
    await until("the first period is chosen again", async () => (await search(page))["period"] === undefined)
    await choose(page, "Period", "own")
    await page.find("button", "Show")
    await page.run(
      "document.querySelector('input[name=from]').value = '2021-02-03', document.querySelector('input[name=to]').value = '2021-02-04'",
    )
    await pressButton(page, "Show")
    await contains(page, "No conversation that began in this period has ended.")
    expect(await search(page)).toMatchObject({ from: "2021-02-03", to: "2021-02-04" })
    // What was shared opens as it was.
    await page.reload()
    await contains(page, "No conversation that began in this period has ended.")
    await choose(page, "Time zone", "America/New_York")
    await until(
      "the report is of the other zone",
      async () => JSON.parse(await page.run("window.lastReport")).from === "2021-02-03T05:00:00.000Z",
    )
  })

  it("say what is empty, what is refused, and that conversations have ended since", async () => {
    const empty = await createCompany(w.services, "Initech")
    const page = await open(empty.owner.email, "/inbox/outcomes")
    await contains(page, "There was no conversation yet.")
    // What began today is not in the last week, which is shown at first.
    await pressButton(page, "Show this week")
    await until("the week is shown", async () => (await search(page))["period"] === "this-week")
    const me = rest.as(empty.token)
    const { body: chat } = await me.post("/api/chats", { messenger: "playground", fromId: "playground", externalId: "1" }).expect(201)
    await me.post("/api/messages", { chatId: chat.id, text: "Hello?", role: "Customer" }).expect(201)
    await me.post("/api/messages", { chatId: chat.id, text: "Good morning" }).expect(201)
    await me.post(`/api/chats/${chat.id}/end-stretch`, {}).expect(201)
    await contains(page, "Conversations that ended since: 1")
    await pressButton(page, "Read again")
    await contains(page, /People alone\s+1/)
    await until("nothing is new", async () => !(await main(page)).includes("Conversations that ended since"))

    const other = await open(acme.member.email, `/inbox/outcomes?company=${globex.id}`)
    await until("the refusal is shown", async () => (await other.texts("alert")).length > 0)
    await other.run(`history.pushState(null, "", "/inbox/outcomes?from=2001-01-01&to=2026-01-01")`)
    await contains(other, "must be at most")
    await other.run(`history.pushState(null, "", "/inbox/outcomes/chats?outcome=NEVER")`)
    await contains(other, "NEVER")
  })

  it("fit narrow and wide screens, can be reached by keyboard, and have no violations of WCAG", async () => {
    for (const width of [320, 1_400]) {
      const page = await open(acme.owner.email, "/inbox", { width })
      await page.press("k", { ctrl: true })
      await page.find("combobox", "Chat, person, assistant or action")
      await page.type("outcomes")
      await page.press("Enter")
      await contains(page, "What lowered containment")
      await isRead(page)
      await page.run("for (const each of document.querySelectorAll('main details')) each.open = true")
      for (const view of ["outcomes", "outcomes/chats"]) {
        await page.run(`history.pushState(null, "", "/inbox/${view}")`)
        await isRead(page)
        await until("its numbers are shown", () => page.run("document.querySelectorAll('tbody tr').length > 2"))
        expect(await violations(page)).toEqual([])
        for (const direction of ["rtl", "ltr"] as const)
          expect({ width, view, direction, wide: await tooWide(page, direction) }).toEqual({ width, view, direction, wide: [] })
      }
    }
    for (const [language, title] of [
      ["de", "Was den Anteil der KI senkte"],
      ["uk", "Що знизило частку ШІ"],
    ] as const) {
      const page = await open(acme.owner.email, "/inbox/outcomes", { width: 320 })
      await page.run(`localStorage.setItem("inbox-language", "${language}")`)
      await page.reload()
      await contains(page, title)
      await until("the chart is there", () => page.run("document.querySelector('.chart canvas') !== null"))
      expect({ language, wide: await tooWide(page, "ltr") }).toEqual({ language, wide: [] })
    }
  })

  it("loads what draws the chart for this view alone", async () => {
    const page = await open(acme.owner.email, "/inbox/assistants")
    await page.find("heading", "Assistants")
    const before = page.requested.length
    await (await page.find("link", "Outcomes")).click()
    await until("the chart is drawn", () => page.run("document.querySelector('.chart canvas') !== null"))
    expect(page.requested.slice(before).filter((url) => /\/assets\/inbox\/course-/.test(url))).toHaveLength(1)
    expect(page.requested.slice(0, before).filter((url) => /course-|outcomes-/.test(url))).toEqual([])
  })
})
