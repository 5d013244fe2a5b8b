import { createHash, createHmac } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"

/** A fault of a request: a status, or a cut connection. */
export type S3Fault = number | "reset"

/** A server with the part of the S3 protocol that the platform uses, with path-style addresses. */
export interface FakeS3 {
  endpoint: string
  bucket: string
  /** The objects of the bucket by key; tests may add others. */
  objects: Map<string, { bytes: Buffer; at: Date }>
  /** Methods and keys of the requests, in order. */
  asked: string[]
  /** Makes the next requests of a method fail, one fault each. */
  fail(method: string, ...faults: S3Fault[]): void
  close(): Promise<void>
}

/** Starts a fake S3; a listing has two keys per page. */
export async function fakeS3(): Promise<FakeS3> {
  const faults: [string, S3Fault][] = []
  const fake = {
    bucket: "files",
    objects: new Map(),
    asked: [] as string[],
    fail: (method: string, ...more: S3Fault[]) => faults.push(...more.map((each) => [method, each] as [string, S3Fault])),
  } as unknown as FakeS3
  const server = createServer(async (request, response) => {
    const bytes = await buffer(request).catch(() => Buffer.alloc(0))
    const { key, query } = parts(request, fake.bucket)
    fake.asked.push(`${request.method} ${key}`)
    const at = faults.findIndex(([method]) => method === request.method)
    const fault = at < 0 ? undefined : faults.splice(at, 1)[0]![1]
    if (fault === "reset") return void request.socket.destroy()
    if (fault) return refuse(response, fault, "InternalError")
    if (!isSigned(request)) return refuse(response, 403, "SignatureDoesNotMatch")
    serve(fake, request, response, key, query, bytes)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  fake.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  fake.close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return fake
}

/** The secret that belongs to every key's id. */
export const fakeS3Secret = "secret"

/** Whether a request has a valid signature (Signature Version 4) for the current time and the secret. */
function isSigned({ method, url, headers }: IncomingMessage): boolean {
  const [, scope = "", names = "", signature] =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/(.+), SignedHeaders=(.+), Signature=(\w+)$/.exec(headers.authorization ?? "") ?? []
  const [path = "", query = ""] = url!.split("?")
  const signed = names.split(";").map((name) => `${name}:${headers[name]}\n`)
  const content = headers["x-amz-content-sha256"]
  const date = String(headers["x-amz-date"])
  const canonical = [method, path, query.split("&").sort().join("&"), signed.join(""), names, content].join("\n")
  const text = ["AWS4-HMAC-SHA256", date, scope, createHash("sha256").update(canonical).digest("hex")].join("\n")
  const key = scope
    .split("/")
    .reduce<string | Buffer>((key, part) => createHmac("sha256", key).update(part).digest(), `AWS4${fakeS3Secret}`)
  const sentAt = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)/, "$1-$2-$3:$4:"))
  const isTimely = Math.abs(Date.now() - sentAt) < 15 * 60_000
  const isComplete = ["host", "x-amz-content-sha256", "x-amz-date"].every((name) => names.split(";").includes(name))
  return isTimely && isComplete && createHmac("sha256", key).update(text).digest("hex") === signature
}

function parts(request: IncomingMessage, bucket: string) {
  const url = new URL(request.url!, "http://s3")
  return { key: decodeURIComponent(url.pathname).replace(`/${bucket}`, "").replace(/^\//, ""), query: url.searchParams }
}

function serve(
  { objects }: FakeS3,
  request: IncomingMessage,
  response: ServerResponse,
  key: string,
  query: URLSearchParams,
  bytes: Buffer,
) {
  if (request.method === "PUT") {
    objects.set(key, { bytes, at: new Date() })
    return void response.writeHead(200, { ETag: '"x"' }).end()
  }
  if (request.method === "DELETE") {
    objects.delete(key)
    return void response.writeHead(204).end()
  }
  if (key === "") return list(objects, response, query)
  const found = objects.get(key)
  if (!found) return refuse(response, 404, "NoSuchKey")
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? []
  const part = start === undefined ? found.bytes : found.bytes.subarray(Number(start), Number(end) + 1)
  response.writeHead(start === undefined ? 200 : 206, { "Content-Length": part.length }).end(part)
}

function list(objects: FakeS3["objects"], response: ServerResponse, query: URLSearchParams) {
  const keys = [...objects.keys()].filter((key) => key.startsWith(query.get("prefix") ?? "")).sort()
  const from = Number(query.get("continuation-token") ?? 0)
  const page = keys.slice(from, from + 2)
  const more = from + 2 < keys.length
  const contents = page.map(
    (key) => `<Contents><Key>${key}</Key><LastModified>${objects.get(key)!.at.toISOString()}</LastModified></Contents>`,
  )
  const next = more ? `<NextContinuationToken>${from + 2}</NextContinuationToken>` : ""
  response.writeHead(200, { "Content-Type": "application/xml" })
  response.end(`<?xml version="1.0"?><ListBucketResult><IsTruncated>${more}</IsTruncated>${next}${contents.join("")}</ListBucketResult>`)
}

function refuse(response: ServerResponse, status: number, code: string) {
  response.writeHead(status, { "Content-Type": "application/xml" }).end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`)
}
