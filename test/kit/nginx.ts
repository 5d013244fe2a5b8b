import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "./free-port.js"
import { happens, until } from "./wait.js"

/** Whether this machine has nginx. */
export const hasNginx = spawnSync("nginx", ["-v"]).status === 0

/** A running nginx. */
export interface Nginx {
  url: string
  /** Text of its log of requests, or of its errors. */
  log(name: "access" | "error"): string
  /** Makes no new connections to a server any more (`down` and a reload, as docs/operations.md says), or to all again. */
  leaveOut(server: string | null): Promise<void>
  stop(): Promise<void>
}

/** Starts nginx with the configuration of docker-compose.yml in front of servers (`127.0.0.1:4000`). */
export async function startNginx(servers: string[]): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), "nginx-"))
  // As root, nginx serves as another user, who stores large bodies below the folder.
  chmodSync(folder, 0o755)
  const port = await freePort()
  const file = join(folder, "nginx.conf")
  writeFileSync(file, configuration(folder, port, servers, null))
  const tested = spawnSync("nginx", ["-t", "-c", file, "-p", folder], { encoding: "utf8" })
  if (tested.status !== 0) throw new Error(tested.stderr)
  const nginx = spawn("nginx", ["-c", file, "-p", folder, "-g", "daemon off;"], { stdio: "ignore" })
  const url = `http://127.0.0.1:${port}`
  const isLive = async () => (await fetch(`${url}/health/live`).catch(() => null))?.ok
  await until("nginx reaches a server", isLive, () => readFileSync(join(folder, "error.log"), "utf8"))
  return {
    url,
    log: (name) => readFileSync(join(folder, `${name}.log`), "utf8"),
    async leaveOut(server) {
      const workers = workersOf(nginx.pid!)
      writeFileSync(file, configuration(folder, port, servers, server))
      nginx.kill("SIGHUP")
      // Workers with the configuration before serve the requests that they have, and take no others.
      await until("the earlier workers of nginx take no more requests", () => !workersOf(nginx.pid!).some((pid) => workers.includes(pid)))
    },
    async stop() {
      nginx.kill("SIGTERM")
      if (nginx.exitCode === null && nginx.signalCode === null) await happens("nginx has ended", once(nginx, "exit"))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Workers of an nginx that take requests. */
function workersOf(pid: number): number[] {
  const { stdout } = spawnSync("ps", ["--ppid", String(pid), "-o", "pid=,args="], { encoding: "utf8" })
  const running = stdout.split("\n").filter((line) => line.includes("worker process") && !line.includes("shutting down"))
  return running.map((line) => Number.parseInt(line, 10))
}

/** The committed configuration, of which only addresses and the folder differ: nginx before 1.27.3 resolves no name in an upstream. */
function configuration(folder: string, port: number, servers: string[], leftOut: string | null): string {
  const named = /server api:4000 resolve([^;]*);/
  const conf = readFileSync("deploy/nginx.conf", "utf8")
  const [, parameters = ""] = named.exec(conf)!
  // From 1.29.7 on, which docker-compose.yml has, nginx keeps connections by default.
  const upstream = `${servers.map((server) => `server ${server}${parameters}${server === leftOut ? " down" : ""};`).join(" ")} keepalive 32;`
  return (
    conf
      // Since nginx 1.27.4.
      .replace("keepalive_min_timeout 5s;", "")
      .replace("listen 8080;", `listen 127.0.0.1:${port};`)
      .replace(named, upstream)
      .replaceAll("/tmp/", `${folder}/`)
      .replace("/dev/stderr", join(folder, "error.log"))
      .replace("/dev/stdout", join(folder, "access.log"))
  )
}
