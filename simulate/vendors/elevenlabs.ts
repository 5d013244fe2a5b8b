import { createHmac } from "node:crypto"
import { v7 } from "uuid"
import { Faults } from "../kit/faults.js"
import { type VendorAnswer, type VendorCall, VendorServer } from "../kit/vendor-server.js"

// biome-ignore lint/suspicious/noExplicitAny: bodies as the platform sends them.
type Json = any

/** A conversation of the stand-in, which a dial begins. */
export interface VendorConversation {
  conversation_id: string
  agent_id: string
  user_id: string
  status: "initiated" | "in-progress" | "processing" | "done" | "failed"
  transcript: { role: "user" | "agent"; message: string | null; time_in_call_secs: number }[]
  metadata: { call_duration_secs?: number; termination_reason?: string; error?: unknown; phone_call: { call_sid: string } }
}

/** How a conversation ends. */
export interface VendorEnd {
  status?: "done" | "failed"
  reason?: string
  seconds?: number
  said?: ["user" | "agent", string][]
}

/** Stand-in of ElevenLabs: agents, tools, secrets, numbers, calls and conversations. A test says how each call goes on. */
export class ElevenLabsVendor {
  readonly faults: Faults
  readonly server: VendorServer
  readonly agents = new Map<string, Json>()
  readonly tools = new Map<string, Json>()
  readonly secrets = new Map<string, { name: string; value: string }>()
  readonly conversations = new Map<string, VendorConversation>()
  /** The bodies of dials that were carried out, in order. */
  readonly dialed: Json[] = []
  numbers = [{ phone_number_id: "number-1", phone_number: "+15550100", provider: "twilio", supports_outbound: true }]
  /** Called after a dial was carried out and before it is answered, with the ID that the conversation has then. */
  onDialed: (conversation: VendorConversation) => void | Promise<void> = () => {}
  private readonly apiKey: string
  readonly webhookSecret: string
  private count = 0

  constructor({ apiKey = "key", webhookSecret = "webhook secret", faults = new Faults() } = {}) {
    this.apiKey = apiKey
    this.webhookSecret = webhookSecret
    this.faults = faults
    const words = {
      tooMany: (seconds: number) => ({ ...refusal(429, "too_many_concurrent_requests"), headers: { "retry-after": String(seconds) } }),
      broken: () => refusal(500, "internal_error"),
      unknown: () => refusal(404, "not_found"),
    }
    const base = "/v1/convai"
    const known =
      (route: (call: VendorCall) => VendorAnswer | Promise<VendorAnswer>) =>
      (call: VendorCall): VendorAnswer | Promise<VendorAnswer> =>
        call.headers["xi-api-key"] === this.apiKey ? route(call) : refusal(401, "invalid_api_key")
    const routes = {
      [`POST ${base}/agents/create`]: known(({ json }) => ({ json: { agent_id: this.add(this.agents, "agent", json) } })),
      [`GET ${base}/agents`]: known(({ query }) => ({
        json: {
          agents: [...this.agents].flatMap(([agent_id, { name }]) =>
            name.includes(query.get("search") ?? "") ? [{ agent_id, name }] : [],
          ),
        },
      })),
      [`GET ${base}/agents/:id`]: known(({ params }) => this.shown(this.agents, "agent_id", params["id"]!)),
      [`PATCH ${base}/agents/:id`]: known(({ params, json }) => this.patched(this.agents, "agent_id", params["id"]!, json)),
      [`DELETE ${base}/agents/:id`]: known(({ params }) => (this.agents.delete(params["id"]!) ? { json: {} } : refusal(404, "not_found"))),
      [`POST ${base}/tools`]: known(({ json }) => ({ json: { id: this.add(this.tools, "tool", json) } })),
      [`PATCH ${base}/tools/:id`]: known(({ params, json }) => this.patched(this.tools, "id", params["id"]!, json)),
      [`DELETE ${base}/tools/:id`]: known(({ params }) => (this.tools.delete(params["id"]!) ? { json: {} } : refusal(404, "not_found"))),
      [`GET ${base}/secrets`]: known(() => ({
        json: { secrets: [...this.secrets].map(([secret_id, { name }]) => ({ secret_id, name })) },
      })),
      [`POST ${base}/secrets`]: known(({ json }) => ({ json: { secret_id: this.add(this.secrets, "secret", json) } })),
      [`GET ${base}/phone-numbers`]: known(() => ({ json: this.numbers })),
      [`POST ${base}/twilio/outbound-call`]: known(({ json }) => this.dial(json, "callSid")),
      [`POST ${base}/sip-trunk/outbound-call`]: known(({ json }) => this.dial(json, "sip_call_id")),
      [`GET ${base}/conversations`]: known(({ query }) => ({
        json: { conversations: [...this.conversations.values()].filter(({ user_id }) => user_id === query.get("user_id")) },
      })),
      [`GET ${base}/conversations/:id`]: known(({ params }) => {
        const conversation = this.conversations.get(params["id"]!)
        return conversation ? { json: conversation } : refusal(404, "not_found")
      }),
      [`GET ${base}/conversations/:id/audio`]: known(({ params }) =>
        this.conversations.get(params["id"]!)?.status === "done"
          ? { headers: { "content-type": "audio/mpeg" }, body: mp3 }
          : refusal(404, "not_found"),
      ),
    }
    this.server = new VendorServer(routes, words, { faults })
  }

  /** The customer answers. */
  answer(conversation: VendorConversation) {
    conversation.status = "in-progress"
  }

  /** The call ends. */
  end(
    conversation: VendorConversation,
    { status = "done", reason = "Call ended by remote party", seconds = 30, said = [] }: VendorEnd = {},
  ) {
    conversation.status = status
    conversation.transcript = said.map(([role, message], index) => ({ role, message, time_in_call_secs: index * 2 }))
    Object.assign(conversation.metadata, { call_duration_secs: seconds, termination_reason: reason })
  }

  /** The request of a webhook, rightly signed. */
  webhook(type: string, data: object, now = new Date(), secret = this.webhookSecret): { body: string; headers: Record<string, string> } {
    const body = JSON.stringify({ type, event_timestamp: Math.floor(now.getTime() / 1000), data })
    return { body, headers: { "content-type": "application/json", "elevenlabs-signature": this.signature(body, now, secret) } }
  }

  /** The signature of the body of a webhook. */
  signature(body: string | Buffer, now = new Date(), secret = this.webhookSecret): string {
    const time = Math.floor(now.getTime() / 1000)
    return `t=${time},v0=${createHmac("sha256", secret).update(`${time}.`).update(body).digest("hex")}`
  }

  private async dial(json: Json, reference: "callSid" | "sip_call_id"): Promise<VendorAnswer> {
    const { agent_id, to_number, conversation_initiation_client_data: client = {} } = json
    if (!this.agents.has(agent_id)) return refusal(404, "agent_not_found")
    if (!/^\+\d+$/.test(to_number)) return { status: 422, json: { detail: [{ loc: ["body", "to_number"], msg: "invalid number" }] } }
    const id = `conv_${++this.count}`
    const sid = `CA${v7().replaceAll("-", "")}`
    const conversation: VendorConversation = {
      ...{ conversation_id: id, agent_id, user_id: client.user_id, status: "initiated", transcript: [] },
      metadata: { phone_call: { call_sid: sid } },
    }
    this.dialed.push(json)
    this.conversations.set(id, conversation)
    await this.onDialed(conversation)
    return { json: { success: true, message: "Success", conversation_id: conversation.conversation_id, [reference]: sid } }
  }

  private add(kept: Map<string, Json>, kind: string, json: Json): string {
    const id = `${kind}_${++this.count}`
    kept.set(id, json)
    return id
  }

  private shown(kept: Map<string, Json>, key: string, id: string): VendorAnswer {
    const known = kept.get(id)
    return known ? { json: { [key]: id, ...known } } : refusal(404, "not_found")
  }

  private patched(kept: Map<string, Json>, key: string, id: string, json: Json): VendorAnswer {
    if (!kept.has(id)) return refusal(404, "not_found")
    kept.set(id, { ...kept.get(id), ...json })
    return this.shown(kept, key, id)
  }
}

const refusal = (status: number, code: string): VendorAnswer => ({ status, json: { detail: { status: code, message: code } } })

/** A short MP3: silent frames of MPEG-1 layer III, 128 kbit/s, 44.1 kHz. */
const mp3 = Buffer.concat(Array.from({ length: 4 }, () => Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(413)])))
