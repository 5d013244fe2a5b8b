import { setTimeout as sleep } from "node:timers/promises"
import fc, { type Arbitrary } from "fast-check"
import { WebSocket } from "ws"
import { happens } from "./answers.js"
import type { Client } from "./client.js"
import { anyCredential, type Generated } from "./generated.js"
import { Ref } from "./pools.js"

/** A packet of Engine.IO: text, or the bytes of an attachment. */
type Packet = string | Buffer

/** What separates packets in the body of a request. */
const separator = "\u001e"

const packets: Packet[] = [
  // Events that the server knows, with arguments of other kinds.
  '42["join"]',
  '42["join",null]',
  '42["join",{"companyId":1}]',
  '421["join",{"companyId":"019ab3d5-4a6b-7c2e-8f10-2d3e4f5a6b7c"}]',
  '421["join",{"__proto__":{"companyId":1}},[],"more"]',
  '42/ws,1["join","019ab3d5-4a6b-7c2e-8f10-2d3e4f5a6b7c"]',
  "40/ws,",
  '40/ws,{"token":"amp_x"}',
  "41/ws,",
  "41",
  // Binary events and acknowledgements, whole, with attachments that are missing, and with too many.
  '451-["join",{"_placeholder":true,"num":0}]',
  '452-1["join",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]',
  '451-["join",{"_placeholder":true,"num":9}]',
  '451-["join",{"_placeholder":true,"num":-1}]',
  '451-["join",{"_placeholder":true,"num":"length"}]',
  '45999999999-["join"]',
  '45-["join"]',
  '451-/ws,["join"]',
  '461-1["join",{"_placeholder":true,"num":0}]',
  Buffer.from([0, 1, 2, 255]),
  Buffer.alloc(0),
  Buffer.alloc(70_000),
  // Malformed packets, and some that only a server sends.
  "42",
  "42[",
  "42{}",
  "42[]",
  "42[1]",
  "42[null]",
  '42["connect"]',
  '42["disconnect"]',
  '42["disconnecting"]',
  '42["error"]',
  '42["newListener"]',
  '42["__proto__"]',
  '42/nothing,["join"]',
  '4299999999999999999999["join"]',
  '431["an acknowledgement of nothing"]',
  "43",
  "44",
  '44{"message":"refused"}',
  "47",
  "4",
  "4\u0000",
  "40[",
  "40null",
  '40{"token":1}',
  "40/nothing,",
  "40/__proto__,",
  `40/${"n".repeat(5_000)},`,
  `42["join",${"[".repeat(20_000)}`,
  `42["join",${"[".repeat(20_000)}${"]".repeat(20_000)}]`,
  `42["join","${"\u0000".repeat(100)}"]`,
  '42["join","\ud800"]',
  "0{}",
  "1",
  "2",
  "2probe",
  "3",
  "3probe",
  "5",
  "6",
  "9",
  "",
  "b",
  "bAAAA",
  "b!!!",
  `b${"A".repeat(60_000)}`,
  "x".repeat(70_000),
]

const upgradePackets: Packet[] = ["2probe", "5", "2probe", "2", "3probe", "6", '42["join"]', "", Buffer.from([1])]

/** Requests of a client that polls that are out of place: the query, beside the session's, and the body of a POST. */
const strangeQueries = [
  "",
  "&EIO=3",
  "&EIO=4&EIO=4",
  "&transport=polling&transport=websocket",
  "&transport=constructor",
  "&j=0",
  "&j=__proto__",
  "&b64=1",
  "&sid=nothing",
  "&sid=__proto__",
  "&sid=",
  "&t=%ff",
]

/** What a client of Socket.IO does. */
interface Script {
  transport: "polling" | "websocket" | "upgrade"
  auth: Record<string, unknown>
  packets: Packet[]
  strangeQuery: string
  /** Whether it polls twice at once, which ends the session. */
  isDouble: boolean
  /** Whether it leaves without a word. */
  isReset: boolean
}

const auths = fc.oneof(
  { arbitrary: fc.constant({}), weight: 12 },
  {
    arbitrary: fc.constantFrom<Record<string, unknown>[]>(
      { companyId: new Ref("Company", 0) },
      { companyId: new Ref("Company", 0, "foreign") },
      { companyId: 1 },
      { companyId: { toString: 1 } },
      { lastEventId: new Ref("cursor", 0) },
      { lastEventId: "e:0" },
      { lastEventId: "e:-1" },
      { lastEventId: "e:99999999999999999999" },
      { lastEventId: ["e:0"] },
      { accessToken: {} },
      { token: ["x"] },
    ),
    weight: 6,
  },
)

/** Sessions of Socket.IO, by polling, over a WebSocket and with an upgrade, with packets that are malformed, binary, too large or out of place. */
export const socketIoSessions: Arbitrary<Generated> = fc
  .record({
    transport: fc.constantFrom("polling" as const, "websocket" as const, "upgrade" as const),
    auth: auths,
    packets: fc.array(fc.constantFrom(...packets), { maxLength: 8 }),
    strangeQuery: fc.oneof({ arbitrary: fc.constant(""), weight: 8 }, { arbitrary: fc.constantFrom(...strangeQueries), weight: 3 }),
    isDouble: fc.boolean(),
    isReset: fc.boolean(),
    credential: anyCredential,
  })
  .map(({ credential, ...script }) => ({
    requests: script.packets.length + 2,
    async send(client) {
      const { company } = client
      const auth = { token: company.credentialOf(credential), ...(company.pools.resolved(script.auth) as object) }
      const session = new SocketIoSession(client, { ...script, auth })
      if (script.transport === "websocket") await session.overSocket()
      else await session.polling()
    },
  }))

/** How long a session waits for a response, and for what the server sends of itself. */
const answerMs = 5_000
const quietMs = 30

const [ofPolling, ofSocket] = ["Socket.IO polling", "Socket.IO sockets"]

class SocketIoSession {
  readonly #headers: Record<string, string>
  readonly #path = "/socket.io/?EIO=4&transport="

  constructor(
    private readonly client: Client,
    private readonly script: Script,
  ) {
    this.#headers = client.company.headersOf("none")
  }

  private get connect() {
    return `40${JSON.stringify(this.script.auth)}`
  }

  /** A session whose client polls, and then perhaps goes over to a WebSocket. */
  async polling() {
    const { packets, strangeQuery, isDouble, isReset, transport } = this.script
    const opened = await this.request("GET", strangeQuery)
    const sid = /^0(\{.*?\})/.exec(opened ?? "")?.[1]
    if (!sid) return
    const session = `&sid=${JSON.parse(sid).sid}`
    await this.request("POST", session, this.connect)
    await this.poll(session)
    if (transport === "upgrade") return this.socket(`websocket${session}`, upgradePackets, [])
    const text = packets.map((packet) => (typeof packet === "string" ? packet : `b${packet.toString("base64")}`)).join(separator)
    await this.request("POST", session, text)
    if (isDouble) await Promise.all([this.poll(session), this.poll(session)])
    if (strangeQuery) await this.request("POST", session + strangeQuery, Buffer.from([0xff, 0x34, 0x32]))
    if (!isReset) await this.request("POST", session, "1")
  }

  /** A session over a WebSocket from the beginning. */
  overSocket(): Promise<void> {
    return this.socket("websocket", [this.connect], this.script.packets)
  }

  /** Asks for what the server has to send, and leaves soon when that is nothing. */
  private poll(session: string) {
    return this.request("GET", session, undefined, quietMs)
  }

  /** Sends a request and returns the text of its response; null when there is none in time. */
  private async request(method: string, query: string, body?: string | Buffer, waitMs = answerMs): Promise<string | null> {
    const { judge, url } = this.client
    const asked = `${method} ${query.slice(0, 200)} ${String(body ?? "").slice(0, 200)}`
    try {
      const signal = AbortSignal.timeout(waitMs)
      const headers = { ...this.#headers, "content-type": "text/plain;charset=UTF-8" }
      const answer = await fetch(`${url}${this.#path}polling${query}`, { method, headers, body: body ?? null, signal })
      const text = await answer.text()
      judge.count(ofPolling, answer.ok ? "ok" : String(answer.status))
      judge.text(ofPolling, text)
      if (answer.status >= 500) judge.fault(ofPolling, `${answer.status} for ${asked}: ${text.slice(0, 200)}`)
      return answer.ok ? text : null
    } catch (error) {
      // The server ends the connection of a body that is too large, and a poll may wait for events.
      const isLate = (error as Error).name === "TimeoutError"
      judge.count(ofPolling, isLate ? "waits" : "cut")
      if (isLate && waitMs === answerMs) judge.fault(ofPolling, `no answer to ${asked}`)
      return null
    }
  }

  /** Opens a WebSocket, sends packets and then others, and leaves. */
  private async socket(query: string, first: Packet[], then: Packet[]) {
    const { judge, url } = this.client
    const socket = new WebSocket(`${url.replace("http", "ws")}${this.#path}${query}`, { headers: this.#headers })
    socket.on("error", () => {})
    socket.on("message", (data) => judge.text(ofSocket, String(data)))
    const closed = happens(socket, "close")
    await Promise.race([happens(socket, "open"), closed, sleep(answerMs)])
    for (const packet of [...first, ...then]) {
      if (socket.readyState !== WebSocket.OPEN) break
      socket.send(packet)
      judge.count(ofSocket, "sent")
    }
    await Promise.race([closed, sleep(quietMs)])
    judge.count(ofSocket, socket.readyState === WebSocket.OPEN ? "open" : "closed")
    if (this.script.isReset) socket.terminate()
    else socket.close()
    await Promise.race([closed, sleep(answerMs)])
    const code = await Promise.race([closed, sleep(0, 1006)])
    if (code === 1011) judge.fault(ofSocket, "closed with 1011")
    socket.terminate()
  }
}
