import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import type { Readable } from "node:stream"
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3"
import { portLimits } from "../limits.js"
import { isStorageKey, type Storage, type StoredFile } from "../storage.js"

/** How a bucket is reached; an endpoint of null is Amazon's own. */
export interface BucketOptions {
  bucket: string
  endpoint: string | null
  region: string
  accessKeyId: string
  secretAccessKey: string
}

/** Before every key, so that a bucket may hold other things too. */
const prefix = "media/"

/** Files in a bucket of Amazon S3, or of any server that speaks its protocol. */
export function s3Storage(options: BucketOptions): Storage {
  const client = clientOf(options)
  const nameOf = (key: string) => ({ Bucket: options.bucket, Key: prefix + key })
  return {
    put: (key, path) => tried(() => put(client, nameOf(key), path)),
    async read(key, range) {
      const asked = range && { Range: `bytes=${range.start}-${range.end}` }
      const answer = await client.send(new GetObjectCommand({ ...nameOf(key), ...asked })).catch(nothingIfMissing)
      return (answer?.Body as Readable | undefined) ?? null
    },
    async remove(keys) {
      await Promise.all(keys.map((key) => client.send(new DeleteObjectCommand(nameOf(key)))))
    },
    list: () => listed(client, options.bucket),
  }
}

function clientOf({ endpoint, region, accessKeyId, secretAccessKey }: BucketOptions) {
  return new S3Client({
    region,
    // Servers of one's own rarely answer to bucket.host.
    ...(endpoint && { endpoint, forcePathStyle: true }),
    credentials: { accessKeyId, secretAccessKey },
    maxAttempts: portLimits.storageTries,
    // What fails is thrown, and logged by whoever asked.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    // The checksums that Amazon added lately are not understood everywhere.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: { connectionTimeout: portLimits.storageTimeoutMs, requestTimeout: portLimits.storageTimeoutMs },
  })
}

async function put(client: S3Client, name: { Bucket: string; Key: string }, path: string) {
  const { size } = await stat(path)
  const body = createReadStream(path)
  try {
    await client.send(new PutObjectCommand({ ...name, Body: body, ContentLength: size }))
  } finally {
    // A refusal may come before it was read.
    body.destroy()
  }
}

/** The client does not repeat what it streams: a stream is read once, so every try opens the file anew. */
async function tried(work: () => Promise<void>, tries: number = portLimits.storageTries): Promise<void> {
  try {
    await work()
  } catch (error) {
    const isOurs = error instanceof S3ServiceException && (error.$metadata.httpStatusCode ?? 500) < 500
    if (tries <= 1 || isOurs) throw error
    await tried(work, tries - 1)
  }
}

function nothingIfMissing(error: unknown): undefined {
  if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404) return undefined
  throw error
}

async function* listed(client: S3Client, bucket: string): AsyncGenerator<StoredFile[]> {
  for (let after: string | undefined; ; ) {
    const page = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: after }))
    const files = (page.Contents ?? []).map(({ Key, LastModified }) => ({ key: Key!.slice(prefix.length), storedAt: LastModified! }))
    yield files.filter(({ key }) => isStorageKey(key))
    after = page.NextContinuationToken
    if (!after) return
  }
}
