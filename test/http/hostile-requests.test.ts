import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { setImmediate as turn } from "node:timers/promises"
import { pace } from "../kit/pace.js"
import { type ServerProcess, serverProcess } from "../kit/server-process.js"
import { rawSocket } from "../kit/sockets.js"
import { happens } from "../kit/wait.js"
import { world } from "../kit/world.js"

let server: ServerProcess
// Before that of the test server, which drops the database.
afterAll(() => server.stop())

const w = world()
const { acme } = w

beforeAll(async () => {
  server = await serverProcess(w)
})
/** After any request the process runs, and answers correctly. */
afterEach(async () => {
  expect(server.ended()).toBeNull()
  expect((await fetch(`${server.url}/health/ready`)).status).toBe(200)
  const listed = await graphql({ query: "{ chatFolders { id } }" })
  expect(await listed.json()).toEqual({ data: { chatFolders: [] } })
})

const graphql = (body: object) =>
  fetch(`${server.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-access-token": acme.token },
    body: JSON.stringify(body),
  })

const mutation = "mutation ($file: Upload!) { uploadMedia(file: $file) { id filename } }"

/** A GraphQL multipart request with these parts in their order, each a text or a file. */
async function multipart(parts: [name: string, content: unknown][]) {
  const form = new FormData()
  for (const [name, content] of parts) {
    if (content instanceof Blob) form.append(name, content, "a.txt")
    else form.append(name, typeof content === "string" ? content : JSON.stringify(content))
  }
  const answer = await fetch(`${server.url}/graphql`, { method: "POST", headers: { "x-access-token": acme.token }, body: form })
  // biome-ignore lint/suspicious/noExplicitAny: as the operation shaped it.
  return { status: answer.status, body: (await answer.json()) as any }
}

const file = () => new Blob(["hello"])
const refusal = { errors: [{ extensions: { code: "BAD_USER_INPUT", statusCode: 400, requestId: expect.any(String) } }] }
const wrongPath = { errors: [{ message: "map must name variables of the operation that are null" }] }

describe("the map of a multipart request", () => {
  const upload = { query: mutation, variables: { file: null } }

  it("names a variable, or a place in one, that is null", async () => {
    const { body } = await multipart([
      ["operations", upload],
      ["map", { 0: ["variables.file"] }],
      ["0", file()],
    ])
    expect(body.data.uploadMedia).toMatchObject({ filename: "a.txt" })
    for (const [variables, path] of [
      [{ file: null, input: { files: [1, null] } }, "variables.input.files.1"],
      [{ file: null, "": null }, "variables."],
    ] as const) {
      const { body } = await multipart([
        ["operations", { query: "{ chatFolders { id } }", variables }],
        ["map", { 0: [path, "variables.file"] }],
        ["0", file()],
      ])
      expect(body).toEqual({ data: { chatFolders: [] } })
    }
  })

  it.each([
    ["a built-in of every object", "hasOwnProperty.call"],
    ["another", "toString.call"],
    ["one of the operation's", "query.constructor"],
    ["one of the variables'", "variables.hasOwnProperty.call"],
    ["one that is written to directly", "variables.toString"],
    ["a prototype", "__proto__.polluted"],
    ["the variables' prototype", "variables.__proto__.polluted"],
    ["a constructor's", "variables.constructor.prototype.polluted"],
    ["a list's method", "variables.files.push.call"],
    ["a list's length", "variables.files.length"],
    ["a place behind a list's end", "variables.files.1"],
    ["a place that only looks like one of the list's", "variables.files.00"],
    ["a place before it", "variables.files.-1"],
    ["a text's length", "variables.text.length"],
    ["a variable that is not there", "variables.other"],
    ["one that holds something", "variables.text"],
    ["a place below null", "variables.file.name"],
    ["the variables themselves", "variables"],
    ["the query", "query"],
    ["null beside the variables", "extensions"],
    ["a batch's operation", "0.variables.file"],
    ["nothing", ""],
  ])("that names %s is 400: %s", async (_name, path) => {
    const variables = { file: null, text: "text", files: [null] }
    const operations = { query: mutation, variables, extensions: null }
    for (const paths of [[path], ["variables.file", path]]) {
      const { status, body } = await multipart([
        ["operations", operations],
        ["map", { 0: paths }],
        ["0", file()],
      ])
      expect({ status, ...body }).toMatchObject({ status: 400, ...refusal })
      expect(body).toMatchObject(wrongPath)
    }
    // An own property of JSON with that name is refused too.
    const own = `{"query":"{ chatFolders { id } }","variables":{"__proto__":{"polluted":null},"constructor":null}}`
    const { status, body } = await multipart([
      ["operations", own],
      ["map", { 0: [path] }],
      ["0", file()],
    ])
    expect({ status, ...body }).toMatchObject({ status: 400, ...refusal })
  })

  it.each([
    ["are missing", {}],
    ["are null", { variables: null }],
    ["are a text", { variables: "text" }],
    ["are a list", { variables: [null] }],
    ["are a number", { variables: 5 }],
  ])("is 400 when the variables %s", async (_name, more) => {
    for (const path of ["variables.file", "variables", "variables.0.file", "variables.length"]) {
      const { status, body } = await multipart([
        ["operations", { query: mutation, ...more }],
        ["map", { 0: [path] }],
        ["0", file()],
      ])
      expect({ status, ...body }).toMatchObject({ status: 400, ...refusal })
    }
  })

  it("is 400 when operations are a list: there is no batching", async () => {
    for (const map of [{ 0: ["0.variables.file"] }, { 0: ["variables.file"] }, {}]) {
      const { status, body } = await multipart([
        ["operations", [upload]],
        ["map", map],
        ["0", file()],
      ])
      expect({ status, ...body }).toMatchObject({ status: 400, ...refusal })
    }
  })

  it.each([
    ["a list", [["variables.file"]]],
    ["a text", '"variables.file"'],
    ["null", "null"],
    ["a number", "5"],
    ["no JSON", "{"],
    ["not of lists", { 0: "variables.file" }],
    ["of lists in lists", { 0: [["variables.file"]] }],
    ["of objects", { 0: [{ path: "variables.file" }] }],
    ["of nothing", { 0: [null] }],
  ])("is 400 when it is %s", async (_name, map) => {
    const { status, body } = await multipart([
      ["operations", upload],
      ["map", map],
      ["0", file()],
    ])
    expect({ status, ...body }).toMatchObject({ status: 400, ...refusal })
  })

  it("may be long: ten thousand paths are checked quickly, valid or not", async () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `v${index}`)
    const variables = { file: null, ...Object.fromEntries(names.map((name) => [name, null])) }
    const begin = performance.now()
    const paths = names.map((name) => `variables.${name}`)
    const right = await multipart([
      ["operations", { query: mutation, variables }],
      ["map", { 0: [...paths, "variables.file"] }],
      ["0", file()],
    ])
    expect(right.body.data.uploadMedia).toMatchObject({ filename: "a.txt" })
    const wrong = await multipart([
      ["operations", { query: mutation, variables }],
      ["map", { 0: [...paths, "toString.call"] }],
      ["0", file()],
    ])
    expect(wrong.body).toMatchObject(wrongPath)
    await pace("two multipart requests with ten thousand paths", 1_000, "ms", () => performance.now() - begin)
  })

  it("may come without files, and files without it are 400", async () => {
    const query = "{ chatFolders { id } }"
    expect(
      (
        await multipart([
          ["operations", { query }],
          ["map", {}],
        ])
      ).body,
    ).toEqual({ data: { chatFolders: [] } })
    const missing = await multipart([
      ["operations", upload],
      ["map", { 0: ["variables.file"] }],
    ])
    expect(missing.body).toMatchObject(refusal)
    for (const parts of [
      [
        ["operations", upload],
        ["0", file()],
      ],
      [
        ["map", { 0: ["variables.file"] }],
        ["operations", upload],
        ["0", file()],
      ],
      [
        ["operations", upload],
        ["0", file()],
        ["map", { 0: ["variables.file"] }],
      ],
    ] as [string, unknown][][]) {
      const { status, body } = await multipart(parts)
      expect({ status, ...body }).toMatchObject({ status: 400, ...refusal })
    }
  })
})

it.each([
  ["has a name that is too long", `Content-Disposition${"x".repeat(20_000)}: form-data; name="0"; filename="a.txt"\r\n\r\nhello`],
  ["has no colon", 'Content-Disposition form-data; name="0"; filename="a.txt"\r\n\r\nhello'],
  ["is cut", "Content-Dispo"],
  ["is missing", "\r\nhello"],
])("a multipart request whose header of the file %s is 400", async (_name, part) => {
  const fields = { operations: { query: mutation, variables: { file: null } }, map: { 0: ["variables.file"] } }
  const before = Object.entries(fields).map(
    ([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${JSON.stringify(value)}\r\n`,
  )
  const answer = await fetch(`${server.url}/graphql`, {
    method: "POST",
    headers: { "x-access-token": acme.token, "content-type": "multipart/form-data; boundary=x" },
    body: `${before.join("")}--x\r\n${part}\r\n--x--\r\n`,
  })
  expect(await answer.json()).toMatchObject(refusal)
  expect(server.log()).not.toContain("operation failed")
})

it("an upload whose first part has a malformed header is answered, also when a large file follows", async () => {
  const part = (filename: string, content: string) =>
    `--x\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\n\r\n${content}\r\n`
  const sent = fetch(`${server.url}/api/media/upload`, {
    method: "POST",
    headers: { "x-access-token": acme.token, "content-type": "multipart/form-data; boundary=x" },
    body: `${part("a\u0000.txt", "hello")}${part("b.txt", "x".repeat(300_000))}--x--\r\n`,
  })
  const answer = await happens("the upload is answered", sent)
  expect(await answer.json()).toMatchObject({ statusCode: 400, code: "BAD_USER_INPUT" })
})

describe("an upgrade", () => {
  const { hostname, port } = { hostname: "127.0.0.1", port: () => Number(new URL(server.url).port) }
  const handshake = (path: string, more = "") =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
    `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n${more}\r\n`

  /** A raw connection; what it receives is ignored, and so are its errors. */
  async function bare(allowHalfOpen = false): Promise<Socket> {
    const socket = connect({ host: hostname, port: port(), allowHalfOpen })
    socket.on("error", () => {})
    await happens("the server accepts the connection", once(socket, "connect"))
    return socket
  }

  const socketIo = "/socket.io/?EIO=4&transport=websocket"
  const paths = ["/graphql", "/ws", socketIo, "/socket.io", "/socket.io/more?EIO=4", "/", "/nothing", "//[", "/graphql/more"]

  it.each(paths)("that the client resets does no harm: %s", async (path) => {
    for (let round = 0; round < 40; round += 1) {
      const socket = await bare()
      socket.write(handshake(path))
      // At once, when it is sent, some turns of the event loop later, and when the response begins.
      if (round % 4 === 1) await happens("the handshake is sent", new Promise((resolve) => socket.write("", resolve)))
      if (round % 4 === 2) for (let count = 0; count < round; count += 1) await turn()
      if (round % 4 === 3) await happens("the server responds", once(socket, "data"))
      socket.resetAndDestroy()
    }
    // Concurrently, so that responses meet closed connections.
    const sockets = await Promise.all(Array.from({ length: 50 }, () => bare()))
    for (const socket of sockets) {
      socket.write(handshake(path))
      socket.resetAndDestroy()
    }
    // Accepted after all of them.
    expect((await fetch(`${server.url}/health/live`)).status).toBe(200)
  })

  it.each(paths.slice(3))(
    "to an unknown path is 404, and the server closes the connection even when the client does not: %s",
    async (path) => {
      const socket = await bare(true)
      socket.write(handshake(path))
      let heard = ""
      socket.on("data", (bytes) => (heard += bytes))
      await happens("the server closes its half", once(socket, "end"))
      expect(heard).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/)
      // Further data gets no response: the server has closed its half.
      const broken = new Promise((resolve) => socket.once("error", resolve))
      const sending = setInterval(() => socket.write("more"), 20)
      await happens("the connection is broken", broken).finally(() => clearInterval(sending))
      socket.destroy()
    },
  )

  it.each(["/graphql", "/ws", socketIo])("that is cut in the middle of a message does no harm: %s", async (path) => {
    const whole = handshake(path)
    for (const length of [5, 40, whole.length - 2, whole.length - 1]) {
      const socket = await bare()
      await happens("the part is sent", new Promise((resolve) => socket.write(whole.slice(0, length), resolve)))
      socket.resetAndDestroy()
    }
    // Refused by the protocol, and reset before the refusal arrives.
    for (const wrong of [handshake(path).replace("Version: 13", "Version: 7"), handshake(path).replace(/Sec-WebSocket-Key.*\r\n/, "")]) {
      for (let round = 0; round < 20; round += 1) {
        const socket = await bare()
        socket.write(wrong)
        socket.resetAndDestroy()
      }
    }
    // Open, with an invalid frame, and closed.
    const socket = await bare()
    socket.write(handshake(path))
    await happens("the server responds", once(socket, "data"))
    socket.write(Buffer.from([0xff, 0xff, 0xff, 0xff]))
    socket.resetAndDestroy()
    const good = await rawSocket({ ...w, url: server.url }, path === "/ws" ? "/ws" : "/graphql")
    expect(await good.open(acme.token)).toBe("acknowledged")
    good.socket.terminate()
  })

  it("bytes that are not HTTP, and requests that are cut, do no harm", async () => {
    for (const bytes of [
      "\u0016\u0003\u0001",
      "GET /nothing HTTP/9.9\r\n\r\n",
      "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n",
      "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{",
    ]) {
      for (let round = 0; round < 20; round += 1) {
        const socket = await bare()
        const sent = new Promise((resolve) => socket.write(bytes, resolve))
        if (round % 2) await happens("the bytes are sent", sent)
        socket.resetAndDestroy()
      }
    }
  })
})
