import { request } from "node:http"
import { textEvent, unknownEvent } from "../kit/hook-events.js"
import { type Hook, type SigningMessenger, signingMessengers } from "../kit/messengers.js"
import type { TestBed } from "../kit/test-bed.js"
import type { Attack } from "./attack.js"

const hookBytes = 3 * 1024 * 1024
const customer = 900_001
const unknownConnection = "01890000-0000-7000-8000-000000000000"

/** What strangers and replays try on the hook of each messenger. */
export const hooks: Attack = {
  title: "forged, replayed, oversized and malformed requests to every hook",
  async run(bed, report) {
    for (const messenger of signingMessengers) {
      const faults = await tried(bed, messenger)
      report.promise(`${messenger}: each is refused with its status, and a genuine one is stored once`, faults)
    }
  },
}

/** A request and how it is answered. */
interface Try {
  what: string
  status: number
  path?: string
  method?: string
  headers?: Record<string, string>
  body?: string | Buffer
  isChunked?: boolean
}

/** Sends all to the hook of a messenger; returns what was answered otherwise. */
async function tried(bed: TestBed, messenger: SigningMessenger): Promise<string[]> {
  const hook = bed.attacker.hooks[messenger]
  const foreign = bed.victim.hooks[messenger]
  const genuine = JSON.stringify(textEvent(messenger, hook, customer, 900_001, "A genuine message"))
  const faults: string[] = []
  for (const each of [...forged(hook, genuine), ...malformed(messenger, hook), ...elsewhere(hook, foreign, genuine), ...challenges(hook)]) {
    const { status, text } = await sent(bed.server.url, { path: hook.path, ...each })
    if (status !== each.status) faults.push(`${each.what}: ${status} instead of ${each.status}: ${text.slice(0, 300)}`)
  }
  return [...faults, ...(await replayed(bed, messenger, genuine)), ...(await notUnderstood(bed, messenger))]
}

/** Without a signature, with a wrong one, and with one of another request. */
function forged({ sign }: Hook, body: string): Try[] {
  const [name, value] = Object.entries(sign(body))[0]!
  const signs = value !== sign(`${body} `)[name]
  const wrong = {
    empty: "",
    short: "sha256=",
    cut: value.slice(0, -1),
    longer: `${value}0`,
    other: value.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
  }
  return [
    { what: "no signature", status: 401, body },
    { what: "no signature and no body", status: 401 },
    { what: "no signature and no JSON", status: 401, body: "{" },
    ...Object.entries(wrong).map(([what, given]) => ({
      what: `a signature that is ${what}`,
      status: 401,
      body,
      headers: { [name]: given },
    })),
    ...(signs ? [{ what: "the signature of another body", status: 401, body: `${body} `, headers: { [name]: value } }] : []),
    { what: "a signature in another header", status: 401, body, headers: { "x-signature-of-nobody": value } },
  ]
}

/** Genuinely signed, and too large, no JSON, or nothing that a vendor sends. */
function malformed(messenger: SigningMessenger, { sign }: Hook): Try[] {
  const large = Buffer.alloc(hookBytes + 1, " ")
  const signed = (what: string, status: number, body: string | Buffer, isChunked = false): Try => ({
    what,
    status,
    body,
    headers: sign(body),
    isChunked,
  })
  const strange = messenger === "custom-messenger" ? 400 : 200
  return [
    signed("a body that is too large", 413, large),
    signed("one without a length", 413, large, true),
    { what: "a body that is too large, without a signature", status: 413, body: large },
    ...["", "{", "undefined", '{"a":1}}', "\u0000", "[".repeat(100_000)].map((body) => signed(`no JSON: ${body.slice(0, 10)}`, 400, body)),
    signed("bytes that are no UTF-8", 400, Buffer.from([0xff, 0xfe, 0x80])),
    ...["{}", "[]", "null", "5", '"text"', '{"entry":5,"message":[],"object":"page"}', "[".repeat(5_000) + "]".repeat(5_000)].map((body) =>
      signed(`JSON of nobody: ${body.slice(0, 10)}`, strange, body),
    ),
  ]
}

/** Genuinely signed for this connection, and sent to another one. */
function elsewhere({ path, sign }: Hook, foreign: Hook, body: string): Try[] {
  const [, , messenger, id] = path.split("/") as [string, string, string, string]
  const signed = (what: string, status: number, to: string) => ({ what, status, path: to, body, headers: sign(body) })
  const other = messenger === "messenger" ? "instagram" : "messenger"
  const headersOfAll = { ...sign(body), "x-hub-signature-256": "sha256=0" }
  return [
    signed("an unknown connection", 404, `/hooks/${messenger}/${unknownConnection}`),
    ...["x", `${id}x`, "%00", "%2e%2e", id.replaceAll("-", ""), `{${id}}`].map((bad) =>
      signed(`the ID ${bad}`, 404, `/hooks/${messenger}/${bad}`),
    ),
    { what: "the connection of another messenger", status: 404, path: `/hooks/${other}/${id}`, body, headers: headersOfAll },
    ...["unknown", "__proto__", "playground"].map((name) => signed(`the messenger ${name}`, 404, `/hooks/${name}/${id}`)),
    signed("another company's connection", 401, foreign.path),
  ]
}

/** Questions of Meta whether the hook is ours. */
function challenges({ path, verifyToken }: Hook): Try[] {
  if (verifyToken === null) return []
  const ask = (what: string, status: number, query: Record<string, string>) => ({
    what: `a challenge ${what}`,
    status,
    method: "GET",
    path: `${path}?${new URLSearchParams(query)}`,
  })
  const right = { "hub.mode": "subscribe", "hub.challenge": "1158201444", "hub.verify_token": verifyToken }
  return [
    ask("that is right", 200, right),
    ask("with another token", 401, { ...right, "hub.verify_token": "wrong" }),
    ask("without a token", 401, { "hub.mode": "subscribe", "hub.challenge": "1" }),
    ask("in another mode", 401, { ...right, "hub.mode": "unsubscribe" }),
    ask("without anything", 401, {}),
  ]
}

/** A genuine request is sent eight times, four of them at once: it is stored once, and all get the same response. */
async function replayed(bed: TestBed, messenger: SigningMessenger, body: string): Promise<string[]> {
  const { path, sign } = bed.attacker.hooks[messenger]
  const once = () => sent(bed.server.url, { path, body, headers: sign(body) })
  const answers = [await once(), ...(await Promise.all([once(), once(), once(), once()])), await once(), await once(), await once()]
  const texts = new Set(answers.map(({ status, text }) => `${status} ${text}`))
  const rows = await bed.sql(
    "select 1 from message m join chat c on c.id = m.chat_id where m.company_id = $1 and c.messenger = $2 and m.text = 'A genuine message'",
    [bed.attacker.id, messenger],
  )
  return [
    ...(texts.size === 1 && answers[0]!.status < 300 ? [] : [`a replay is answered ${[...texts].join(" or ")}`]),
    ...(rows.length === 1 ? [] : [`a message that was sent eight times is stored ${rows.length} times`]),
  ]
}

/** A message of a kind that is not known is stored as one that was not understood. */
async function notUnderstood(bed: TestBed, messenger: SigningMessenger): Promise<string[]> {
  const hook = bed.attacker.hooks[messenger]
  const event = unknownEvent(messenger, hook, customer, 900_002)
  if (event === null) return []
  const body = JSON.stringify(event)
  const { status, text } = await sent(bed.server.url, { path: hook.path, body, headers: hook.sign(body) })
  const rows = await bed.sql(
    `select m.text from message m join chat c on c.id = m.chat_id join channel_item i on i.chat_id = c.id and i.state = 'unsupported'
     where m.company_id = $1 and c.messenger = $2 and m.text = '[unsupported: hologram]'`,
    [bed.attacker.id, messenger],
  )
  return status === 200 && rows.length === 1 ? [] : [`an unknown kind of message: ${status} ${text.slice(0, 200)}, ${rows.length} stored`]
}

type Sendable = Pick<Try, "method" | "headers" | "body" | "isChunked"> & { path: string }

/** Sends a request and reads the response, also one that comes before the body was sent. */
function sent(url: string, { path, method = "POST", headers = {}, body, isChunked }: Sendable): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(url)
  const length: Record<string, string> = isChunked ? {} : { "content-length": String(Buffer.byteLength(body ?? "")) }
  const all = { "content-type": "application/json", "x-forwarded-for": "10.68.0.1", ...length, ...headers }
  return new Promise((resolve, reject) => {
    const sending = request({ hostname, port, path, method, headers: all, timeout: 15_000 }, (response) => {
      let text = ""
      const done = () => resolve({ status: response.statusCode!, text })
      response.setEncoding("utf8")
      response.on("data", (part) => {
        text += part
      })
      // A server that refuses a body may close the connection while it is sent.
      response.on("end", done).on("error", done)
      sending.off("error", reject)
      sending.on("error", () => {})
    })
    sending.on("error", reject)
    sending.on("timeout", () => sending.destroy(new Error("no answer in 15 s")))
    if (isChunked) sending.write(body ?? "")
    sending.end(isChunked ? undefined : body)
  })
}
