import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { chromium, type Page } from "../kit/browser.js"
import { startFakeOpenAi } from "../kit/fake-openai.js"
import { fill, inboxBed, pressButton, shows, tells, violations } from "../kit/inbox-page.js"
import { indexAll } from "../kit/knowledge.js"
import { type Receiver, receiver } from "../kit/receiver.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const openAi = await startFakeOpenAi()
afterAll(() => openAi.close())

// A reply is due only where a test makes it due.
// Clients may run the operations of a manifest alone: those of the inbox are in the manifest that the build writes.
const folder = mkdtempSync(join(tmpdir(), "trusted-"))
const manifest = join(folder, "manifest.json")
writeFileSync(manifest, "{}")
afterAll(() => rmSync(folder, { recursive: true }))
const usual = { REPLY_DEBOUNCE_MS: "1000000000", REPLY_MAX_WAIT_MS: "1000000000" }
const w = world({ ...usual, OPENAI_BASE_URL: openAi.url, TRUSTED_DOCUMENTS: manifest })
const { acme, sql } = w
const inBrowser = chromium ? describe : describe.skip

inBrowser(`the pages of assistants and settings${chromium ? "" : " (skipped: there is no Chromium)"}`, () => {
  const bed = inboxBed(() => w.url)
  let endpoint: Receiver
  beforeAll(async () => {
    endpoint = await receiver()
  })
  afterAll(() => endpoint?.close())

  const open = (email: string, path: string) => bed.inbox(email, `/inbox${path}`)
  /** Replaces the text of a field. */
  async function replace(page: Page, field: string, text: string) {
    await (await page.find("textbox", field)).call("function () { this.focus(); this.select() }")
    await page.type(text)
  }
  const opens = async (page: Page, summary: string) => {
    await until(`the page shows "${summary}"`, () =>
      page.run(`[...document.querySelectorAll("summary")].some((each) => each.innerText.startsWith("${summary}"))`),
    )
    await page.run(`[...document.querySelectorAll("summary")].find((each) => each.innerText.startsWith("${summary}")).click()`)
  }
  const main = (page: Page): Promise<string> => page.run("document.querySelector('main').innerText")

  it("changes the prompt of an assistant, teaches it, searches what it knows, and tries it in a chat", async () => {
    const [model] = w.services.models
    await sql("update assistant set text_model_id = $2 where id = $1", [acme.assistant.id, model!.id])
    const page = await open(acme.member.email, `/assistants/${acme.assistant.id}`)
    await replace(page, "Prompt", "You sell lamps.")
    await pressButton(page, "Save")
    await tells(page, "Saved.")
    expect(await sql("select prompt from assistant where id = $1", [acme.assistant.id])).toEqual([{ prompt: "You sell lamps." }])

    await opens(page, "Add knowledge")
    await fill(page, "Name of the item", "Delivery")
    await fill(page, "Text", "A parcel to Lviv takes three days.")
    await page.run("document.querySelector('select[name=use]').value = 'indexed'")
    await pressButton(page, "Add")
    await until("the page shows the new knowledge", async () => /Delivery Text, (being indexed|indexed, parts: 1)/.test(await main(page)))
    await indexAll(w)
    await until("the knowledge is indexed", async () => /Delivery Text, indexed, parts: 1/.test(await main(page)))
    await opens(page, "Try a search")
    await fill(page, "Question", "How long is a parcel on its way?")
    await page.press("Enter")
    await until("the search finds the knowledge", async () => /Delivery, score \d\.\d{3}\s+A parcel to Lviv/.test(await main(page)))
    expect(await violations(page)).toEqual([])

    await fill(page, "Message of a customer", "How long?")
    await page.press("Enter")
    await shows(page, ["How long?"])
    openAi.reply = async () => ({ text: "Three days." })
    await sql("update chat set reply_due_at = now() - interval '1 second' where messenger = 'playground'")
    await w.runDue()
    await shows(page, ["How long?", "Three days."])
  })

  it("keeps a prompt that is not saved, and lets an item of the knowledge be read, changed and, when asked twice, removed", async () => {
    const { id } = await acme.makeAssistant({ name: "Kept", prompt: "As stored." })
    await acme.makeKnowledge({ assistantId: id, name: "Returns", resourceContent: "Within 30 days." })
    const page = await open(acme.member.email, `/assistants/${id}`)
    await replace(page, "Prompt", "Not saved.")
    await page.find("button", "Discard changes")
    await page.reload()
    await page.find("button", "Discard changes")
    const prompt = () => page.run("document.querySelector('textarea[name=prompt]').value")
    expect(await prompt()).toBe("Not saved.")
    await page.run("document.querySelector('textarea[name=prompt]').select()")
    await page.type("As stored.")
    await until("what is typed is what is stored", async () => (await page.count("button", "Discard changes")) === 0)
    await replace(page, "Prompt", "Not saved.")
    await pressButton(page, "Discard changes")
    await until("the stored prompt is shown", async () => (await prompt()) === "As stored.")
    await opens(page, "Returns")
    await until("the item's text is shown", () => page.run("document.querySelector('.item textarea')?.value === 'Within 30 days.'"))
    await page.run("document.querySelector('.item textarea').select()")
    await page.type("Within 45 days.")
    await pressButton(page, "Save item")
    await tells(page, "Saved.")
    expect(await sql("select resource_content as text from knowledge where assistant_id = $1", [id])).toEqual([{ text: "Within 45 days." }])
    await pressButton(page, "Remove Returns")
    await pressButton(page, "Really? Remove Returns")
    await until("the item is gone", async () => (await sql("select from knowledge where assistant_id = $1", [id])).length === 0)
    await replace(page, "Prompt", "For nobody else.")
    await page.find("button", "Discard changes")
    await pressButton(page, "Sign out")
    await page.find("button", "Sign in")
    expect(await page.run("JSON.stringify(sessionStorage)")).not.toContain("For nobody else.")
  })

  it("answers in the playground by what is typed and not saved, and leaves no draft behind", async () => {
    const [model] = w.services.models
    await sql("update assistant set text_model_id = $2, prompt = 'As it is stored.' where id = $1", [acme.assistant.id, model!.id])
    const page = await open(acme.member.email, `/assistants/${acme.assistant.id}`)
    await replace(page, "Prompt", "Typed, and not saved.")
    await fill(page, "Message of a customer", "Which prompt?")
    // Pressed twice, it is asked once.
    await page.run("{ const form = document.querySelector('.playground form'); form.requestSubmit(); form.requestSubmit() }")
    await shows(page, ["Which prompt?"])
    expect(await sql("select from message where text = 'Which prompt?'")).toHaveLength(1)
    expect(await sql("select from assistant where is_draft")).toHaveLength(1)
    const asked: string[] = []
    openAi.reply = async (request) => {
      const text = JSON.stringify(request)
      // Chats of other tests may be due too.
      if (text.includes("Which prompt?")) asked.push(text)
      return { text: "The typed one." }
    }
    await sql("update chat set reply_due_at = now() - interval '1 second' where messenger = 'playground'")
    await w.runDue()
    await shows(page, ["Which prompt?", "The typed one."])
    expect(asked.join()).toContain("Typed, and not saved.")
    expect(asked.join()).not.toContain("As it is stored.")
    await page.run('history.pushState(null, "", "/inbox/assistants")')
    await until("no draft is left", async () => (await sql("select from assistant where is_draft")).length === 0)
    expect(await sql("select prompt from assistant where id = $1", [acme.assistant.id])).toEqual([{ prompt: "As it is stored." }])

    // Also when the tab is closed, and after a change that is saved no draft is made.
    await page.run(`history.pushState(null, "", "/inbox/assistants/${acme.assistant.id}")`)
    const says = (text: string) =>
      until(`the log says: ${text}`, async () => (await page.texts("article")).some((each) => each.includes(text)))
    await replace(page, "Prompt", "Typed again.")
    await fill(page, "Message of a customer", "And now?")
    await page.press("Enter")
    await says("And now?")
    expect(await sql("select prompt from assistant where is_draft")).toEqual([{ prompt: "Typed again." }])
    await page.run('location.href = "/"')
    await until("the draft is gone with the page", async () => (await sql("select from assistant where is_draft")).length === 0)
    const saved = await open(acme.member.email, `/assistants/${acme.assistant.id}`)
    await replace(saved, "Prompt", "Saved.")
    await pressButton(saved, "Save")
    await tells(saved, "Saved.")
    await fill(saved, "Message of a customer", "By which one?")
    await saved.press("Enter")
    await shows(saved, ["By which one?"])
    expect(await sql("select from assistant where is_draft")).toEqual([])
  })

  it("sets when an assistant hands over, and how it speaks on the phone", async () => {
    for (const name of ["urgent", "wholesale"]) await acme.tag({ name })
    const page = await open(acme.member.email, `/assistants/${acme.assistant.id}`)
    const check = async (name: string) => (await page.find("checkbox", name)).click()
    await check("Hand a chat to a person when the customer asks for one or it cannot help")
    await check("urgent")
    await check("wholesale")
    const disabled = "select disabled from assistant_tool where assistant_id = $1 and name = 'turnOffAiMode'"
    await until("the tool is disabled", async () => (await sql(disabled, [acme.assistant.id]))[0].disabled)
    const excluded = "select excluded_tags from assistant where id = $1"
    const both = async () => (await sql(excluded, [acme.assistant.id]))[0].excluded_tags.join() === "urgent,wholesale"
    await until("both labels are excluded", both)
    await fill(page, "Provider", "nobody", "combobox")
    await fill(page, "Phone", "+380441112233")
    await pressButton(page, "Save voice")
    await tells(page, "available providers: simulated")
    await (await page.find("combobox", "Provider")).call("function () { this.focus(); this.select() }")
    await page.type("simulated")
    await pressButton(page, "Save voice")
    await tells(page, "Saved.")
    await until("the voice agent's state is shown", async () => /Voice agent: (Provisioning|Ready)/.test(await main(page)))
    expect(await violations(page)).toEqual([])
    await pressButton(page, "Remove voice")
    await until("there is no voice", async () => (await page.count("button", "Remove voice")) === 0)
  })

  it("creates a tool, says what is wrong with its schema, calls it, and shows the calls", async () => {
    const page = await open(acme.member.email, `/assistants/${acme.assistant.id}`)
    await opens(page, "Add a tool")
    await fill(page, "Name of the tool", "stock")
    await fill(page, "Description, for the assistant", "Tells what is in stock")
    await fill(page, "Address", `${endpoint.url}/stock`)
    await replace(page, "Arguments, as JSON Schema", '{ "type": ')
    await tells(page, "JSON")
    await replace(page, "Arguments, as JSON Schema", '{ "type": "object", "properties": { "lamp": { "type": "strin" } } }')
    await pressButton(page, "Create tool")
    await tells(page, "params")
    await replace(
      page,
      "Arguments, as JSON Schema",
      '{ "type": "object", "properties": { "lamp": { "type": "string" } }, "required": ["lamp"] }',
    )
    await pressButton(page, "Create tool")
    await tells(page, "Saved.")
    await opens(page, "Add a tool")
    await opens(page, "stock")
    endpoint.answer({ json: { left: 7 } })
    await replace(page, "Arguments of the call", '{ "lamp": "red" }')
    await pressButton(page, "Call stock")
    await until("the tool's answer is shown", async () => /Answered with status 200[\s\S]*"left": 7/.test(await main(page)))
    expect(endpoint.requests).toHaveLength(1)
    await pressButton(page, "Read again")
    await until("the tool's call is listed", async () => /Calls[\s\S]*: Success/.test(await main(page)))
    expect(await violations(page)).toEqual([])
  })

  it("shows a new access token once, and revokes it", async () => {
    const page = await open(acme.owner.email, "/settings/tokens")
    await fill(page, "Name", "Reports")
    await pressButton(page, "Create token")
    const token: string = await until("the page shows the new token", () => page.run("document.querySelector('.secret code')?.innerText"))
    await w.rest.as(token).get("/api/chats").expect(200)
    expect(await violations(page)).toEqual([])
    await page.reload()
    await page.find("button", "Revoke Reports")
    expect(await main(page)).not.toContain(token)
    await pressButton(page, "Revoke Reports")
    await pressButton(page, "Really? Revoke Reports")
    await until("the token is revoked", async () => !(await main(page)).includes("Reports"))
    await w.rest.as(token).get("/api/chats").expect(401)
  })

  it("creates an endpoint for events, tests it, and sends a delivery again", async () => {
    const page = await open(acme.owner.email, "/settings/webhooks")
    await fill(page, "Address", `${endpoint.url}/events`)
    await (await page.find("checkbox", "Message created")).click()
    await pressButton(page, "Create endpoint")
    expect(
      await until("the page shows the endpoint's secret", () => page.run("document.querySelector('.secret code')?.innerText")),
    ).toMatch(/^whsec_/)
    endpoint.answer(200)
    const sent = () => endpoint.requests.filter(({ url }) => url === "/events").length
    await pressButton(page, "Send a test event")
    await tells(page, "The endpoint answered 200.")
    expect(sent()).toBe(1)
    await opens(page, "Deliveries")
    await until("the test event was delivered", async () => /Event webhook test, Succeeded/.test(await main(page)))
    await pressButton(page, "Send again")
    await until("the endpoint has two requests", () => sent() === 2)
    expect(await violations(page)).toEqual([])
    await pressButton(page, "Delete")
    await pressButton(page, "Really? Delete")
    await until("the endpoint is no longer shown", async () => !(await main(page)).includes(endpoint.url))
  })

  it("shows the command that connects a channel, and the calls of the API that do the same as a view", async () => {
    const page = await open(acme.owner.email, "/settings/channels")
    const telegram = `channel:connect --company ${acme.id} --messenger telegram-bot`
    await until("the command is shown", async () => (await main(page)).includes(telegram))
    await until("the command names the assistant", async () => (await main(page)).includes(`--assistant ${acme.assistant.id}`))
    expect(await main(page)).toContain(`--credentials '{"botToken":"123456:ABC-DEF"}'`)
    await page.run('history.pushState(null, "", "/inbox/settings/tokens")')
    await until("the calls of the API are shown", async () => /createAccessToken.*\/api\/companies\//.test(await main(page)))
  })

  it("shows channels, members and the audit trail, the last to owners and administrators alone", async () => {
    const page = await open(acme.owner.email, "/settings/channels")
    await until("the widget's connection is shown", async () => /Widget[\s\S]*Connected/.test(await main(page)))
    expect(await violations(page)).toEqual([])
    await page.run("history.pushState(null, '', '/inbox/settings/members')")
    await until("the member is shown", async () => (await main(page)).includes(acme.member.email))
    await acme.makeAssistant({ name: "Audited" })
    await page.run("history.pushState(null, '', '/inbox/settings/audit')")
    await until("the audit trail is shown", async () => /createAssistant\s+Assistant/.test(await main(page)))
    expect(await violations(page)).toEqual([])
    const other = await open(acme.member.email, "/settings/audit")
    await until("an alert is shown", async () => (await other.texts("alert")).some((text) => text.length > 10))
    expect(await main(other)).not.toContain("createAssistant")
  })

  it("shows hostile text as text, in every place", async () => {
    const hostile = `<img src=x onerror="window.attacked=1"><script>window.attacked=1</script>\u202Eleft`
    const { id } = await acme.makeAssistant({ name: hostile, prompt: hostile, greeting: hostile })
    await acme.makeKnowledge({ assistantId: id, name: hostile, resourceContent: hostile })
    await acme.tool({ assistantId: id, name: "hostile", description: hostile, apiCallUrl: `${endpoint.url}/tool` })
    await sql("update channel set name = $2 where id = $1", [acme.widget.id, hostile])
    await sql("update users set name = $2 where email = $1", [acme.member.email, hostile])
    await acme.anotherToken(hostile)
    const page = await open(acme.owner.email, `/assistants/${id}`)
    /** Nothing of it is an element, or has run. */
    const isHarmless = async () => {
      expect(await page.run("window.attacked")).toBeUndefined()
      expect(await page.run("document.querySelectorAll('main :is(img, script), main [onerror]').length")).toBe(0)
    }
    await opens(page, "hostile")
    endpoint.answer({ json: { said: hostile } })
    await pressButton(page, "Call hostile")
    await until("the tool's answer is shown", async () => /Answered with status 200[\s\S]*onerror/.test(await main(page)))
    await pressButton(page, "Read again")
    await until("the tool's call is listed", async () => /: Success/.test(await main(page)))
    await isHarmless()
    for (const view of ["tokens", "channels", "members"]) {
      await page.run(`history.pushState(null, "", "/inbox/settings/${view}")`)
      await until("the page shows the hostile text as text", async () => (await main(page)).includes("<script>window.attacked=1</script>"))
      await isHarmless()
    }
  })

  it("works by keyboard alone", async () => {
    const page = await open(acme.owner.email, "/chats")
    /** Presses the key Tab until an element of this name has the focus. */
    const tabTo = (name: string) =>
      until(`the focus is on "${name}"`, async () => {
        const named = "(each) => (each.ariaLabel || each.labels?.[0]?.innerText || each.innerText || '').trim()"
        if ((await page.run(`(${named})(document.activeElement)`)).startsWith(name)) return true
        await page.press("Tab")
        return false
      })
    const pressOn = async (name: string) => {
      await tabTo(name)
      await page.press("Enter")
    }
    const type = async (field: string, text: string) => {
      await tabTo(field)
      await page.type(text)
    }
    await pressOn("Assistants")
    await type("Name of a new assistant", "Keys")
    await page.press("Enter")
    await page.find("heading", "Keys")
    await type("Prompt", "You sell keys.")
    await pressOn("Save")
    await tells(page, "Saved.")
    await pressOn("Add knowledge")
    await type("Name of the item", "Locks")
    await type("Text", "A lock has two keys.")
    await pressOn("Add")
    await page.find("button", "Remove Locks")
    await pressOn("Add a tool")
    await type("Name of the tool", "cut_key")
    await type("Description", "Cuts a key")
    await type("Address", `${endpoint.url}/cut`)
    await pressOn("Create tool")
    await until("the page shows the token's prefix", async () => (await main(page)).includes("cut_key"))
    await pressOn("Settings")
    await page.find("heading", "Access tokens")
    await type("Name", "By keys")
    await pressOn("Create token")
    await pressOn("Revoke By keys")
    await pressOn("Really? Revoke By keys")
    await until("the token is revoked", async () => !(await main(page)).includes("By keys"))
    expect(await sql("select name, prompt from assistant where name = 'Keys'")).toEqual([{ name: "Keys", prompt: "You sell keys." }])
  })
})
