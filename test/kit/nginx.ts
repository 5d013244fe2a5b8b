import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "./free-port.js"

/** Whether this machine has nginx. */
export const hasNginx = spawnSync("nginx", ["-v"]).status === 0

/** A running nginx. */
export interface Nginx {
  url: string
  /** Text of its log of requests, or of its errors. */
  log(name: "access" | "error"): string
  stop(): Promise<void>
}

/** Starts nginx with the configuration of docker-compose.yml in front of servers (`127.0.0.1:4000`). */
export async function startNginx(servers: string[]): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), "nginx-"))
  // As root, nginx serves as another user, who stores large bodies below the folder.
  chmodSync(folder, 0o755)
  const port = await freePort()
  const file = join(folder, "nginx.conf")
  writeFileSync(file, configuration(folder, port, servers))
  const tested = spawnSync("nginx", ["-t", "-c", file, "-p", folder], { encoding: "utf8" })
  if (tested.status !== 0) throw new Error(tested.stderr)
  const nginx = spawn("nginx", ["-c", file, "-p", folder, "-g", "daemon off;"], { stdio: "ignore" })
  const url = `http://127.0.0.1:${port}`
  while (!(await fetch(`${url}/health/live`).catch(() => null))?.ok) await new Promise((later) => setTimeout(later, 50))
  return {
    url,
    log: (name) => readFileSync(join(folder, `${name}.log`), "utf8"),
    async stop() {
      nginx.kill("SIGTERM")
      if (nginx.exitCode === null && nginx.signalCode === null) await once(nginx, "exit")
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The committed configuration, of which only addresses and the folder differ: nginx before 1.27.3 resolves no name in an upstream. */
function configuration(folder: string, port: number, servers: string[]): string {
  const named = /server api:4000 resolve([^;]*);/
  const conf = readFileSync("deploy/nginx.conf", "utf8")
  const [, parameters = ""] = named.exec(conf)!
  // From 1.29.7 on, which docker-compose.yml has, nginx keeps connections by default.
  const upstream = `${servers.map((server) => `server ${server}${parameters};`).join(" ")} keepalive 32;`
  return conf
    .replace("listen 8080;", `listen 127.0.0.1:${port};`)
    .replace(named, upstream)
    .replaceAll("/tmp/", `${folder}/`)
    .replace("/dev/stderr", join(folder, "error.log"))
    .replace("/dev/stdout", join(folder, "access.log"))
}
