import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { type Page, startBrowser } from "../test/kit/browser.js"
import { freePort } from "../test/kit/free-port.js"
import { fill, pressButton } from "../test/kit/inbox-page.js"
import { until } from "../test/kit/wait.js"

/** Time for pictures and transitions of a page to end, in milliseconds: nothing tells when. */
const paintedMs = 500

const customers = [
  ["Olena", "Is the Nova floor lamp in stock?"],
  ["Marcus", "My parcel arrived with a broken shade."],
  ["Aisha", "Do you have gift cards?"],
] as const

/** Makes the pictures of the documentation again, on a demo company of its own: `npm run screenshots`. */
async function makeScreenshots() {
  const dataDir = mkdtempSync(join(tmpdir(), "screenshots-"))
  const port = String(await freePort())
  const environment = { ...process.env, DATA_DIR: dataDir, PORT: port, LOG_LEVEL: "error", REPLY_DEBOUNCE_MS: "100" }
  const server = spawn(process.execPath, ["dist/server/main.js"], { env: environment, stdio: ["ignore", "ignore", "inherit"] })
  const url = `http://127.0.0.1:${port}`
  const browser = await startBrowser()
  try {
    const file = join(dataDir, "demo.json")
    await until("the demo company is stored", () => existsSync(file))
    const demo = JSON.parse(readFileSync(file, "utf8"))
    await until("the server answers", () =>
      fetch(`${url}/demo`).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    for (const [name, text] of customers)
      await fetch(`${url}/hooks/widget/${demo.widgetId}`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ name, text }),
      })
    const save = async (page: Page, name: string) => {
      await pause(paintedMs)
      writeFileSync(`docs/images/${name}.png`, await page.screenshot())
    }
    const size = { width: 1280, height: 760 }
    const visitor = await browser.open(`${url}/demo`, { profile: await browser.profile(), ...size })
    await pressButton(visitor, "Open chat")
    await fill(visitor, "Message", "How long does delivery take?")
    await visitor.press("Enter")
    await until("the widget shows the answer", async () => (await visitor.count("article")) === 2)
    await save(visitor, "widget")

    const agent = await browser.open(`${url}/inbox`, { profile: await browser.profile(), ...size })
    await fill(agent, "Email", demo.email)
    await fill(agent, "Password", demo.password)
    await pressButton(agent, "Sign in")
    await until("the inbox lists the chats", async () => (await agent.count("listitem")) > customers.length)
    await agent.press("j")
    await until("the inbox shows the chat", async () => (await agent.count("article")) === 2)
    await pressButton(agent, "Details")
    await save(agent, "inbox")
    await agent.run(`history.pushState(null, "", "/inbox/assistants/${demo.assistantId}")`)
    await fill(agent, "Message of a customer", "Can I return a lamp?")
    await agent.press("Enter")
    await until("the playground shows the answer", async () => (await agent.count("article")) === 2)
    await save(agent, "assistant")
    const whole = await browser.open(`${url}/inbox/outcomes`, { profile: await browser.profile(), width: 1280, height: 1240 })
    await fill(whole, "Email", demo.email)
    await fill(whole, "Password", demo.password)
    await pressButton(whole, "Sign in")
    await until("the chart is drawn", () => whole.run("document.querySelector('.chart canvas') !== null"))
    await until("the questions are grouped, which takes some seconds after the start", async () => {
      if (await whole.run("/asked: [2-9]/.test(document.body.innerText)")) return true
      await whole.run("dispatchEvent(new Event('focus'))")
      return false
    })
    await save(whole, "outcomes")
  } finally {
    await browser.close()
    server.kill()
    await new Promise((resolve) => server.once("exit", resolve))
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}

await makeScreenshots()
