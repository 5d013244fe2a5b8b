import jsonwebtoken from "jsonwebtoken"
import { inboxLimits } from "../../src/pages/browser/inbox/kit/limits.js"
import { chromium, heldFrames, type Page } from "../kit/browser.js"
import { password } from "../kit/company-fixture.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { samples } from "../kit/files.js"
import { attach, fill, heldCursor, inboxBed, pressButton, shows, tells, violations } from "../kit/inbox-page.js"
import { endOfLog, forgetEvents } from "../kit/sockets.js"
import { tcpProxy } from "../kit/tcp-proxy.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

// A reply is due only where a test makes it due.
const w = world({ OPENAI_BASE_URL: openAi.url, REPLY_DEBOUNCE_MS: "1000000000", REPLY_MAX_WAIT_MS: "1000000000" })
const { acme, globex, sql } = w
const inBrowser = chromium ? describe : describe.skip

inBrowser(`the inbox in a browser${chromium ? "" : " (skipped: there is no Chromium)"}`, () => {
  const { inbox, page: open } = inboxBed(() => w.url)

  /** The items of the list of chats. */
  const items = (page: Page): Promise<string[]> =>
    page.run(`[...document.querySelectorAll("ul[aria-label=Chats] > li")]
      .sort((one, other) => one.ariaPosInSet - other.ariaPosInSet).map((item) => item.innerText.replace(/\\s+/g, " "))`)
  const customer = (chatId: string, text: string) => acme.message({ chatId, text, role: "Customer" })

  it("says why a sign-in is refused, and shows the chats of the user's companies alone after it", async () => {
    const chat = await acme.chat({ name: "Ada Customer" })
    await customer(chat.id, "Is it in stock?")
    const foreign = await globex.chat({ name: "Foreign" })
    const page = await open("/inbox")
    await fill(page, "Email", acme.member.email)
    await fill(page, "Password", "wrong")
    await pressButton(page, "Sign in")
    await until("an alert is shown", async () => (await page.texts("alert")).some((text) => text.length > 10))
    await page.run("document.querySelector('input[type=password]').value = ''")
    await fill(page, "Password", password)
    await pressButton(page, "Sign in")
    await until("the list shows the chat of Ada Customer", async () =>
      (await items(page)).some((item) => item.includes("Ada Customer") && item.includes("Is it in stock?")),
    )
    expect((await items(page)).join()).not.toContain("Foreign")
    await page.run(`history.pushState(null, "", "/inbox/chats/${foreign.id}")`)
    await until(
      "the chat that is not there is not shown",
      async () => (await page.texts("alert")).some((text) => text.includes("not found")) || (await page.count("log")) === 0,
    )
    expect(await page.count("log")).toBe(0)
    await pressButton(page, "Sign out")
    await page.find("button", "Sign in")
    expect(await page.run("localStorage.getItem('inbox-session')")).toBeNull()
  })

  it("shows new messages as they come, marks them as read, and moves their chat to the beginning", async () => {
    const [first, second] = [await acme.chat({ name: "First" }), await acme.chat({ name: "Second" })]
    await customer(first.id, "one")
    await customer(second.id, "two")
    const page = await inbox(acme.member.email)
    await until("the second chat is the first of the list", async () => (await items(page))[0]?.startsWith("Second"))
    await customer(first.id, "three")
    await until("the first chat is on top, with two unread messages", async () =>
      /^First.*three.*2 unread/.test((await items(page))[0] ?? ""),
    )
    const third = await acme.chat({ name: "Third" })
    await customer(third.id, "A new chat")
    await until("the third chat is the first of the list", async () => (await items(page))[0]?.startsWith("Third"))
    await page.run(`[...document.querySelectorAll("ul[aria-label=Chats] a")].find((link) => link.innerText.startsWith("First")).click()`)
    await shows(page, ["one", "three"])
    await until(
      "the open chat is marked as read",
      async () => (await sql("select unread_count from chat where id = $1", [first.id]))[0].unread_count === 0,
    )
    await customer(first.id, "four")
    await shows(page, ["one", "three", "four"])
    expect(new URL(await page.run("location.href")).pathname).toBe(`/inbox/chats/${first.id}`)
  })

  it("lets a person take over and answer with a quote and a picture, and give the chat back; another person is told at once", async () => {
    const chat = await acme.chat({ name: "Bea", assistantId: acme.assistant.id, isUnderAiControl: true })
    await customer(chat.id, "Which colours?")
    const address = `/inbox/chats/${chat.id}`
    const [page, other] = [await inbox(acme.member.email, address), await inbox(acme.admin.email, address)]
    await fill(other, "Message", "I am just typing")
    await pressButton(page, "Take over")
    await page.find("button", "Give back")
    await tells(other, `${acme.member.name} is now the manager of this chat.`)
    await other.find("button", "Give back")
    expect(await other.run("document.querySelector('textarea').value")).toBe("I am just typing")

    await pressButton(page, "Quote: Which colours?")
    await attach(page, "colours.png", samples.png)
    await fill(page, "Message", "These")
    await page.press("Enter")
    for (const each of [page, other]) {
      await shows(each, ["Which colours?", "These"])
      await until("the picture is shown", () => each.run("document.querySelector('article img')?.naturalWidth > 0"))
      expect(await each.run("document.querySelector('blockquote').innerText")).toBe("Which colours?")
    }
    expect(await page.run("document.querySelector('textarea').value")).toBe("")
    await pressButton(page, "Give back")
    await tells(other, "The assistant answers in this chat again.")
    expect(await sql("select is_under_ai_control from chat where id = $1", [chat.id])).toEqual([{ is_under_ai_control: true }])
  })

  it("shows the words of an answer while the assistant writes them", async () => {
    const [model] = w.services.models
    await sql("update assistant set text_model_id = $2 where id = $1", [acme.assistant.id, model!.id])
    const chat = await acme.chat({ name: "Cleo", assistantId: acme.assistant.id, isUnderAiControl: true })
    await customer(chat.id, "Who answers?")
    const page = await inbox(acme.member.email, `/inbox/chats/${chat.id}`)
    await shows(page, ["Who answers?"])
    await until("the page watches its chat", () => w.services.progress.isWatched(chat.id))
    let finish!: () => void
    const finished = new Promise<void>((resolve) => (finish = resolve))
    async function* stream() {
      yield "It is"
      await finished
      yield " **me**"
    }
    openAi.reply = async () => ({ pieces: stream() })
    await sql("update chat set reply_due_at = now() - interval '1 second' where id = $1", [chat.id])
    const replied = w.runDue()
    await shows(page, ["Who answers?", "It is"])
    finish()
    await replied
    await shows(page, ["Who answers?", "It is me"])
    expect(await page.run("document.querySelector('article strong').innerText")).toBe("me")
  })

  it("keeps filters and search in its address, and what a filter excludes leaves the list at once", async () => {
    const page = await inbox(acme.member.email, "/inbox/chats?unread=true")
    const chat = await acme.chat({ name: "Dora Filter" })
    await customer(chat.id, "unread")
    await until("the list shows Dora", async () => (await items(page)).some((item) => item.startsWith("Dora")))
    await acme.rest.as(acme.token).post(`/api/chats/${chat.id}/read`).expect(201)
    await until("the list no longer shows Dora", async () => (await items(page)).every((item) => !item.startsWith("Dora")))
    await fill(page, "Search chats", "dora f", "searchbox")
    await until("the address has the search", async () => new URL(await page.run("location.href")).searchParams.get("search") === "dora f")
    await (await page.find("checkbox", "Unread")).click()
    await until("the list has one chat", async () => (await items(page)).length === 1)
    await page.reload()
    await until(
      "the list has Dora's chat alone",
      async () => (await items(page)).length === 1 && (await items(page))[0]!.startsWith("Dora"),
    )
  })

  it("has no violation of axe-core's rules on any view, in light and dark colours", async () => {
    const chat = await acme.chat({ name: "Eve", assistantId: acme.assistant.id, isUnderAiControl: true })
    await customer(chat.id, "Hello")
    const form = await open("/inbox")
    expect(await violations(form)).toEqual([])
    const page = await inbox(acme.member.email)
    await until("the list shows a chat", async () => (await items(page)).length > 0)
    expect(await violations(page)).toEqual([])
    await page.press("j")
    await page.find("log", "Messages")
    await pressButton(page, "Details")
    await page.find("article")
    await pressButton(page, "Take over")
    await page.find("button", "Give back")
    await acme.message({ chatId: chat.id, text: "**An answer** with [a link](https://shop.example)" })
    await shows(page, ["Hello", "An answer"])
    await pressButton(page, "Quote: Hello")
    expect(await violations(page)).toEqual([])
    await (await page.find("button", "Send")).call("function () { this.focus() }")
    await page.press("?")
    await page.find("dialog", "Keys")
    expect(await violations(page)).toEqual([])
  })

  it("works by keyboard alone", async () => {
    const chat = await acme.chat({ name: "Kim Keys", assistantId: acme.assistant.id, isUnderAiControl: true })
    await customer(chat.id, "Hello")
    const page = await open("/inbox")
    const focused = () => page.run("document.activeElement.ariaLabel || document.activeElement.name || document.activeElement.innerText")
    /** Presses the key Tab until the focus is there. */
    const tabTo = (name: string) =>
      until(`the focus is on "${name}"`, async () => {
        if ((await focused()) === name) return true
        await page.press("Tab")
        return false
      })
    await tabTo("email")
    await page.type(acme.member.email)
    await tabTo("password")
    await page.type(password)
    await page.press("Enter")
    await until("Kim's chat is the first of the list", async () => (await items(page))[0]?.startsWith("Kim"))
    await page.press("j")
    await shows(page, ["Hello"])
    await page.press("t")
    await page.find("button", "Give back")
    await page.press("r")
    await until("the focus is on the message field", async () => (await focused()) === "Message")
    await page.type("I am here")
    await page.press("Enter")
    await shows(page, ["Hello", "I am here"])
    await tabTo("Send")
    await page.press("t")
    await page.find("button", "Take over")
    await page.press("u")
    await until(
      "the chat is marked as unread",
      async () => (await sql("select unread_count from chat where id = $1", [chat.id]))[0].unread_count > 0,
    )
    await page.press("?")
    await page.find("dialog", "Keys")
    await tabTo("Close")
    await page.press("Enter")
    await until("the dialog is closed", async () => (await page.count("dialog")) === 0)
    await page.press("/")
    await until("the focus is on the search field", async () => (await focused()) === "Search chats")
  })

  it("goes on when the access token has expired or is refused, and asks to sign in when the session has ended", async () => {
    const chat = await acme.chat({ name: "Sam Session" })
    await customer(chat.id, "Hello")
    const person = await acme.person("member")
    const page = await inbox(person.email, `/inbox/chats/${chat.id}`)
    await shows(page, ["Hello"])
    const stored = (): Promise<{ accessToken: string }> => page.run("JSON.parse(localStorage.getItem('inbox-session'))")
    const { accessToken } = await stored()
    const change = (changes: object) =>
      page.run(
        `localStorage.setItem("inbox-session", JSON.stringify({ ...JSON.parse(localStorage.getItem("inbox-session")), ...${JSON.stringify(changes)} }))`,
      )
    await change({ expiresAt: 0 })
    await fill(page, "Message", "After the expiry")
    await page.press("Enter")
    await shows(page, ["Hello", "After the expiry"])
    expect((await stored()).accessToken).not.toBe(accessToken)
    await change({ accessToken: "refused" })
    await fill(page, "Message", "After the refusal")
    await page.press("Enter")
    await shows(page, ["Hello", "After the expiry", "After the refusal"])
    // Written before, since the page may ask to sign in as soon as its socket is closed.
    await fill(page, "Message", "After the end")
    await w.gql((await stored()).accessToken, "mutation { signOut }")
    await page.press("Enter")
    await page.find("textbox", "Password")
    expect(await sql("select 1 from message where text = 'After the end'")).toEqual([])
  })

  it.each(["of another server", "that is garbage"])("asks to sign in when it is left with a refresh token %s", async (what) => {
    const page = await inbox(acme.member.email)
    const claims = { sub: acme.member.id, sid: acme.id, jti: acme.id, typ: "refresh" }
    const refreshToken =
      what === "that is garbage" ? "garbage" : jsonwebtoken.sign(claims, "the secret of another server", { expiresIn: 60 })
    const left = JSON.stringify({ refreshToken, expiresAt: 0 })
    await page.run(
      `localStorage.setItem("inbox-session", JSON.stringify({ ...JSON.parse(localStorage.getItem("inbox-session")), ...${left} }))`,
    )
    await page.reload()
    await page.find("textbox", "Password")
  })

  it("shows one company at a time, and a shared address opens the company of its chat", async () => {
    const [ours, theirs] = [await acme.chat({ name: "At Acme" }), await globex.chat({ name: "At Globex" })]
    await customer(ours.id, "Hello Acme")
    await globex.message({ chatId: theirs.id, text: "Hello Globex", role: "Customer" })
    const person = await acme.person("member")
    await globex.person("member", person)
    const page = await inbox(person.email, `/inbox/chats/${theirs.id}`)
    await shows(page, ["Hello Globex"])
    await until("the list shows the chat at Globex", async () => (await items(page)).join().includes("At Globex"))
    expect((await items(page)).join()).not.toContain("At Acme")
    const choose = (companyId: string) =>
      page.run(`{
        const choice = document.querySelector("select[aria-label=Company]")
        choice.value = "${companyId}"
        choice.dispatchEvent(new Event("change", { bubbles: true }))
      }`)
    await choose(acme.id)
    await until("the list shows the chat at Acme", async () => (await items(page)).join().includes("At Acme"))
    expect((await items(page)).join()).not.toContain("At Globex")
    await customer(ours.id, "Live at Acme")
    await until("the list shows the new chat at Acme", async () => (await items(page)).join().includes("Live at Acme"))
    await globex.message({ chatId: theirs.id, text: "Meanwhile at Globex", role: "Customer" })
    await choose(globex.id)
    await until("the list shows the chat that began meanwhile at Globex", async () =>
      (await items(page)).join().includes("Meanwhile at Globex"),
    )
    await page.run(`history.pushState(null, "", "/inbox/chats/${theirs.id}?company=${globex.id}")`)
    await shows(page, ["Hello Globex", "Meanwhile at Globex"])
  })

  it("goes on with events and answers when the server ends the connection because the token has expired", async () => {
    const before = `{
      const Socket = window.WebSocket
      window.sockets = []
      window.WebSocket = class extends Socket { constructor(...args) { super(...args); window.sockets.push(this) } }
    }`
    const chat = await acme.chat({ name: "Ed Expiry", assistantId: acme.assistant.id, isUnderAiControl: true })
    await customer(chat.id, "Hello")
    const page = await inbox(acme.member.email, `/inbox/chats/${chat.id}`, { before })
    await shows(page, ["Hello"])
    await until("the page watches its chat", () => w.services.progress.isWatched(chat.id))
    await page.run("window.sockets.at(-1).close(4401, 'The credentials were revoked or have expired')")
    await customer(chat.id, "In between")
    await until("the page has a second, open socket", () =>
      page.run("window.sockets.length === 2 && window.sockets[1].readyState === WebSocket.OPEN"),
    )
    await shows(page, ["Hello", "In between"])
    await customer(chat.id, "Afterwards")
    await shows(page, ["Hello", "In between", "Afterwards"])
  })

  it("shows a message that is stored after the chat was read and before events are followed", async () => {
    const chat = await acme.chat({ name: "Bea Between" })
    await customer(chat.id, "Read")
    const page = await inbox(acme.member.email, `/inbox/chats/${chat.id}`, { before: heldFrames("subscription Events") })
    await until("the page subscribes", () => page.run("window.held.length > 0"))
    await shows(page, ["Read"])
    await customer(chat.id, "Not read")
    await endOfLog(w)
    await page.run("window.release()")
    await shows(page, ["Read", "Not read"])
  })

  it("reads everything again, and follows what happens, when it was away for longer than events are kept", async () => {
    const proxy = await tcpProxy(w.url)
    const chat = await acme.chat({ name: "Nora Night" })
    await customer(chat.id, "Good night")
    const page = await inbox(acme.member.email, `${new URL(proxy.url).origin}/inbox/chats/${chat.id}`)
    await shows(page, ["Good night"])
    await until("the page watches its chat", () => w.services.progress.isWatched(chat.id))
    await customer(chat.id, "Live")
    await shows(page, ["Good night", "Live"])
    proxy.reset()
    await customer(chat.id, "Missed")
    await forgetEvents(w)
    proxy.pass()
    await shows(page, ["Good night", "Live", "Missed"])
    await until("the page watches its chat again", () => w.services.progress.isWatched(chat.id))
    await customer(chat.id, "Afterwards")
    await shows(page, ["Good night", "Live", "Missed", "Afterwards"])
    await proxy.close()
  })

  it("removes a chat that was deleted", async () => {
    const [gone, kept] = [await acme.chat({ name: "Gina Gone" }), await acme.chat({ name: "Karl Kept" })]
    await customer(kept.id, "I stay")
    await customer(gone.id, "I go")
    const page = await inbox(acme.member.email, `/inbox/chats/${gone.id}`)
    await shows(page, ["I go"])
    await acme.rest.as(acme.token).delete(`/api/chats/${gone.id}`).expect(200)
    await until(
      "the list has the kept chat, and not the one that is gone",
      async () => (await items(page)).join().includes("Karl Kept") && !(await items(page)).join().includes("Gina Gone"),
    )
    await until("the page says that the chat does not exist", async () =>
      (await page.run("document.body.innerText")).includes("This chat does not exist, or not any more."),
    )
  })

  it("asks once to mark a chat as read, also when the server does not answer, and keeps what is written until it is sent", async () => {
    const before = `{
      const fetch = window.fetch
      window.asked = []
      window.fetch = (url, init) => {
        const name = /^\\s*\\{"operationName":"(\\w+)"/.exec(init?.body)?.[1] ?? ""
        window.asked.push(name)
        return window.refused?.includes(name) ? Promise.reject(new TypeError("no connection")) : fetch(url, init)
      }
    }`
    const chat = await acme.chat({ name: "Rita Read" })
    const page = await inbox(acme.member.email, `/inbox/chats/${chat.id}`, { before })
    await page.find("log", "Messages")
    await page.run("window.refused = ['MarkChatRead', 'CreateMessage']")
    await customer(chat.id, "Unread")
    await tells(page, "The server does not answer.")
    await fill(page, "Message", "Kept")
    await page.press("Enter")
    await until("the page has sent the message", () => page.run("window.asked.includes('CreateMessage')"))
    await until(
      "the composer is no longer busy",
      async () => (await page.run("document.querySelector('form.composer').ariaBusy")) === "false",
    )
    expect(await page.run("document.querySelector('textarea').value")).toBe("Kept")
    expect(await page.run("window.asked.filter((name) => name === 'MarkChatRead').length")).toBe(1)
    await page.run("window.refused = []")
    await pressButton(page, "Send")
    await shows(page, ["Unread", "Kept"])
    expect(await page.run("document.querySelector('textarea').value")).toBe("")
  })

  it("keeps showing a chat that cannot be read again because the server does not answer", async () => {
    const before = `{
      const { fetch } = window
      window.refused = []
      window.fetch = async (url, init) => {
        if (!window.refuses) return fetch(url, init)
        window.refused.push(/"operationName":"(\\w+)"/.exec(init?.body)?.[1])
        throw new TypeError("no connection")
      }
    }`
    const chat = await acme.chat({ name: "Stefan Stays" })
    await customer(chat.id, "Still here")
    const page = await inbox(acme.member.email, `/inbox/chats/${chat.id}`, { before })
    await shows(page, ["Still here"])
    await fill(page, "Message", "My draft")
    const go = (path: string) => page.run(`window.refuses = true; history.pushState(null, "", "${path}")`)
    await go("/inbox/chats")
    await until("the chat is left", async () => (await page.count("article")) === 0)
    await go(`/inbox/chats/${chat.id}`)
    await until("the page was refused the chat", () => page.run("window.refused.includes('Chat')"))
    await page.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    expect(await page.run("document.querySelector('textarea')?.value")).toBe("My draft")
    await shows(page, ["Still here"])
  })

  it("reads nothing that events change before it knows from where they are followed", async () => {
    const chat = await acme.chat({ name: "Eva Early" })
    const page = await inbox(acme.member.email, `/inbox/chats/${chat.id}`, { before: heldCursor })
    await until("the page asks where the log of events ends", () => page.run("window.asked.includes('EventCursor')"))
    expect(await page.run("window.asked.filter((name) => !/^(SignIn|Refresh)/.test(name)).sort()")).toEqual(["EventCursor", "Me"])
    await customer(chat.id, "Just now")
    await page.run("window.begin()")
    await shows(page, ["Just now"])
  })

  /** For `before`: the page gets the answers to an operation after `release()`; `came` is what came by its `sockets`. */
  const heldAnswers = (operation: string) => `{
    const { fetch, setTimeout, WebSocket: Socket } = window
    // A slow machine must not reach the longest time for which an event is held.
    window.setTimeout = (task, ms) => setTimeout(task, ms === ${inboxLimits.heldMs} ? 2 ** 31 - 1 : ms)
    const released = new Promise((resolve) => (window.release = resolve))
    window.came = []
    window.sockets = []
    window.fetch = async (url, init) => {
      const answer = await fetch(url, init)
      if (!init?.body?.includes('"operationName":"${operation}"')) return answer
      window.isAnswered = true
      await released
      return answer
    }
    window.WebSocket = class extends Socket {
      constructor(...args) {
        super(...args)
        window.sockets.push(this)
        this.addEventListener("message", ({ data }) => window.came.push(data))
      }
    }
  }`

  /** Waits until the page has got a message as an event. */
  const came = (page: Page, text: string) => until("the event is in the page", () => page.run(`window.came.join().includes("${text}")`))

  it("shows a message that comes as an event before the answer to an earlier read of its chat", async () => {
    const chat = await acme.chat({ name: "Sonja Slow" })
    await customer(chat.id, "Read")
    const page = await inbox(acme.member.email, `/inbox/chats/${chat.id}`, { before: heldAnswers("Messages") })
    await until("the server has answered the read of the messages", () => page.run("window.isAnswered"))
    await customer(chat.id, "After the read")
    await came(page, "After the read")
    await page.run("window.release()")
    await shows(page, ["Read", "After the read"])
  })

  it("marks a chat as read again when a message comes as an event before the answer to the first mark", async () => {
    const chat = await acme.chat({ name: "Mara Mark" })
    await customer(chat.id, "First")
    const page = await inbox(acme.member.email, `/inbox/chats/${chat.id}`, { before: heldAnswers("MarkChatRead") })
    await until("the server has marked the chat", () => page.run("window.isAnswered"))
    await customer(chat.id, "Second")
    await came(page, "Second")
    await page.run("window.release()")
    await until(
      "nothing is unread",
      async () => (await acme.rest.as(acme.token).get(`/api/chats/${chat.id}`).expect(200)).body.unreadCount === 0,
    )
  })

  it("gets no event again that waits for an answer while the page connects again", async () => {
    const chat = await acme.chat({ name: "Wanda Wait" })
    const page = await inbox(acme.member.email, `/inbox/chats/${chat.id}`, { before: heldAnswers("Messages") })
    await until("the server has answered the read of the messages", () => page.run("window.isAnswered"))
    await customer(chat.id, "Before")
    await came(page, "Before")
    await page.run("window.sockets.at(-1).close(4000, 'Connection lost')")
    await customer(chat.id, "Afterwards")
    await came(page, "Afterwards")
    expect(
      await page.run("window.came.filter((frame) => frame.includes('MESSAGE_CREATED') && frame.includes('\"text\":\"Before\"')).length"),
    ).toBe(1)
    await page.run("window.release()")
    await shows(page, ["Before", "Afterwards"])
  })

  it("shows hostile text as text, in every place", async () => {
    const hostile = `<img src=x onerror="window.attacked=1"><script>window.attacked=1</script>`
    const chat = await acme.chat({ name: `${hostile}\u202E`, phoneNumber: "+380501112233" })
    await acme.tag({ name: hostile.slice(0, 60) })
    await acme.call({ phoneNumber: "+380501112233", transcript: hostile })
    await acme.message({ chatId: chat.id, text: `${hostile} [link](javascript:window.attacked=1) \u202Eright to left` })
    await customer(chat.id, hostile)
    const drawing = '<svg xmlns="http://www.w3.org/2000/svg" onload="window.attacked=1"><script>window.attacked=1</script></svg>'
    const page = await inbox(acme.member.email, `/inbox/chats/${chat.id}`)
    await shows(page, ["right to left", hostile])
    await attach(page, '<b onmouseover="window.attacked=1">.svg', Buffer.from(drawing))
    await pressButton(page, "Send")
    await until(
      "three messages or an error are shown",
      async () => (await page.count("article")) === 3 || (await page.texts("status")).some((text) => text.length > 10),
    )
    await pressButton(page, "Details")
    await until("the call is shown", () => page.run("document.querySelector('ul[aria-label=Calls]') !== null"))
    await fill(page, "New label", hostile.slice(0, 60), "combobox")
    await page.press("Enter")
    // The label moves what is below it, so a click before it is there would miss.
    await until("the chat has one tag", () => page.run("document.querySelectorAll('.tags li').length === 1"))
    await fill(page, "New comment", hostile)
    await pressButton(page, "Add comment")
    await until("the chat has one comment", () => page.run("document.querySelectorAll('ul[aria-label=Comments] li').length === 1"))
    await page.press("k", { ctrl: true })
    await fill(page, "Chat, person, assistant or action", "<img", "combobox")
    await until("the palette finds the chat", () => page.run("document.querySelectorAll('[role=option]').length > 0"))
    expect(await page.run("window.attacked")).toBeUndefined()
    // What reorders text ends with the name: the rest of its line is not in it.
    expect(await page.run("document.querySelector('[role=option] bdi, .bar h2 bdi').innerText.includes('\u202E')")).toBe(true)
    expect(
      await page.run("document.querySelectorAll(':is(article, ul, dialog) :is(img, script, b, svg), article a[href^=javascript]').length"),
    ).toBe(0)
  })
})
