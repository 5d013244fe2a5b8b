import fc, { type Arbitrary } from "fast-check"
import { type Generated, single, strangeHeaders } from "./generated.js"
import { withHostile } from "./hostile-values.js"
import { type Owner, type Pools, Ref } from "./pools.js"
import { callNames, type Voice } from "./voice.js"

/** The hooks of voice providers; each has to be run. */
export const voiceHooks = ["Hook voice", "Hook voice tools"] as const

const some = <T>(value: Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 })
const words = fc.constantFrom("Hello", "Де моє замовлення? 🙂", "", " ", "\u0000", "x".repeat(5_000))
const seconds = fc.oneof(fc.nat(700), fc.constantFrom(-1, 0.5, 599, 600, 1e9))

/** The names of one call; a few name different calls, or one that is not known. */
const callOf = (owner: Owner) =>
  fc
    .tuple(
      fc.nat(1_000),
      fc.oneof({ arbitrary: fc.constant("same"), weight: 8 }, { arbitrary: fc.constantFrom("mixed", "unknown"), weight: 1 }),
    )
    .map(([n, kind]) => {
      const [callId, conversation, sid] = callNames.map((name, index) => new Ref(name, kind === "mixed" ? n + index : n, owner))
      return { callId, sid, conversation: kind === "unknown" ? `conv_unknown_${n}` : conversation }
    })

const reason = fc.constantFrom(
  "Call ended by remote party",
  "end_call tool was called.",
  "voicemail_detection tool was called.",
  "Conversation ended after 30 seconds of silence",
  "no answer - timeout",
  "This request exceeds your quota",
  "Client disconnected: 1006",
  "something else",
)
const said = fc.record({
  role: fc.constantFrom("user", "agent"),
  message: fc.option(words, { freq: 6 }),
  time_in_call_secs: seconds,
  tool_calls: some(fc.constant([])),
})

/** What the provider reports after a call; `owner` says whose call it names. */
const transcription = (owner: Owner) =>
  fc
    .tuple(
      callOf(owner),
      fc.constantFrom("done", "done", "done", "done", "failed", "processing", "in-progress", "initiated"),
      fc.array(said, { maxLength: 5 }),
      fc.record({
        call_duration_secs: some(seconds),
        termination_reason: some(reason),
        error: fc.option(fc.constant({ code: 1008 }), { freq: 5 }),
      }),
      fc.boolean(),
    )
    .map(([{ callId, conversation, sid }, status, transcript, metadata, isUser]) => ({
      type: "post_call_transcription",
      event_timestamp: 1,
      data: {
        ...{ agent_id: "agent", conversation_id: conversation, status, transcript },
        ...(isUser && { user_id: callId }),
        metadata: { ...metadata, phone_call: { call_sid: sid } },
        conversation_initiation_client_data: { user_id: callId, dynamic_variables: { call_id: callId } },
      },
    }))

/** What it reports of a call that was not connected. */
const initiationFailure = (owner: Owner) =>
  fc
    .tuple(callOf(owner), fc.constantFrom("busy", "no-answer", "unknown"), some(fc.constantFrom(404, 408, 480, 486, 600)))
    .map(([{ callId, conversation, sid }, failure_reason, sip_status_code]) => ({
      type: "call_initiation_failure",
      event_timestamp: 1,
      data: {
        conversation_id: conversation,
        user_id: callId,
        failure_reason,
        metadata: { type: "twilio", body: { CallSid: sid, sip_status_code } },
      },
    }))

const report = (owner: Owner): Arbitrary<unknown> => {
  const valid = fc.oneof(
    { arbitrary: transcription(owner), weight: 6 },
    { arbitrary: initiationFailure(owner), weight: 3 },
    {
      arbitrary: callOf(owner).map(({ conversation }) => ({ type: "post_call_audio", data: { conversation_id: conversation } })),
      weight: 1,
    },
  )
  return fc.oneof({ arbitrary: valid, weight: 3 }, { arbitrary: withHostile<unknown>(valid), weight: 7 })
}

type Sign = (voice: Voice, body: string) => Record<string, string>

const signedWith =
  (signature: (voice: Voice, body: string) => string): Sign =>
  (voice, body) => ({ "elevenlabs-signature": signature(voice, body) })
const minutesAway = (minutes: number) => new Date(Date.now() + minutes * 60_000)

const right = signedWith(({ vendor }, body) => vendor.signature(body))
/** Among several signatures one is right; its letters may be large ones. */
const unusual = [
  signedWith(({ vendor }, body) => vendor.signature(body).replace(",", `,v0=${"0".repeat(64)},v0=x,v1=,`)),
  signedWith(({ vendor }, body) => vendor.signature(body).replace(/v0=.*/, (signature) => `v0=${signature.slice(3).toUpperCase()}`)),
]
const wrong: Sign[] = [
  () => ({}),
  signedWith(({ vendor }, body) => vendor.signature(`${body} `)),
  signedWith(({ vendor }, body) => vendor.signature(body, new Date(), "another secret")),
  signedWith(({ vendor }, body) => vendor.signature(body, minutesAway(-31))),
  signedWith(({ vendor }, body) => vendor.signature(body, minutesAway(2))),
  signedWith(({ vendor }, body) => vendor.signature(body).replace("t=", "t=9")),
  signedWith(({ vendor }, body) => vendor.signature(body).replace("v0", "__proto__")),
  signedWith(({ vendor }, body) => vendor.signature(body).slice(0, -2)),
  ...["", ",", "=", "t=,v0=", "t=NaN,v0=zz", `t=${"9".repeat(400)},v0=00`, `t=1,${"v0=00,".repeat(1_000)}`, "\u00ff\u00fe=\u00ff"].map(
    (header) => signedWith(() => header),
  ),
]

/** Texts that are no object of JSON, and large ones; undefined, most often, for a generated body. */
const otherText = (most: number): Arbitrary<(() => string) | undefined> =>
  fc.oneof(
    { arbitrary: fc.constant(undefined), weight: 400 },
    {
      arbitrary: fc
        .constantFrom(
          "",
          "{",
          "null",
          "[]",
          "1",
          '"text"',
          "\uFEFF{}",
          '{"type":"post_call_transcription"}',
          '{"data":null}',
          '{"data":"x"}',
          "[".repeat(100_000),
        )
        .map((text) => () => text),
      weight: 20,
    },
    { arbitrary: fc.constant(() => "x".repeat(most + 1)), weight: 1 },
    { arbitrary: fc.constant(() => `{"a":"${"x".repeat(most / 8)}"}`), weight: 1 },
  )

const providers = ["simulated", "ELEVENLABS", "unknown", "__proto__", "constructor", "%00", "%ff", "elevenlabs%2f"]
const provider = fc.oneof({ arbitrary: fc.constant("elevenlabs"), weight: 30 }, { arbitrary: fc.constantFrom(...providers), weight: 1 })
const keyOf = (key: string, name: string) => (name === "elevenlabs" ? key : "Hook of another voice provider")

/** A body and its signature: what is rightly signed is about calls of the company, anything else may be about the other company's. */
const signedReport = fc.oneof(
  {
    arbitrary: fc.tuple(
      report("ours"),
      fc.oneof({ arbitrary: fc.constant(right), weight: 15 }, { arbitrary: fc.constantFrom(...unusual), weight: 1 }),
    ),
    weight: 16,
  },
  { arbitrary: fc.tuple(fc.oneof(report("foreign"), report("ours")), fc.constantFrom(...wrong)), weight: 4 },
)

const reports: Arbitrary<Generated> = fc
  .tuple(provider, signedReport, otherText(16 * 1024 * 1024), strangeHeaders)
  .map(([name, [body, sign], other, headers]) =>
    single({
      build({ company: { pools, voice } }) {
        const text = other?.() ?? JSON.stringify(pools.resolved(body)) ?? ""
        return {
          ...{ key: keyOf("Hook voice", name), credential: "none", method: "POST", path: `/hooks/voice/${name}`, body: text },
          headers: { "content-type": "application/json", ...headers, ...sign(voice, text) },
        }
      },
    }),
  )

const toolBody = fc.record({
  call_id: fc.nat(1_000).map((n) => new Ref("dialed call", n)),
  order: fc.constantFrom("A-1", "", "x".repeat(5_000)),
  count: fc.nat(10),
})
const foreignCall = toolBody.map((body) => ({ ...body, call_id: new Ref("dialed call", 0, "foreign") }))

/** The headers of a tool's secret; the other company's is never known. */
const secrets: Arbitrary<(pools: Pools) => Record<string, string>> = fc.oneof(
  { arbitrary: fc.constant((pools: Pools) => ({ "x-voice-tool-secret": pools.valueOf(new Ref("tool secret", 0)) })), weight: 16 },
  {
    arbitrary: fc
      .constantFrom("", "0", "zz", "0".repeat(64), "\u00ff", "f".repeat(5_000))
      .map((value) => (): Record<string, string> => (value ? { "x-voice-tool-secret": value } : {})),
    weight: 2,
  },
)

/** Tools, and what else stands at their place in the path. */
const tools: Arbitrary<Ref | string> = fc.oneof(
  { arbitrary: fc.constant(new Ref("voice tool", 0)), weight: 16 },
  { arbitrary: fc.constantFrom(new Ref("voice tool", 0, "foreign"), new Ref("Chat", 0), "x", "%ff", "%00", "__proto__"), weight: 2 },
)

const toolCalls: Arbitrary<Generated> = fc
  .tuple(
    ...([
      provider,
      tools,
      fc.oneof({ arbitrary: toolBody, weight: 4 }, { arbitrary: foreignCall, weight: 1 }, { arbitrary: withHostile(toolBody), weight: 6 }),
      secrets,
      otherText(1024 * 1024),
      strangeHeaders,
    ] as const),
  )
  .map(([name, tool, body, secretOf, other, headers]) =>
    single({
      build({ company: { pools } }) {
        const id = tool instanceof Ref ? pools.valueOf(tool) : tool
        const text = other?.() ?? JSON.stringify(pools.resolved(body)) ?? ""
        return {
          ...{
            key: keyOf("Hook voice tools", name),
            credential: "none",
            method: "POST",
            path: `/hooks/voice/${name}/tools/${id}`,
            body: text,
          },
          headers: { "content-type": "application/json", ...headers, ...secretOf(pools) },
        }
      },
    }),
  )

/** A call, which the stand-in dials: later reports and tools name it. */
const calls: Arbitrary<Generated> = fc.nat(9_999).map((n) =>
  single({
    build: ({ company: { pools } }) => ({
      key: "REST POST /api/assistants/{id}/originate",
      credential: "token",
      method: "POST",
      path: `/api/assistants/${pools.valueOf(new Ref("voice assistant", 0))}/originate`,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ phoneNumber: `+49151${String(n).padStart(8, "0")}` }),
    }),
  }),
)

/** What a voice provider sends: reports of calls, and the tools that its agents call. */
export const voiceRequests: Arbitrary<Generated> = fc.oneof(
  { arbitrary: reports, weight: 5 },
  { arbitrary: toolCalls, weight: 3 },
  { arbitrary: calls, weight: 1 },
)
