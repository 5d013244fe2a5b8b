import { type Browser, chromium, type Page, startBrowser } from "../kit/browser.js"
import { type HostSite, startHostSite } from "../kit/host-page.js"
import { violations } from "../kit/inbox-page.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world({ REPLY_DEBOUNCE_MS: "1000000000", REPLY_MAX_WAIT_MS: "1000000000" })
const { acme, rest, sql } = w
const inBrowser = chromium ? describe : describe.skip
const root = 'document.querySelector("assistant-widget").shadowRoot'

inBrowser(`the question for a rating in the widget${chromium ? "" : " (skipped: there is no Chromium)"}`, () => {
  let browser: Browser
  let site: HostSite
  beforeAll(async () => {
    ;[browser, site] = await Promise.all([startBrowser(), startHostSite()])
    const question = "How was our help?"
    await rest.as(acme.token).put(`/api/channels/${acme.widget.id}/rating-question`, { question }).expect(200)
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  const card = (page: Page): Promise<string> => page.run(`${root}.querySelector(".rating")?.innerText ?? ""`)
  const cardHas = (page: Page, text: string) => until(`the card has ${text}`, async () => (await card(page)).includes(text))
  const pressed = (page: Page): Promise<string | null> => page.run(`${root}.querySelector("[aria-pressed=true]")?.innerText ?? null`)
  const say = async (page: Page, text: string): Promise<string> => {
    await (await page.find("textbox", "Message")).click()
    await page.type(text)
    await page.press("Enter")
    // An answer that overtakes it would be no answer to it, and a customer who waits is not asked for a rating.
    return await until("the message is stored", async () => (await sql("select chat_id from message where text = $1", [text]))[0]?.chat_id)
  }

  it("comes when the stretch ends, is shown as it was answered, also to who comes back, and goes when the chat goes on unrated", async () => {
    const page = await browser.open(site.page({ connection: acme.widget.id }, { server: w.url }), { profile: await browser.profile() })
    await (await page.find("button", "Open chat")).click()
    const chatId = await say(page, "Is anybody there?")
    const answerAndEnd = async (text: string) => {
      await acme.message({ chatId, text })
      await until("the answer is shown", () => page.run(`${root}.querySelector(".log").innerText.includes("${text}")`))
      await rest.as(acme.token).post(`/api/chats/${chatId}/end-stretch`).expect(201)
    }
    await answerAndEnd("Yes, a person")
    await cardHas(page, "How was our help?")
    expect(await violations(page)).toEqual([])
    await page.run(`[...${root}.querySelectorAll(".scale button")].find(({ innerText }) => innerText === "4").click()`)
    await cardHas(page, "Thank you for your rating.")
    expect(await pressed(page)).toBe("4")
    await page.run(`${root}.querySelector(".more textarea").value = "Quick!"`)
    await page.run(`${root}.querySelector(".more").requestSubmit()`)
    await cardHas(page, "Quick!")
    const [stored] = await sql("select rating, rating_text from stretch where chat_id = $1", [chatId])
    expect(stored).toEqual({ rating: 4, rating_text: "Quick!" })

    await page.reload()
    await (await page.find("button", "Open chat")).click()
    await cardHas(page, "Quick!")
    expect(await pressed(page)).toBe("4")

    await say(page, "One more question")
    await answerAndEnd("And one more answer")
    await until(
      "the new question has no answer",
      async () => (await card(page)).includes("How was our help?") && (await pressed(page)) === null,
    )
    await say(page, "And another thing")
    await until("the question is gone", async () => (await card(page)) === "")
    await page.close()
  })
})
