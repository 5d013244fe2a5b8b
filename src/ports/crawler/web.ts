import { STATUS_CODES } from "node:http"
import { promisify } from "node:util"
import { brotliDecompress, gunzip } from "node:zlib"
import { fileTypeFromBuffer } from "file-type"
import { MIMEType } from "whatwg-mimetype"
import { type Crawler, CrawlFailure, type Page, type PageVersion } from "../crawler.js"
import { type GuardedHttpClient, GuardedRequestError, type GuardedResponse } from "../kit/guarded-http-client.js"
import { portLimits } from "../limits.js"

const redirects = new Set([301, 302, 303, 307, 308])
/** Statuses of temporary refusals: too slow, too early, too often. */
const passing = new Set([408, 425, 429])
const tooLarge = () => new CrawlFailure(`The page is larger than ${portLimits.crawlBytes / 1024 / 1024} MB`)

/** Fetches pages over HTTP without running their scripts. Each redirect is checked by the guarded HTTP client. */
export function webCrawler(httpClient: GuardedHttpClient): Crawler {
  return {
    async fetch(url, known, signal) {
      const deadline = performance.now() + portLimits.crawlMs
      const seen = new Set<string>()
      for (let address = new URL(url); ; ) {
        if (seen.has(address.href)) throw new CrawlFailure("The page redirects in a circle")
        if (seen.size > portLimits.crawlRedirects) throw new CrawlFailure(`The page redirects more than ${portLimits.crawlRedirects} times`)
        seen.add(address.href)
        const answer = await ask(httpClient, address, known, Math.max(1, Math.ceil(deadline - performance.now())), signal)
        if (redirects.has(answer.status)) address = target(answer, address)
        else if (answer.status === 304 && known) return null
        else return pageOf(answer)
      }
    },
  }
}

async function ask(httpClient: GuardedHttpClient, address: URL, known: PageVersion | null, timeoutMs: number, signal: AbortSignal) {
  const headers = {
    accept: "text/html, application/xhtml+xml, text/*;q=0.9, application/pdf;q=0.9, */*;q=0.5",
    "accept-encoding": "gzip, br",
    "user-agent": "Mozilla/5.0 (compatible; Service-Platform-API/1.0)",
    ...(known?.etag && { "if-none-match": known.etag }),
    ...(known?.lastModified && { "if-modified-since": known.lastModified }),
  }
  try {
    return await httpClient.request(address, { method: "GET", headers, timeoutMs, maxBytes: portLimits.crawlBytes, signal })
  } catch (error) {
    if (!(error instanceof GuardedRequestError)) throw error
    if (error.reason === "timeout") throw new CrawlFailure(`The page did not answer within ${portLimits.crawlMs / 1000} s`, true)
    throw new CrawlFailure(error.message, error.reason !== "refused")
  }
}

function target(answer: GuardedResponse, address: URL): URL {
  const location = header(answer, "location")
  if (!location || !URL.canParse(location, address.href)) throw new CrawlFailure("The page redirects to no address")
  const next = new URL(location, address)
  if (!/^https?:$/.test(next.protocol)) throw new CrawlFailure("The page redirects to an address that is neither http nor https")
  next.hash = next.username = next.password = ""
  return next
}

async function pageOf(answer: GuardedResponse): Promise<Page> {
  const { status, cut } = answer
  if (status < 200 || status >= 300) {
    const phrase = STATUS_CODES[status] ?? ""
    throw new CrawlFailure(`The page answered ${status} ${phrase}`.trim(), status >= 500 || passing.has(status))
  }
  if (cut) throw tooLarge()
  const bytes = await unpacked(answer)
  const given = MIMEType.parse(header(answer, "content-type") ?? "")
  return {
    bytes,
    type: await typeOf(bytes, given?.essence),
    charset: given?.parameters.get("charset") ?? null,
    etag: header(answer, "etag"),
    lastModified: header(answer, "last-modified"),
  }
}

const unpackers = new Map([
  ["gzip", promisify(gunzip)],
  ["x-gzip", promisify(gunzip)],
  ["br", promisify(brotliDecompress)],
])

async function unpacked(answer: GuardedResponse): Promise<Buffer> {
  const encoding = header(answer, "content-encoding")?.trim().toLowerCase()
  if (!encoding || encoding === "identity") return answer.body
  const unpack = unpackers.get(encoding)
  if (!unpack) throw new CrawlFailure("The page came in an encoding that was not asked for")
  try {
    return await unpack(answer.body, { maxOutputLength: portLimits.crawlBytes })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge()
    throw new CrawlFailure("The page came damaged", true)
  }
}

/** The media type that the server reports; if it reports none, the type that the content indicates. */
async function typeOf(bytes: Buffer, declared: string | undefined): Promise<string> {
  if (declared && declared !== "application/octet-stream") return declared
  const found = await fileTypeFromBuffer(bytes)
  if (found) return found.mime.split(";")[0]!
  return /^\s*</.test(bytes.toString("latin1", 0, portLimits.markupCharacters)) ? "text/html" : "text/plain"
}

function header({ headers }: GuardedResponse, name: string): string | null {
  const value = headers[name]
  return (Array.isArray(value) ? value[0] : value) ?? null
}
