import { readFileSync } from "node:fs"
import { type Client, createClient, createRequest, type Exchange, type Operation, type OperationResult } from "@urql/core"
import { buildSchema, getNamedType, type OperationDefinitionNode, parse } from "graphql"
import { filter, makeSubject, merge, pipe, tap } from "wonka"
import { inboxOperations } from "../../src/pages/assets.js"
import { normalizedCache } from "../../src/pages/browser/inbox/kit/cache.js"
import { inboxLimits } from "../../src/pages/browser/inbox/kit/limits.js"
import { RunningRequests, toldByEvents } from "../../src/pages/browser/inbox/kit/running-requests.js"
import { root } from "../kit/house-rules.js"

describe("an event that reaches the inbox while requests run", () => {
  let client: Client
  let requests: RunningRequests
  let delivered: string[]
  /** What the network was given. */
  let sent: Operation[]
  let answer: (operation: Operation, data: object) => Promise<void>
  /** What ends the longest times. */
  let timers: Map<object, () => void>

  beforeEach(() => {
    timers = new Map()
    jest.spyOn(globalThis, "setTimeout").mockImplementation(((end: () => void, ms: number) => {
      expect(ms).toBe(inboxLimits.heldMs)
      const timer = {}
      timers.set(timer, end)
      return timer
    }) as never)
    jest.spyOn(globalThis, "clearTimeout").mockImplementation(((timer: object) => void timers.delete(timer)) as never)
    requests = new RunningRequests()
    delivered = []
    sent = []
    const results = makeSubject<OperationResult>()
    const network: Exchange = () => (operations) =>
      merge([
        results.source,
        pipe(
          operations,
          tap((operation) => sent.push(operation)),
          filter((_): _ is never => false),
        ),
      ])
    client = createClient({
      url: "/graphql",
      preferGetMethod: false,
      exchanges: [...requests.around(normalizedCache()), network],
    })
    answer = async (operation, data) => {
      results.next({ operation, data, stale: false, hasNext: false })
      await Promise.resolve()
    }
  })
  afterEach(() => jest.restoreAllMocks())

  /** Begins a request; returns what the network was given, and how to stop. */
  function begin(kind: "query" | "mutation" | "subscription", text: string, variables = {}) {
    const operation = client.createRequestOperation(kind, createRequest(text, variables))
    const { unsubscribe } = client.executeRequestOperation(operation).subscribe(() => {})
    return { operation: sent.at(-1)!, stop: unsubscribe }
  }
  const messages = (chatId: string) => begin("query", `query ($chatId: UUID!) { messages(chatId: $chatId) { nodes { id } } }`, { chatId })
  const markRead = (id: string) => begin("mutation", `mutation ($id: UUID!) { markChatRead(id: $id) { id unreadCount } }`, { id })
  const rename = (id: string) => begin("mutation", `mutation ($id: UUID!) { updateChat(id: $id, input: {}) { id name } }`, { id })
  const noMessages = { messages: { __typename: "MessageConnection", nodes: [] } }
  const read = (id: string) => ({ markChatRead: { __typename: "Chat", id, unreadCount: 0 } })
  const renamed = (id: string) => ({ updateChat: { __typename: "Chat", id, name: null } })
  const event = (name: string) => requests.after(() => delivered.push(name))

  it("waits for the reads and mutations that began before it, and events keep their order", async () => {
    const query = messages("one")
    event("one")
    const mutation = rename("one")
    event("two")
    expect(delivered).toEqual([])
    await answer(query.operation, noMessages)
    event("three")
    expect(delivered).toEqual(["one"])
    await answer(mutation.operation, renamed("one"))
    expect(delivered).toEqual(["one", "two", "three"])
    expect(timers.size).toBe(0)
  })

  it("waits for the network when the cache has answered a read, and until the view has that answer", async () => {
    const ada = (name: string) => ({ chat: { __typename: "Chat", id: "one", name } })
    const { operation, stop } = begin("query", "query ($id: UUID!) { chat(id: $id) { id name } }", { id: "one" })
    await answer(operation, ada("Ada"))
    stop()
    const { query, variables } = operation
    client.query(query, variables, { requestPolicy: "cache-and-network" }).subscribe(({ data }) => delivered.push(data.chat.name))
    event("one")
    await Promise.resolve()
    expect(delivered).toEqual(["Ada"])
    await answer(sent.at(-1)!, ada("Bea"))
    expect(delivered).toEqual(["Ada", "Bea", "one"])
  })

  it("does not wait for a read that the cache holds back for an optimistic mutation", async () => {
    const chat = (fields: string) => begin("query", `query ($id: UUID!) { chat(id: $id) { id ${fields} } }`, { id: "one" })
    await answer(chat("unreadCount").operation, { chat: { __typename: "Chat", id: "one", unreadCount: 1 } })
    const { operation } = markRead("one")
    chat("unreadCount name")
    expect(sent.at(-1)).toBe(operation)
    await answer(operation, read("one"))
    event("one")
    expect(delivered).toEqual(["one"])
  })

  it("waits until the cache has the answers to optimistic mutations, which it writes together", async () => {
    const first = markRead("one")
    event("of one")
    const second = markRead("two")
    await answer(first.operation, read("one"))
    expect(delivered).toEqual([])
    await answer(second.operation, read("two"))
    expect(delivered).toEqual(["of one"])
  })

  it("waits for each of two equal mutations", async () => {
    const [first, second] = [rename("one"), rename("one")]
    event("one")
    await answer(first.operation, renamed("one"))
    expect(delivered).toEqual([])
    await answer(second.operation, renamed("one"))
    expect(delivered).toEqual(["one"])
  })

  it("waits no longer than for the longest time", () => {
    messages("one")
    event("one")
    expect(delivered).toEqual([])
    for (const end of timers.values()) end()
    expect(delivered).toEqual(["one"])
  })

  it("does not wait for a request that is no longer wanted, and for others", () => {
    const { stop } = messages("one")
    event("one")
    expect(delivered).toEqual([])
    stop()
    expect(delivered).toEqual(["one"])
    begin("query", "{ outcomes { total } }")
    begin("mutation", "mutation { testAssistantTool { success } }")
    begin("subscription", "subscription { messages { id } }")
    event("two")
    expect(delivered).toEqual(["one", "two"])
  })

  it("waits for all operations of the inbox that answer with chats or messages", () => {
    const schema = buildSchema(readFileSync(`${root}schema.graphql`, "utf8"))
    const told = /^(Chat|Message)(Connection)?$/
    const found = inboxOperations().flatMap((text) => {
      const { operation, selectionSet } = parse(text).definitions.find(
        ({ kind }) => kind === "OperationDefinition",
      ) as OperationDefinitionNode
      const fields = schema.getRootType(operation)!.getFields()
      const names = selectionSet.selections.flatMap((each) => (each.kind === "Field" ? [each.name.value] : []))
      return operation === "subscription" ? [] : names.filter((name) => fields[name] && told.test(getNamedType(fields[name].type).name))
    })
    expect([...new Set(found)].sort()).toEqual([...toldByEvents].sort())
  })
})
