import fc, { type Arbitrary } from "fast-check"
import { type Generated, single, strangeHeaders } from "./generated.js"
import { hookBodies } from "./hook-bodies.js"
import { withHostile } from "./hostile-values.js"
import { type SigningMessenger, signingMessengers } from "./messengers.js"
import { Ref } from "./pools.js"

const reference = (kind: string) => fc.nat(1_000).map((n) => new Ref(kind, n))

const visit = fc.record({
  text: fc.nat(1_000).map((n) => `Hello ${n}`),
  name: fc.constantFrom("A visitor", null),
  messageId: fc.oneof(
    fc.constant(null),
    fc.nat(30).map((n) => `message-${n}`),
  ),
  visitorToken: fc.oneof(fc.constant(null), reference("visitorToken")),
  // Its own files, those of others, and the company's, which a visitor must not send.
  mediaIds: fc.oneof(
    { arbitrary: fc.constant(undefined), weight: 3 },
    { arbitrary: fc.array(reference("VisitorMedia"), { maxLength: 3 }), weight: 3 },
    { arbitrary: fc.tuple(reference("Media")), weight: 1 },
  ),
})

const messengers = ["widget", "telegram-bot", "whatsapp-business", "messenger", "gmail", "custom-messenger", "unknown", "__proto__", "%00"]

/** Messages on hooks: of the widget most often, of other messengers, and of unknown ones. */
export const hookRequests: Arbitrary<Generated> = fc
  .tuple(
    fc.oneof({ arbitrary: visit, weight: 4 }, { arbitrary: withHostile(visit), weight: 6 }),
    fc.oneof({ arbitrary: fc.constant("widget"), weight: 8 }, { arbitrary: fc.constantFrom(...messengers), weight: 2 }),
    fc.oneof(
      { arbitrary: reference("Channel"), weight: 9 },
      { arbitrary: fc.constantFrom(new Ref("Channel", 0, "foreign"), new Ref("Chat", 0), "x", "%ff", "%2e%2e"), weight: 1 },
    ),
    strangeHeaders,
  )
  .map(([body, messenger, id, headers]) =>
    single({
      build: ({ company: { pools } }) => ({
        key: messenger === "widget" ? "Hook widget" : "Hook of another messenger",
        credential: "none",
        method: "POST",
        // A foreign connection belongs to another company: what it answers is that company's affair.
        path: `/hooks/${messenger}/${id instanceof Ref ? pools.valueOf(id) : id}`,
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(pools.resolved(body)) ?? "",
      }),
      learn({ company: { pools } }, { status, body: answer }) {
        if (status === 201) pools.add("visitorToken", answer.visitorToken)
      },
    }),
  )

/** How often a signature is right, and what else it is. */
const signatures = fc.oneof(
  { arbitrary: fc.constant("right" as const), weight: 18 },
  { arbitrary: fc.constantFrom("missing" as const, "of another body" as const), weight: 1 },
)

/** Bodies of a messenger's vendor, rightly signed with few exceptions. */
const signedRequests = (messenger: SigningMessenger): Arbitrary<Generated> =>
  fc.tuple(hookBodies[messenger], signatures, strangeHeaders).map(([body, signature, headers]) =>
    single({
      build: ({ company: { pools, hooks } }) => {
        const { path, sign } = hooks[messenger]
        const text = JSON.stringify(pools.resolved(body)) ?? ""
        const signed = signature === "missing" ? {} : sign(signature === "right" ? text : `${text} `)
        return {
          key: `Hook ${messenger}`,
          credential: "none",
          method: "POST",
          path,
          headers: { "content-type": "application/json", ...headers, ...signed },
          body: text,
        }
      },
    }),
  )

/** What the vendors of messengers send to their hooks. */
export const vendorRequests: Arbitrary<Generated> = fc.oneof(...signingMessengers.map(signedRequests))
