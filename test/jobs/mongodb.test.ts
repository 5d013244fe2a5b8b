import { request } from "undici"
import { FerretDB, ferretProgram } from "../kit/ferretdb.js"
import { scraped } from "../kit/metrics.js"
import { serverProcess } from "../kit/server-process.js"
import { storedJobs } from "../kit/stored-jobs.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const skipped = ferretProgram ? "" : " (skipped: TEST_FERRETDB does not name the program of test/ferretdb)"
const ferret = ferretProgram ? await FerretDB.start() : null

;(ferret ? describe : describe.skip)(`jobs in MongoDB${skipped}`, () => {
  const w = world({ MONGODB_URL: `${ferret?.url}/jobs`, REPLY_DEBOUNCE_MS: "50", REPLY_MAX_WAIT_MS: "100" })
  const { acme, sql } = w
  afterAll(() => ferret!.remove())

  const ready = async (url = w.url) => {
    const { statusCode, body } = await request(`${url}/health/ready`)
    return [statusCode, await body.json()]
  }
  const servicesUp = async () => Object.fromEntries(await scraped(w, "platform_service_up"))
  const answered = (chatId: string) =>
    until(
      "the assistant has answered",
      async () => (await sql("select from message where chat_id = $1 and role = 'Assistant'", [chatId]))[0] ?? null,
    )

  /** A chat whose reply is due, and whose due time is in no instance's memory, as after a crash. */
  async function forgotten() {
    const chat = await acme.chat()
    await acme.message({ chatId: chat.id, text: "When are you open?", role: "Customer" })
    const values = [chat.id, acme.assistant.id]
    await sql(
      "update chat set assistant_id = $2, is_under_ai_control = true, reply_first_at = now(), reply_due_at = now() where id = $1",
      values,
    )
    return chat.id
  }

  it("has the sweeps, and nothing of the work that has rows", async () => {
    const names = (await storedJobs(w)).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(["reply-sweep", "deliver-sweep", "retention"]))
    expect(await sql("select name from agenda_jobs")).toEqual([])
    expect(await ready()).toEqual([200, { status: "ok", database: true, queue: true }])
  })

  it("a sweep finds what is due and nobody expects", async () => {
    await answered(await forgotten())
  })

  it("a built server, too, has its jobs in MongoDB", async () => {
    const server = await serverProcess(w, { MONGODB_URL: `${ferret!.url}/built` })
    expect(await ready(server.url)).toEqual([200, { status: "ok", database: true, queue: true }])
    await server.stop()
  })

  it("when MongoDB is lost, replies go on, and what is due meanwhile runs when it is back", async () => {
    await ferret!.kill()
    expect(await ready()).toEqual([503, { status: "unavailable", database: true, queue: false }])
    expect(await servicesUp()).toEqual({ '{service="database"}': 1, '{service="mongodb"}': 0 })
    const chat = await acme.chat({ assistantId: acme.assistant.id })
    await acme.message({ chatId: chat.id, text: "When are you open?", role: "Customer" })
    await answered(chat.id)
    const id = await forgotten()
    await ferret!.start()
    await answered(id)
    expect(await ready()).toEqual([200, { status: "ok", database: true, queue: true }])
    expect(await servicesUp()).toEqual({ '{service="database"}': 1, '{service="mongodb"}': 1 })
  })
})
