import { createRequest, type ExchangeInput, type ExchangeIO, type Operation, type OperationResult } from "urql"
import { makeSubject, publish } from "wonka"
import { inboxLimits } from "../../src/pages/browser/inbox/kit/limits.js"
import { RunningRequests } from "../../src/pages/browser/inbox/kit/running-requests.js"

describe("an event that reaches the inbox while requests run", () => {
  let requests: RunningRequests
  let delivered: string[]
  let send: (operation: Operation) => void
  let answer: (operation: Operation) => Promise<void>
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
    const [operations, results] = [makeSubject<Operation>(), makeSubject<OperationResult>()]
    const forward: ExchangeIO = (source) => {
      publish(source)
      return results.source
    }
    publish(requests.exchange({ forward } as ExchangeInput)(operations.source))
    send = operations.next
    answer = async (operation) => {
      results.next({ operation } as OperationResult)
      await Promise.resolve()
    }
  })
  afterEach(() => jest.restoreAllMocks())

  const operation = (kind: Operation["kind"], text: string): Operation => ({ ...createRequest(text, {}), kind }) as Operation
  const event = (name: string) => requests.after(() => delivered.push(name))

  it("waits for the reads and mutations that began before it, and events keep their order", async () => {
    const [read, mark] = [operation("query", "{ messages { nodes { id } } }"), operation("mutation", "mutation { markChatRead { id } }")]
    send(read)
    event("one")
    send(mark)
    event("two")
    expect(delivered).toEqual([])
    await answer(read)
    event("three")
    expect(delivered).toEqual(["one"])
    await answer(mark)
    expect(delivered).toEqual(["one", "two", "three"])
    expect(timers.size).toBe(0)
  })
  it("waits no longer than for the longest time", () => {
    send(operation("query", "{ chats { nodes { id } } }"))
    event("one")
    expect(delivered).toEqual([])
    for (const end of timers.values()) end()
    expect(delivered).toEqual(["one"])
  })

  it("does not wait for a request that is no longer wanted, for other reads and for subscriptions", () => {
    const read = operation("query", "{ chat { id } }")
    send(read)
    event("one")
    send({ ...read, kind: "teardown" })
    expect(delivered).toEqual(["one"])
    send(operation("query", "{ outcomes { total } }"))
    send(operation("subscription", "subscription { chat { id } }"))
    event("two")
    expect(delivered).toEqual(["one", "two"])
  })
})
