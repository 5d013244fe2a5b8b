import { Faults, faultRatesOf } from "../../simulate/kit/faults.js"
import { HookSender, type HookSenderOptions } from "../../simulate/kit/hook-sender.js"
import { VendorServer } from "../../simulate/kit/vendor-server.js"
import { type Receiver, receiver } from "../kit/receiver.js"
import { until } from "../kit/wait.js"

const words = {
  tooMany: (retryAfter: number) => ({ status: 429, headers: { "retry-after": String(retryAfter) }, json: { wait: retryAfter } }),
  broken: () => ({ status: 500, json: { broken: true } }),
  unknown: () => ({ status: 404 }),
}

describe("the server of a stand-in", () => {
  let vendor: VendorServer
  let handled: string[]
  beforeEach(async () => {
    handled = []
    vendor = await new VendorServer(
      {
        "POST /bot:token/:method": ({ params, json }) => {
          handled.push(params["method"]!)
          return { json: { ...params, json } }
        },
        "POST /files": async (call) => ({ json: { name: (await call.form()).get("name") } }),
      },
      words,
      { delayMs: 1 },
    ).listen()
  })
  afterEach(() => vendor.close())
  const post = (path: string, body: FormData | string = "{}", signal?: AbortSignal) =>
    fetch(vendor.url + path, { method: "POST", body, ...(signal && { signal }) })

  it("routes by method and path, parses bodies, and records requests", async () => {
    const response = await post("/bot12:ab/getMe?x=1", '{"a":1}')
    expect(await response.json()).toEqual({ token: "12:ab", method: "getMe", json: { a: 1 } })
    const form = new FormData()
    form.set("name", "Ada")
    expect(await (await post("/files", form)).json()).toEqual({ name: "Ada" })
    expect((await post("/elsewhere")).status).toBe(404)
    expect((await fetch(`${vendor.url}/files`)).status).toBe(404)
    expect(vendor.calls.map(({ method, path, status }) => [method, path, status])).toEqual([
      ["POST", "/bot12:ab/getMe", 200],
      ["POST", "/files", 200],
      ["POST", "/elsewhere", 404],
      ["GET", "/files", 404],
    ])
    expect(vendor.calls[0]!.query.get("x")).toBe("1")
  })

  it("fails as planned, before or after a request was handled", async () => {
    vendor.faults.next({ fault: "429", retryAfter: 3, on: "/send" })
    vendor.faults.next("500")
    expect((await post("/bot1/getMe")).status).toBe(500)
    const refused = await post("/bot1/send")
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "3"])
    expect(handled).toEqual([])
    for (const fault of ["reset", "drop", "reset-after", "hang"] as const) {
      vendor.faults.next(fault)
      // What is not answered is given up once the stand-in has the request.
      const giveUp = new AbortController()
      const sent = post(`/bot1/${fault}`, "{}", giveUp.signal)
      const answered = sent.then(
        () => true,
        () => false,
      )
      await until("the stand-in has the request", () => vendor.calls.some(({ path }) => path.endsWith(`/${fault}`)))
      if (fault === "hang") await until("the stand-in has handled the request", () => handled.includes("hang"))
      if (fault === "drop" || fault === "hang") giveUp.abort()
      expect(await answered).toBe(false)
    }
    expect(handled).toEqual(["reset-after", "hang"])
    vendor.faults.next("delay")
    expect((await post("/bot1/delay")).status).toBe(200)
    vendor.faults.next({ fault: "500", about: "second" })
    const send = (text: string) => fetch(`${vendor.url}/bot1/send`, { method: "POST", body: text })
    expect([(await send("the first")).status, (await send("the second")).status, (await send("the second")).status]).toEqual([
      200, 500, 200,
    ])
  })
})

describe("faults", () => {
  it("happen with their probability, and the same for the same seed", () => {
    const run = (seed: number) => {
      const faults = new Faults({ drop: 0.1, "429": 0.2, reorder: 0.5 }, seed)
      return Array.from({ length: 1000 }, () => faults.ofCall("/")?.fault ?? null)
    }
    expect(run(1)).toEqual(run(1))
    expect(run(1)).not.toEqual(run(2))
    const of = (fault: string | null) => run(1).filter((found) => found === fault).length
    expect(of("drop")).toBeGreaterThan(70)
    expect(of("drop")).toBeLessThan(130)
    expect(of("429")).toBeGreaterThan(160)
    expect(of("429")).toBeLessThan(240)
    expect(of("drop") + of("429") + of(null)).toBe(1000)
  })

  it("are read from text", () => {
    expect(faultRatesOf("drop=0.1, 429=0.05,reorder=1")).toEqual({ drop: 0.1, "429": 0.05, reorder: 1 })
    for (const text of ["", "drop", "drop=2", "drop=-1", "flood=0.1", "drop=0.1,"]) expect(() => faultRatesOf(text)).toThrow("is no fault")
  })
})

describe("the sender of hooks", () => {
  let hook: Receiver
  let senders: HookSender[]
  beforeEach(async () => {
    hook = await receiver()
    senders = []
  })
  afterEach(async () => {
    for (const sender of senders) sender.close()
    await hook.close()
  })
  const sender = (options: Partial<HookSenderOptions> = {}) => {
    const made = new HookSender({
      url: () => hook.url,
      sign: (body) => ({ "x-length": String(body.length) }),
      pauseMs: () => 1,
      delayMs: 10,
      ...options,
    })
    senders.push(made)
    return made
  }
  const bodies = () => hook.requests.map(({ body }) => JSON.parse(body.toString()))

  it("signs, and repeats an event until it was accepted, before the next of its lane", async () => {
    const paused: unknown[] = []
    const sending = sender({ pauseMs: (...args) => paused.push(args) && 1 })
    hook.answer(() => (hook.requests.length < 3 ? 503 : 200))
    void sending.send({ n: 1 }, "chat")
    void sending.send({ n: 2 }, "chat")
    await sending.idle()
    expect(bodies()).toEqual([{ n: 1 }, { n: 1 }, { n: 1 }, { n: 2 }])
    expect(hook.requests[0]!.headers["x-length"]).toBe("7")
    expect(paused).toEqual([
      [1, null],
      [2, null],
    ])
    expect(sending.attempts.map(({ status }) => status)).toEqual([503, 503, 200, 200])
  })

  it("a failing lane does not hold up another", async () => {
    const sending = sender({ pauseMs: () => 60_000 })
    hook.answer(({ body }) => (body.includes("1") ? 500 : 200))
    void sending.send({ n: 1 }, "a")
    void sending.send({ n: 2 }, "a")
    await sending.send({ n: 3 }, "b")
    expect(bodies()).toEqual([{ n: 1 }, { n: 3 }])
  })

  it.each([
    ["duplicate", [1, 1, 2]],
    ["reorder", [2, 1]],
    ["drop", [1, 2]],
    ["delay", [1, 2]],
  ] as const)("%s", async (fault, expected) => {
    const faults = new Faults({ [fault]: 1 })
    const sending = sender({ faults })
    void sending.send({ n: 1 }, "chat")
    faults.rates[fault] = 0
    void sending.send({ n: 2 }, "chat")
    await sending.idle()
    expect(bodies().map(({ n }) => n)).toEqual(expected)
  })
})
