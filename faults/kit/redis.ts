import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { freePort } from "../../test/kit/free-port.js"

/** Whether this machine has Redis. */
export const hasRedis = spawnSync("redis-server", ["--version"]).status === 0

/** A Redis that a campaign can stop and start again on its port. */
export class Redis {
  #child: ChildProcess | null = null

  private constructor(private readonly port: number) {}

  static async start(): Promise<Redis> {
    const redis = new Redis(await freePort())
    await redis.start()
    return redis
  }

  get url() {
    return `redis://127.0.0.1:${this.port}`
  }

  async start() {
    const child = spawn("redis-server", ["--port", String(this.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
    this.#child = child
    let said = ""
    for await (const line of child.stdout) {
      said += line
      if (said.includes("Ready to accept connections")) break
      if (child.exitCode !== null) throw new Error(said)
    }
  }

  async kill() {
    const child = this.#child
    child?.kill("SIGKILL")
    if (child?.exitCode === null && child.signalCode === null) await once(child, "exit")
  }
}
