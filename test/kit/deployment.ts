import { setTimeout as sleep } from "node:timers/promises"
import { type ServerProcess, serverProcess } from "./server-process.js"
import { until } from "./wait.js"
import type { World } from "./world.js"

/** Built servers on the database of a test server, with requests spread over them as by a load balancer. */
export interface Deployment {
  /** Sends a request to the next instance. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Restarts one instance after the other with these environment variables; each gets no requests until it runs again. */
  restart(env: Record<string, string>): Promise<void>
  /** The logs of the instances that run. */
  log(): string
  stop(): Promise<void>
}

/** Starts a deployment of some instances. */
export async function startDeployment(world: World, env: Record<string, string>, count = 2): Promise<Deployment> {
  const start = async (variables: Record<string, string>) => ({ server: await serverProcess(world, variables), running: 0 })
  const instances: { server: ServerProcess; running: number }[] = []
  for (let place = 0; place < count; place += 1) instances.push(await start(env))
  return {
    async fetch(path, init) {
      const instance = instances.shift()!
      instances.push(instance)
      instance.running += 1
      try {
        const response = await fetch(instance.server.url + path, init)
        // The request is over when its body is read.
        return new Response(await response.arrayBuffer(), response)
      } finally {
        instance.running -= 1
      }
    },
    async restart(variables) {
      for (let place = 0; place < count; place += 1) {
        const old = instances.shift()!
        await until("the instance has answered its requests", () => old.running === 0)
        await old.server.stop()
        instances.push(await start({ ...env, ...variables }))
      }
    },
    log: () => instances.map(({ server }) => server.log()).join(""),
    stop: async () => void (await Promise.all(instances.map(({ server }) => server.stop()))),
  }
}

/** Repeats requests until it is stopped. */
export interface SteadyLoad {
  /** Resolves when each request was sent this many times again. */
  sent(times: number): Promise<void>
  /** Stops, and throws the first error, if any. */
  stop(): Promise<void>
}

/** Repeats each of these requests, one at a time; one throws when its answer is not as expected. */
export function steadyLoad(...requests: (() => Promise<void>)[]): SteadyLoad {
  const failures: unknown[] = []
  const counts = requests.map(() => 0)
  let isStopped = false
  const repeated = requests.map(async (send, place) => {
    while (!isStopped) {
      await send().catch((error) => failures.push(error))
      counts[place]! += 1
      // Not a wait: the pause between two requests of a client.
      await sleep(30)
    }
  })
  return {
    async sent(times) {
      const before = [...counts]
      const areSent = () => counts.every((count, place) => count >= before[place]! + times)
      await until(`each request is sent ${times} times again`, areSent, () => ({ before, counts, failures }))
    },
    async stop() {
      isStopped = true
      await Promise.all(repeated)
      if (failures.length > 0) throw new Error(`${failures.length} of ${counts} requests failed, the first: ${failures[0]}`)
    },
  }
}
