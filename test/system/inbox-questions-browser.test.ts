import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writePast } from "../../src/admin/demo-past.js"
import { systemContext } from "../../src/context/request-context.js"
import { groupQuestions } from "../../src/jobs/group-questions.js"
import { chromium, type Page } from "../kit/browser.js"
import { inboxBed, pressButton, tooWide, violations } from "../kit/inbox-page.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

// Clients may run the operations of a manifest alone: those of the inbox are in the manifest that the build writes.
const folder = mkdtempSync(join(tmpdir(), "trusted-"))
const manifest = join(folder, "manifest.json")
writeFileSync(manifest, "{}")
afterAll(() => rmSync(folder, { recursive: true }))
// The question of the period before is as old as 33 days on a Monday: with the tool calls of its age it would be deleted.
const kept = { TOOL_LOG_RETENTION_DAYS: "0" }
const w = world({ REPLY_DEBOUNCE_MS: "1000000000", REPLY_MAX_WAIT_MS: "1000000000", TRUSTED_DOCUMENTS: manifest, ...kept })
const { acme, rest, sql } = w
const inBrowser = chromium ? describe : describe.skip

inBrowser(`what the assistant could not answer, in the inbox${chromium ? "" : " (skipped: there is no Chromium)"}`, () => {
  const { inbox } = inboxBed(() => w.url)
  beforeAll(async () => {
    const { id: companyId, assistant, owner, knowledge, widget } = acme
    const rows = { companyId, assistantId: assistant.id, ownerId: owner.id, knowledge, siteId: widget.externalId }
    await systemContext(w.services, companyId, "demo").transaction((tx) => writePast(tx.unit, rows, new Date()))
    await groupQuestions.run(w.services)
  })

  const main = (page: Page): Promise<string> => page.run("document.querySelector('main')?.innerText ?? ''")
  const contains = (page: Page, text: string) => until(`the page shows ${text}`, async () => (await main(page)).includes(text))
  const list = async () => (await rest.as(acme.token).get("/api/unanswered-questions").expect(200)).body.data

  it("is listed, opens the chats, and becomes an item of knowledge", async () => {
    const [most] = await list()
    expect(most.count).toBeGreaterThan(2)
    // It was asked once in the period before, too.
    const chat = await acme.chat({ name: "Ann Lee" })
    const askedAt = new Date(Date.parse(most.lastAskedAt) - 30 * 24 * 60 * 60 * 1000)
    await acme.question({ chatId: chat.id, question: most.question, groupId: most.id, askedAt })
    const page = await inbox(acme.owner.email, "/inbox/outcomes?period=30-days", { height: 2_000 })
    await contains(page, "What the knowledge does not say")
    await contains(page, `${most.question} (asked: ${most.count}, before: 1)`)
    await (await page.find("link", "Add the answers")).click()
    const first = `document.querySelector("main ul.rows > li")`
    await until("the questions of the same period are shown", () => page.run(`${first} !== null && location.search.includes("30-days")`))
    expect(await page.run(`${first}.innerText`)).toContain(`Asked: ${most.count}`)
    await page.run(`${first}.querySelector("details").open = true`)
    const value = (name: string): Promise<string> => page.run(`${first}.querySelector("[name=${name}]").value`)
    expect(await value("name")).toBe(most.question)
    expect(await value("resourceContent")).toBe("")
    await page.run(`${first}.querySelector("[name=resourceContent]").value = "We wrap every lamp for 4 euros."`)
    await page.run(`${first}.querySelector("form").requestSubmit()`)
    await until("the question is closed", async () => (await list()).every(({ id }: { id: string }) => id !== most.id))
    await contains(page, "The answer is added; the question is off the list.")
    const [item] = await sql("select resource_content from knowledge where company_id = $1 and name = $2", [acme.id, most.question])
    expect(item.resource_content).toBe("We wrap every lamp for 4 euros.")
    await until("it is told", () => page.run(`document.body.innerText.includes(${JSON.stringify(`Added: ${most.question}`)})`))
    await page.run(`${first}.querySelector("a").click()`)
    await until("a chat is shown", async () => (await page.run("location.pathname")).startsWith("/inbox/chats/"))
    // The overview still says that it was asked: the past does not change.
    await page.run("history.pushState(null, '', '/inbox/outcomes?period=30-days')")
    await contains(page, `${most.question} (asked: ${most.count}, before: 1) · off the list`)
  })

  it("is taken off the list and put back, also later, and what was done meanwhile is read again", async () => {
    const [most] = await list()
    const page = await inbox(acme.owner.email, "/inbox/outcomes/questions?period=30-days", { height: 2_000 })
    await contains(page, most.question)
    await pressButton(page, `Needs no answer: ${most.question}`)
    await contains(page, "The question is off the list. Ask in the playground")
    expect(await list()).not.toContainEqual(expect.objectContaining({ id: most.id }))
    await pressButton(page, `Put back on the list: ${most.question}`)
    await page.find("button", `Needs no answer: ${most.question}`)
    expect((await list())[0]).toEqual(most)

    await rest.as(acme.token).post(`/api/unanswered-questions/${most.id}/close`).expect(201)
    await pressButton(page, "Read again")
    await until("the list does not have it", async () => !(await main(page)).includes(most.question))
    await pressButton(page, "Off the list")
    await contains(page, "Off the list since")
    expect(await page.run("location.search")).toContain("questions=CLOSED")
    await pressButton(page, `Put back on the list: ${most.question}`)
    await page.find("button", `Needs no answer: ${most.question}`)
    expect((await list())[0]).toEqual(most)
  })

  it("and what its guardrails found is listed, with the message that it is about", async () => {
    const chat = await acme.chat({ name: "Ann Lee" })
    const message = await acme.message({ chatId: chat.id, text: "My card is 4111 1111 1111 1111", role: "Customer" })
    await acme.guardrailHit({ chatId: chat.id, messageId: message.id, assistantId: acme.assistant.id })
    const page = await inbox(acme.member.email, "/inbox/outcomes/hits")
    await contains(page, "My card is ••••")
    for (const text of ["Card number", "Noted", "Customer", acme.assistant.name]) expect(await main(page)).toContain(text)
    await page.run("document.querySelector('tbody a').click()")
    await until("the message is shown", () =>
      page.run(`document.getElementById("${message.id}")?.matches("article[aria-current]") ?? false`),
    )
  })

  it("and an owner sets what customers are asked after a conversation", async () => {
    const page = await inbox(acme.owner.email, "/inbox/settings/channels")
    await contains(page, "Not asked")
    await page.run("document.querySelector('tbody details').open = true")
    await page.run("document.querySelector('[name=question]').value = 'How was our help?'")
    await pressButton(page, "Save")
    await until("the page shows the question", () => page.run("document.querySelector('tbody summary').innerText === 'How was our help?'"))
    const [channel] = await sql("select rating_question from channel where id = $1", [acme.widget.id])
    expect(channel.rating_question).toBe("How was our help?")
  })

  it("fits narrow and wide screens, in all languages, and has no violations of WCAG", async () => {
    for (const width of [320, 1_400]) {
      for (const language of ["en", "de", "uk"]) {
        const page = await inbox(acme.owner.email, "/inbox/outcomes/questions?period=30-days", { width })
        await page.run(`localStorage.setItem("inbox-language", "${language}")`)
        await page.reload()
        for (const [view, rows] of [
          ["outcomes/questions?period=30-days", "main ul.rows > li"],
          ["outcomes/hits", ".outcomes tbody tr"],
          ["settings/channels", "tbody details"],
        ] as const) {
          await page.run(`history.pushState(null, "", "/inbox/${view}")`)
          await until(`${view} shows its rows`, () => page.run(`document.querySelectorAll("${rows}").length > 0`))
          if (language === "en") expect(await violations(page)).toEqual([])
          for (const direction of ["rtl", "ltr"] as const)
            expect({ width, view, language, direction, wide: await tooWide(page, direction) }).toEqual({
              ...{ width, view, language, direction },
              wide: [],
            })
        }
      }
    }
  })
})
