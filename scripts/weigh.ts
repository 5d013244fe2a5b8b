import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { heapByModule } from "./heap.ts"

/**
 * Limits of the installed size in megabytes, with Node and PostgreSQL. Give the reason for raising one in
 * docs/decisions/what-is-installed.md.
 */
const bounds = { "npm ci": 690, "npm ci --omit=dev": 385 }

const weight = (folder: string) => Number(execFileSync("du", ["-sm", folder], { encoding: "utf8" }).split("\t")[0])

/** Installs the production dependencies beside the build in a new folder, as an operator would. */
function installProduction(folder: string) {
  for (const path of ["package.json", "package-lock.json", ".npmrc", "scripts", "dist"])
    cpSync(path, join(folder, path), { recursive: true })
  execFileSync("npm", ["ci", "--omit=dev", "--prefer-offline"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] })
}

/** Starts the server there with its embedded database, and returns whether the pages are complete. */
async function starts(folder: string): Promise<boolean> {
  const { PATH, HOME } = process.env
  const server = spawn("npm", ["start"], {
    cwd: folder,
    env: { PATH, HOME, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  })
  const closed = once(server, "close")
  try {
    let printed = ""
    for await (const text of server.stdout) {
      printed += text
      const [, url] = /Listening on (http:\S+)\n/.exec(printed) ?? []
      if (url) return await isComplete(url)
    }
    return false
  } finally {
    process.kill(-server.pid!, "SIGINT")
    await closed
  }
}

async function isComplete(url: string): Promise<boolean> {
  const ready = await fetch(`${url}/health/ready`)
  const pages = await Promise.all(
    ["/", "/graphql", "/api/docs", "/widget.js", "/inbox"].map((path) => fetch(url + path, { headers: { Accept: "text/html" } })),
  )
  const assets = (await Promise.all(pages.map((page) => page.text()))).flatMap((html) => html.match(/\/assets\/[^"]+/g) ?? [])
  const answers = await Promise.all(assets.map((path) => fetch(url + path)))
  return [ready, ...pages, ...answers].every(({ ok }) => ok) && assets.length > 5
}

/** `npm run weigh`: checks both limits, starts a production installation, and prints what the heap of a server consists of. */
async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "production-"))
  // The embedded database runs as another user when this is root.
  chmodSync(folder, 0o755)
  try {
    installProduction(folder)
    // The start removes what only compilers need.
    const isRunning = await starts(folder)
    const weights = { "npm ci": weight("node_modules"), "npm ci --omit=dev": weight(join(folder, "node_modules")) }
    const commands = Object.keys(bounds) as (keyof typeof bounds)[]
    process.stdout.write(`${(await heapByModule(folder)).join("\n")}\n`)
    for (const command of commands) process.stdout.write(`${command}: ${weights[command]} MB of ${bounds[command]}\n`)
    if (!isRunning) process.stderr.write("A production installation did not start, or its pages are incomplete.\n")
    return isRunning && commands.every((command) => weights[command] <= bounds[command]) ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

process.exitCode = await main()
