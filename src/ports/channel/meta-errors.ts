import { ChannelFailure, type FailureCode } from "../channel.js"
import { type JsonObject, numberOf, objectOf, objectsOf, stringOf } from "../kit/untrusted-json.js"
import { jsonOf, type VendorResponse } from "../kit/vendor-http.js"
import { portLimits } from "../limits.js"

type Verdict = readonly [kind: ChannelFailure["options"]["kind"], code: FailureCode]

const overloaded: Verdict = ["retry", "CHANNEL_UNAVAILABLE"]
const tooFast: Verdict = ["retry", "RATE_LIMITED"]
const windowClosed: Verdict = ["permanent", "WINDOW_CLOSED"]
const unreachable: Verdict = ["permanent", "RECIPIENT_UNREACHABLE"]
const badContent: Verdict = ["permanent", "CONTENT_REFUSED"]
const notPermitted: Verdict = ["permanent", "CREDENTIALS_REFUSED"]
const badToken: Verdict = ["credentials", "CREDENTIALS_REFUSED"]

/** What Meta's error codes mean, `code/subcode` before `code`. The status of the response says less. */
const verdicts: Readonly<Record<string, Verdict>> = {
  0: badToken,
  102: badToken,
  190: badToken,
  3: notPermitted,
  10: notPermitted,
  131005: notPermitted,
  1: overloaded,
  2: overloaded,
  131000: overloaded,
  131016: overloaded,
  131057: overloaded,
  // "An unknown error occurred", although the message was sent.
  "1/1357046": ["doubt", "CHANNEL_UNAVAILABLE"],
  4: tooFast,
  17: tooFast,
  32: tooFast,
  341: tooFast,
  613: tooFast,
  80007: tooFast,
  130429: tooFast,
  131056: tooFast,
  // Blocked after complaints about spam: sending again makes it worse.
  131048: ["permanent", "RATE_LIMITED"],
  131047: windowClosed,
  "10/2018278": windowClosed,
  "10/2534022": windowClosed,
  551: unreachable,
  "100/2018001": unreachable,
  "100/2534014": unreachable,
  "200/1545041": unreachable,
  131026: unreachable,
  131030: unreachable,
  // The number or page does not exist, or the token does not reach it.
  "100/33": notPermitted,
  100: badContent,
  131008: badContent,
  131009: badContent,
  131051: badContent,
  131052: badContent,
  131053: badContent,
  132000: badContent,
  132001: badContent,
  132005: badContent,
  132007: badContent,
  132012: badContent,
  132015: badContent,
  132016: badContent,
}

/** An error of the Graph API, or of a WhatsApp status: what it means, and Meta's code and words without `secrets`. */
export function readError(error: JsonObject, secrets: readonly string[]): { verdict: Verdict | null; message: string } {
  const code = numberOf(error["code"])
  const subcode = numberOf(error["error_subcode"])
  const words = (stringOf(error["message"]) ?? stringOf(error["title"]) ?? "no message").replace(/^\(#\d+\) /, "")
  const details = stringOf(objectOf(error["error_data"])["details"])
  const name = subcode ? `${code}/${subcode}` : String(code ?? "unknown")
  const text = details && details !== words ? `${words}: ${details}` : words
  return { verdict: verdictOf(code, subcode, words), message: `${name}: ${withoutSecrets(text, secrets)}` }
}

function verdictOf(code: number | null, subcode: number | null, words: string): Verdict | null {
  // Has the code of every bad parameter, but is repaired by new credentials alone.
  if (code === 100 && words.includes("appsecret_proof")) return badToken
  const known = verdicts[`${code}/${subcode}`] ?? verdicts[`${code}`]
  if (known) return known
  return code !== null && code >= 200 && code <= 299 ? notPermitted : null
}

/** The failure that a response of the Graph API stands for; null when it is a success. */
export function failureOf({ status, json, headers, retryAfterMs }: VendorResponse, secrets: readonly string[]): ChannelFailure | null {
  const error = objectOf(json)["error"] ?? null
  if (error === null && status < 300) return null
  const { verdict, message } =
    error === null ? { verdict: null, message: `${status}: no explanation` } : readError(objectOf(error), secrets)
  const [kind, code] = verdict ?? (status >= 500 ? overloaded : status === 429 ? tooFast : (["permanent", "REFUSED"] as const))
  const wait = retryAfterMs ?? regainMs(headers) ?? (message.startsWith("131056:") ? portLimits.whatsappPairMs : undefined)
  return new ChannelFailure(message, { kind, code, ...(kind === "retry" && wait !== undefined && { retryAfterMs: wait }) })
}

/** Meta's own field for the wait: minutes, for each account that the app uses. */
function regainMs(headers: Headers): number | undefined {
  const minutes = Object.values(objectOf(jsonOf(headers.get("x-business-use-case-usage") ?? "")))
    .flatMap(objectsOf)
    .map((usage) => numberOf(usage["estimated_time_to_regain_access"]) ?? 0)
  const longest = Math.max(0, ...minutes)
  return longest > 0 ? Math.round(longest * 60 * 1000) : undefined
}

// Meta repeats a token in the message that refuses it ("Malformed access token EAAG…").
function withoutSecrets(words: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret !== "")
    .reduce((shown, secret) => shown.replaceAll(secret, "[secret]"), words)
    .replace(/\bEAA\w+/g, "[secret]")
    .replace(/\s+/g, " ")
    .slice(0, portLimits.failureCharacters)
}
