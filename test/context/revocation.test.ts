import { pace } from "../kit/pace.js"
import { socketIo } from "../kit/socket-io.js"
import { socketIoStories } from "../kit/socket-io-stories.js"
import { rawSocket } from "../kit/sockets.js"
import { world } from "../kit/world.js"

const w = world()
const { acme } = w
const { makeToken } = socketIoStories(w)

/** Sockets of one token on each of two instances. */
const perInstance = { graphqlWs: 20, socketIo: 5 }

const many = <T>(count: number, make: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: count }, make))

const statusOf = async (url: string, token: string) => {
  const response = await fetch(`${url}/api/chats?take=1`, { headers: { "x-access-token": token } })
  await response.arrayBuffer()
  return response.status
}

it("a token with 50 sockets on two instances: revoked on one, all are closed within a second, and it is 401 on both at once", async () => {
  const other = await w.another()
  const instances = [w, { ...w, url: other.url }]
  const untouched = await Promise.all(instances.map((at) => rawSocket(at)))
  for (const socket of untouched) expect(await socket.open(acme.token)).toBe("acknowledged")
  await pace("a revoked token closes 50 sockets of two instances", 1_000, "ms", async () => {
    const { value, revoke } = await makeToken()
    const graphqlWs = (await Promise.all(instances.map((at) => many(perInstance.graphqlWs, () => rawSocket(at))))).flat()
    const opened = await Promise.all(graphqlWs.map((socket, index) => socket.open(value, index % 2 ? acme.id : undefined)))
    expect(new Set(opened)).toEqual(new Set(["acknowledged"]))
    // Half of them have a subscription.
    for (const socket of graphqlWs.filter((_, index) => index % 2)) {
      socket.send({ id: "1", type: "subscribe", payload: { query: "subscription { events { id } }" } })
    }
    const overSocketIo = (await Promise.all(instances.map((at) => many(perInstance.socketIo, () => socketIo(at, value))))).flat()
    expect(new Set(await Promise.all(overSocketIo.map(({ outcome }) => outcome())))).toEqual(new Set(["connected"]))
    expect(graphqlWs.length + overSocketIo.length).toBe(50)
    for (const { url } of instances) expect(await statusOf(url, value)).toBe(200)

    await revoke()
    const answered = performance.now()
    const statuses = Promise.all(instances.map(({ url }) => statusOf(url, value)))
    const codes = (await Promise.all(graphqlWs.map(({ closed }) => closed()))).map(({ code }) => code)
    const reasons = await Promise.all(overSocketIo.map(({ disconnected }) => disconnected()))
    const took = performance.now() - answered
    expect(await statuses).toEqual([401, 401])
    expect(codes).toEqual(graphqlWs.map(() => 4401))
    // By the server, and not by its transport: the standard client does not come back.
    expect(reasons).toEqual(overSocketIo.map(() => "io server disconnect"))
    expect(overSocketIo.map(({ socket }) => socket.active)).toEqual(overSocketIo.map(() => false))
    return took
  })
  for (const socket of untouched) {
    expect((await socket.ask("{ chatFolders { id } }"))[0].payload.data).toEqual({ chatFolders: [] })
    socket.socket.terminate()
  }
  await other.stop()
})
