import { FairTurns, type TurnKind } from "../../src/context/fair-turns.js"
import { contextLimits } from "../../src/context/limits.js"
import { world } from "../kit/world.js"

const { atOnce, activeMs } = contextLimits.fairTurns

/** Turns of a process that is busy or not, on a clock that moves by hand; `begun` has the requests that have begun, in order. */
function turns() {
  const state = { isBusy: true, now: 0 }
  const fair = new FairTurns(
    () => state.isBusy,
    () => state.now,
  )
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const send = async (owner: string, name: string, kind: TurnKind = "people") => {
    const end = await fair.enter(owner, kind)
    begun.push(name)
    ends.set(name, end)
  }
  /** Ends a request, and lets those that waited for it begin. */
  const end = async (name: string) => {
    ends.get(name)!()
    await new Promise(setImmediate)
  }
  return { state, fair, begun, send, end }
}

describe("requests", () => {
  it("begin at once while the process has time to spare, and while one company alone sends", async () => {
    const { state, begun, send } = turns()
    for (let number = 1; number <= 20; number += 1) await send("one", `${number}`)
    state.isBusy = false
    await send("other", "a")
    for (let number = 21; number <= 40; number += 1) await send("one", `${number}`)
    expect(begun).toHaveLength(41)
  })

  it("of one company alone begin at once: of its people, its visitors and its work", async () => {
    const { begun, send } = turns()
    for (const kind of ["people", "visitors", "work"] as const)
      for (let number = 1; number <= 5; number += 1) await send("one", `${kind} ${number}`, kind)
    expect(begun).toHaveLength(15)
  })

  it("of a company's people wait for those of its visitors no more than for those of others", async () => {
    const { begun, send } = turns()
    await send("other", "a")
    for (let number = 1; number <= atOnce + 3; number += 1) void send("one", `visitor ${number}`, "visitors")
    await send("one", "person")
    await send("one", "work", "work")
    expect(begun.slice(-2)).toEqual(["person", "work"])
  })

  it("of several companies take turns while it has none: those of one wait for each other, in their order", async () => {
    const { fair, begun, send, end } = turns()
    await send("other", "a")
    const mine = Math.max(1, atOnce / 2)
    for (let number = 1; number <= mine + 3; number += 1) void send("one", `${number}`)
    await new Promise(setImmediate)
    const first = ["a", ...Array.from({ length: mine }, (_, index) => `${index + 1}`)]
    expect([begun, fair.waiting]).toEqual([first, 3])
    // The other company's next request does not wait for them.
    await end("a")
    await send("other", "b")
    await end("1")
    await end("1")
    expect([begun.slice(first.length), fair.waiting]).toEqual([["b", `${mine + 1}`], 2])
  })

  it("that wait begin when there is time again, or the other company sends no more", async () => {
    const { state, fair, begun, send, end } = turns()
    await send("other", "a")
    for (const name of ["1", "2", "3", "4", "5"]) void send("one", name)
    await new Promise(setImmediate)
    state.isBusy = false
    await end("1")
    expect([begun.length, fair.waiting]).toEqual([6, 0])

    state.isBusy = true
    for (const name of ["2", "3", "4", "5", "a"]) await end(name)
    await send("other", "b")
    await end("b")
    for (const name of ["6", "7", "8"]) void send("one", name)
    await new Promise(setImmediate)
    expect(fair.waiting).toBeGreaterThan(0)
    state.now += activeMs + 1
    await end("6")
    expect(fair.waiting).toBe(0)
  })

  it("that take long give their place free", async () => {
    const { begun, send } = turns()
    await send("other", "a")
    for (let number = 1; number <= atOnce; number += 1) void send("one", `${number}`)
    await send("one", "last")
    expect(begun.at(-1)).toBe("last")
  })
})

describe("a busy server", () => {
  const w = world()
  const { acme, globex, rest, gql } = w

  it("answers all requests of two companies, over all protocols, and gives every turn back", async () => {
    w.services.turns = new FairTurns(() => true)
    const chat = await acme.chat({})
    const ask = (token: string) => [
      rest.as(token).get("/api/chat-folders").expect(200),
      gql(token, "{ chatFolders { id } }").then(({ data }) => expect(data.chatFolders).toBeDefined()),
      rest.as(token).get("/api/chats?filter=nonsense").expect(400),
    ]
    const asked = Array.from({ length: 10 }, () => [
      ...ask(acme.token),
      ...ask(globex.token),
      rest.as("none").get("/api/chats").expect(401),
    ])
    await Promise.all(asked.flat())
    await acme.message({ chatId: chat.id, text: "Hello", role: "Customer" })
    await w.runDue()
    expect(w.services.turns.waiting).toBe(0)
  })
})
