import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { TelegramBotVendor } from "../../simulate/vendors/telegram-bot.js"
import { freePort } from "../kit/free-port.js"
import { pace } from "../kit/pace.js"
import { promise } from "../kit/promise.js"
import { happens, until } from "../kit/wait.js"

const root = process.cwd()
const readme = readFileSync(join(root, "README.md"), "utf8")

/** A part of the tour: its title in bold, and its block of commands. */
interface Block {
  title: string
  commands: string
}

function tourOf(text: string): Block[] {
  const tour = /^## A five-minute tour$(.*?)^## /ms.exec(text)?.[1] ?? ""
  return [...tour.matchAll(/^\*\*(.+?)\*\*.*?^```bash\n(.*?)^```$/gms)].map(([, title, commands]) => ({
    title: title!,
    commands: commands!,
  }))
}

/** Replaces exactly one line of the commands: the reader's address by the test's. */
function instead(commands: string, line: string, other: string) {
  expect(commands.split(`${line}\n`)).toHaveLength(2)
  return commands.replace(`${line}\n`, `${other}\n`)
}

const folder = mkdtempSync(join(tmpdir(), "platform-tour-"))
// PostgreSQL does not run as root: its user must be able to enter the folder.
chmodSync(folder, 0o755)
const data = join(folder, "data")
const telegram = new TelegramBotVendor({ secondMs: 100 })
let environment: Record<string, string>
let url: string
let server: ChildProcess | null = null
let printed = ""
let bookPort: number
let tour: Promise<Ran>

/** The README's second command, in its own process group like in a terminal. Only address and folder are configured. */
async function start() {
  printed = ""
  server = spawn("npm", ["start"], { cwd: root, env: environment, detached: true, stdio: ["ignore", "pipe", "pipe"] })
  const started = server
  for (const stream of [started.stdout!, started.stderr!]) stream.on("data", (text) => (printed += text))
  const isReady = async () => {
    if (started.exitCode !== null) throw new Error(`The server did not start:\n${printed}`)
    const answer = await fetch(`${url}/health/ready`).catch(() => null)
    return answer?.ok && printed.includes("Listening on")
  }
  await until("the server is ready", isReady, () => printed)
}

/** Like Ctrl+C: interrupts the whole process group. */
async function interrupt() {
  const started = server
  server = null
  if (!started || started.exitCode !== null) return
  const closed = once(started, "close")
  process.kill(-started.pid!, "SIGINT")
  await happens("the server has ended after Ctrl+C", closed, () => printed)
}

interface Shown {
  role: string
  text: string
  createdAt: string
}

const demo = () => JSON.parse(readFileSync(join(data, "demo.json"), "utf8")) as { widgetId: string; token: string }

/** Writes in the widget; a visitor with a token continues their own chat. */
async function ask(text: string, visitorToken?: string): Promise<{ chatId: string; visitorToken: string }> {
  const body = JSON.stringify({ text, visitorToken })
  const headers = { "Content-Type": "application/json" }
  const answer = await fetch(`${url}/hooks/widget/${demo().widgetId}`, { method: "POST", headers, body })
  expect(answer.status).toBe(201)
  return (await answer.json()) as { chatId: string; visitorToken: string }
}

async function messagesOf(chatId: string): Promise<Shown[]> {
  const answer = await fetch(`${url}/api/messages?chatId=${chatId}&take=100`, { headers: { "X-Access-Token": demo().token } })
  return ((await answer.json()) as { data: Shown[] }).data.reverse()
}

const answersIn = (messages: Shown[]) => messages.filter((message) => message.role === "Assistant")

const answered = (chatId: string): Promise<Shown[]> =>
  until(
    "the assistant has answered",
    async () => {
      const messages = await messagesOf(chatId)
      return answersIn(messages).length > 0 ? messages : null
    },
    () => messagesOf(chatId),
  )

const between = (from: Shown, to: Shown) => new Date(to.createdAt).getTime() - new Date(from.createdAt).getTime()

interface Ran {
  code: number
  said: string
  complained: string
}

/** Pastes the whole tour into bash. */
function runTour(): Promise<Ran> {
  const pasted = tourOf(readme).map(({ title, commands }) => `echo '## ${title}'\n${commands}`)
  const here = instead(instead(pasted.join("\n"), "URL=http://127.0.0.1:4000", `URL=${url}`), "DATA=./data", `DATA=${data}`)
  // The order book runs until the terminal is closed.
  return paste(`trap 'kill $(jobs -p)' EXIT\n${here.replaceAll("4100", String(bookPort))}`)
}

/** Runs commands in bash. */
async function paste(commands: string): Promise<Ran> {
  const shell = spawn("bash", ["-c", `set -eo pipefail\n${commands}`], { cwd: root, env: environment, stdio: ["ignore", "pipe", "pipe"] })
  let [said, complained] = ["", ""]
  shell.stdout.on("data", (text) => (said += text))
  shell.stderr.on("data", (text) => (complained += text))
  let code: number | null | undefined
  shell.once("close", (exit) => (code = exit))
  // The tour takes longer than a wait does: each of its blocks prints its title.
  const titles = [...commands.matchAll(/^echo '## (.*)'$/gm)].map(([, title]) => title!)
  for (const title of titles)
    await until(
      `the tour comes to "${title}"`,
      () => code !== undefined || said.includes(`## ${title}\n`),
      () => ({ said, complained }),
    )
  await until(
    "the commands have ended",
    () => code !== undefined,
    () => ({ said, complained }),
  )
  // Each command of the administration names its database.
  return { code: code!, said, complained: complained.replaceAll(`Database: embedded PostgreSQL in ${realpathSync(data)}\n`, "") }
}

beforeAll(async () => {
  await telegram.listen()
  const port = await freePort()
  bookPort = await freePort()
  url = `http://127.0.0.1:${port}`
  const { PATH = "", HOME = "", NODE_COMPILE_CACHE = "" } = process.env
  environment = { PATH, HOME, NODE_COMPILE_CACHE, PORT: String(port), DATA_DIR: data, TELEGRAM_BASE_URL: telegram.server.url }
  await start()
  // In another chat than the test that measures.
  tour = runTour()
})

afterAll(async () => {
  await interrupt()
  await telegram.close()
  rmSync(folder, { recursive: true, force: true })
})

describe("the README", () => {
  // In real time, with the default times: the pause that ends a burst is what is tested, and it runs through the job scheduler of
  // the deployment (Agenda), whose clock no test can move. Every other test sets REPLY_DEBOUNCE_MS or moves the clock of the process.
  it("promises one answer for a burst, after a pause, and an answer to a customer who keeps writing", async () => {
    const burst = async (): Promise<{ chatId: string; messages: Shown[] }> => {
      const { chatId, visitorToken } = await ask("Hello!")
      for (const text of ["I want to order a lamp.", "How long does delivery take?"]) await ask(text, visitorToken)
      const messages = await answered(chatId)
      // On a machine that needs longer for three messages than the pause is long, this was no burst.
      const isBurst = messages.slice(1, 3).every((message, index) => between(messages[index]!, message) < 3_000)
      return isBurst ? { chatId, messages } : burst()
    }
    const drip = async () => {
      const { chatId, visitorToken } = await ask("How long is the warranty?")
      const done = answered(chatId)
      let isAnswered = false
      void done.then(() => (isAnswered = true))
      for (let second = 1; second <= 10 && !isAnswered; second += 1) {
        // Not a wait: the customer's pause between two messages, shorter than the one that the server waits for.
        await Promise.race([sleep(1000), done])
        if (!isAnswered) await ask(`Are you there? ${second}`, visitorToken)
      }
      return { chatId, messages: await done }
    }
    const [paused, steady] = await Promise.all([burst(), drip()])

    const [answer] = answersIn(paused.messages)
    expect(answer!.text).toContain("2 to 3 working days")
    const afterLast = between(paused.messages[2]!, answer!)
    expect(afterLast).toBeGreaterThanOrEqual(4000)
    await pace("an answer after the pause of 4 s, beyond that", 1_000, "ms", () => afterLast - 4_000)

    const [late] = answersIn(steady.messages)
    expect(late!.text).toContain("warranty of 3 years")
    const afterFirst = between(steady.messages[0]!, late!)
    expect(afterFirst).toBeGreaterThanOrEqual(4000)
    await pace("an answer to a customer who keeps writing, beyond 7 s", 1_500, "ms", () => Math.max(0, afterFirst - 7_000))

    // The other customer took longer, so there was time for a second answer to the burst.
    const answers = answersIn(await messagesOf(paused.chatId))
    promise("a burst is answered once", () => expect(answers).toHaveLength(1))
  })

  it("has a tour that can be pasted", async () => {
    const { code, said, complained } = await tour
    expect({ code, complained }).toEqual({ code: 0, complained: "" })
    const blocks = tourOf(readme)
    const shown = Object.fromEntries(
      said
        .split(/^## /m)
        .slice(1)
        .map((part) => [part.split("\n")[0]!, part.split("\n").slice(1).join("\n").trim()]),
    )
    const uuid = "[0-9a-f-]{36}"
    expect(Object.keys(shown)).toEqual(blocks.map((block) => block.title))
    // The id that `ask` prints comes from another process: before, between or after the two.
    expect(shown["See the answer arrive."]).toMatch(
      /live: CUSTOMER: How long does delivery take\?\n([0-9a-f-]{36}\n)?live: ASSISTANT: .*2 to 3 working days/,
    )
    expect(shown["Read it over REST."]).toMatch(
      /^Assistant: .*2 to 3 working days.*\nCustomer: How long does delivery take\?\nCustomer: Hello!$/,
    )
    expect(shown["Take over."]).toMatch(new RegExp(`^manual\nUser\n${uuid}\nCustomer: And what does delivery cost\\?$`))
    expect(shown["Give it back."]).toMatch(/^true\n(.*\n)*live: ASSISTANT: .*warranty of 3 years/)
    expect(shown["Call me."]).toMatch(/^Agent: Hello! I am Lumen's assistant\..*\nCustomer: (.*\n)+Customer: Thank you, goodbye\./)
    expect(shown["Connect a tool server."]).toMatch(
      /^cancel_order: available\nfind_order: enabled\nlist_orders: available\n(.*\n)*live: ASSISTANT: .*Order 1042 .* arrives tomorrow/,
    )
    // The tour's three chats come before those that the demo company had already, of which two wait for a person.
    const { chats } = JSON.parse(shown["List chats over GraphQL."]!).data
    expect(chats.nodes[0]).toMatchObject({ messenger: "WIDGET", isUnderAiControl: true, lastMessage: { role: "ASSISTANT" } })
    expect(chats.nodes.map(({ unreadCount }: { unreadCount: number }) => unreadCount > 0)).toEqual([true, true, true, true, true])
    expect(shown["Create a company."]).toMatch(/"email":"me@example.com"(.*\n)+.*"role":"owner"(.*\n)+amp_\w{8}\nBearer$/)
  })

  it("stops with Ctrl+C, and has all data at the next start", async () => {
    const { token } = demo()
    const count = async () => {
      const answer = await fetch(`${url}/api/chats?take=1`, { headers: { "X-Access-Token": token } })
      return ((await answer.json()) as { totalCount: number }).totalCount
    }
    const before = await count()
    expect(before).toBeGreaterThan(3)
    await interrupt()
    await expect(fetch(`${url}/health/live`)).rejects.toThrow()
    expect(readFileSync(join(data, "postgres.log"), "utf8")).toMatch(/database system is shut down\n$/)

    await start()
    expect(await count()).toBe(before)
  })

  it("matches the start page, whose commands can be pasted", async () => {
    const page = await (await fetch(url)).text()
    for (const [, href] of page.matchAll(/<a href="([^"]+)"/g)) expect([href, (await fetch(url + href)).status]).toEqual([href, 200])
    expect(page).toMatch(/<th scope="row">Database<\/th>\s*<td>Embedded PostgreSQL<\/td>/)
    expect(page).not.toContain(demo().token)
    const commands = [...page.matchAll(/<code>([^<]*)<\/code>\s*<\/pre>/g)].map(([, command]) => plain(command!)).join("\n")
    // The answer itself is waited for above.
    const { code, said, complained } = await paste(commands.replace("sleep 5;", ""))
    expect({ code, complained }).toEqual({ code: 0, complained: "" })
    expect(said).toMatch(/^[0-9a-f-]{36}\n.*"text":"How long does delivery take\?".*"isUnderAiControl":false/s)
  })
})

describe("the README's Telegram bot", () => {
  // In real time, since the server is a process of its own.
  it("is answered by the assistant after one command", async () => {
    const [, commands = ""] = /^## A Telegram bot$.*?^```bash\n(.*?)^```$/ms.exec(readme) ?? []
    const helpers = tourOf(readme)[0]!.commands
    const mine = instead(instead(helpers, "URL=http://127.0.0.1:4000", `URL=${url}`), "DATA=./data", `DATA=${data}`)
    const { code, said, complained } = await paste(
      mine + instead(commands, "BOT_TOKEN=123456:paste-your-token", `BOT_TOKEN=${telegram.token}`),
    )
    expect({ code, complained }).toEqual({ code: 0, complained: "" })
    expect(JSON.parse(said)).toMatchObject({ messenger: "telegram-bot", isActive: true, problem: null })
    telegram.write(
      { id: 7, type: "private", first_name: "Ann" },
      { id: 7, is_bot: false, first_name: "Ann" },
      { text: "How long does delivery take?" },
    )
    await until(
      "the bot has answered",
      () => telegram.sent.length > 0,
      () => printed,
    )
    expect(telegram.sent[0]).toMatchObject({ chatId: 7, text: expect.stringContaining("2 to 3 working days") })
  })
})

const characters: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" }
const plain = (html: string) => html.replace(/&#?\w+;/g, (entity) => characters[entity]!)
