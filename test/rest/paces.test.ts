import type { Route } from "../../src/rest/kit/routes.js"
import type { Method } from "../kit/clients.js"
import { duration, pace } from "../kit/pace.js"
import { addressOf, type Belongings, belongings, bodyFor, credentialFor, everyRoute, isPublic, queryFor } from "../kit/routes.js"
import { world } from "../kit/world.js"

const w = world()
const { acme, rest } = w

const routes = everyRoute.filter(([, route]) => !isPublic(route) && !route.multipart)

let own: Belongings
beforeAll(async () => {
  own = await belongings(acme)
})

/** The shortest of three requests: another process of the machine interrupts one of them, not all. */
async function shortest(route: Route): Promise<number> {
  const address = addressOf(route, own) + queryFor(route, own)
  const client = rest.as(credentialFor(route, acme))
  const times: number[] = []
  for (let index = 0; index < 3; index += 1) {
    const request = client.ask(route.method.toLowerCase() as Method, address).send(bodyFor(route, own) as object)
    times.push(await duration(() => request))
  }
  return Math.min(...times)
}

it("each route answers within 50 ms", async () => {
  const slowest = { name: "", ms: 0 }
  // What is deleted comes last, since the others read it.
  const ordered = routes.toSorted(([, a], [, b]) => Number(a.method === "DELETE") - Number(b.method === "DELETE"))
  for (const [name, route] of ordered) {
    const ms = await shortest(route)
    if (ms > slowest.ms) Object.assign(slowest, { name, ms })
  }
  await pace(`the slowest of ${routes.length} routes, ${slowest.name}`, 50, "ms", () => slowest.ms)
})
