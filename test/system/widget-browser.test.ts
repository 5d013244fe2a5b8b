import { type Browser, chromium, heldFrames, type Page, type PageOptions, startBrowser } from "../kit/browser.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { samples } from "../kit/files.js"
import { freePort } from "../kit/free-port.js"
import { type HostSite, startHostSite } from "../kit/host-page.js"
import { violations } from "../kit/inbox-page.js"
import { promise } from "../kit/promise.js"
import { endOfLog, forgetEvents } from "../kit/sockets.js"
import { type TcpProxy, tcpProxy } from "../kit/tcp-proxy.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

// A reply is due only where a test makes it due.
const w = world({ OPENAI_BASE_URL: openAi.url, REPLY_DEBOUNCE_MS: "1000000000", REPLY_MAX_WAIT_MS: "1000000000" })
const { acme, globex, sql } = w
/** An expression: the articles of the log. */
const inLog = '[...document.querySelector("assistant-widget").shadowRoot.querySelectorAll("article")]'

/** A function of a page: the elements in `this` whose text has too little contrast with what is behind it, and how many were measured. */
const contrasts = `function () {
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number)
  const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
  const luminance = ([red, green, blue]) => 0.2126 * linear(red / 255) + 0.7152 * linear(green / 255) + 0.0722 * linear(blue / 255)
  const behind = (element) => {
    const color = numbers(getComputedStyle(element).backgroundColor)
    return color[3] === 0 ? behind(element.parentElement) : color
  }
  const texts = [...this.querySelectorAll("*")].filter((each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
  const poor = texts.flatMap((each) => {
    const [light, dark] = [numbers(getComputedStyle(each).color), behind(each)].map(luminance).sort((one, other) => other - one)
    const ratio = (light + 0.05) / (dark + 0.05)
    return ratio < 4.5 ? [[each.localName, each.className, ratio]] : []
  })
  return { measured: texts.length, poor }
}`

const inBrowser = chromium ? describe : describe.skip

inBrowser(`the widget in a browser${chromium ? "" : " (skipped: there is no Chromium)"}`, () => {
  let browser: Browser
  let site: HostSite
  const pages: Page[] = []
  const closers: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    ;[browser, site] = await Promise.all([startBrowser(), startHostSite()])
  })
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.close()
    for (const close of closers.splice(0)) await close()
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  interface Visit extends PageOptions {
    attributes?: Record<string, string>
    server?: string
    html?: string
    css?: string
    other?: string
  }

  /** A page of the host site with the widget, by default with a new visitor. */
  async function visit({ attributes = {}, server = w.url, html, css, other, ...options }: Visit = {}): Promise<Page> {
    const address = site.page(
      { connection: acme.widget.id, ...attributes },
      { server, ...(html && { html }), ...(css && { css }), ...(other && { other }) },
    )
    const page = await browser.open(address, { profile: await browser.profile(), ...options })
    pages.push(page)
    return page
  }
  const open = async (page: Page, name = "Open chat") => (await page.find("button", name)).click()
  async function opened(options?: Visit): Promise<Page> {
    const page = await visit(options)
    await open(page)
    await page.find("textbox", "Message")
    return page
  }
  async function say(page: Page, text: string) {
    await (await page.find("textbox", "Message")).click()
    await page.type(text)
    await page.press("Enter")
  }
  /** Waits until the articles of the log are these texts, by what each contains. */
  const shows = (page: Page, texts: string[]) =>
    until(`the log shows: ${texts.join(" | ")}`, async () => {
      const found = await page.texts("article")
      return found.length === texts.length && found.every((text, index) => text.includes(texts[index]!))
    })
  const chats = () => sql("select id from chat where messenger = 'widget' order by id")
  const stored = (text: string) => sql("select id, chat_id from message where text = $1", [text])
  /** The chat that a message began, once it is stored. */
  const chatOf = (text: string): Promise<string> => until(`a chat has the message "${text}"`, async () => (await stored(text))[0]?.chat_id)
  const answer = (chatId: string, text: string) => acme.message({ chatId, text })

  it("loads nothing but its button until that is pressed, and then talks to its server alone, under a strict policy and without cookies", async () => {
    const page = await visit()
    await page.find("button", "Open chat")
    const { origin } = new URL(await page.run("location.href"))
    expect(page.requested.filter((url) => !url.startsWith(origin))).toEqual([`${w.url}/widget.js`])
    expect(await page.run("Object.keys(window).filter((name) => /widget|chat/i.test(name)).concat('AssistantWidget' in window)")).toEqual([
      true,
    ])
    await open(page)
    await page.find("dialog", "Chat")
    await page.find("log", "Messages")
    await say(page, "Is anybody there?")
    const chatId = await chatOf("Is anybody there?")
    await answer(chatId, "Yes, a person")
    await shows(page, ["Is anybody there?", "Yes, a person"])
    const foreign = page.requested.filter((url) => !url.startsWith(origin) && new URL(url).host !== new URL(w.url).host)
    expect(foreign).toEqual([])
    expect(page.problems).toEqual([])
    expect(await page.run("document.cookie")).toBe("")
    expect(await page.run("document.querySelector('assistant-widget').innerHTML")).toBe("")
  })

  it("says once that a colleague has taken over, that the assistant is typing, and that it answers again", async () => {
    const [model] = w.services.models
    await sql("update assistant set text_model_id = $2 where id = $1", [acme.assistant.id, model!.id])
    const page = await opened()
    await say(page, "Who answers?")
    const chatId = await chatOf("Who answers?")
    await answer(chatId, "I am Bea")
    await answer(chatId, "And I read your question")
    await shows(page, ["Who answers?", "I am Bea", "And I read"])
    const log = await page.find("log", "Messages")
    const shown = (): Promise<string> => log.call("function () { return this.innerText }")
    const text = await shown()
    expect(text.match(/A colleague has taken over/g)).toHaveLength(1)
    expect(text.indexOf("A colleague")).toBeLessThan(text.indexOf("I am Bea"))

    await until("the widget watches its chat", () => w.services.progress.isWatched(chatId))
    let finish!: () => void
    const finished = new Promise<void>((resolve) => (finish = resolve))
    async function* stream() {
      yield "It is"
      await finished
      yield " me"
    }
    openAi.reply = async () => ({ pieces: stream() })
    await sql("update chat set reply_due_at = now() - interval '1 second' where id = $1", [chatId])
    const replied = w.runDue()
    await until("the widget shows that the assistant is typing", async () =>
      (await page.texts("status")).some((each) => each.includes("The assistant is typing")),
    )
    expect(await shown()).not.toContain("It is")
    finish()
    await replied
    await shows(page, ["Who answers?", "I am Bea", "And I read", "It is me"])
    expect(await shown()).toMatch(/The assistant is answering again\.[\s\S]*It is me/)
    expect((await page.texts("status")).join()).not.toContain("typing")
  })

  it("says at once, and only once, when the assistant hands over, a person takes over, and the assistant returns", async () => {
    const page = await opened()
    await say(page, "I want to talk to a human")
    const chatId = await chatOf("I want to talk to a human")
    const control = async (isUnderAiControl: boolean, aiDisableReason?: string) => {
      const body = { isUnderAiControl, ...(aiDisableReason && { aiDisableReason }) }
      await w.rest.as(acme.token).patch(`/api/chats/${chatId}/ai-control`, body).expect(200)
    }
    const notes = (): Promise<string[]> =>
      page.run('[...document.querySelector("assistant-widget").shadowRoot.querySelectorAll(".note")].map(({ innerText }) => innerText)')
    const says = (texts: string[]) =>
      until(`the log says: ${texts.join(" | ")}`, async () => {
        const found = await notes()
        return found.length === texts.length && found.every((note, index) => note.startsWith(texts[index]!))
      })
    const lines = ["The assistant has asked a colleague", "A colleague has taken over", "The assistant is answering again"] as const
    const [asked, taken, back] = lines
    /** Waits until events arrive: what happens before a first subscription is active is not told. */
    const hears = async () => {
      const before = page.received.length
      await until("the widget hears of messages", async () => {
        await acme.message({ chatId, text: "Hello?", role: "Customer" })
        return page.received.slice(before).some((each) => each.includes("MESSAGE_CREATED"))
      })
    }
    await hears()
    await control(false, "auto")
    await says([asked])
    await answer(chatId, "I am Bea")
    await says([asked, taken])
    await control(true)
    await says(lines.slice())
    await page.reload()
    await open(page)
    await says(lines.slice())
    await hears()
    await control(false, "manual")
    await says([...lines, taken])
    await control(true)
    // Nothing was written meanwhile: the two changes are none.
    await says([asked, taken, back])
    expect(page.problems).toEqual([])
  })

  it("sends files that are dropped, once there is a chat, and says why one is refused", async () => {
    const proxy = await tcpProxy(w.url)
    closers.push(() => proxy.close())
    const page = await opened({ server: new URL(proxy.url).origin })
    const drop = (...files: [name: string, base64: string][]) =>
      page.run(`{
        const dataTransfer = new DataTransfer()
        for (const [name, bytes] of ${JSON.stringify(files)})
          dataTransfer.items.add(new File([Uint8Array.from(atob(bytes), (each) => each.charCodeAt(0))], name))
        const dialog = document.querySelector("assistant-widget").shadowRoot.querySelector("[role=dialog]")
        dialog.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }))
      }`)
    const picture: [string, string] = ["shoe.png", samples.png.toString("base64")]
    await drop(picture)
    await until("the widget asks for a message first", async () =>
      (await page.texts("status")).some((each) => each.includes("Write a message first")),
    )
    await say(page, "Look at this shoe")
    const chatId = await chatOf("Look at this shoe")
    await shows(page, ["Look at this shoe"])
    proxy.reset()
    await drop(picture)
    await until("the file is shown as waiting", async () => (await page.texts("article"))[1]?.includes("Will be sent"))
    proxy.pass()
    await until(
      "the file's message is stored",
      async () => (await sql("select id from message where chat_id = $1 and type = 'Photo'", [chatId])).length > 0,
    )
    await until("the log shows a link to the file", () =>
      page.run(`${inLog}.some((each) => each.querySelector("a")?.textContent === "shoe.png")`),
    )
    await drop(["notes.txt", "aGVsbG8="])
    await shows(page, ["Look at this shoe", "shoe.png", "notes.txt"])
    await until("the widget says which files it takes", async () =>
      (await page.texts("article"))[2]!.includes("send an image or a PDF file"),
    )
    await page.find("button", "Attach a file")
    expect(await sql("select type from message where chat_id = $1 order by sequence", [chatId])).toEqual([
      { type: "Text" },
      { type: "Photo" },
    ])
  })

  it("shows a safe subset of Markdown, and HTML as text", async () => {
    const page = await opened()
    await say(page, "<img src=x onerror=alert(1)> **plain**")
    const chatId = await chatOf("<img src=x onerror=alert(1)> **plain**")
    const text = [
      "**bold** *italic* `code <b>` [shop](https://shop.example/a) [bad](javascript:alert(1)) <script>alert(1)</script>",
      "- one\n- two",
      "```js\n<i>**raw**</i>\n```",
    ].join("\n\n")
    await answer(chatId, text)
    await until("two messages are shown", async () => (await page.count("article")) === 2)
    const html = "function () { return this.innerHTML }"
    const [own, theirs] = await page.run(
      `[...document.querySelector("assistant-widget").shadowRoot.querySelectorAll("article .body")].map((each) => (${html}).call(each))`,
    )
    expect(own).toBe("<p>&lt;img src=x onerror=alert(1)&gt; **plain**</p>")
    expect(theirs).toContain("<strong>bold</strong> <em>italic</em> <code>code &lt;b&gt;</code>")
    expect(theirs).toContain('<a href="https://shop.example/a" target="_blank" rel="noopener noreferrer nofollow">shop</a>')
    expect(theirs).toContain("[bad](javascript:alert(1)) &lt;script&gt;alert(1)&lt;/script&gt;")
    expect(theirs).toContain("<ul><li>one</li><li>two</li></ul>")
    expect(theirs).toContain("&lt;i&gt;**raw**&lt;/i&gt;")
    expect(theirs).not.toMatch(/<(script|img|i|b)\b/)
  })

  describe("behind a network that fails", () => {
    let proxy: TcpProxy
    beforeEach(async () => {
      proxy = await tcpProxy(w.url)
      proxy.url = new URL(proxy.url).origin
      closers.push(() => proxy.close())
    })

    it("keeps what is written meanwhile, also when the page is loaded again, and sends it once, in order", async () => {
      const before = (await chats()).length
      const page = await opened({ server: proxy.url })
      await say(page, "Before")
      const chatId = await chatOf("Before")
      await shows(page, ["Before"])
      proxy.reset()
      await say(page, "Offline one")
      await say(page, "Offline two")
      await shows(page, ["Before", "Offline one", "Offline two"])
      await until("the message is shown as waiting", async () => (await page.texts("article"))[1]!.includes("Will be sent"))
      await answer(chatId, "Meanwhile")
      proxy.pass()
      await page.reload()
      await open(page)
      await until("the waiting messages are stored", async () => (await stored("Offline two")).length > 0)
      await shows(page, ["Before", "Meanwhile", "Offline one", "Offline two"])
      expect(await sql("select text from message where chat_id = $1 order by sequence", [chatId])).toEqual(
        ["Before", "Meanwhile", "Offline one", "Offline two"].map((text) => ({ text })),
      )
      expect((await chats()).length).toBe(before + 1)
    })

    it("reconnects, resumes after the last event, and shows what it missed once", async () => {
      const page = await opened({ server: proxy.url })
      await say(page, "Hold on")
      const chatId = await chatOf("Hold on")
      // The last of its subscriptions.
      await until("the widget watches its chat", () => w.services.progress.isWatched(chatId))
      await answer(chatId, "One")
      await until("the page has received the message", () => page.received.some((frame) => frame.includes('"text":"One"')))
      await shows(page, ["Hold on", "One"])
      proxy.reset()
      await until("the widget says that there is no connection", async () =>
        (await page.texts("status")).some((text) => text.includes("No connection")),
      )
      await answer(chatId, "Two")
      proxy.pass()
      await answer(chatId, "Three")
      await shows(page, ["Hold on", "One", "Two", "Three"])
      const subscribed = page.sent.map((frame) => JSON.parse(frame).payload).filter((payload) => payload?.query?.includes("WidgetEvents"))
      expect(subscribed.map(({ variables }) => variables)).toEqual([...subscribed.map(() => ({ chatId, after: expect.any(String) }))])
      expect(subscribed.length).toBeGreaterThan(1)
      await until(
        "the widget no longer says that there is no connection",
        async () => !(await page.texts("status")).some((text) => text.includes("No connection")),
      )
    })

    it("shows a message that is stored after the log was read and before events are followed", async () => {
      const page = await opened({ before: heldFrames("WidgetEvents") })
      await say(page, "Between")
      const chatId = await chatOf("Between")
      await answer(chatId, "Read")
      await shows(page, ["Between", "Read"])
      await until("the widget subscribes", () => page.run("window.held.length > 0"))
      await answer(chatId, "Not read")
      await endOfLog(w)
      await page.run("window.release()")
      await shows(page, ["Between", "Read", "Not read"])
    })

    it("reads the messages again, and follows new ones, when it was away for longer than events are kept", async () => {
      const page = await opened({ server: proxy.url })
      await say(page, "Good night")
      const chatId = await chatOf("Good night")
      await until("the widget watches its chat", () => w.services.progress.isWatched(chatId))
      await answer(chatId, "One")
      await until("the page has received the message", () => page.received.some((frame) => frame.includes('"text":"One"')))
      proxy.reset()
      await answer(chatId, "Two")
      await forgetEvents(w)
      proxy.pass()
      await shows(page, ["Good night", "One", "Two"])
      await until("the widget watches its chat again", () => w.services.progress.isWatched(chatId))
      await answer(chatId, "Three")
      await shows(page, ["Good night", "One", "Two", "Three"])
      const cursors = page.sent.map((frame) => JSON.parse(frame).payload).filter((payload) => payload?.query?.includes("WidgetEvents"))
      expect(cursors.map(({ variables }) => variables.after)).toEqual([expect.any(String), expect.any(String), expect.any(String)])
    })
  })

  it("goes on when its server restarts", async () => {
    const PORT = String(await freePort())
    const first = await w.another({ PORT })
    const page = await opened({ server: first.url })
    await say(page, "Restart?")
    const chatId = await chatOf("Restart?")
    await answer(chatId, "Soon")
    await shows(page, ["Restart?", "Soon"])
    await first.stop()
    await answer(chatId, "While it was away")
    await w.another({ PORT })
    // Pauses between attempts grow; this ends the present one.
    await page.run("dispatchEvent(new Event('online'))")
    await shows(page, ["Restart?", "Soon", "While it was away"])
    await say(page, "Thanks")
    expect(await chatOf("Thanks")).toBe(chatId)
    await shows(page, ["Restart?", "Soon", "While it was away", "Thanks"])
    expect(await stored("Thanks")).toHaveLength(1)
  })

  it("begins a new chat when the old one was deleted, and does not show its messages", async () => {
    const page = await opened()
    await say(page, "Forget me")
    const chatId = await chatOf("Forget me")
    await shows(page, ["Forget me"])
    await w.rest.as(acme.token).delete(`/api/chats/${chatId}`).expect(200)
    await until("the widget says that the earlier chat has ended", async () =>
      (await page.texts("status")).some((text) => text.includes("The earlier chat has ended")),
    )
    await shows(page, [])
    await say(page, "Hello again")
    expect(await chatOf("Hello again")).not.toBe(chatId)
    await shows(page, ["Hello again"])
  })

  it("shows two tabs of a visitor the same chat, each message once", async () => {
    const profile = await browser.profile()
    const [one, two] = [await opened({ profile }), await opened({ profile })]
    await say(one, "From one")
    const chatId = await chatOf("From one")
    await shows(two, ["From one"])
    await say(two, "From two")
    await until("the message is stored", async () => (await stored("From two")).length > 0)
    await answer(chatId, "To both")
    for (const page of [one, two]) await shows(page, ["From one", "From two", "To both"])
    const messages = await stored("From two")
    promise("a message of two tabs is stored once", () => expect(messages).toEqual([{ id: expect.any(String), chat_id: chatId }]))
  })

  it("waits as long as the server asks when there are too many messages, also when the browser is online again", async () => {
    const before = `{
      const send = fetch
      window.attempts = []
      window.fetch = (url, options) => {
        if (!String(url).includes("/hooks/widget/")) return send(url, options)
        attempts.push(performance.now())
        return attempts.length > 1 ? send(url, options) : Promise.resolve(new Response("{}", { status: 429, headers: { "Retry-After": "1" } }))
      }
    }`
    const page = await opened({ before })
    await say(page, "Too many")
    await until("the message is shown as waiting", async () => (await page.texts("article"))[0]?.includes("Will be sent"))
    await page.run("dispatchEvent(new Event('online'))")
    await chatOf("Too many")
    const [first, second, ...more]: number[] = await page.run("attempts")
    expect(second! - first!).toBeGreaterThanOrEqual(990)
    expect(more).toEqual([])
    await shows(page, ["Too many"])
  })

  it("sends a message again whose answer was lost, and it is stored once", async () => {
    const before = `{
      const send = fetch
      window.attempts = 0
      window.fetch = async (url, options) => {
        const answer = await send(url, options)
        if (!String(url).includes("/hooks/widget/")) return answer
        attempts += 1
        if (attempts % 2) throw new TypeError("The answer was lost")
        return answer
      }
    }`
    const page = await opened({ before })
    await say(page, "Did it arrive?")
    await until("the widget has tried twice", async () => (await page.run("attempts")) === 2)
    await say(page, "And this?")
    await until("the widget has tried four times", async () => (await page.run("attempts")) === 4)
    await shows(page, ["Did it arrive?", "And this?"])
    expect(await stored("Did it arrive?")).toHaveLength(1)
    expect(await stored("And this?")).toEqual([{ id: expect.any(String), chat_id: await chatOf("Did it arrive?") }])
  })

  it("has no violation of axe-core's rules, in light and dark colors", async () => {
    const page = await opened()
    await say(page, "Is this readable?")
    const chatId = await chatOf("Is this readable?")
    await answer(chatId, "**Yes**, see [this page](https://example.com) and `code`.")
    await shows(page, ["Is this readable?", "this page"])
    await until("no message is shown as waiting", () => page.run(`${inLog}.every((each) => !each.querySelector(".told"))`))
    expect(await violations(page)).toEqual([])
    const own = await browser.open(`${w.url}/widget/${acme.widget.id}`, { profile: await browser.profile() })
    pages.push(own)
    await own.find("textbox", "Message")
    expect(await violations(own)).toEqual([])
  })

  it("is used with the keyboard alone, and gives the focus back", async () => {
    const page = await visit()
    await page.find("button", "Open chat")
    await page.press("Tab")
    await page.press("Enter")
    await page.find("dialog", "Chat")
    const focus = () => page.run("(document.activeElement.shadowRoot?.activeElement ?? document.activeElement).getAttribute('aria-label')")
    await until("the focus is on the message field", async () => (await focus()) === "Message")
    await page.type("Two")
    await page.press("Enter", { shift: true })
    await page.type("lines")
    await page.press("Tab")
    expect(await focus()).toBe("Send")
    await page.press("Enter")
    await chatOf("Two\nlines")
    await shows(page, ["Two\nlines"])
    await page.press("Escape")
    await page.find("button", "Open chat")
    expect(await page.count("dialog", "Chat")).toBe(0)
    expect(await focus()).toBe("Open chat")
  })

  it("covers a phone of 320 pixels without scrolling sideways, and keeps the focus inside", async () => {
    const page = await opened({
      // The box is measured, so that it must not move.
      media: { "prefers-reduced-motion": "reduce" },
      width: 320,
      height: 480,
      attributes: { greeting: `A${"long".repeat(40)} word`, title: "A shop with a long name" },
    })
    await say(page, "x".repeat(200))
    await until("one message is shown", async () => (await page.count("article")) === 1)
    const dialog = await page.find("dialog", "Chat")
    const box = await dialog.call(
      "function () { const { x, y, width, height } = this.getBoundingClientRect(); return [x, y, width, height] }",
    )
    expect(box).toEqual([0, 0, 320, 480])
    const wide =
      "function () { return [this, ...this.querySelectorAll('*')].filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0).map((each) => each.className || each.localName) }"
    expect(await dialog.call(wide)).toEqual([])
    for (const [role, name] of [
      ["button", "Send"],
      ["button", "Close chat"],
    ] as const) {
      const size = await (await page.find(role, name)).call(
        "function () { const { width, height } = this.getBoundingClientRect(); return Math.min(width, height) }",
      )
      expect(size).toBeGreaterThanOrEqual(24)
    }
    await (await page.find("button", "Close chat")).call("function () { this.focus() }")
    await page.press("Tab", { shift: true })
    expect(await page.run("document.activeElement.shadowRoot.activeElement.getAttribute('aria-label')")).toBe("Send")
  })

  it("is laid out from right to left as its page is, in the language that is asked for", async () => {
    const page = await visit({ html: 'lang="he" dir="rtl"' })
    await open(page)
    const dialog = await page.find("dialog", "Chat")
    expect(await dialog.call("function () { return [this.dir, this.lang, getComputedStyle(this).direction] }")).toEqual([
      "rtl",
      "en",
      "rtl",
    ])
    const close = await page.find("button", "Close chat")
    expect(await close.call("function () { return this.getBoundingClientRect().x < innerWidth / 2 }")).toBe(true)
    for (const [language, button, field] of [
      ["de", "Chat öffnen", "Nachricht"],
      ["uk-UA", "Відкрити чат", "Повідомлення"],
    ] as const) {
      const other = await visit({ attributes: { language } })
      await open(other, button)
      await other.find("textbox", field)
    }
  })

  it("follows the color scheme and the wish for less motion, and takes a color whose text stays readable", async () => {
    const media = { "prefers-color-scheme": "dark", "prefers-reduced-motion": "reduce" }
    const page = await opened({ media, attributes: { color: "#ffdd00", position: "left" } })
    const dialog = await page.find("dialog", "Chat")
    expect(
      await dialog.call("function () { return [getComputedStyle(this).backgroundColor, getComputedStyle(this).animationName] }"),
    ).toEqual(["rgb(21, 24, 28)", "none"])
    const send = await page.find("button", "Send")
    expect(await send.call("function () { return [getComputedStyle(this).backgroundColor, getComputedStyle(this).color] }")).toEqual([
      "rgb(255, 221, 0)",
      "rgb(0, 0, 0)",
    ])
  })

  it.each(["light", "dark"])("has readable text in the %s scheme: a contrast of at least 4.5", async (scheme) => {
    const greeting = "Hello, [a link](https://shop.example) and `code`"
    const page = await opened({ media: { "prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce" }, attributes: { greeting } })
    const question = `Is it ${scheme}?`
    await say(page, question)
    await answer(await chatOf(question), "```\ncode\n```\n- an item\n\nand [a link](https://shop.example)")
    await until("two messages are shown", async () => (await page.count("article")) === 2)
    const dialog = await page.find("dialog", "Chat")
    const { measured, poor } = await dialog.call(contrasts)
    expect(measured).toBeGreaterThan(8)
    expect(poor).toEqual([])
  })

  it("shows the newest messages first, and earlier ones when they are asked for", async () => {
    const page = await opened()
    await say(page, "The first")
    const chatId = await chatOf("The first")
    for (let number = 1; number <= 31; number += 1) await answer(chatId, `Answer ${number}.`)
    await page.reload()
    await open(page)
    await until("30 messages are shown", async () => (await page.count("article")) === 30)
    expect(await page.run(`${inLog}.at(-1).innerText`)).toContain("Answer 31.")
    expect(
      await page.run(
        `{ const { scrollTop, clientHeight, scrollHeight } = ${inLog}[0].parentElement; scrollTop + clientHeight > scrollHeight - 2 }`,
      ),
    ).toBe(true)
    await (await page.find("button", "Earlier messages")).click()
    await until("32 messages are shown", async () => (await page.count("article")) === 32)
    expect(await page.run(`${inLog}[0].innerText`)).toContain("The first")
    expect(await page.count("button", "Earlier messages")).toBe(0)
  })

  it("looks the same on a page whose style sheet resets and changes everything", async () => {
    const css = `body * { all: unset !important; display: none !important; font: 40px serif !important; color: red !important;
      letter-spacing: 9px !important; text-transform: uppercase !important; direction: rtl !important; transform: scale(0.5) !important }
      h1 { display: block !important }`
    /** Place, text and colors of every element of the widget. */
    const look = async (page: Page) => {
      // Nothing is measured while it moves.
      await page.media({ "prefers-reduced-motion": "reduce" })
      await open(page)
      await say(page, "How do I look?")
      await until("no message is shown as waiting", () => page.run(`${inLog}.every((each) => !each.querySelector(".told"))`))
      return page.run(`[...document.querySelector("assistant-widget").shadowRoot.querySelectorAll("*")].map((each) => {
        const { x, y, width, height } = each.getBoundingClientRect()
        const { font, color, backgroundColor, letterSpacing, textTransform, direction, visibility } = getComputedStyle(each)
        return [each.localName, x, y, width, height, font, color, backgroundColor, letterSpacing, textTransform, direction, visibility].join(" ")
      }).filter((text) => !/^(time|p|span) /.test(text))`)
    }
    const plain: string[] = await look(await visit())
    expect(plain.length).toBeGreaterThan(15)
    expect(await look(await visit({ css }))).toEqual(plain)
  })

  it("stays apart from another company's widget on the same page", async () => {
    const page = await visit({ other: globex.widget.id })
    const widgets = "[...document.querySelectorAll('assistant-widget')]"
    await until("two widgets are on the page", () => page.run(`${widgets}.length === 2`))
    await page.run(`${widgets}.forEach((each) => each.shadowRoot.querySelector("button").click())`)
    await until("both widgets are open", () => page.run(`${widgets}.every((each) => each.shadowRoot.querySelector("textarea"))`))
    const texts = ["To the one", "To the other"]
    for (const [index, text] of texts.entries()) {
      await page.run(`${widgets}[${index}].shadowRoot.querySelector("textarea").focus()`)
      await page.type(text)
      await page.press("Enter")
    }
    const shown = (): Promise<string[]> =>
      page.run(`${widgets}.map((each) => [...each.shadowRoot.querySelectorAll("article .body")].map(({ innerText }) => innerText).join())`)
    await until("each widget shows its own message", async () => (await shown()).join("|") === texts.join("|"))
    const stored = await until("both messages are stored", async () => {
      const rows = await sql("select company_id, text from message where text = any($1)", [texts])
      return rows.length === 2 ? rows : null
    })
    expect(new Set(stored.map((row: { company_id: string }) => row.company_id))).toEqual(new Set([acme.id, globex.id]))
    await page.reload()
    await until("two widgets are on the page", () => page.run(`${widgets}.length === 2`))
    await page.run(`${widgets}.forEach((each) => each.shadowRoot.querySelector("button")?.click())`)
    await until("each widget shows its own message", async () => (await shown()).toSorted().join("|") === texts.join("|"))
    expect(page.problems).toEqual([])
  })

  it("has an API for the host page: open, close, identify, and listeners that can stop", async () => {
    const page = await visit()
    await page.find("button", "Open chat")
    await page.run(`
      window.heard = []
      window.stop = AssistantWidget.on("message", ({ role, text }) => heard.push(role + ": " + text))
      AssistantWidget.on("open", () => { heard.push("open"); throw new Error("of the host page") })
      AssistantWidget.on("close", () => heard.push("close"))
      AssistantWidget.identify({ name: "Ann" })
      AssistantWidget.open()`)
    await say(page, "My name?")
    const chatId = await chatOf("My name?")
    expect(await sql("select name from chat where id = $1", [chatId])).toEqual([{ name: "Ann" }])
    await answer(chatId, "Ann")
    await shows(page, ["My name?", "Ann"])
    await page.run("AssistantWidget.close()")
    await answer(chatId, "Still there?")
    await page.find("button", "Open chat (1 new)")
    await page.run("stop()")
    await answer(chatId, "Not heard")
    await page.find("button", "Open chat (2 new)")
    expect(await page.run("heard")).toEqual(["open", "customer: My name?", "user: Ann", "close", "user: Still there?"])
  })

  it("works where the browser keeps nothing, and as a page of its own", async () => {
    const before = 'Object.defineProperty(window, "localStorage", { get() { throw new DOMException("denied", "SecurityError") } })'
    const page = await browser.open(`${w.url}/widget/${acme.widget.id}`, { profile: await browser.profile(), before })
    pages.push(page)
    await say(page, "No storage")
    const chatId = await chatOf("No storage")
    await answer(chatId, "No problem")
    await shows(page, ["No storage", "No problem"])
    await say(page, "The same chat")
    await shows(page, ["No storage", "No problem", "The same chat"])
    expect(await chatOf("The same chat")).toBe(chatId)
    expect(page.problems).toEqual([])
  })
})
