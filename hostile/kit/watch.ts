import { readFile } from "node:fs/promises"
import type { Instance } from "../../test/kit/campaign/instance.js"
import { until } from "../../test/kit/campaign/wait.js"

/** The levels of a server's log from `error` on. */
const errorLevels: unknown[] = ["error", "fatal"]

/** Watches a server: what it logs, how much memory it has, and whether it runs. */
export class Watch {
  /** Lines of its log that say that something failed unexpectedly. */
  readonly #faults = new Set<string>()
  /** How many of them were reported. */
  #reported = 0
  readonly #timer = setInterval(() => this.look(), 500)

  constructor(private readonly server: Instance) {}

  /** The server keeps only the end of its log: it is read while it is written. */
  private look() {
    for (const line of this.server.log.split("\n").slice(0, -1)) if (isFault(line)) this.#faults.add(line.slice(0, 1_500))
  }

  /** The faults that were logged since the last call. */
  newFaults(): string[] {
    this.look()
    const faults = [...this.#faults].slice(this.#reported)
    this.#reported = this.#faults.size
    return faults
  }

  /** Whether the process has ended, and how; an empty list when it runs. */
  get ended(): string[] {
    return this.server.ended === null ? [] : [`it ended with ${this.server.ended}`]
  }

  /** Resident memory in megabytes. */
  megabytes(): Promise<number> {
    return this.megabytesOf("VmRSS")
  }

  /** The most resident memory that the process ever had, in megabytes. */
  peakMegabytes(): Promise<number> {
    return this.megabytesOf("VmHWM")
  }

  /** A size as Linux keeps it: to ask the server would change it. */
  private async megabytesOf(name: string): Promise<number> {
    const status = await readFile(`/proc/${this.server.pid}/status`, "utf8")
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) / 1024
  }

  /** What held the event loop longest in the last minute, by cause, in words. */
  async longestTurns(): Promise<string> {
    const turns = [...(await this.metrics()).matchAll(/^platform_event_loop_longest_seconds\{cause="(\w+)"\} (\S+)$/gm)]
    return turns.map(([, cause, seconds]) => `${cause} ${(Number(seconds) * 1_000).toFixed(0)} ms`).join(", ")
  }

  /** What the memory consists of, in words. */
  async memoryParts(): Promise<string> {
    const parts = {
      "heap in use": "nodejs_heap_size_used_bytes",
      heap: "nodejs_heap_size_total_bytes",
      external: "nodejs_external_memory_bytes",
    }
    const values = await Promise.all(
      Object.entries(parts).map(async ([part, name]) => `${part} ${((await this.metric(name)) / 1024 / 1024).toFixed(0)} MB`),
    )
    const spaces = [...(await this.metrics()).matchAll(/^nodejs_heap_space_size_total_bytes\{space="(\w+)"\} (\S+)$/gm)]
    const bySpace = spaces.map(([, space, bytes]) => `${space} ${(Number(bytes) / 1024 / 1024).toFixed(0)}`)
    return `${values.join(", ")} (${bySpace.join(", ")})`
  }

  /** CPU time of the process since its start, in seconds. */
  cpuSeconds(): Promise<number> {
    return this.metric("process_cpu_seconds_total")
  }

  private async metric(name: string): Promise<number> {
    return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await this.metrics())?.[1])
  }

  private async metrics(): Promise<string> {
    return (await fetch(`${this.server.url}/metrics`)).text()
  }

  /** Waits until the memory is at most `more` megabytes above a level; returns what it was at last, and after how many seconds. */
  async returnsTo(level: number, more: number, deadlineMs = 60_000): Promise<{ megabytes: number; seconds: number; faults: string[] }> {
    const begin = performance.now()
    let megabytes = 0
    const isThere = await until(async () => {
      megabytes = await this.megabytes()
      return megabytes <= level + more
    }, deadlineMs)
    const seconds = (performance.now() - begin) / 1_000
    const faults = isThere ? [] : [`${megabytes.toFixed(0)} MB ${seconds.toFixed(0)} s after the load, ${level.toFixed(0)} MB before it`]
    return { megabytes, seconds, faults }
  }

  close() {
    clearInterval(this.#timer)
  }
}

/** A line of the log at level `error` or above, or one that no logger wrote. */
function isFault(line: string): boolean {
  if (line.trim() === "") return false
  try {
    return errorLevels.includes((JSON.parse(line) as { level?: unknown }).level)
  } catch {
    return !/ExperimentalWarning|--trace-warnings|--trace-deprecation|^\(node:/.test(line)
  }
}
