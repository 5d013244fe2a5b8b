import { endOfLog, subscribe } from "./kit/sockets.js"
import { world } from "./kit/world.js"

const w = world()
const { acme, rest } = w

const ready = async () => (await fetch(`${w.url}/health/ready`)).json() as Promise<{ status: string }>

describe("health", () => {
  it("says that the process lives, and that it can work", async () => {
    expect(await (await fetch(`${w.url}/health/live`)).json()).toEqual({ status: "ok" })
    expect(await ready()).toEqual({ status: "ok", database: true, queue: true })
  })

  it("survives that the database ends every connection, and goes on by itself", async () => {
    const { id: chatId } = await acme.chat()
    const after = await endOfLog(w)
    const heard = await subscribe(w, acme.token, { chatId, after })
    const first = await acme.message({ chatId })
    expect((await heard.next()).payload).toEqual(first)
    await w.sql("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()")
    // A connection that was in use is refused once; who asks again is answered.
    for (let asked = await ready(); asked.status !== "ok"; asked = await ready());
    await rest.as(acme.token).get(`/api/chats/${chatId}`).expect(200)
    // Who listens hears what follows, on the same socket.
    const second = await acme.message({ chatId })
    expect((await heard.next()).payload).toEqual(second)
    await heard.stop()
  })
})
