import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse, stringify } from "yaml"
import { freePort } from "./free-port.js"
import { happens, until } from "./wait.js"

/** Whether this machine has Prometheus, and its tool. */
export const hasPrometheus = spawnSync("prometheus", ["--version"]).status === 0
export const hasPromtool = spawnSync("promtool", ["--version"]).status === 0

/** A series in the result of a query. */
export interface Series {
  metric: Record<string, string>
  value: [time: number, value: string]
}

/** A running Prometheus. */
export interface Prometheus {
  /** The series that a query gives now; throws what Prometheus says of one that it does not accept. */
  query(query: string): Promise<Series[]>
  /** What a path of its API returns. */
  // biome-ignore lint/suspicious/noExplicitAny: as Prometheus answers.
  get(path: string): Promise<any>
  stop(): Promise<void>
}

/** Starts Prometheus with the committed configuration and alerts, in which only addresses, the token and the interval differ. */
export async function startPrometheus(servers: string[], token: string): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), "prometheus-"))
  cpSync("deploy/prometheus", folder, { recursive: true })
  const file = join(folder, "prometheus.yml")
  const config = parse(readFileSync(file, "utf8"))
  const [job] = config.scrape_configs
  job.authorization.credentials_file = join(folder, "token")
  writeFileSync(job.authorization.credentials_file, token)
  job.static_configs = [{ targets: servers }]
  Object.assign(config.global, { scrape_interval: "1s", evaluation_interval: "1s" })
  // Nobody is told.
  delete config.alerting
  writeFileSync(file, stringify(config))
  const port = await freePort()
  const args = [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, "data")}`, `--web.listen-address=127.0.0.1:${port}`]
  const child = spawn("prometheus", args, { cwd: folder })
  let log = ""
  child.stderr.on("data", (text) => (log = (log + text).slice(-20_000)))
  const url = `http://127.0.0.1:${port}`
  const look = () => log
  const isReady = async () => {
    if (child.exitCode !== null) throw new Error(log)
    return (await fetch(`${url}/-/ready`).catch(() => null))?.ok
  }
  await until("Prometheus is ready", isReady, look)
  const get = async (path: string) => {
    const answer = (await (await fetch(url + path)).json()) as { status: string; error?: string; data: unknown }
    if (answer.status !== "success") throw new Error(`${path}: ${answer.error}`)
    return answer.data
  }
  return {
    get,
    query: async (query) => ((await get(`/api/v1/query?query=${encodeURIComponent(query)}`)) as { result: Series[] }).result,
    async stop() {
      child.kill("SIGTERM")
      if (child.exitCode === null && child.signalCode === null) await happens("Prometheus has ended", once(child, "exit"), look)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
