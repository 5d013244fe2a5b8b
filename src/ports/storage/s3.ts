import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import type { Readable } from "node:stream"
import { setTimeout } from "node:timers/promises"
import { AwsV4Signer } from "aws4fetch"
import { Agent, type Dispatcher, request } from "undici"
import { childOf, childrenOf, ownText, parseXml } from "../kit/xml.js"
import { portLimits } from "../limits.js"
import { isStorageKey, type Storage, type StoredFile } from "../storage.js"

/** Connection to a bucket; an endpoint of null means Amazon S3. */
export interface BucketOptions {
  bucket: string
  endpoint: string | null
  region: string
  accessKeyId: string
  secretAccessKey: string
}

/** Prefix of every key, so that a bucket can contain other objects too. */
const prefix = "media/"

/** One request to a bucket. Its body is created for each try, because a stream can be read only once. */
interface BucketRequest {
  method: "GET" | "PUT" | "DELETE"
  /** The key in the bucket, or a query. */
  path: string
  headers?: Record<string, string>
  body?: () => Readable
}

type Send = (request: BucketRequest) => Promise<Dispatcher.ResponseData>

/** Thrown when the bucket responds with an error. */
class Refusal extends Error {
  override name = "BucketRefusal"

  constructor(
    readonly status: number,
    body: string,
  ) {
    super(`The bucket answered ${status} ${/<Code>(.*?)<\/Code>/s.exec(body)?.[1] ?? ""}`.trimEnd())
  }
}

/** Files in a bucket of Amazon S3, or of any server with its protocol. */
export function s3Storage(options: BucketOptions): Storage {
  const send = senderOf(options)
  return {
    async put(key, path) {
      const headers = { "content-length": String((await stat(path)).size) }
      await finish(await send({ method: "PUT", path: prefix + key, headers, body: () => createReadStream(path) }))
    },
    async read(key, range) {
      const headers: Record<string, string> = range ? { range: `bytes=${range.start}-${range.end}` } : {}
      const answer = await send({ method: "GET", path: prefix + key, headers }).catch(nullIfMissing)
      return answer?.body ?? null
    },
    async remove(keys) {
      await Promise.all(keys.map(async (key) => finish(await send({ method: "DELETE", path: prefix + key }))))
    },
    list: () => listed(send),
  }
}

/** Reads a response to its end, so that its connection can be reused. */
const finish = (answer: Dispatcher.ResponseData) => answer.body.dump()

function nullIfMissing(error: unknown): null {
  if (error instanceof Refusal && error.status === 404) return null
  throw error
}

/** URL of a bucket. Private servers rarely support bucket.host, and no certificate covers a name with dots. */
function addressOf({ bucket, endpoint, region }: BucketOptions): string {
  if (endpoint) return `${endpoint.replace(/\/$/, "")}/${bucket}`
  const host = `s3.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`
  return bucket.includes(".") ? `https://${host}/${bucket}` : `https://${bucket}.${host}`
}

/** Sends signed requests, with retries after errors of the server or the connection. Throws `Refusal` for every other error status. */
function senderOf(options: BucketOptions): Send {
  const { accessKeyId, secretAccessKey, region } = options
  const { storageTimeoutMs: timeout } = portLimits
  const dispatcher = new Agent({ connect: { timeout }, headersTimeout: timeout, bodyTimeout: timeout })
  const address = addressOf(options)

  async function once({ method, path, headers = {}, body }: BucketRequest) {
    const signer = new AwsV4Signer({ method, url: `${address}/${path}`, headers, accessKeyId, secretAccessKey, region, service: "s3" })
    const signed = await signer.sign()
    const stream = body?.() ?? null
    try {
      const answer = await request(signed.url, { method, headers: Object.fromEntries(signed.headers), body: stream, dispatcher })
      if (answer.statusCode >= 300) throw new Refusal(answer.statusCode, await answer.body.text())
      return answer
    } finally {
      // An error response may arrive before the body was read.
      stream?.destroy()
    }
  }

  return async (asked) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await once(asked)
      } catch (error) {
        const isForGood = error instanceof Refusal && error.status < 500 && error.status !== 429
        if (isForGood || tries >= portLimits.storageTries) throw error
        await setTimeout(Math.random() * portLimits.storageRetryMs * 2 ** (tries - 1))
      }
    }
  }
}

async function* listed(send: Send): AsyncGenerator<StoredFile[]> {
  for (let after = ""; ; ) {
    const query = new URLSearchParams({ "list-type": "2", prefix, ...(after && { "continuation-token": after }) })
    const answer = await send({ method: "GET", path: `?${query}` })
    const page = parseXml(await answer.body.text())
    const files = childrenOf(page, "Contents").map((file) => ({
      key: ownText(childOf(file, "Key")).slice(prefix.length),
      storedAt: new Date(ownText(childOf(file, "LastModified"))),
    }))
    yield files.filter(({ key }) => isStorageKey(key))
    after = ownText(childOf(page, "NextContinuationToken"))
    if (!after) return
  }
}
