import { v7 } from "uuid"
import { systemContext } from "../../src/context/request-context.js"
import { eventCursor } from "../../src/events/logged-event.js"
import { append } from "../../src/messages/append.js"
import { promised } from "../kit/promise.js"
import { endOfLog, type HeardEvent, rawSocket, subscribe } from "../kit/sockets.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, globex, rest, gql } = w

async function opened(credential: string, path: "/graphql" | "/ws" = "/graphql") {
  const socket = await rawSocket(w, path)
  expect(await socket.open(credential)).toBe("acknowledged")
  return socket
}

describe("a widget's visitor", () => {
  let chatId: string
  let visitorToken: string
  const shown = `id text role authorId author { id } sources { knowledgeId } chat { id } functionCall { name } replyTo { id authorId }`

  beforeAll(async () => {
    const { body } = await rest.anonymous.post(`/hooks/widget/${acme.widget.id}`, { text: "Is anybody there?" }).expect(201)
    chatId = body.chatId
    visitorToken = body.visitorToken
  })

  /** A user answers with a quote and writes a note; the assistant calls a tool and answers with a source. */
  const write = async () => {
    const { body: quoted } = await rest.as(acme.token).get(`/api/messages?chatId=${chatId}&take=1`).expect(200)
    await rest.as(acme.member.jwt).post("/api/messages", { chatId, text: "A person", replyToMessageId: quoted.data[0].id }).expect(201)
    await acme.message({ chatId, text: "A note", role: "System" })
    await systemContext(w.services, acme.id).transaction(async (tx) => {
      const said = { chatId, role: "Assistant" } as const
      const functionCall = { callId: v7(), name: "searchKnowledge", arguments: {} }
      await append(tx.unit, { ...said, type: "FunctionCall", functionCall })
      await append(tx.unit, {
        ...said,
        type: "FunctionCallOutput",
        functionCallOutput: { callId: functionCall.callId, output: "9:00", status: "success" },
      })
      const source = { knowledgeId: acme.knowledge.id, knowledgeName: acme.knowledge.name, chunkId: v7() }
      await append(tx.unit, { ...said, type: "Text", text: "The assistant", sources: [source] })
    })
    await rest.as(acme.token).patch(`/api/chats/${chatId}`, { name: "Renamed" }).expect(200)
    await acme.message({ chatId, text: "Last" })
  }

  it("receives the messages of its own chat, without frames, notes, authors, sources and the chat", async () => {
    const other = await acme.chat()
    const socket = await opened(visitorToken)
    const query = `subscription ($after: String) { events(after: $after) { type payload chat { id } message { ${shown} } } }`
    socket.send({ id: "1", type: "subscribe", payload: { query, variables: { after: await endOfLog(w) } } })
    await acme.message({ chatId: other.id, text: "Of another chat" })
    await write()
    await until(
      "the socket has four messages",
      () => socket.heard.length >= 4,
      () => socket.heard,
    )
    const events = socket.heard.slice(1).map(({ payload }) => (payload as { data: { events: HeardEvent } }).data.events)
    const hidden = { authorId: null, sources: [], functionCall: null }
    expect(events).toMatchObject([
      {
        type: "MESSAGE_CREATED",
        chat: null,
        message: { ...hidden, author: null, text: "A person", chat: null },
        payload: { ...hidden, text: "A person" },
      },
      {
        type: "MESSAGE_CREATED",
        chat: null,
        message: { ...hidden, author: null, text: "The assistant", chat: null },
        payload: { ...hidden, text: "The assistant" },
      },
      {
        type: "MESSAGE_CREATED",
        chat: null,
        message: { ...hidden, author: null, text: "Last", chat: null },
        payload: { ...hidden, text: "Last" },
      },
    ])
    socket.socket.terminate()
  })

  promised("reads the messages of its own chat, over HTTP and sockets, and no others", async () => {
    await write()
    const query = `query ($id: UUID!) { messages(chatId: $id) { nodes { ${shown} } edges { node { ${shown} } } } }`
    const { data, errors } = await gql(visitorToken, query, { id: chatId })
    expect(errors).toBeUndefined()
    const texts = data.messages.nodes.map(({ text }: { text: string }) => text)
    expect(texts.slice(0, 3)).toEqual(["Last", "The assistant", "A person"])
    expect(texts).not.toContain("A note")
    expect(texts).not.toContain(null)
    for (const node of [...data.messages.nodes, ...data.messages.edges.map(({ node }: { node: object }) => node)]) {
      expect(node).toMatchObject({ authorId: null, author: null, sources: [], chat: null, functionCall: null })
      expect(node.replyTo?.authorId ?? null).toBeNull()
    }
    const socket = await opened(visitorToken, "/ws")
    expect((await socket.ask(query, { id: chatId }))[0].payload.data).toEqual(data)
    for (const id of [(await acme.chat()).id, (await globex.chat()).id, v7()]) {
      expect((await socket.ask(query, { id }))[0].payload.errors[0].extensions).toMatchObject({ code: "FORBIDDEN", statusCode: 403 })
      const events = "subscription ($id: UUID) { events(chatId: $id) { id } }"
      expect((await socket.ask(events, { id }))[0].payload.errors[0].extensions).toMatchObject({ code: "FORBIDDEN", statusCode: 403 })
    }
    socket.socket.terminate()
  })

  promised("resumes from the beginning of its chat, and the events of others are not even read", async () => {
    for (let index = 0; index < 5; index += 1) await acme.chat()
    const { body } = await rest.anonymous.post(`/hooks/widget/${acme.widget.id}`, { text: "Hello" }).expect(201)
    await acme.message({ chatId: body.chatId, text: "Welcome" })
    await endOfLog(w)
    const { pool } = w.services.database
    const query = pool.query.bind(pool)
    let rowsRead = 0
    const watched = jest.spyOn(pool, "query").mockImplementation((async (...args: Parameters<typeof query>) => {
      const result = (await query(...args)) as unknown as { rows: object[] }
      if (/^events-replayed/.test((args[0] as { name?: string }).name ?? "")) rowsRead += result.rows.length
      return result
    }) as never)
    const heard = await subscribe(w, body.visitorToken, { after: eventCursor("0") })
    const texts = (await heard.take(2)).map(({ payload }) => payload.text)
    expect(texts).toEqual(["Hello", "Welcome"])
    await acme.message({ chatId: body.chatId, text: "Live" })
    expect((await heard.next()).payload.text).toBe("Live")
    // CHAT_CREATED and two messages.
    expect(rowsRead).toBe(3)
    watched.mockRestore()
    await heard.stop()
  })

  promised("loses its sockets with its chat, and with its connection, on every instance; others keep theirs", async () => {
    const other = await w.another()
    const visit = async (company = acme) =>
      (await rest.anonymous.post(`/hooks/widget/${company.widget.id}`, { text: "Hello" }).expect(201)).body
    const everywhere = ({ visitorToken }: { visitorToken: string }) =>
      Promise.all(
        [w.url, other.url].map(async (url) => {
          const socket = await rawSocket({ ...w, url })
          expect(await socket.open(visitorToken)).toBe("acknowledged")
          return socket
        }),
      )
    const [first, second, third] = [await visit(), await visit(), await visit(globex)]
    const [ended, kept, disconnected] = [await everywhere(first), await everywhere(second), await everywhere(third)]

    await rest.as(acme.token).delete(`/api/chats/${first.chatId}`).expect(200)
    expect((await Promise.all(ended.map(({ closed }) => closed()))).map(({ code }) => code)).toEqual([4401, 4401])
    await w.sql("update channel set is_active = false where id = $1", [globex.widget.id])
    expect((await Promise.all(disconnected.map(({ closed }) => closed()))).map(({ code }) => code)).toEqual([4401, 4401])
    for (const { visitorToken } of [first, third]) expect(await (await rawSocket(w)).open(visitorToken)).toBe(4401)
    const query = "query ($id: UUID!) { messages(chatId: $id) { totalCount } }"
    for (const socket of kept) {
      expect((await socket.ask(query, { id: second.chatId }))[0].payload.data).toEqual({ messages: { totalCount: 1 } })
      socket.socket.terminate()
    }
    await w.sql("update channel set is_active = true where id = $1", [globex.widget.id])
    await other.stop()
  })

  promised("has no other access: 403 in GraphQL, 401 on REST, 4403 for another company", async () => {
    const fields = ["me { id }", "chats { totalCount }", `chat(id: "${chatId}") { id }`, "myCompanies { id }", "assistants { totalCount }"]
    for (const field of fields) {
      const { errors } = await gql(visitorToken, `{ ${field} }`)
      expect(errors![0]!.extensions).toMatchObject({ code: "FORBIDDEN", statusCode: 403 })
    }
    const { errors } = await gql(visitorToken, `mutation { createMessage(input: { chatId: "${chatId}", text: "x" }) { id } }`)
    expect(errors![0]!.extensions).toMatchObject({ code: "FORBIDDEN", statusCode: 403 })
    for (const path of [`/api/messages?chatId=${chatId}`, `/api/chats/${chatId}`, "/api/chats", "/api/auth/me", "/api/companies/my"]) {
      await rest.as(visitorToken).get(path).expect(401)
    }
    await rest.as(visitorToken).post("/api/messages", { chatId, text: "x" }).expect(401)
    expect(await (await rawSocket(w)).open(visitorToken, globex.id)).toBe(4403)
  })
})
