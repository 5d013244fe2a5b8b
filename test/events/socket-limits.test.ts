import type { Socket as TcpSocket } from "node:net"
import { OperationTypeNode } from "graphql"
import pg from "pg"
import { v7 } from "uuid"
import { WebSocket } from "ws"
import { SocketOperations } from "../../src/events/transports/socket-operations.js"
import { scraped } from "../kit/metrics.js"
import { endOfLog, rawSocket } from "../kit/sockets.js"
import { happens, until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, gql, rest } = w

type Socket = Awaited<ReturnType<typeof rawSocket>>

async function opened(credential: string, url = w.url) {
  const socket = await rawSocket({ ...w, url })
  expect(await socket.open(credential)).toBe("acknowledged")
  return socket
}

const subscribeTo = (socket: Socket, id: string, query: string, variables: object = {}) =>
  socket.send({ id, type: "subscribe", payload: { query, variables } })

/** Waits until a socket has received as many messages of a type. */
async function received({ socket, heard }: Socket, type: string, count: number) {
  const ofType = () => heard.filter((message) => message.type === type)
  const look = () => ({ received: ofType().length, readyState: socket.readyState, last: heard.slice(-3) })
  await until(`the socket has ${count} messages "${type}"`, () => ofType().length >= count, look)
  return ofType()
}

/** Runs work while a table is locked in a transaction, which ends in any case. */
async function whileLocked<T>(table: string, work: () => Promise<T>): Promise<T> {
  const owner = new pg.Client({ connectionString: w.databaseUrl })
  await owner.connect()
  try {
    await owner.query(`begin; lock table ${table} in access exclusive mode`)
    return await work()
  } finally {
    await owner.end()
  }
}

const refusal = (id: string) => ({ id, type: "error", payload: [{ extensions: { code: "RATE_LIMITED", statusCode: 429 } }] })

/** Resolves when the server, which runs in this process, closes a socket with this code. */
const closesWith = (expected: number) =>
  new Promise<void>((resolve) => {
    const { close } = WebSocket.prototype
    const watched = jest.spyOn(WebSocket.prototype, "close").mockImplementation(function (this: WebSocket, code, reason) {
      if (code === expected) {
        watched.mockRestore()
        resolve()
      }
      close.call(this, code, reason)
    })
  })

/** The visitor's token of a new chat. */
const visitor = async () => (await rest.anonymous.post(`/hooks/widget/${acme.widget.id}`, { text: "Hello" }).expect(201)).body

/** A chat with 20 long messages, and a query whose result has all of them `times` times, 320 KB each. */
async function longChat(times = 1) {
  const chat = await acme.chat()
  const input = `input: { chatId: "${chat.id}", text: "${"x".repeat(16_000)}" }`
  const { errors } = await gql(
    acme.token,
    `mutation { ${Array.from({ length: 20 }, (_, index) => `m${index}: createMessage(${input}) { id }`)} }`,
  )
  expect(errors).toBeUndefined()
  const page = `messages(chatId: "${chat.id}", first: 20) { nodes { text } }`
  return `{ ${Array.from({ length: times }, (_, index) => `m${index}: ${page}`).join(" ")} }`
}

describe("a socket", () => {
  it("runs 50 operations at once: those beyond are refused, and it stays open", async () => {
    const socket = await opened(acme.token)
    // The operations read this table: none of them ends before the last one has begun.
    const refused = await whileLocked("chat_folder", () => {
      for (let index = 0; index < 60; index += 1) subscribeTo(socket, `q${index}`, "{ chatFolders { id } }")
      return received(socket, "error", 10)
    })
    expect(refused).toMatchObject(Array.from({ length: 10 }, (_, index) => refusal(`q${50 + index}`)))
    const answered = await received(socket, "next", 50)
    expect(answered.every(({ payload }) => (payload as { data?: unknown }).data)).toBe(true)
    expect((await socket.ask("{ chatFolders { id } }"))[0].payload).toEqual({ data: { chatFolders: [] } })
    socket.socket.terminate()
  })

  it.each([
    ["a company's", 100, async () => ({ credential: acme.token, write: () => acme.chat() })],
    [
      "a visitor's",
      10,
      async () => {
        const { visitorToken, chatId } = await visitor()
        return { credential: visitorToken, write: () => acme.message({ chatId, text: "Hello" }) }
      },
    ],
  ])("of %s credential has %i subscriptions, and another one when one has ended", async (_name, allowed, prepare) => {
    const { credential, write } = await prepare()
    const socket = await opened(credential)
    const query = "subscription ($after: String) { events(after: $after) { type } }"
    const variables = { after: await endOfLog(w) }
    for (let index = 0; index <= allowed; index += 1) subscribeTo(socket, `s${index}`, query, variables)
    expect(await received(socket, "error", 1)).toMatchObject([refusal(`s${allowed}`)])
    await write()
    await received(socket, "next", allowed)
    socket.send({ id: "s0", type: "complete" })
    subscribeTo(socket, "new", query, { after: await endOfLog(w) })
    subscribeTo(socket, "beyond", query)
    expect((await received(socket, "error", 2))[1]).toMatchObject(refusal("beyond"))
    await write()
    await received(socket, "next", 2 * allowed)
    expect(socket.heard.map(({ id }) => id)).toContain("new")
    socket.socket.terminate()
  })

  it("whose client does not read is closed with 1013, and holds few of its results", async () => {
    const query = await longChat(4)
    const slow = await opened(acme.token)
    slow.socket.pause()
    const closing = closesWith(1013)
    // Their results are 64 MB.
    for (let index = 0; index < 50; index += 1) subscribeTo(slow, `q${index}`, query)
    const brisk = await opened(acme.token)
    expect((await brisk.ask(query))[0].payload.data.m3.nodes).toHaveLength(20)
    await happens("the server closes the socket", closing)
    slow.socket.resume()
    expect(await slow.closed()).toEqual({ code: 1013, reason: expect.stringContaining("too slowly") })
    expect(slow.heard.filter(({ type }) => type === "next").length).toBeLessThan(25)
    expect((await scraped(w, "platform_sockets_cut_total")).get('{transport="graphql-ws"}')).toBe(1)
    brisk.socket.terminate()
  })

  it("whose client reads late gets every result that fits", async () => {
    const query = await longChat()
    const late = await opened(acme.token)
    late.socket.pause()
    for (let index = 0; index < 10; index += 1) subscribeTo(late, `q${index}`, query)
    await rest.as(acme.token).get("/api/chats").expect(200)
    late.socket.resume()
    expect(await received(late, "next", 10)).toHaveLength(10)
    expect((await late.ask("{ chatFolders { id } }"))[0].payload).toEqual({ data: { chatFolders: [] } })
    late.socket.terminate()
  })

  it("that sends thousands of messages at once does not delay others until all are handled", async () => {
    const socket = await opened(acme.token)
    const counted = jest.spyOn(w.services.limits.credential, "count")
    const turns: number[] = []
    const look = () => {
      turns.push(counted.mock.calls.length)
      if (counted.mock.calls.length < 10_000) setImmediate(look)
    }
    look()
    for (let index = 0; index < 10_000; index += 1) subscribeTo(socket, `q${index}`, "{")
    await received(socket, "error", 10_000)
    counted.mockRestore()
    // What one read of the connection holds: 64 KB.
    const most = Math.max(...turns.map((count, index) => count - (turns[index - 1] ?? 0)))
    expect(most).toBeLessThan(1_000)
    socket.socket.terminate()
  })

  it("gets an error for variables that are refused, and stays open", async () => {
    const socket = await opened(acme.token)
    const query = `query ($first: Int) { ${[..."abcdefghij"].map((a) => `${a}: chats(first: $first) { nodes { tags { id } also: tags { id } } }`)} }`
    const [refused] = await socket.ask(query, { first: 100 })
    expect(refused).toMatchObject({ type: "error", payload: [{ extensions: { code: "BAD_USER_INPUT", statusCode: 400 } }] })
    const [nul] = await socket.ask("query ($q: String) { assistants(q: $q) { totalCount } }", { q: "\u0000" })
    expect(nul).toMatchObject({ type: "error", payload: [{ extensions: { code: "BAD_USER_INPUT", statusCode: 400 } }] })
    expect((await socket.ask("{ chatFolders { id } }"))[0].payload).toEqual({ data: { chatFolders: [] } })
    socket.socket.terminate()
  })

  it("that sends a message of servers is closed with 4400", async () => {
    const socket = await opened(acme.token)
    socket.send({ id: "1", type: "next", payload: { data: null } })
    expect((await socket.closed()).code).toBe(4400)
  })
})

it("a credential has 5,000 subscriptions, on all its sockets together", () => {
  const operations = new SocketOperations()
  const identity = { kind: "token", tokenId: v7(), companyId: v7(), readOnly: false } as const
  const sockets = Array.from({ length: 50 }, () => operations.of(identity))
  const running = sockets.flatMap((begin) => Array.from({ length: 100 }, () => begin(OperationTypeNode.SUBSCRIPTION)))
  const another = operations.of(identity)
  expect(() => another(OperationTypeNode.SUBSCRIPTION)).toThrow(/at most 5000 subscriptions/)
  operations.of({ ...identity, tokenId: v7() })(OperationTypeNode.SUBSCRIPTION)
  running[0]!()
  running[0]!()
  another(OperationTypeNode.SUBSCRIPTION)
  expect(() => another(OperationTypeNode.SUBSCRIPTION)).toThrow(expect.objectContaining({ code: "RATE_LIMITED", statusCode: 429 }))
})

it("an event is executed for a few subscriptions of a company at once: requests of others find a database connection", async () => {
  const after = await endOfLog(w)
  const chat = await acme.chat({ assistantId: acme.assistant.id })
  // Its assistant is not stored with the event: each subscription reads it.
  const query = "subscription ($chatId: UUID!, $after: String!) { events(chatId: $chatId, after: $after) { chat { assistant { id } } } }"
  const socket = await opened(acme.token)
  await whileLocked("assistant", async () => {
    for (let n = 0; n < 30; n++) subscribeTo(socket, `s${n}`, query, { chatId: chat.id, after })
    const waiting = "select 1 from pg_locks where not granted and relation = 'assistant'::regclass"
    await until("a subscription waits for the lock", async () => (await w.sql(waiting)).length > 0)
    for (let n = 0; n < 20; n++) await rest.as(w.globex.token).get("/api/chat-folders").expect(200)
  })
  const events = await received(socket, "next", 30)
  expect(events.map(({ payload }) => payload)).toEqual(
    Array(30).fill({ data: { events: { chat: { assistant: { id: acme.assistant.id } } } } }),
  )
  socket.socket.terminate()
})

it("what clients cause again and again is one line of the log, and nothing is printed", async () => {
  const query = await longChat(4)
  const server = await w.another({ LOG_LEVEL: "info" })
  const printed = jest.spyOn(console, "error").mockImplementation(() => {})
  const rude = await opened(acme.token, server.url)
  rude.socket.pause()
  for (let index = 0; index < 30; index += 1) subscribeTo(rude, `q${index}`, query)
  // Answered after the queries of the first socket have begun.
  const other = await opened(acme.token, server.url)
  await other.ask(query)
  const { _socket: connection } = rude.socket as unknown as { _socket: TcpSocket }
  connection.resetAndDestroy()
  await rude.closed()
  await other.ask(query)
  other.socket.terminate()
  await server.stop()
  expect(w.logged.filter(({ msg }) => String(msg).startsWith("answers were not sent"))).toHaveLength(1)
  expect(printed).not.toHaveBeenCalled()
  printed.mockRestore()
})
