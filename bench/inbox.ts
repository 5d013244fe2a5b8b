import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { hashPassword } from "../src/resolvers/kit/password.js"
import { type Page, startBrowser } from "../test/kit/browser.js"
import { fill, pressButton } from "../test/kit/inbox-page.js"
import { until } from "../test/kit/wait.js"
import { startProgram } from "./contestants.js"
import { type BenchDatabase, openDatabases } from "./database.js"
import { readOptions } from "./options.js"

/** What the inbox is to keep: docs/decisions/inbox.md. */
const targets = { firstListMs: 1_000, rendererMb: 300, taskMs: 100, scriptKb: 200 }
const scrolled = { chats: 5_000, messages: 5_000 }
const longChat = 100_000
const person = { email: "bench@example.com", password: "a password of the bench" }

/** Someone to sign in, and a chat with very many messages, which is the newest. */
async function prepare({ client, companyId }: BenchDatabase) {
  const { rows } = await client.query(
    "insert into users (id, created_at, updated_at, email, name, password_hash) values (gen_random_uuid(), now(), now(), $1, 'Bench', $2) returning id",
    [person.email, await hashPassword(person.password)],
  )
  await client.query(
    "insert into member (id, created_at, updated_at, company_id, user_id, role) values (gen_random_uuid(), now(), now(), $1, $2, 'owner')",
    [companyId, rows[0].id],
  )
  const { rows: chats } = await client.query("select id, last_sequence from chat order by last_message_at desc limit 1")
  const { id, last_sequence: last } = chats[0]
  await client.query(
    `insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, text, from_id, status)
     select gen_random_uuid(), now() - interval '1 minute' + n * interval '1 microsecond', now(), $2, $1, $3 + n,
       case n % 2 when 0 then 'Customer' else 'User' end, 'Text', 'message ' || n || ' ' || repeat('of a long conversation ', 1 + n % 5), 'x', 'stored'
     from generate_series(1, ${longChat}) n`,
    [id, companyId, last],
  )
  await client.query(
    `update chat set last_sequence = $2::integer + ${longChat}, last_message_at = now(),
       last_message_id = (select id from message where chat_id = $1 and sequence = $2::integer + ${longChat}) where id = $1`,
    [id, last],
  )
  await client.query("vacuum analyze message, chat")
  return id as string
}

/** Megabytes that the largest renderer of this machine has for itself: what Chromium's task manager calls its memory footprint. */
function rendererMb(): number {
  const kilobytes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const isRenderer = readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--type=renderer")
        return isRenderer ? [readFileSync(`/proc/${pid}/status`, "utf8")] : []
      } catch {
        // It has ended meanwhile.
        return []
      }
    })
    .map((status) => ["RssAnon", "VmSwap"].reduce((sum, name) => sum + Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0), 0))
  return Math.max(0, ...kilobytes) / 1_024
}

/** Notes each task of the page that is longer than 50 ms, from its beginning on. */
const watch = `window.tasks = []
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: "longtask", buffered: true })`

const longest = async (page: Page) => Number(await page.run("Math.max(0, ...tasks)"))

/** Scrolls a box by pages until a count is reached; returns the seconds that it took. */
async function scroll(page: Page, box: string, by: number, count: string, wanted: number): Promise<number> {
  const begin = performance.now()
  await until(`${count} is ${wanted}`, async () => {
    await page.run(`document.querySelector(${JSON.stringify(box)}).scrollBy(0, ${by})`)
    return Number(await page.run(count)) >= wanted
  })
  return (performance.now() - begin) / 1_000
}

/** I1: the inbox in a browser with 100,000 chats, one of which has 100,000 messages; returns the report. */
export async function measureInbox(say: (line: string) => void): Promise<string> {
  await using stack = new AsyncDisposableStack()
  const { database } = await openDatabases(stack, readOptions([]), say)
  const chatId = await prepare(database)
  const server = await startProgram("ours", database)
  stack.defer(() => server.stop())
  const browser = await startBrowser()
  stack.defer(() => browser.close())
  const page = await browser.open(`${server.url}/inbox`, { before: watch, width: 1_400, height: 900 })
  const scripts = page.requested.filter((url) => url.endsWith(".js"))
  const asked = page.requested.filter((url) => !/\/(inbox$|assets\/)/.test(new URL(url).pathname))
  const scriptKb = scripts
    .map((url) => execFileSync("curl", ["-s", "-H", "Accept-Encoding: gzip", url]).length / 1_024)
    .reduce((sum, each) => sum + each, 0)

  await fill(page, "Email", person.email)
  await fill(page, "Password", person.password)
  await page.run(`window.listed = new Promise((resolve) => new MutationObserver(() => {
    if (document.querySelector("ul[aria-label=Chats] li")) resolve(performance.now() - window.pressed)
  }).observe(document.body, { childList: true, subtree: true })); 0`)
  await page.run("addEventListener('click', () => (window.pressed = performance.now()), { capture: true, once: true })")
  await pressButton(page, "Sign in")
  const firstListMs = Number(await page.run("window.listed"))

  const read = "Math.max(...[...document.querySelectorAll('ul[aria-label=Chats] li')].map((item) => item.ariaPosInSet))"
  say(`scrolling through ${scrolled.chats} chats …`)
  const listSeconds = await scroll(page, ".list .scroll", 2_000, read, scrolled.chats)
  const ofList = { mb: rendererMb(), task: await longest(page) }
  await page.run(`history.pushState(null, "", "/inbox/chats/${chatId}")`)
  await page.find("log", "Messages")
  await until("the chat's messages are shown", async () => (await page.count("article")) > 0)
  say(`scrolling through ${scrolled.messages} messages …`)
  const messagesRead = `${longChat} - Number(/message (\\d+)/.exec(document.querySelector("article").textContent)?.[1] ?? ${longChat})`
  const logSeconds = await scroll(page, ".log", -4_000, messagesRead, scrolled.messages)
  const ofLog = { mb: rendererMb(), task: await longest(page) }

  const line = (what: string, value: number, target: number, unit: string) =>
    `I1  ${what}: ${value.toFixed(0)} ${unit}, target at most ${target}: ${value <= target ? "ok" : "missed"}`
  return [
    "I1  the inbox with 100,000 chats, the newest of which has 100,000 messages",
    line("scripts of the first view, compressed", scriptKb, targets.scriptKb, "KB"),
    line("requests to the API before the first paint", asked.length, 0, ""),
    line("from the button to the first list", firstListMs, targets.firstListMs, "ms"),
    line(`memory after ${scrolled.chats} chats, in ${listSeconds.toFixed(0)} s`, ofList.mb, targets.rendererMb, "MB"),
    line("longest task until then", ofList.task, targets.taskMs, "ms"),
    line(`memory after ${scrolled.messages} more messages, in ${logSeconds.toFixed(0)} s`, ofLog.mb, targets.rendererMb, "MB"),
    line("longest task until then", ofLog.task, targets.taskMs, "ms"),
  ].join("\n")
}
