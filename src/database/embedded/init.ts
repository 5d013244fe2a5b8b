import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { chownSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { operatorError } from "../../errors/operator-error.js"
import { type Home, runAs } from "./home.js"
import { SUPERUSER } from "./roles.js"

const INIT_MS = 30_000

// pg_trgm asks the C library which characters are letters, so with "C" it would ignore letters beyond ASCII; not every machine has every locale.
const CTYPES = ["C.UTF-8", "en_US.UTF-8", "C"]

/** Creates the data folder where there is none; an interrupted attempt is started over. */
export async function initialise(home: Home): Promise<boolean> {
  const parent = dirname(home.data)
  const prefix = `${basename(home.data)}.init-`
  for (const name of readdirSync(parent)) if (name.startsWith(prefix)) discard(join(parent, name))
  if (existsSync(join(home.data, "PG_VERSION"))) return false
  // A new name each time: the initdb of a killed process may still be running in the last one.
  const folder = join(parent, prefix + randomUUID())
  try {
    const made = await initIn(folder, home)
    renameSync(made, home.data)
  } finally {
    discard(folder)
  }
  return true
}

async function initIn(folder: string, home: Home): Promise<string> {
  mkdirSync(folder, { mode: 0o700 })
  const passwordFile = join(folder, "password")
  writeFileSync(passwordFile, home.memory.password, { mode: 0o600 })
  for (const path of [folder, passwordFile]) if (home.account) chownSync(path, home.account.uid, home.account.gid)
  const made = join(folder, "data")
  let output = ""
  for (const ctype of CTYPES) {
    const result = await initdb(made, passwordFile, ctype, home)
    if (result.code === 0) return made
    output = result.output
    if (!output.includes("invalid locale")) break
  }
  throw operatorError(`PostgreSQL could not initialise ${home.data}: ${lastLines(output)}`)
}

function initdb(data: string, passwordFile: string, ctype: string, home: Home): Promise<{ code: number | null; output: string }> {
  const encoding = ["--encoding=UTF8", "--locale=C", `--lc-ctype=${ctype}`, "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
  const access = [`--username=${SUPERUSER}`, "--auth=scram-sha-256", `--pwfile=${passwordFile}`]
  const program = join(home.binaries, "bin", "initdb")
  const child = spawn(program, [`--pgdata=${data}`, ...encoding, ...access], {
    ...runAs(home.account),
    stdio: ["ignore", "ignore", "pipe"],
    timeout: INIT_MS,
    killSignal: "SIGKILL",
  })
  let output = ""
  child.stderr.on("data", (part) => {
    output += part
  })
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ code: null, output: error.message }))
    child.once("close", (code, signal) => resolve({ code, output: signal ? `${output}\ninitdb was ended by ${signal}` : output }))
  })
}

/** The end of a program's output, on one line. */
export function lastLines(text: string): string {
  return (
    text
      .trim()
      .split(/\s*\n\s*/)
      .slice(-5)
      .join(" | ") || "it printed nothing."
  )
}

function discard(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  } catch {
    // The initdb of a killed process may still be writing there; the next start removes it.
  }
}
