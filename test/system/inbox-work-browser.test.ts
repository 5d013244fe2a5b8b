import { chromium, type Page } from "../kit/browser.js"
import { samples } from "../kit/files.js"
import { fill, inboxBed, pressButton, shows, tooWide, violations } from "../kit/inbox-page.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world({ REPLY_DEBOUNCE_MS: "1000000000", REPLY_MAX_WAIT_MS: "1000000000" })
const { acme } = w
const inBrowser = chromium ? describe : describe.skip

inBrowser(`work in the inbox${chromium ? "" : " (skipped: there is no Chromium)"}`, () => {
  const { inbox, page: open } = inboxBed(() => w.url)
  const text = (page: Page, selector: string): Promise<string> => page.run(`document.querySelector("${selector}")?.innerText ?? ""`)
  /** Chooses a language; the choice is named in the one before. */
  const speak = (page: Page, language: string) =>
    page.run(`{
      const field = document.querySelector("header select:has([lang])")
      Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, "value").set.call(field, "${language}")
      field.dispatchEvent(new Event("change", { bubbles: true }))
    }`)

  it("takes files that are dropped and pasted, and keeps what is written over a reload", async () => {
    const chat = await acme.chat({ name: "Fay Files" })
    await acme.message({ chatId: chat.id, text: "Send me a picture", role: "Customer" })
    const page = await inbox(acme.member.email, `/inbox/chats/${chat.id}`)
    await fill(page, "Message", "Not sent yet")
    await until("the draft is kept", () => page.run(`sessionStorage.getItem("inbox-draft:${chat.id}") !== null`))
    await page.reload()
    await page.find("textbox", "Message")
    expect(await page.run("document.querySelector('textarea').value")).toBe("Not sent yet")

    const transfer = (name: string) => `(() => {
      const bytes = Uint8Array.from(atob("${samples.png.toString("base64")}"), (each) => each.charCodeAt(0))
      const transfer = new DataTransfer()
      transfer.items.add(new File([bytes], "${name}", { type: "image/png" }))
      return transfer
    })()`
    await page.run(`{
      const form = document.querySelector(".composer")
      const dataTransfer = ${transfer("dropped.png")}
      for (const type of ["dragover", "drop"]) form.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }))
    }`)
    await page.run(`document.querySelector("textarea").dispatchEvent(
      new ClipboardEvent("paste", { clipboardData: ${transfer("pasted.png")}, bubbles: true, cancelable: true }))`)
    await page.find("button", "Remove dropped.png")
    await page.find("button", "Remove pasted.png")
    await pressButton(page, "Send")
    await shows(page, ["Send me a picture", "Not sent yet"])
    await until("both pictures are shown", () =>
      page.run("[...document.querySelectorAll('article img')].filter(({ naturalWidth }) => naturalWidth > 0).length === 2"),
    )
    await page.reload()
    await page.find("textbox", "Message")
    expect(await page.run("document.querySelector('textarea').value")).toBe("")
  })

  it("opens and does everything by the command palette, without a mouse", async () => {
    const chat = await acme.chat({ name: "Gus Palette", assistantId: acme.assistant.id, isUnderAiControl: true })
    const page = await inbox(acme.member.email)
    await page.press("k", { ctrl: true })
    await page.find("combobox", "Chat, person, assistant or action")
    expect(await violations(page)).toEqual([])
    await page.type("gus pal")
    await until("the chat is found", async () => (await text(page, "[role=option][aria-selected=true]")).startsWith("Gus Palette"))
    await page.press("Enter")
    await page.find("log", "Messages")
    expect(await page.run("location.pathname")).toBe(`/inbox/chats/${chat.id}`)
    await page.press("k", { ctrl: true })
    await page.find("combobox", "Chat, person, assistant or action")
    await page.type("take over")
    await page.press("Enter")
    await page.find("button", "Give back")
    await page.press("k", { ctrl: true })
    await page.find("combobox", "Chat, person, assistant or action")
    await page.type("e")
    const chosen = await text(page, "[role=option][aria-selected=true]")
    await page.press("ArrowDown")
    await until("the next entry is chosen", async () => (await text(page, "[role=option][aria-selected=true]")) !== chosen)
    await page.press("ArrowUp")
    await until("the first entry is chosen", async () => (await text(page, "[role=option][aria-selected=true]")) === chosen)
    await page.press("Escape")
    await until("the palette is closed", async () => (await page.count("dialog")) === 0)
  })

  it("says which chats wait and who has taken one, and lets a person name a customer and find a new label at once", async () => {
    const chat = await acme.chat({ name: "" })
    const page = await inbox(acme.member.email, `/inbox/chats/${chat.id}`)
    const customer = (text: string) => acme.message({ chatId: chat.id, text, role: "Customer" })
    const item = () => text(page, `ul[aria-label=Chats] a[href*='${chat.id}']`)
    await until("the customer is told from others", async () => (await text(page, ".bar h2")).includes(chat.id.slice(-4).toUpperCase()))
    await page.find("button", "Give back")
    expect(await text(page, ".control")).toBe("Nobody has taken this chat")
    await pressButton(page, "Take over")
    await until("the person has it", async () => (await text(page, ".control")) === "You answer")
    expect(await page.count("button", "Take over")).toBe(0)
    await customer("Are you there?")
    await until("the list says that somebody waits", async () => (await item()).includes("Waits for an answer"))
    await acme.message({ chatId: chat.id, text: "I am" })
    await until("nobody waits", async () => !(await item()).includes("Waits for an answer"))

    await pressButton(page, "Details")
    await fill(page, "Name", "Lena")
    await pressButton(page, "Rename")
    await until("the list has the name", async () => (await item()).startsWith("Lena"))
    await fill(page, "New label", "refund", "combobox")
    await page.press("Enter")
    await page.find("combobox", "Label")
    await pressButton(page, "Mark as unread")
    await until("the list is shown", () => page.run("location.pathname === '/inbox/chats'"))
    await customer("Hello?")
    await until("the title counts the chat", () => page.run("document.title === '(1) Chats · Inbox'"))
    await page.run(`history.pushState(null, "", "/inbox/chats/${chat.id}")`)
    await until("the title counts nothing", () => page.run("document.title === 'Lena · Inbox'"))
  })

  it("shows the calls of the customer beside the chat", async () => {
    await acme.call({ phoneNumber: "+380501234567", transcript: "Customer: Hello" })
    const chat = await acme.chat({ name: "Hal Phone", phoneNumber: "+380501234567" })
    const page = await inbox(acme.member.email, `/inbox/chats/${chat.id}`)
    await pressButton(page, "Details")
    await page.find("heading", "Calls")
    await until("the call is shown", async () => (await text(page, "ul[aria-label=Calls]")).includes("Transcript"))
    const other = await acme.chat({ name: "No number", phoneNumber: "ask me" })
    await page.run(`history.pushState(null, "", "/inbox/chats/${other.id}")`)
    await until("the other chat is shown", async () => (await text(page, ".bar h2")).startsWith("No number"))
    expect(await page.count("heading", "Calls")).toBe(0)
  })

  it("speaks German and Ukrainian, and keeps the choice", async () => {
    const chat = await acme.chat({ name: "Ida" })
    const page = await inbox(acme.member.email, `/inbox/chats/${chat.id}`)
    for (const [language, send, settings] of [
      ["de", "Senden", "Zugriffsschlüssel"],
      ["uk", "Надіслати", "Токени доступу"],
    ] as const) {
      await speak(page, language)
      await page.find("button", send)
      expect(await page.run("document.documentElement.lang")).toBe(language)
      await page.run('history.pushState(null, "", "/inbox/settings/tokens")')
      await page.find("heading", settings)
      await page.reload()
      await page.find("heading", settings)
      await page.run(`history.pushState(null, "", "/inbox/chats/${chat.id}")`)
      await page.find("button", send)
    }
  })

  it("fits phones of 320 and 360 pixels and a wide screen, from left to right and from right to left, with every view", async () => {
    const long = "x".repeat(200)
    const chat = await acme.chat({ name: long, assistantId: acme.assistant.id, isUnderAiControl: true })
    await acme.message({ chatId: chat.id, text: `${long} \`${long}\``, role: "Customer" })
    await acme.tag({ name: "w".repeat(60) })
    const views = [`chats/${chat.id}`, "chats", "outcomes", "outcomes/chats", "assistants", `assistants/${acme.assistant.id}`].concat(
      ["tokens", "webhooks", "tool-servers", "channels", "members", "audit"].map((name) => `settings/${name}`),
    )
    for (const width of [320, 360, 1_900]) {
      const page = await inbox(acme.owner.email, "/inbox", { width, height: 700 })
      for (const view of views) {
        await page.run(`history.pushState(null, "", "/inbox/${view}")`)
        await until(`${view} is shown`, () =>
          page.run("!document.querySelector('[aria-busy=true]') && !/^$|Reading …/.test(document.querySelector('main')?.innerText ?? '')"),
        )
        if (view.startsWith("chats/")) await pressButton(page, "Details")
        for (const direction of ["ltr", "rtl"] as const) {
          const wide = await tooWide(page, direction)
          expect({ width, view, direction, wide }).toEqual({ width, view, direction, wide: [] })
        }
        if (width === 320) expect(await violations(page)).toEqual([])
      }
    }
    // As the server's own language of the page would: what is before the text is at its right.
    const page = await open("/inbox", { width: 320, height: 700 })
    await page.run('document.documentElement.dir = "rtl"')
    expect(await page.run("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
  })
})
