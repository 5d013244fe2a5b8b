import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { contextLimits } from "../../src/context/limits.js"
import { httpLimits } from "../../src/http/limits.js"
import { promised } from "../kit/promise.js"
import { rawSocket, subscribe } from "../kit/sockets.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, gql, rest, sql } = w
const { reads } = contextLimits

/** Chats with 100 messages of the longest text each, of four bytes a character: 6.4 MB. */
const chats: string[] = []
beforeAll(async () => {
  for (let count = 0; count < 5; count += 1) chats.push((await acme.chat()).id)
  await fill(acme.id, chats)
})
const fill = (companyId: string, chatIds: string[], count = 100) =>
  sql(
    `with m as (
       insert into message (id, created_at, updated_at, company_id, chat_id, sequence, role, type, text, status)
       select gen_random_uuid(), now(), now(), $1, chat, place, 'Customer', 'Text', $3, 'stored' from unnest($2::uuid[]) chat, generate_series(1, $4) place
     )
     update chat set last_sequence = $4 where id = any($2::uuid[])`,
    [companyId, chatIds, "😀".repeat(16_000), count],
  )
const ofChats = (count: number) => `chats(first: ${count}) { nodes { messages(first: 100) { nodes { text } } } }`
const refused = {
  message: "The operation reads more than 16 MB: ask for fewer rows or fields",
  extensions: expect.objectContaining({ code: "BAD_USER_INPUT" }),
}

/** Asks over a connection that reads only the beginning of the response, which has arrived. */
async function unread(token: string, query: string): Promise<Socket> {
  const { hostname, port } = new URL(w.url)
  const socket = connect(Number(port), hostname)
  await once(socket, "connect")
  const body = JSON.stringify({ query })
  const headers = [
    "POST /graphql HTTP/1.1",
    "Host: x",
    "Content-Type: application/json",
    `X-Access-Token: ${token}`,
    `Content-Length: ${body.length}`,
  ]
  socket.write(`${headers.join("\r\n")}\r\n\r\n${body}`)
  await once(socket, "readable")
  opened.push(socket)
  return socket
}
const opened: Socket[] = []
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy()
})

const mayBeDone = "The mutation may have been carried out: read what it changed before you repeat it"

describe("an operation that reads more than 16 MB", () => {
  it("is refused, as often as it is sent, and others are served meanwhile", async () => {
    const large = Array.from({ length: 15 }, () => gql(acme.token, `{ ${ofChats(5)} }`))
    const small = Array.from({ length: 15 }, () => rest.as(acme.token).get("/api/chats").expect(200))
    for (const { errors, data } of await Promise.all(large)) {
      expect(data).toBeNull()
      expect(["BAD_USER_INPUT", "RATE_LIMITED"]).toContain(errors![0]!.extensions["code"])
    }
    await Promise.all(small)
    expect((await gql(acme.token, `{ ${ofChats(1)} }`)).errors).toBeUndefined()
  })

  it("is refused, whether it reads one list or many", async () => {
    const aliases = ["a", "b", "c"].map((alias) => `${alias}: messages(chatId: "${chats[0]}", first: 100) { nodes { text } }`)
    const { data, errors } = await gql(acme.token, `{ ${aliases.join("\n")} }`)
    expect([data, errors![0]]).toMatchObject([null, refused])
  })

  it("is refused, never cut, also when its last rows have arrived with the one that was too much", async () => {
    const { id: chatId } = await globex.chat()
    for (let count = 0; count < 20; count += 1) await globex.message({ chatId })
    const query = `{ messages(chatId: "${chatId}", first: 100) { nodes { text } } }`
    const limit = jest.replaceProperty(reads, "operationBytes", 1_500 as never)
    const { data, errors } = await gql(globex.token, query)
    limit.restore()
    expect([data, errors?.map(({ extensions }) => extensions["code"])]).toEqual([null, ["BAD_USER_INPUT"]])
    expect((await gql(globex.token, query)).data.messages.nodes).toHaveLength(20)
  })

  it("is refused on a socket, which stays open", async () => {
    const socket = await rawSocket(w)
    await socket.open(acme.token)
    const [answer] = await socket.ask(`{ ${ofChats(5)} }`)
    expect(answer.payload.errors).toMatchObject([refused])
    expect((await socket.ask("{ chatFolders { id } }"))[0].payload).toEqual({ data: { chatFolders: [] } })
    socket.socket.close()
  })

  it("that changes something is refused the rest of what it reads", async () => {
    const change = (alias: string) =>
      `${alias}: addChatLabel(id: "${chats[0]}", label: "${alias}") { tags { name } messages(first: 100) { nodes { text } } }`
    const { errors } = await gql(acme.token, `mutation { ${["a", "b", "c"].map(change).join("\n")} }`)
    const message = `${refused.message}. ${mayBeDone}`
    expect(errors).toMatchObject([{ ...refused, message, path: ["c", "messages"] }])
    expect((await gql(acme.token, "{ chatTags { name } }")).data.chatTags).toEqual([{ name: "a" }, { name: "b" }, { name: "c" }])
  })
})

describe("a response of more than 16 MB", () => {
  const repeated = (times: number) => Array.from({ length: times }, (_, index) => `t${index}: text`).join(" ")
  const refused = {
    message: "The response has more than 16 MB: ask for fewer rows or fields",
    extensions: expect.objectContaining({ code: "BAD_USER_INPUT" }),
  }

  promised("is refused, though the operation reads less", async () => {
    const query = (times: number) => `{ messages(chatId: "${chats[0]}", first: 100) { nodes { ${repeated(times)} } } }`
    expect((await gql(acme.token, query(5))).errors).toBeUndefined()
    // Without a limit, this one would have the server build a text of 5 GB.
    for (const times of [6, 1_600]) expect(await gql(acme.token, query(times))).toMatchObject({ data: null, errors: [refused] })
    // Compiled, and on another way than Apollo's, from the third time on.
    for (let time = 0; time < 3; time += 1) expect(await gql(acme.token, query(6))).toMatchObject({ data: null, errors: [refused] })
  })

  it("is refused on a socket, which stays open", async () => {
    const socket = await rawSocket(w)
    await socket.open(acme.token)
    const [answer] = await socket.ask(`{ messages(chatId: "${chats[0]}", first: 100) { nodes { ${repeated(6)} } } }`)
    expect(answer.payload).toMatchObject({ data: null, errors: [refused] })
    expect((await socket.ask("{ __typename }"))[0].payload).toEqual({ data: { __typename: "Query" } })
    socket.socket.close()
  })

  it("is refused for an event; the subscription goes on", async () => {
    const select = `chat { messages(first: 100) { nodes { ${repeated(6)} } } }`
    const events = await subscribe(w, acme.token, { chatId: chats[1]!, types: ["MESSAGE_CREATED"], select })
    for (let count = 0; count < 2; count += 1) {
      await acme.message({ chatId: chats[1]! })
      await expect(events.next()).rejects.toThrow(refused.message)
    }
    await events.stop()
  })

  it("tells of a mutation that it may have been carried out", async () => {
    const mutation = `mutation { addChatLabel(id: "${chats[0]}", label: "d") { messages(first: 100) { nodes { ${repeated(6)} } } } }`
    const { data, errors } = await gql(acme.token, mutation)
    expect([data, errors]).toMatchObject([null, [{ ...refused, message: `${refused.message}. ${mayBeDone}` }]])
    expect((await gql(acme.token, "{ chatTags { name } }")).data.chatTags).toContainEqual({ name: "d" })
  })
})

it("a subscription may read more than that in all", async () => {
  const select = "chat { messages(first: 25) { nodes { text } } }"
  const { id: chatId } = await globex.chat()
  await fill(globex.id, [chatId])
  const events = await subscribe(w, globex.token, { chatId, types: ["MESSAGE_CREATED"], select })
  for (let count = 0; count < 12; count += 1) {
    await globex.message({ chatId })
    const { messages } = (await events.next()).chat as { messages: { nodes: object[] } }
    expect(messages.nodes).toHaveLength(25)
  }
  await events.stop()
})

describe("the large responses of a company", () => {
  const query = `{ ${ofChats(2)} }`
  const isServed = async () => {
    const { errors } = await gql(acme.token, query)
    if (errors) expect(errors[0]!.extensions["code"]).toBe("RATE_LIMITED")
    return !errors
  }
  const unreadAll = () => Promise.all(Array.from({ length: most }, () => unread(acme.token, query)))
  const most = Math.floor(reads.companyBytes / (2 * 100 * 64_000))

  promised("are bounded while their clients do not read them; those of others, and small ones, are not", async () => {
    const { body: own } = await rest.as(null).post(`/hooks/widget/${acme.widget.id}`, { text: "Hello" }).expect(201)
    const visitor = { Authorization: `Bearer ${own.visitorToken}` }
    await sql("delete from message where chat_id = $1", [own.chatId])
    await fill(acme.id, [own.chatId])
    const others = await globex.chat()
    await fill(globex.id, [others.id])

    const sockets = await unreadAll()
    sockets.push(await unread(acme.token, `{ ${ofChats(1)} }`))
    expect(await isServed()).toBe(false)
    const { headers, body } = await rest.as(acme.token).get(`/api/messages?chatId=${chats[0]}&take=100`).expect(429)
    expect([headers["retry-after"], body.code]).toEqual(["1", "RATE_LIMITED"])
    await rest.as(acme.token).get("/api/chats").expect(200)
    expect((await gql(globex.token, `{ ${ofChats(1)} }`)).errors).toBeUndefined()
    expect((await gql(visitor, `{ messages(chatId: "${own.chatId}", first: 100) { nodes { text } } }`)).errors).toBeUndefined()
    for (const socket of sockets) socket.destroy()
    await until("they are served again", isServed)
  })

  it("are counted by their own size, if it is larger than what they read; a mutation that is refused is not to be repeated", async () => {
    const { id: chatId } = await acme.chat()
    await fill(acme.id, [chatId], 2)
    const messages = `messages(first: 2) { nodes { ${Array.from({ length: 100 }, (_, index) => `t${index}: text`).join(" ")} } }`
    const sockets = await Promise.all(
      Array.from({ length: Math.floor(reads.companyBytes / 6_400_000) }, () =>
        unread(acme.token, `{ chat(id: "${chatId}") { ${messages} } }`),
      ),
    )
    expect(await isServed()).toBe(false)
    const { errors } = await gql(acme.token, `mutation { addChatLabel(id: "${chatId}", label: "e") { ${messages} } }`)
    const message = `Too many large responses at the same time. ${mayBeDone}`
    expect(errors).toMatchObject([{ message, extensions: { code: "BAD_USER_INPUT" } }])
    for (const socket of sockets) socket.destroy()
    await until("they are served again", isServed)
  })

  it("end with their connections when their clients read nothing", async () => {
    const soon = jest.replaceProperty(httpLimits, "unreadResponseMs", 100 as never)
    await unreadAll()
    soon.restore()
    await until("they are served again", isServed)
  })

  it("are whole when they are a list that is streamed", async () => {
    const long = await acme.chat()
    await fill(acme.id, [long.id], 300)
    const { body } = await rest.as(acme.token).get(`/api/messages?chatId=${long.id}`).expect(200)
    expect(body.data).toHaveLength(300)
  })
})
