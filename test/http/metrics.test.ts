import { once } from "node:events"
import { createServer } from "node:http"
import supertest from "supertest"
import { graphqlLimits } from "../../src/graphql/limits.js"
import { observabilityLimits } from "../../src/observability/limits.js"
import { Metrics } from "../../src/observability/metrics.js"
import { addServiceGauge } from "../../src/observability/process-gauges.js"
import { valuesOf } from "../kit/metrics.js"
import { tcpProxy } from "../kit/tcp-proxy.js"
import { happens, until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, rest, gql } = w

const scrape = async (headers: Record<string, string> = {}) => supertest(w.url).get("/metrics").set(headers)

describe("GET /metrics", () => {
  it("shows operations of every transport by root field and outcome", async () => {
    await rest.as(acme.token).get("/api/chat-folders").expect(200)
    await gql(acme.token, "{ chatFolders { id } }")
    await gql(acme.token, `{ chat(id: "${acme.assistant.id}") { id } }`)
    const { text, headers } = await scrape()
    expect(headers["content-type"]).toContain("text/plain")
    const counts = valuesOf(text, "platform_operations_total")
    expect(counts.get('{transport="rest",kind="query",field="chatFolders",outcome="OK"}')).toBe(1)
    expect(counts.get('{transport="http",kind="query",field="chatFolders",outcome="OK"}')).toBe(1)
    expect(counts.get('{transport="http",kind="query",field="chat",outcome="NOT_FOUND"}')).toBe(1)
    const durations = valuesOf(text, "platform_operation_duration_seconds_count")
    expect(durations.get('{kind="query",field="chatFolders"}')).toBe(2)
  })

  it("counts turns, model calls, tokens and placed events, and shows due work, sockets, the pool and the process", async () => {
    const chat = await acme.chat({ assistantId: acme.assistant.id })
    await acme.message({ chatId: chat.id, role: "Customer", text: "Hello" })
    w.clock.advance(10_000)
    await w.runDue()
    const { text } = await scrape()
    for (const name of [
      "platform_work_due",
      "platform_work_overdue",
      "platform_work_running",
      "platform_work_failed",
      "platform_work_lag_seconds",
      "platform_work_wait_seconds_count",
      "platform_open_sockets",
      "platform_events_unplaced",
      "platform_sequencer_lag_seconds",
      "platform_database_connections",
      "platform_turns_waiting",
      "process_resident_memory_bytes",
    ])
      expect(valuesOf(text, name).size).toBeGreaterThan(0)
    expect([...valuesOf(text, "platform_work_due").keys()]).toContain('{kind="reply"}')
    expect([...valuesOf(text, "platform_events_placed_total").values()][0]).toBeGreaterThan(0)
  })

  it("shows for how long each kind of work held the process", async () => {
    const query = `query Longest { ${Array.from({ length: 30 }, (_, index) => `a${index}: chatFolders { id name }`).join(" ")} }`
    for (let times = 0; times <= graphqlLimits.interpretedRuns; times += 1) await gql(acme.token, query)
    const longest = valuesOf((await scrape()).text, "platform_event_loop_longest_seconds")
    for (const cause of ["parse", "validate", "compile", "execute", "serialize"])
      expect(longest.get(`{cause="${cause}"}`)).toBeGreaterThan(0)
  })

  it("shows that the database does not answer, and that it answers again", async () => {
    const proxy = await tcpProxy(w.databaseUrl)
    const { url, stop } = await w.another({ DATABASE_URL: proxy.url })
    const services = async () => [...valuesOf((await supertest(url).get("/metrics").expect(200)).text, "platform_service_up")]
    const shows = (value: number) =>
      until(
        `the gauge is ${value}`,
        async () => JSON.stringify(await services()) === JSON.stringify([['{service="database"}', value]]),
        services,
      )
    await shows(1)
    proxy.reset()
    await shows(0)
    proxy.pass()
    await shows(1)
    await stop()
    await proxy.close()
  })

  it("shows a service that refuses or is silent as one that does not answer", async () => {
    const { serviceAnswerMs } = observabilityLimits
    Object.assign(observabilityLimits, { serviceAnswerMs: 20 })
    const metrics = new Metrics(w.services.log)
    const answers: [string, () => Promise<boolean>][] = [
      ["there", async () => true],
      ["refusing", () => Promise.reject(new Error("no"))],
      ["silent", () => new Promise(() => {})],
    ]
    addServiceGauge(metrics, new Map(answers))
    const shown = valuesOf(await happens("the metrics are read", metrics.text()), "platform_service_up")
    Object.assign(observabilityLimits, { serviceAnswerMs })
    expect(Object.fromEntries(shown)).toEqual({ '{service="there"}': 1, '{service="refusing"}': 0, '{service="silent"}': 0 })
  })

  it("leaves out a gauge that cannot be read, with a label and without one, and shows the others", async () => {
    const metrics = new Metrics(w.services.log)
    const fails = () => Promise.reject(new Error("The database does not answer"))
    metrics.gauge("read_before", "A gauge.", () => 3)
    metrics.gauge("unread", "A gauge.", fails)
    metrics.gauge("unread_by_kind", "A gauge.", fails, "kind")
    const text = await metrics.text()
    const shown = ["read_before", "unread", "unread_by_kind"].map((name) => [...valuesOf(text, name).values()])
    expect(shown).toEqual([[3], [], []])
  })

  it("has no label that a client chooses: unknown paths and names share one series", async () => {
    const before = valuesOf((await scrape()).text, "platform_http_requests_total").size
    for (let number = 0; number < 30; number += 1) await rest.as(acme.token).get(`/unknown-${number}`)
    for (let number = 0; number < 30; number += 1) await gql(acme.token, `query Name${number} { alias${number}: chatFolders { id } }`)
    const { text } = await scrape()
    expect(valuesOf(text, "platform_http_requests_total").size - before).toBeLessThanOrEqual(2)
    expect(text).not.toMatch(/unknown-\d|Name\d|alias\d/)
  })

  it("gets one line more for an outcome that a client provokes, not a histogram", async () => {
    const lines = async () => (await scrape()).text.split("\n").filter((line) => line.includes('="assistant"')).length
    const asked = (id: string) => gql(acme.token, `{ assistant(id: "${id}") { id } }`)
    await asked(acme.assistant.id)
    const before = await lines()
    expect((await asked(w.globex.assistant.id)).errors![0]!.extensions.code).toBe("NOT_FOUND")
    expect(await lines()).toBe(before + 1)
  })

  it("answers only clients on this machine, and none through an untrusted proxy", async () => {
    expect((await scrape()).status).toBe(200)
    const forwarded = await scrape({ "X-Forwarded-For": "203.0.113.7" })
    expect({ status: forwarded.status, code: forwarded.body.code }).toEqual({ status: 403, code: "FORBIDDEN" })
  })

  it("refuses a client whose address, as a trusted proxy passes it on, is none", async () => {
    const { url, stop } = await w.another({ TRUST_PROXY: "1" })
    for (const address of ["not an address", "999.1.1.1", "::ffff:10.0.0.1", "203.0.113.7"])
      expect((await supertest(url).get("/metrics").set("X-Forwarded-For", address)).status).toBe(403)
    expect((await supertest(url).get("/metrics").set("X-Forwarded-For", "127.0.0.1")).status).toBe(200)
    await stop()
  })

  it("is joined on request by a log line for each request, with no more of a credential than its first characters", async () => {
    for (const [options, level] of [[{ REQUEST_LOG: "true", LOG_LEVEL: "info" }, 30] as const, [{ LOG_LEVEL: "debug" }, 20] as const]) {
      const { url, stop } = await w.another(options)
      const requestId = `request-at-${level}`
      const asked = () => supertest(url).get(`/api/chats/${acme.assistant.id}`).set("X-Request-Id", requestId)
      await asked().set("X-Access-Token", acme.token).expect(404)
      await asked().set("Authorization", `Bearer ${acme.token}`).expect(404)
      await asked().set("X-Access-Token", "a secret of another kind").expect(401)
      await stop()
      const lines = w.logged.filter((line) => line["requestId"] === requestId && line["msg"] === "request")
      const line = { level, method: "GET", route: "/api/chats/:id", ms: expect.any(Number) }
      expect(lines).toMatchObject([
        { ...line, status: 404, credential: acme.token.slice(0, 12) },
        { ...line, status: 404, credential: acme.token.slice(0, 12) },
        { ...line, status: 401 },
      ])
      expect(lines[2]).not.toHaveProperty("credential")
      expect(JSON.stringify(lines)).not.toContain(acme.token)
    }
  })

  it("with METRICS_TOKEN requires it as bearer token", async () => {
    const { url, stop } = await w.another({ METRICS_TOKEN: "a token for scraping" })
    const get = (authorization?: string) =>
      supertest(url)
        .get("/metrics")
        .set(authorization ? { Authorization: authorization } : {})
    expect((await get()).status).toBe(401)
    expect((await get("Bearer another token")).status).toBe(401)
    expect((await get("Bearer a token for scraping")).status).toBe(200)
    await stop()
  })
})

interface OtlpSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
}

describe("OTEL_EXPORTER_OTLP_ENDPOINT", () => {
  it("exports spans from request to operation to SQL, and from turn to model, without texts of customers", async () => {
    let received = ""
    const collector = createServer((request, response) => {
      request
        .on("data", (chunk) => (received += chunk))
        .on("end", () => response.writeHead(200, { "Content-Type": "application/json" }).end("{}"))
    }).listen(0, "127.0.0.1")
    await once(collector, "listening")
    const { port } = collector.address() as { port: number }
    const traceId = "0af7651916cd43dd8448eb211c80319c"
    const { url, stop } = await w.another({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, REPLY_DEBOUNCE_MS: "0" })
    await supertest(url)
      .post("/graphql")
      .set({ "X-Access-Token": acme.token, traceparent: `00-${traceId}-b7ad6b7169203331-01` })
      .send({ query: '{ chatFolders(companyId: null) { id name } chats(search: "a secret word") { nodes { id } } }' })
      .expect(200)
    const post = (path: string, body: object) => supertest(url).post(path).set("X-Access-Token", acme.token).send(body).expect(201)
    const { body: chat } = await post("/api/chats", {
      messenger: "playground",
      fromId: "playground",
      externalId: "traced-customer",
      assistantId: acme.assistant.id,
    })
    await post("/api/messages", { chatId: chat.id, role: "Customer", text: "a secret word" })
    const answered = async () =>
      (await supertest(url).get(`/api/messages?chatId=${chat.id}`).set("X-Access-Token", acme.token)).body.data.length > 1
    // The debounce is 0, and the turn runs in the background.
    await until("the message is answered", answered)
    // A stop exports the remaining spans.
    await stop()
    collector.close()
    const all: OtlpSpan[] = received
      .split(/(?<=\})(?=\{"resourceSpans")/)
      .flatMap((part) => JSON.parse(part).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap((scope: { spans: OtlpSpan[] }) => scope.spans)
    const spans = all.filter((span) => span.traceId === traceId)
    const request = spans.find(({ name }) => name === "POST /graphql")!
    const operation = spans.find(({ name }) => name === "query chatFolders")!
    expect(request.parentSpanId).toBe("b7ad6b7169203331")
    expect(operation.parentSpanId).toBe(request.spanId)
    expect(
      spans.filter(({ parentSpanId, name }) => parentSpanId === operation.spanId && /^(SELECT|WITH)/.test(name)).length,
    ).toBeGreaterThan(0)
    const turn = all.find(({ name }) => name === "turn")!
    expect(all.filter(({ parentSpanId }) => parentSpanId === turn.spanId).map(({ name }) => name)).toContain("model")
    expect(received).not.toContain("a secret word")
  })
})
