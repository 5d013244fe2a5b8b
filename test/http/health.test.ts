import { readFile } from "node:fs/promises"
import { setImmediate as turn } from "node:timers/promises"
import supertest from "supertest"
import { lineForPeople } from "../../src/observability/line-for-people.js"
import { blockWrites } from "../kit/blocked-writes.js"
import { serverProcess } from "../kit/server-process.js"
import { endOfLog, subscribe } from "../kit/sockets.js"
import { until } from "../kit/wait.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, rest } = w

const ready = async () => (await fetch(`${w.url}/health/ready`)).json() as Promise<{ status: string }>

describe("health", () => {
  it("reports that the process runs, and that it is ready", async () => {
    expect(await (await fetch(`${w.url}/health/live`)).json()).toEqual({ status: "ok" })
    expect(await ready()).toEqual({ status: "ok", database: true, queue: true })
  })

  it("tells the versions of the server, of Node and of the schema, as the OpenAPI document describes", async () => {
    const { version } = JSON.parse(await readFile("package.json", "utf8"))
    const [migration] = await w.sql("select name from mikro_orm_migrations order by id desc limit 1")
    const response = await supertest(w.url).get("/version").expect(200)
    w.fits("get", "/version", response)
    expect(response.body).toEqual({ version, node: process.version, migration: migration.name })
  })

  it("ends in order when its terminal is closed, on which the log is for people", async () => {
    const terminal = "--import=data:text/javascript,process.stderr.isTTY=true"
    const server = await serverProcess(w, { LOG_LEVEL: "info", NODE_OPTIONS: terminal, NO_COLOR: "1" })
    await server.stop("SIGHUP")
    expect(server.ended()).toMatch(/^0:/)
    expect(server.log()).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}stopping signal="SIGHUP"$/m)
  })

  it("shows people a line of its log with the stack of an error, and nothing that steers their terminal", () => {
    const time = new Date(2026, 0, 2, 3, 4, 5, 6).getTime()
    const line = { level: "error", time, pid: 7, requestId: "r\u001b[2J", err: { stack: "Error: \u009bno\n    at x" }, msg: "failed" }
    expect(lineForPeople(JSON.stringify(line), true)).toContain("\u001b[31mERROR\u001b[39m failed")
    expect(lineForPeople(JSON.stringify(line), false)).toBe(
      '03:04:05.006 ERROR failed requestId="r\\u001b[2J"\n    Error: \\u009bno\n        at x\n',
    )
  })

  it("recovers when the database ends every connection", async () => {
    const { id: chatId } = await acme.chat()
    const after = await endOfLog(w)
    const heard = await subscribe(w, acme.token, { chatId, after })
    const first = await acme.message({ chatId })
    expect((await heard.next()).payload).toEqual(first)
    await w.sql(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = current_user and pid <> pg_backend_pid()",
    )
    // A request on a broken connection fails once; the next one succeeds.
    for (let asked = await ready(); asked.status !== "ok"; asked = await ready());
    await rest.as(acme.token).get(`/api/chats/${chatId}`).expect(200)
    // Subscribers receive what follows, on the same socket.
    const second = await acme.message({ chatId })
    expect((await heard.next()).payload).toEqual(second)
    await heard.stop()
  })
})

describe("a stop", () => {
  it("lets a request end whose client has disconnected", async () => {
    const leaving = await w.another()
    const logged = w.logged.length
    const { id } = await acme.chat()
    await using gate = await blockWrites(w, "update on chat", "new.name = 'Late'")
    const client = new AbortController()
    const asked = fetch(`${leaving.url}/api/chats/${id}`, {
      method: "PATCH",
      headers: { "x-access-token": acme.token, "content-type": "application/json" },
      body: JSON.stringify({ name: "Late" }),
      signal: client.signal,
    })
    await gate.waiting(1)
    client.abort()
    await expect(asked).rejects.toThrow(/abort/)
    const stopped = leaving.stop()
    const refuses = () =>
      fetch(`${leaving.url}/health/live`).then(
        () => false,
        () => true,
      )
    await until("the server accepts no more requests", refuses)
    // What does not wait for the request comes now: the database is closed within a few turns of the event loop.
    for (let count = 0; count < 1_000; count += 1) await turn()
    const isClosed = leaving.services.database.pool.ending
    await gate.open()
    await stopped
    expect(isClosed).toBe(false)
    expect((await rest.as(acme.token).get(`/api/chats/${id}`).expect(200)).body.name).toBe("Late")
    // On a busy machine Agenda warns of jobs that it had to start again.
    expect(w.logged.slice(logged).filter(({ msg }) => msg !== "job scheduler error")).toEqual([])
  })
})
