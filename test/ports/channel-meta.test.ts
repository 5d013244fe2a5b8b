import { createHmac } from "node:crypto"
import { challenge, faultOf, partIdOf, verify } from "../../src/ports/channel/meta.js"
import { failureOf, readError } from "../../src/ports/channel/meta-errors.js"

const account = {
  companyId: "0199bbbb-0000-7000-8000-000000000000",
  connectionId: "c",
  externalId: "1",
  name: "Shop",
  credentials: { pageAccessToken: "EAAtoken", appSecret: "app-secret", verifyToken: "verify me" },
}

describe("the signature of Meta's requests", () => {
  const body = Buffer.from('{"object":"page","text":"\\u00e4"}')
  const signed = `sha256=${createHmac("sha256", "app-secret").update(body).digest("hex")}`
  const isTaken = (given: string | string[] | undefined, bytes = body) =>
    verify({ headers: { "x-hub-signature-256": given }, body: bytes }, account)

  it("is taken over the raw bytes", () => {
    expect(isTaken(signed)).toBe(true)
    expect(isTaken(signed, Buffer.from(`${body} `))).toBe(false)
  })

  it.each([
    ["another secret's", `sha256=${createHmac("sha256", "other").update(body).digest("hex")}`],
    ["one without its scheme", signed.slice(7)],
    ["a shorter one", signed.slice(0, -1)],
    ["a longer one", `${signed}0`],
    ["an empty one", ""],
    ["a repeated header", [signed, signed]],
    ["none", undefined],
  ])("%s is refused", (_name, given) => expect(isTaken(given)).toBe(false))

  it("is refused when the connection has no secret", () => {
    const empty = `sha256=${createHmac("sha256", "").update(body).digest("hex")}`
    const without = { ...account, credentials: { ...account.credentials, appSecret: "" } }
    expect(verify({ headers: { "x-hub-signature-256": empty }, body }, without)).toBe(false)
  })
})

describe("the challenge", () => {
  const asked = (changes: Record<string, string>) =>
    challenge(
      new URLSearchParams({ "hub.mode": "subscribe", "hub.verify_token": "verify me", "hub.challenge": "1158201444", ...changes }),
      account,
    )

  it("is returned for the token", () => expect(asked({})).toBe("1158201444"))
  it.each([
    ["hub.mode", "unsubscribe"],
    ["hub.verify_token", "verify you"],
    ["hub.verify_token", ""],
  ])("is not returned for %s %j", (name, value) => expect(asked({ [name]: value })).toBeNull())
  it("is not returned when the query is empty", () => expect(challenge(new URLSearchParams(), account)).toBeNull())
})

it("credentials that no header can carry are refused", () => {
  expect(faultOf(account.credentials)).toBeNull()
  expect(faultOf({ ...account.credentials, pageAccessToken: "two\nlines" })).toBe("pageAccessToken must be printable ASCII without spaces")
  expect(faultOf({ ...account.credentials, appSecret: "" })).toBe("appSecret must be printable ASCII without spaces")
})

it("only what has the form of a part ID is read as one", () => {
  expect(partIdOf("0198c3f2-1c2d-7000-8000-000000000000-2")).toBe("0198c3f2-1c2d-7000-8000-000000000000-2")
  for (const other of ["", "a b", "x".repeat(65), "campaign=7", 7, null, { a: 1 }]) expect(partIdOf(other)).toBeUndefined()
})

describe("errors", () => {
  const failure = (error: unknown, status = 400, headers: Record<string, string> = {}) =>
    failureOf({ status, headers: new Headers(headers), json: { error }, text: "" }, ["EAAtoken", "app-secret"])!

  it.each([
    [190, undefined, "credentials", "CREDENTIALS_REFUSED"],
    [102, undefined, "credentials", "CREDENTIALS_REFUSED"],
    [0, undefined, "credentials", "CREDENTIALS_REFUSED"],
    [190, 463, "credentials", "CREDENTIALS_REFUSED"],
    [3, undefined, "permanent", "CREDENTIALS_REFUSED"],
    [10, undefined, "permanent", "CREDENTIALS_REFUSED"],
    [200, undefined, "permanent", "CREDENTIALS_REFUSED"],
    [299, undefined, "permanent", "CREDENTIALS_REFUSED"],
    [131005, undefined, "permanent", "CREDENTIALS_REFUSED"],
    [1, undefined, "retry", "CHANNEL_UNAVAILABLE"],
    [2, undefined, "retry", "CHANNEL_UNAVAILABLE"],
    [131000, undefined, "retry", "CHANNEL_UNAVAILABLE"],
    [131016, undefined, "retry", "CHANNEL_UNAVAILABLE"],
    [131057, undefined, "retry", "CHANNEL_UNAVAILABLE"],
    [1, 1357046, "doubt", "CHANNEL_UNAVAILABLE"],
    [4, undefined, "retry", "RATE_LIMITED"],
    [17, undefined, "retry", "RATE_LIMITED"],
    [32, undefined, "retry", "RATE_LIMITED"],
    [341, undefined, "retry", "RATE_LIMITED"],
    [613, undefined, "retry", "RATE_LIMITED"],
    [80007, undefined, "retry", "RATE_LIMITED"],
    [130429, undefined, "retry", "RATE_LIMITED"],
    [131056, undefined, "retry", "RATE_LIMITED"],
    [131048, undefined, "permanent", "RATE_LIMITED"],
    [131047, undefined, "permanent", "WINDOW_CLOSED"],
    [10, 2018278, "permanent", "WINDOW_CLOSED"],
    [10, 2534022, "permanent", "WINDOW_CLOSED"],
    [551, undefined, "permanent", "RECIPIENT_UNREACHABLE"],
    [551, 1545041, "permanent", "RECIPIENT_UNREACHABLE"],
    [100, 2018001, "permanent", "RECIPIENT_UNREACHABLE"],
    [100, 2534014, "permanent", "RECIPIENT_UNREACHABLE"],
    [200, 1545041, "permanent", "RECIPIENT_UNREACHABLE"],
    [131026, undefined, "permanent", "RECIPIENT_UNREACHABLE"],
    [131030, undefined, "permanent", "RECIPIENT_UNREACHABLE"],
    [131053, undefined, "permanent", "CONTENT_REFUSED"],
    [132001, undefined, "permanent", "CONTENT_REFUSED"],
    [100, 2018047, "permanent", "CONTENT_REFUSED"],
    [100, undefined, "permanent", "CONTENT_REFUSED"],
    [100, 33, "permanent", "CREDENTIALS_REFUSED"],
    [368, undefined, "permanent", "REFUSED"],
    [131049, undefined, "permanent", "REFUSED"],
    [300, undefined, "permanent", "REFUSED"],
  ])("%i/%s is %s, %s", (code, subcode, kind, expected) => {
    // The status is the same, because the code decides.
    expect(failure({ code, error_subcode: subcode, message: "Words" }).options).toMatchObject({ kind, code: expected })
  })

  it("without a known code the status decides", () => {
    expect(failure({ code: 999999 }, 503).options).toEqual({ kind: "retry", code: "CHANNEL_UNAVAILABLE" })
    expect(failure({ code: 999999 }, 429).options).toEqual({ kind: "retry", code: "RATE_LIMITED" })
    expect(failure({ code: 999999 }, 404).options).toEqual({ kind: "permanent", code: "REFUSED" })
    expect(failure({ code: 131026 }, 500).options).toEqual({ kind: "permanent", code: "RECIPIENT_UNREACHABLE" })
  })

  it("a response without an error of Meta's is judged by its status", () => {
    const of = (status: number) => failureOf({ status, headers: new Headers(), json: undefined, text: "<html>" }, [])
    expect(of(502)).toMatchObject({ message: "502: no explanation", options: { kind: "retry" } })
    expect(of(404)).toMatchObject({ message: "404: no explanation", options: { kind: "permanent" } })
    expect(of(200)).toBeNull()
  })

  it("an error with a status of success is an error", () => {
    expect(failure({ code: 131026, message: "Undeliverable" }, 200).options.kind).toBe("permanent")
  })

  it("a refused proof of the app secret can be repaired by new credentials alone", () => {
    const words = "Invalid appsecret_proof provided in the API argument"
    expect(failure({ code: 100, message: words })).toMatchObject({ message: `100: ${words}`, options: { kind: "credentials" } })
  })

  it("the message is Meta's code and words", () => {
    const details = "Message failed to send because more than 24 hours have passed since the customer last replied to this number."
    expect(failure({ code: 131047, message: "(#131047) Re-engagement message", error_data: { details } }).message).toBe(
      `131047: Re-engagement message: ${details}`,
    )
    expect(failure({ code: 10, error_subcode: 2018278, message: "(#10) This message is sent outside of allowed window." }).message).toBe(
      "10/2018278: This message is sent outside of allowed window.",
    )
    expect(readError({ code: 131026, title: "Message undeliverable" }, []).message).toBe("131026: Message undeliverable")
    expect(readError({}, []).message).toBe("unknown: no message")
  })

  it("the message has no secret and no end of its own choice", () => {
    const { message } = failure({ code: 190, message: "Malformed access token EAAtoken and EAAGm0PX4ZCpsBA of app-secret\n\nbye" })
    expect(message).toBe("190: Malformed access token [secret] and [secret] of [secret] bye")
    expect(failure({ code: 190, message: "x".repeat(10_000) }).message).toHaveLength(305)
  })

  it("the wait is Meta's, in minutes, of the account that waits longest", () => {
    const usage = (minutes: number) => ({ type: "whatsapp", call_count: 100, estimated_time_to_regain_access: minutes })
    const headers = { "x-business-use-case-usage": JSON.stringify({ "106540352242922": [usage(2)], "1": [usage(19), usage(0)] }) }
    expect(failure({ code: 80007 }, 400, headers).options.retryAfterMs).toBe(19 * 60 * 1000)
    expect(failure({ code: 100 }, 400, headers).options.retryAfterMs).toBeUndefined()
  })

  it("without one there is no wait, except after too many messages to one person", () => {
    expect(failure({ code: 80007 }, 400, { "x-business-use-case-usage": "{" }).options).toEqual({ kind: "retry", code: "RATE_LIMITED" })
    expect(failure({ code: 131056 }).options.retryAfterMs).toBe(6000)
  })
})
