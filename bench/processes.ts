import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { cpus } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"

/** The root of the repository. */
export const root = fileURLToPath(new URL("..", import.meta.url))
const clockTick = 100

/** The core of the server that is measured, and the core of everything else. */
export const cores = { server: 0, rest: 1 }

/** Whether processes can be pinned to cores here. */
export const canPin = cpus().length > 1 && hasTaskset()

function hasTaskset() {
  try {
    execFileSync("taskset", ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

/** Starts Node on a core; it inherits standard error. */
export function startNode(core: number, args: string[], env: NodeJS.ProcessEnv = {}, { ipc = false, directory = root } = {}): ChildProcess {
  const command = canPin ? ["taskset", "-c", String(core), process.execPath, ...args] : [process.execPath, ...args]
  return spawn(command[0]!, command.slice(1), {
    cwd: directory,
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "inherit", ...(ipc ? (["ipc"] as const) : [])],
  })
}

/** The main process of PostgreSQL, found by one of its sessions; null when it does not run on this machine. */
export function postmasterOf(backendPid: number): number | null {
  try {
    const pid = Number(statOf(backendPid)[1])
    return readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("postgres") ? pid : null
  } catch {
    return null
  }
}

/** Pins PostgreSQL to a core: its running processes, and thereby those that it starts later. Returns whether that worked. */
export function pinPostgres(postmaster: number, core: number): boolean {
  try {
    for (const pid of [postmaster, ...childrenOf(postmaster)]) execFileSync("taskset", ["-a", "-c", "-p", String(core), String(pid)])
    return true
  } catch {
    return false
  }
}

const childrenOf = (pid: number) =>
  readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && Number(statOf(Number(name))[1]) === pid
    } catch {
      return false
    }
  })

/** The fields of /proc/<pid>/stat after the name, which may hold blanks: state, parent, … */
const statOf = (pid: number) =>
  readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ")

/** CPU time that a process has used, in milliseconds; NaN where there is no /proc. */
export function cpuMs(pid: number): number {
  try {
    const fields = statOf(pid)
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / clockTick
  } catch {
    return Number.NaN
  }
}

/** CPU time that PostgreSQL's living processes have used; NaN where it runs elsewhere. */
export const postgresCpuMs = (postmaster: number | null) =>
  postmaster ? childrenOf(postmaster).reduce((sum, pid) => sum + cpuMs(Number(pid)), cpuMs(postmaster)) : Number.NaN

/** Resident memory of a process, in megabytes. */
export function residentMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024
  } catch {
    return Number.NaN
  }
}

/** A port that is free at this moment. */
export function freePort(): Promise<number> {
  const probe = createServer()
  return new Promise((resolve) => {
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

/** Waits until a server sends any HTTP response; throws when its process exits before. */
export async function untilAnswers(child: ChildProcess, url: string, seconds = 60) {
  const deadline = performance.now() + seconds * 1000
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`The server for ${url} ended with ${child.exitCode}`)
    const answered = await fetch(url).then(
      (response) => response.arrayBuffer(),
      () => null,
    )
    if (answered) return
    await sleep(100)
  }
  throw new Error(`Nothing answered on ${url} within ${seconds} s`)
}

/** Ends a process and waits for it. */
export async function end(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once("exit", resolve))
  child.kill("SIGCONT")
  child.kill("SIGTERM")
  const timer = setTimeout(() => child.kill("SIGKILL"), 20_000)
  await ended
  clearTimeout(timer)
}
