import { once } from "node:events"
import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { answerRefused } from "../../src/http/refused.js"
import { happens } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world({ LOG_LEVEL: "info" })

/** Sends bytes, each further piece when something was received, and returns all that is received until the server closes. */
async function exchange(url: string, ...pieces: string[]): Promise<string> {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  let received = ""
  socket.on("data", (bytes) => {
    received += bytes.toString("latin1")
    const next = pieces.shift()
    if (next) socket.write(Buffer.from(next, "latin1"))
  })
  socket.on("error", () => {})
  socket.write(Buffer.from(pieces.shift()!, "latin1"))
  await happens("the connection is closed", once(socket, "close"))
  return received
}

/** The status, headers and body of the last response in what was received. */
function lastOf(received: string) {
  const text = received.slice(received.lastIndexOf("HTTP/1.1 "))
  const [head, body = ""] = text.split("\r\n\r\n")
  const [first, ...lines] = head!.split("\r\n")
  const headers = new Headers(lines.map((line) => line.split(/: (.*)/, 2) as [string, string]))
  return { status: Number(first!.split(" ")[1]), phrase: first!.split(" ").slice(2).join(" "), headers, body: JSON.parse(body) }
}

function expectRefusal(received: string, statusCode: number, code = "BAD_USER_INPUT") {
  const { status, phrase, headers, body } = lastOf(received)
  const requestId = headers.get("x-request-id")
  expect(requestId).toMatch(/^[0-9a-f-]{36}$/)
  expect(body).toEqual({ statusCode, error: phrase, message: expect.any(String), code, details: [], requestId })
  expect(status).toBe(statusCode)
  expect(Object.fromEntries(headers)).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(JSON.stringify(body))),
    connection: "close",
  })
  return { headers, body }
}

const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`
const large = "x".repeat(20_000)
const chunked = (chunks: string) =>
  `POST /api/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`

describe("a request that is not valid HTTP", () => {
  it.each([
    ["bytes that are not ASCII in its path", get("/api/ch\u00e4ts")],
    ["a space in its path", get("/api/chats /a")],
    ["a method that does not exist", "FETCH / HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["another version of HTTP", "GET / HTTP/9.9\r\nHost: x\r\n\r\n"],
    ["two lengths of its body", chunked("").replace("\r\n\r\n", "\r\nContent-Length: 3\r\n\r\n")],
    ["a length that is no number", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: a\r\n\r\n"],
    ["a chunk of its body without a size", chunked("zz\r\n")],
    ["bytes of another protocol", "\u0016\u0003\u0001"],
  ])("is 400 as every bad request: %s", async (_what, bytes) => {
    const { headers } = expectRefusal(await exchange(w.url, bytes), 400)
    expect(headers.get("cache-control")).toBe("no-store")
  })

  it.each([
    ["headers", get("/api/chats", `X-A: ${large}\r\n`)],
    ["a path", get(`/${large}`)],
    ["headers that are larger than what is read at once", get("/api/chats", `X-A: ${"x".repeat(1_000_000)}\r\n`)],
  ])("is 431: %s", async (_what, bytes) => {
    const { body } = expectRefusal(await exchange(w.url, bytes), 431)
    expect(body.message).toContain("16384 bytes")
  })

  it("has no body in the response to HEAD", async () => {
    for (const bytes of [get("/\u0080"), get("/api/chats", `X-A: ${large}\r\n`)]) {
      const received = await exchange(w.url, bytes.replace("GET", "HEAD"))
      expect(received).toMatch(/^HTTP\/1\.1 4\d\d .*\r\n(?:[\w-]+: .*\r\n)*Content-Length: \d+\r\n(?:[\w-]+: .*\r\n)*\r\n$/)
    }
  })

  it("is 413 with large extensions of a chunk", async () => {
    expectRefusal(await exchange(w.url, chunked(`1;${large}\r\n`)), 413, "PAYLOAD_TOO_LARGE")
  })

  it("is 400 without Host", async () => {
    expectRefusal(await exchange(w.url, "GET /api/chats HTTP/1.1\r\nConnection: close\r\n\r\n"), 400)
    expect(await exchange(w.url, "GET /health/live HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 OK/)
  })

  it("is refused after others on its connection too", async () => {
    const received = await exchange(w.url, get("/health/live"), get("/\u00e4"))
    expect(received).toMatch(/^HTTP\/1\.1 200 OK/)
    expectRefusal(received, 400)
  })

  it("is nothing that the log has to tell", async () => {
    const lines = () => w.logged.filter(({ level }) => Number(level) > 30).length
    const before = lines()
    for (const bytes of [get("/\u00e4"), get(`/${large}`), chunked("zz\r\n")]) await exchange(w.url, bytes)
    expect(lines()).toBe(before)
  })
})

describe("a server", () => {
  let http: Server
  afterEach(() => {
    http.closeAllConnections()
    http.close()
  })
  async function serve(handle: RequestListener, options: ServerOptions = {}): Promise<string> {
    http = createServer(options, handle)
    answerRefused(http)
    http.listen(0, "127.0.0.1")
    await once(http, "listening")
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  }
  const timeouts = { headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 20 }

  it("answers 408 to a request that takes too long to arrive", async () => {
    const url = await serve(() => {}, timeouts)
    expectRefusal(await exchange(url, "GET / HTTP/1.1\r\nHos"), 408)
    expectRefusal(await exchange(url, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"), 408)
  })

  it.each<[string, RequestListener, string]>([
    ["that has begun", (_request, response) => void response.write("begun"), get("/") + get("/\u00e4")],
    ["to an earlier request that still runs", () => {}, get("/") + get("/\u00e4")],
    [
      "to an earlier one, with a further request between",
      () => {},
      `${get("/")}POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    ],
  ])("sends nothing into a response %s", async (_which, handle, bytes) => {
    const received = await exchange(await serve(handle), bytes)
    expect(received).not.toContain("400")
    expect(received).toMatch(/^(HTTP\/1\.1 200 OK.*begun\r\n)?$/s)
  })

  it("sends nothing after the response to a request whose body never arrived", async () => {
    const url = await serve((_request, response) => void response.end("enough"), timeouts)
    const received = await exchange(url, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"])
  })
})
