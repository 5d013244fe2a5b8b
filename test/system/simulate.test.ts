import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import pino from "pino"
import { gmail } from "../../src/ports/channel/gmail.js"
import { instagram } from "../../src/ports/channel/instagram.js"
import { MailReader } from "../../src/ports/channel/mail-reader.js"
import { messenger } from "../../src/ports/channel/messenger.js"
import { resend } from "../../src/ports/channel/resend.js"
import { telegramBot } from "../../src/ports/channel/telegram-bot.js"
import { whatsappBusiness } from "../../src/ports/channel/whatsapp-business.js"
import type { Account, Credentials, IncomingMessage } from "../../src/ports/channel.js"
import { administration } from "../kit/command-line.js"
import { receiver } from "../kit/receiver.js"
import { happens } from "../kit/wait.js"
import { world } from "../kit/world.js"
import { going, partFor } from "../ports/channel-bed.js"

const w = world()
const started: ChildProcess[] = []
afterEach(() => {
  for (const child of started.splice(0)) child.kill()
})

/** Runs the command; `line()` waits for the next line that matches. */
function simulate(...args: string[]) {
  return simulateWith({}, ...args)
}

function simulateWith(env: Record<string, string>, ...args: string[]) {
  const child = spawn(process.execPath, ["dist/simulate/main.js", ...args], {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  started.push(child)
  const closed = once(child, "close")
  let errors = ""
  child.stderr.on("data", (text) => {
    errors += text
  })
  return {
    async line(pattern: RegExp): Promise<RegExpExecArray> {
      const printed: string[] = []
      const matching = async () => {
        for (;;) {
          const { value, done } = await lines.next()
          if (done) throw new Error(`The command ended without ${pattern}: ${errors}`)
          const match = pattern.exec(value)
          if (match) return match
          printed.push(value)
        }
      }
      return happens(`the command prints ${pattern}`, matching(), () => ({ printed, errors }))
    },
    write: (...lines: string[]) => void child.stdin.write(lines.map((line) => `${line}\n`).join("")),
    async ended() {
      const [code] = await happens("the command has ended", closed, () => errors)
      return { code, errors }
    },
  }
}

const accountOf = (externalId: string, credentials: Credentials): Account => ({
  companyId: "0199bbbb-0000-7000-8000-000000000000",
  connectionId: "c",
  externalId,
  name: "Shop",
  credentials,
})

const mails = new MailReader(pino({ level: "silent" }))
afterAll(() => mails.close())

describe("npm run simulate", () => {
  it("telegram-bot is a chat with the bot that the platform runs", async () => {
    const chat = simulate("telegram-bot", "--faults", "500=0", "--seed", "1")
    const [, baseUrl] = await chat.line(/^The stand-in runs. The server needs: TELEGRAM_BASE_URL=(\S+)$/)
    const [, botToken] = await chat.line(/^Connect it with: npm run .* channel:connect .* '\{"botToken":"([^"]+)"\}'$/)
    const adapter = telegramBot({ baseUrl: baseUrl!, pollSeconds: 5 })
    const account = accountOf("stand_in", { botToken: botToken! })
    await adapter.check(account, going())
    chat.write("Hello", ":location 50.45 30.52", ":nothing", ":reply Why?")
    await chat.line(/^! there is no :nothing$/)
    await chat.line(/^! The bot has sent nothing yet$/)
    const { events } = await adapter.poll!.run(account, null, going())
    expect(events.map(({ item }) => item)).toMatchObject([{ text: "Hello" }, { text: "[location] 50.45, 30.52" }])
    const part = { ...partFor({ customer: "501" }), text: "Good day" }
    await adapter.send(part, account, going())
    await chat.line(/^< Good day$/)
    chat.write(":quit")
    expect(await chat.ended()).toEqual({ code: 0, errors: "" })
  })

  it("resend is mail with a customer, who answers in the thread and reports its result", async () => {
    const hook = await receiver()
    const chat = simulate("resend", "--hook-url", hook.url)
    const [, baseUrl] = await chat.line(/^The stand-in runs. The server needs: RESEND_BASE_URL=(\S+)$/)
    const [, credentials] = await chat.line(/--credentials '(.+)'$/)
    const adapter = resend({ baseUrl: baseUrl! }, mails)
    const account = accountOf("support@shop.example", JSON.parse(credentials!))
    await adapter.check(account, going())
    chat.write(":bounce x", "Hello")
    await chat.line(/^! Nothing was sent yet$/)
    await hook.arrived(1)
    expect(adapter.verify(hook.requests[0]!, account, new Date())).toBe(true)
    const [event] = adapter.parse(JSON.parse(hook.requests[0]!.body.toString()), account)
    const [read] = await adapter.complete!((event!.item as { reference: unknown }).reference, account, going())
    expect(read!.item).toMatchObject({ text: "Subject: Hello\n\nHello", chat: { externalId: "ada@example.org" } })
    const { data } = read!.item as { data: unknown }
    const part = partFor({ customer: "ada@example.org" }, { last: { externalId: null, data } })
    await adapter.send(part, account, going())
    await chat.line(/^< \(Re: Hello\) Good day$/)
    chat.write(":delivered")
    await hook.arrived(2)
    expect(adapter.parse(JSON.parse(hook.requests[1]!.body.toString()), account)).toMatchObject([
      { item: { kind: "receipt", status: "delivered", partId: part.id } },
    ])
    chat.write(":quit")
    expect(await chat.ended()).toEqual({ code: 0, errors: "" })
    await hook.close()
  })

  it("gmail is a mailbox, in which a person can answer too", async () => {
    const chat = simulate("gmail")
    const [, baseUrl] = await chat.line(/^The stand-in runs. The server needs: GMAIL_BASE_URL=(\S+) /)
    const [, credentials] = await chat.line(/--credentials '(.+)'$/)
    const adapter = gmail({ baseUrl: baseUrl!, oauthBaseUrl: baseUrl! }, mails)
    const given = accountOf("support@shop.example", JSON.parse(credentials!))
    const account = { ...given, credentials: { ...given.credentials, ...(await adapter.check(given, going())) } }
    chat.write("Hello", ":operator By hand", ":nothing")
    await chat.line(/^! there is no :nothing$/)
    const items: unknown[] = []
    for (let state: unknown = null; items.length < 2; ) {
      const polled = await adapter.poll!.run(account, state, going())
      state = polled.state
      items.push(...polled.events.map(({ item }) => item))
    }
    const order = (item: unknown) => Number((item as { isEcho?: boolean }).isEcho ?? false)
    expect(items.toSorted((one, other) => order(one) - order(other))).toMatchObject([
      { text: "Subject: Hello\n\nHello", chat: { externalId: "ada@example.org" } },
      { text: "Subject: Hello\n\nBy hand", isEcho: true, chat: { externalId: "ada@example.org" } },
    ])
    await adapter.send(partFor({ customer: "ada@example.org" }), account, going())
    await chat.line(/^< \(Shop\) Good day$/)
    chat.write(":quit")
    expect(await chat.ended()).toEqual({ code: 0, errors: "" })
  })

  it("bridge is a chat over a connector, which shows what the hook refuses", async () => {
    const hook = await receiver()
    const chat = simulate("bridge", "--secret", "s")
    chat.write("Hello", `:hook ${hook.url}/hooks/custom-messenger/1`)
    await chat.line(/^! Name the platform's hook first/)
    hook.answer(401)
    chat.write("Hello again")
    await chat.line(/^! the hook answered 401: /)
    expect(hook.requests[0]!.headers["x-signature"]).toMatch(/^sha256=[0-9a-f]{64}$/)
    expect(JSON.parse(hook.requests[0]!.body.toString())).toMatchObject({ text: "Hello again", chat: { externalId: "ada" } })
    chat.write(":quit")
    expect(await chat.ended()).toEqual({ code: 0, errors: "" })
    await hook.close()
  })

  const metaAdapters = { "whatsapp-business": whatsappBusiness, messenger, instagram }
  it.each(Object.entries(metaAdapters))("%s is a chat with an account at Meta", async (name, adapterAt) => {
    const hook = await receiver()
    const chat = simulate(name, "--secret", "s3cret")
    const [, baseUrl] = await chat.line(/^The stand-in runs. The server needs: META_GRAPH_BASE_URL=(\S+)$/)
    const [, externalId, credentials] = await chat.line(/--external-id (\S+) .* --credentials '(.+)'$/)
    const adapter = adapterAt({ baseUrl: baseUrl! })
    const account = accountOf(externalId!, JSON.parse(credentials!))
    expect(account.credentials.appSecret).toBe("s3cret")
    await adapter.check(account, going())
    chat.write(
      "Hello",
      `:hook ${hook.url}/hook`,
      "Hello again",
      ":file README.md",
      ":tap Prices",
      ":echo We are open",
      ":edit Hello once more",
    )
    await chat.line(/^! Name the platform's hook first/)
    await hook.arrived(5)
    const events = hook.requests.flatMap(({ headers, body }) => {
      expect(adapter.verify({ headers, body }, account, new Date())).toBe(true)
      return adapter.parse(JSON.parse(body.toString()), account)
    })
    expect(events).toMatchObject([
      { account: null, item: { kind: "message", text: "Hello again" } },
      { item: { kind: "message", files: [{ filename: "README.md" }] } },
      { item: { kind: "message", text: "Prices" } },
      { item: { kind: "message", text: "We are open", isEcho: true } },
      { item: { kind: "edit", text: "Hello once more" } },
    ])
    const { chat: customer, externalId: quoted } = (events[0]!.item as IncomingMessage) ?? {}
    await adapter.send(
      { ...partFor({ customer: customer.externalId }), text: "Good day", quoted: { externalId: quoted, data: null } },
      account,
      going(),
    )
    await chat.line(/^< \(an answer\) Good day$/)
    chat.write(":quit")
    expect(await chat.ended()).toEqual({ code: 0, errors: "" })
    await hook.close()
  })

  it("connects itself to a company, or says why it cannot", async () => {
    const { environment, done } = administration(w)
    const chat = simulateWith(environment(), "bridge", "--company", w.acme.id, "--assistant", w.acme.assistant.id)
    const [, hookUrl] = await chat.line(/^It is connected to the company; its hook is (\S+)$/)
    const shown = { messenger: "custom-messenger", name: "Stand-in", isActive: true, hookUrl }
    expect(await done("channel:list", { company: w.acme.id })).toContainEqual(expect.objectContaining(shown))
    chat.write(":quit")
    expect(await chat.ended()).toEqual({ code: 0, errors: "" })
    const { code, errors } = await simulateWith(environment(), "bridge", "--company", "nobody").ended()
    expect(code).toBe(2)
    expect(errors).toMatch(/nobody/)
  })

  it.each([
    [[], "Name one of the messengers: telegram-bot, bridge, whatsapp-business, messenger, instagram, resend, gmail"],
    [["bridge", "--company"], "argument missing"],
    [["fax"], "Name one of the messengers"],
    [["bridge", "--faults", "flood=1"], '"flood=1" is no fault'],
    [["bridge", "--port", "x"], "PORT and NUMBER are whole numbers"],
    [["bridge", "--hook-url", "/hooks"], "URL must be absolute"],
    [["bridge", "--colour", "red"], "Unknown option '--colour'"],
  ])("%j is refused with its usage", async (args, words) => {
    const { code, errors } = await simulate(...args).ended()
    expect(code).toBe(2)
    expect(errors).toContain(words)
    expect(errors).toContain("npm run simulate -- telegram-bot|bridge|whatsapp-business|messenger|instagram|resend|gmail")
  })
})
