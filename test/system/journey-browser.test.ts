import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { type Browser, chromium, type Page, startBrowser } from "../kit/browser.js"
import { password } from "../kit/company-fixture.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { samples } from "../kit/files.js"
import { freePort } from "../kit/free-port.js"
import { attach, fill, openInbox, pressButton, shows, tells } from "../kit/inbox-page.js"
import { serverProcess } from "../kit/server-process.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

const w = world({ OPENAI_BASE_URL: openAi.url })
const { acme, sql } = w
const inBrowser = chromium ? describe : describe.skip

inBrowser(`a visitor and an agent in two browsers${chromium ? "" : " (skipped: there is no Chromium)"}`, () => {
  const dataDir = mkdtempSync(join(tmpdir(), "journey-"))
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  it("talk to each other and to the assistant, and a server that is killed in between loses nothing and repeats nothing", async () => {
    const [model] = w.services.models
    await sql("update assistant set text_model_id = $2 where id = $1", [acme.assistant.id, model!.id])
    const demo = { companyId: acme.id, assistantId: acme.assistant.id, widgetId: acme.widget.id, token: acme.token }
    writeFileSync(join(dataDir, "demo.json"), JSON.stringify({ ...demo, email: acme.member.email, password }))
    const [port, usual] = [String(await freePort()), { ALLOW_PRIVATE_NETWORK: "true", REPLY_DEBOUNCE_MS: "50", REPLY_MAX_WAIT_MS: "500" }]
    const start = () =>
      serverProcess(w, {
        ...usual,
        PORT: port,
        DEMO: "true",
        DATA_DIR: dataDir,
        OPENAI_BASE_URL: openAi.url,
        PUBLIC_URL: `http://127.0.0.1:${port}`,
      })
    let server = await start()
    const url = `http://127.0.0.1:${port}`
    let isSeen = false
    async function* words() {
      yield "We have"
      // Progress is stored nowhere: who opens the chat now sees the words so far with the next ones.
      while (!isSeen) {
        // Not a wait: the pause between two words of the model.
        await pause(100)
        yield " …"
      }
      yield " three."
    }
    openAi.reply = async () => ({ pieces: words() })

    // A newcomer is two clicks from a conversation: the button of the start page, and the widget on it.
    const newcomer = await browser.open(url, { profile: await browser.profile() })
    await newcomer.find("button", "Open chat")
    await (await newcomer.find("link", "Open the inbox as the demo’s owner")).click()
    await newcomer.find("button", "Sign out")
    await newcomer.close()

    const visitor = await browser.open(`${url}/demo`, { profile: await browser.profile() })
    await pressButton(visitor, "Open chat")
    const agent = await openInbox(browser, url, acme.member.email)
    await fill(visitor, "Message", "Do you have red lamps?")
    await visitor.press("Enter")
    await until("the inbox shows the chat's messages", () =>
      agent.run("document.querySelector('ul[aria-label=Chats] a')?.click(), document.querySelectorAll('article').length > 0"),
    )
    await shows(agent, ["Do you have red lamps?", "We have"])
    isSeen = true
    for (const page of [visitor, agent]) await shows(page, ["red lamps?", "three."])

    await pressButton(agent, "Take over")
    await agent.find("button", "Give back")
    await server.stop("SIGKILL")
    await fill(visitor, "Message", "Can I see one?")
    await visitor.press("Enter")
    await attach(agent, "lamp.png", samples.png)
    await fill(agent, "Message", "This one")
    await agent.press("Enter")
    await tells(agent, "The server does not answer.")
    server = await start()
    await shows(agent, ["red lamps?", "three.", "Can I see one?"])
    await pressButton(agent, "Send")
    const all = ["red lamps?", "three.", "Can I see one?", "This one"]
    for (const page of [visitor, agent]) await shows(page, all)
    await until("the inbox shows the picture", () => agent.run("document.querySelector('article img')?.naturalWidth > 0"))
    const seen = "document.querySelector('assistant-widget').shadowRoot.querySelector('article a')"
    await until("the widget shows the picture", () =>
      visitor.run(`${seen}?.textContent === "lamp.png" && ${seen}.querySelector("canvas")?.clientHeight > 0`),
    )

    openAi.reply = async () => ({ text: "It is twelve euros." })
    await pressButton(agent, "Give back")
    await agent.find("button", "Take over")
    await fill(visitor, "Message", "What does it cost?")
    await visitor.press("Enter")
    for (const page of [visitor, agent]) await shows(page, [...all, "What does it cost?", "twelve euros"])
    const stored = await sql("select text from message order by chat_id, sequence")
    expect(stored.map(({ text }) => text)).toEqual([
      "Do you have red lamps?",
      expect.stringMatching(/^We have[ …]* three\.$/),
      "Can I see one?",
      "This one",
      "What does it cost?",
      "It is twelve euros.",
    ])
    for (const page of [visitor, agent] satisfies Page[]) expect(page.problems).toEqual([])
    await server.stop()
  })
})
