import { MessengerVendor } from "../../simulate/vendors/messenger.js"
import { WhatsAppVendor } from "../../simulate/vendors/whatsapp-business.js"
import { inTurn } from "../../src/channels/hook-queue.js"
import { channelLimits } from "../../src/channels/limits.js"
import { hmacSignature } from "../../src/ports/kit/signature.js"
import { administration } from "../kit/command-line.js"
import { promised } from "../kit/promise.js"
import { statementsOf } from "../kit/statements.js"
import { stopScheduler } from "../kit/turns.js"
import { world } from "../kit/world.js"

const vendor = new MessengerVendor()
const whatsapp = new WhatsAppVendor()
const w = world()
const { acme, sql } = w
let page: string
let number: string

beforeAll(async () => {
  // Its sweeps send statements of their own.
  await stopScheduler(w)
  await vendor.listen()
  await whatsapp.listen()
  page = await connect("messenger", vendor.pageId, vendor, { pageAccessToken: vendor.token })
  number = await connect("whatsapp-business", whatsapp.phoneNumberId, whatsapp, {
    accessToken: whatsapp.token,
    phoneNumberId: whatsapp.phoneNumberId,
  })
})
afterAll(async () => {
  await vendor.close()
  await whatsapp.close()
})

/** Connects an account of Meta; returns the path of its hook. */
async function connect(
  messenger: string,
  accountId: string,
  { server, appSecret, verifyToken }: MessengerVendor | WhatsAppVendor,
  token: object,
) {
  const { done } = administration(w, undefined, () => ({ META_GRAPH_BASE_URL: server.url }))
  const credentials = JSON.stringify({ ...token, appSecret, verifyToken })
  const { id } = await done("channel:connect", { company: acme.id, messenger, "external-id": accountId, name: messenger, credentials })
  return `/hooks/${messenger}/${id}`
}

const post = (path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  fetch(`${w.url}${path}`, { method: "POST", headers, body: body as string })
const signed = (path: string, body: string | Buffer, secret = vendor.appSecret) =>
  post(path, body, { "x-hub-signature-256": hmacSignature(body, secret) })

/** Sends events of one customer to the page's hook; returns the status of the response. */
async function reports(...items: object[]): Promise<number> {
  const messaging = items.map((item) => ({ sender: { id: "psid-1" }, recipient: { id: vendor.pageId }, ...item }))
  const body = { object: "page", entry: [{ id: vendor.pageId, messaging }] }
  return (await signed(page, JSON.stringify(body))).status
}
const textsOf = async (externalId: string) =>
  (
    await sql("select m.text from message m join chat c on c.id = m.chat_id where c.external_id = $1 order by m.sequence", [externalId])
  ).map(({ text }) => text)

describe("a request without a right signature", () => {
  const unknown = "01890000-0000-7000-8000-000000000000"
  const messengers = ["telegram-bot", "whatsapp-business", "messenger", "instagram", "custom-messenger"]

  it.each(messengers)("is 401 without a statement when it has none, whether or not the connection exists: %s", async (messenger) => {
    for (const path of [`/hooks/${messenger}/${unknown}`, page, number]) {
      const statements = await statementsOf(w, async () => {
        expect((await post(path, "{}")).status).toBe(401)
        expect((await post(path, "no JSON")).status).toBe(401)
      })
      expect(statements).toEqual([])
    }
  })

  it("is 413 without a statement when it is too large, signed or not, with its length and without", async () => {
    const large = Buffer.alloc(3 * 1024 * 1024 + 1, " ")
    const statements = await statementsOf(w, async () => {
      expect((await post(page, large)).status).toBe(413)
      expect((await signed(page, large)).status).toBe(413)
      const body = new Blob([large]).stream()
      const headers = { "x-hub-signature-256": hmacSignature(large, vendor.appSecret) }
      const chunked = await fetch(`${w.url}${page}`, { method: "POST", headers, body, duplex: "half" } as RequestInit)
      expect(chunked.status).toBe(413)
    })
    expect(statements).toEqual([])
  })

  it("costs one statement when it has a wrong one, which reads the secret", async () => {
    const statements = await statementsOf(w, async () => expect((await signed(page, "{}", "another secret")).status).toBe(401))
    expect(statements).toEqual(["hook-connections"])
  })
})

describe("a genuine request", () => {
  it("is stored without the NUL of its IDs and texts", async () => {
    expect(await reports({ message: { mid: "m\0-1", text: "a\0b", reply_to: { mid: "\0" } } })).toBe(200)
    expect(await reports({ delivery: { mids: ["m\0-9", "\ud800\0"], watermark: 5 } }, { message: { mid: "m-1", text: "again" } })).toBe(200)
    expect(await textsOf("psid-1")).toEqual(["ab"])
  })

  it("with a time that is none reports all messages, or none", async () => {
    for (const watermark of [1e308, -1e308, 2 ** 53 + 1, -(2 ** 53), -0, 8.64e15, -8.64e15, "9".repeat(15)])
      expect(await reports({ delivery: { watermark } }, { read: { watermark } })).toBe(200)
  })

  it("drops what has an ID that no index can hold, and stores the rest", async () => {
    // Text that cannot be compressed: repeated letters would fit.
    const long = Array.from({ length: 4_000 }, (_, n) => String.fromCodePoint(0x4e00 + ((n * 7_919) % 20_000))).join("")
    const status = await reports(
      { message: { mid: long, text: "lost" } },
      { sender: { id: long }, message: { mid: "m-2", text: "lost" } },
      { read: { mid: long } },
      { message_edit: { mid: long, text: "lost", num_edit: 1 } },
      { message: { mid: "m-3", text: "kept" } },
    )
    expect(status).toBe(200)
    expect(await textsOf("psid-1")).toEqual(["ab", "kept"])
    expect(await sql("select 1 from message where text = 'lost'")).toEqual([])
  })

  it("is kept once, with the first of many messages that are not understood", async () => {
    const odd = { attachments: [{ type: "hologram", payload: { words: "x".repeat(50_000) } }] }
    expect(await reports(...["o-1", "o-2", "o-3"].map((mid) => ({ message: { mid, ...odd } })))).toBe(200)
    const kept = await sql(
      "select external_id, length(item::text) as length, item->>'object' as object from channel_item where state = 'unsupported' order by id",
    )
    expect(kept).toMatchObject([
      { external_id: "o-1", object: "page" },
      { external_id: "o-2", object: null },
      { external_id: "o-3", object: null },
    ])
    expect(kept[0]!.length).toBeGreaterThan(150_000)
    for (const { length } of kept.slice(1)) expect(length).toBeLessThan(2_000)
  })

  it("is stored without a turn of its company, but for what it has beyond 20 items", async () => {
    const turns = jest.spyOn(w.services.turns, "run")
    const said = (from: number, to: number) =>
      reports(
        ...Array.from({ length: to - from }, (_, index) => ({ message: { mid: `turn-${from + index}`, text: `Turn ${from + index}` } })),
      )
    expect(await said(0, 20)).toBe(200)
    expect(turns).not.toHaveBeenCalled()
    expect(await said(20, 45)).toBe(200)
    expect(turns.mock.calls.map(([company, kind]) => [company, kind])).toEqual(Array(5).fill([acme.id, "work"]))
    turns.mockRestore()
    expect((await textsOf("psid-1")).filter((text) => text.startsWith("Turn "))).toEqual(
      Array.from({ length: 45 }, (_, index) => `Turn ${index}`),
    )
  })

  it("is 200 for each of two customers who claim one further ID at once", async () => {
    const write = async (from: string, user: string) => {
      const messages = [{ id: `wamid.${from}`, from, from_user_id: user, type: "text", text: { body: "Hello" } }]
      const value = { metadata: { phone_number_id: whatsapp.phoneNumberId }, messages }
      const body = JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: "1", changes: [{ field: "messages", value }] }] })
      return (await signed(number, body, whatsapp.appSecret)).status
    }
    for (let round = 0; round < 10; round += 1) {
      const pair = [0, 1, 2].map((n) => write(`38044000${round}${n}`, `UA.${round}`))
      expect(await Promise.all(pair)).toEqual([200, 200, 200])
    }
    expect(await sql("select 1 from message where text = 'Hello'")).toHaveLength(30)
  })
})

promised("requests of one connection are handled two at a time, in their order, and those of another one at once", async () => {
  const [begun, done]: [number[], (() => void)[]] = [[], []]
  const work = (n: number) => () =>
    new Promise<number>((resolve) => {
      begun.push(n)
      done.push(() => resolve(n))
    })
  const all = Array.from({ length: 10 }, (_, n) => inTurn(w.services, "flooded", 1, work(n)))
  const other = inTurn(w.services, "quiet", 1, work(100))
  await new Promise(setImmediate)
  expect(begun.toSorted((one, two) => one - two)).toEqual([0, 1, 100])
  while (begun.length < 11) {
    done.shift()!()
    await new Promise(setImmediate)
  }
  for (const end of done) end()
  expect(await Promise.all(all)).toEqual(Array.from({ length: 10 }, (_, n) => n))
  expect(await other).toBe(100)
  expect(begun.filter((n) => n < 100)).toEqual(Array.from({ length: 10 }, (_, n) => n))
  // Those beyond the limit are refused, not kept in memory.
  const { hookRequestsAtOnce, hookRequestsWaiting, hookQueueBytes } = channelLimits
  let open = () => {}
  const held = new Promise<void>((resolve) => {
    open = resolve
  })
  const full = Array.from({ length: hookRequestsAtOnce + hookRequestsWaiting }, () => inTurn(w.services, "flooded", 1, () => held))
  await new Promise(setImmediate)
  await expect(inTurn(w.services, "flooded", 1, async () => {})).rejects.toMatchObject({ code: "RATE_LIMITED" })
  const large = inTurn(w.services, "large", hookQueueBytes, () => held)
  await expect(inTurn(w.services, "large", 1, async () => {})).rejects.toMatchObject({ code: "RATE_LIMITED" })
  open()
  await Promise.all([...full, large])
  expect(await inTurn(w.services, "large", hookQueueBytes, async () => "served again")).toBe("served again")
  // One that failed holds no place.
  const failed = Array.from({ length: 6 }, () => inTurn(w.services, "flooded", 1, () => Promise.reject(new Error("failed"))))
  expect((await Promise.allSettled(failed)).map(({ status }) => status)).toEqual(Array(6).fill("rejected"))
  expect(await inTurn(w.services, "flooded", 1, async () => "still served")).toBe("still served")
})
