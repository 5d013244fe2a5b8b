import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join, relative, resolve } from "node:path"

/** A client of the documentation: a section of a page, and the folder that its commands are for. */
export interface ClientExample {
  /** The page, such as `docs/api/clients.md`. */
  page: string
  /** The heading of a section with two blocks of bash: the first fetches packages, the second builds and runs the program. */
  section: string
  /** The folder of the example; the commands run in a copy of it. */
  folder: string
  /** Commands that succeed where the example's language is installed, such as `go version`. */
  needs: string[]
  /** Why a fetch that printed this failed for lack of a network; only languages whose programs say it in other words need it. */
  unreachable?: RegExp
}

/** An example whose packages are fetched. */
export interface ClientTour {
  /** ` (skipped: …)` where the language or the network is missing, otherwise empty: a part of the test's name. */
  skipped: string
  /** `describe` and `it`, or their `skip` where the tour is skipped; they add the reason to the name. */
  describe(name: string, tests: () => void): void
  it(name: string, test: () => Promise<void>): void
  /** Runs the second block with these environment variables; returns the lines of its output. Fails when a command fails. */
  run(env?: Environment): Promise<string[]>
  /** The copy of the folder, for a test that changes it. */
  folder: string
  /** Runs other commands in it, as `run` does. */
  paste(commands: string, env?: Environment): Promise<string[]>
  /** Starts commands that go on until they are stopped. */
  start(commands: string, env?: Environment): Running
}

type Environment = Record<string, string>

/** What commands print. */
export interface Running {
  /** What was printed so far. */
  said: string
  complained: string
  /** What was printed, and the exit code, when they have ended. */
  ended: Promise<Ran>
  /** Ends them, with all processes that they started. */
  stop(): void
}

/**
 * Copies an example to a temporary folder and fetches its packages, as its page says. To be awaited outside of tests, since only then is it known
 * which tests are skipped.
 * @example
 * const go = await clientTour({ page: "docs/api/clients.md", section: "Go", folder: "docs/examples/clients/go", needs: ["go version"] })
 * go.it("lists chats", async () => expect(await go.run({ PLATFORM_URL: w.url })).toEqual(lines))
 */
export async function clientTour({ page, section, folder, needs, unreachable = noNetwork }: ClientExample): Promise<ClientTour> {
  const [fetch, run] = blocksOf(readFileSync(page, "utf8"), section)
  const copy = join(mkdtempSync(join(tmpdir(), "client-")), "example")
  const started: Running[] = []
  afterAll(async () => {
    for (const running of started) running.stop()
    await Promise.all(started.map(({ ended }) => ended))
    rmSync(dirname(copy), { recursive: true, force: true })
  })
  const missing = needs.find((command) => spawnSync("bash", ["-c", command], { env: environment() }).status !== 0)
  let fetched: Ran | undefined
  if (!missing) {
    copyExample(folder, copy)
    fetched = await paste(fetch, copy)
  }
  const cannot = missing ? `${missing} fails here` : isUnreachable(fetched!, unreachable) ? "its packages cannot be fetched" : ""
  const skipped = cannot && ` (skipped: ${cannot})`
  const startHere = (commands: string, env: Environment = {}) => {
    succeeded(`the packages of ${folder} are fetched`, fetched!)
    const running = start(commands, copy, env)
    started.push(running)
    return running
  }
  const pasteHere = async (commands: string, env?: Environment) =>
    succeeded(`these commands run in a copy of ${folder}:\n${commands}`, await startHere(commands, env).ended)
      .split("\n")
      .slice(0, -1)
  return {
    skipped,
    describe: (name, tests) => (skipped ? describe.skip : describe)(`${name}${skipped}`, tests),
    it: (name, test) => (skipped ? it.skip : it)(`${name}${skipped}`, test),
    run: (env) => pasteHere(run, env),
    folder: copy,
    paste: pasteHere,
    start: startHere,
  }
}

/** The two blocks of bash below a heading of the second level. */
export function blocksOf(page: string, section: string): [fetch: string, run: string] {
  const text = page.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? ""
  const blocks = [...text.matchAll(/^```bash\n(.*?)^```$/gms)].map(([, commands]) => commands!)
  if (blocks.length !== 2)
    throw new Error(`The section "${section}" has ${blocks.length} blocks of bash; it should have two: fetch, and run`)
  return blocks as [string, string]
}

/** Copies the files of a folder, without those that git ignores: packages and generated code of one who tried the example there. */
export function copyExample(folder: string, to: string): void {
  for (const file of filesOf(folder)) cpSync(join(folder, file), join(to, file))
}

function filesOf(folder: string): string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"]
  const listed = spawnSync("git", args, { cwd: folder, encoding: "utf8" })
  // Without git there is nobody who tried it there.
  const files = listed.status === 0 ? listed.stdout.split("\0").slice(0, -1) : readdirSync(folder, { recursive: true, encoding: "utf8" })
  return files.filter((file) => statSync(join(folder, file), { throwIfNoEntry: false })?.isFile())
}

/** What commands printed, and their exit code. */
export interface Ran {
  code: number | null
  said: string
  complained: string
}

/** Runs commands in bash, each of which has to succeed. The event loop is free meanwhile: the server that they talk to may be in this process. */
export const paste = (commands: string, folder: string, env: Environment = {}): Promise<Ran> => start(commands, folder, env).ended

function start(commands: string, cwd: string, env: Environment): Running {
  const shell = spawn("bash", ["-euo", "pipefail", "-c", commands], {
    cwd,
    env: { ...environment(), ...env },
    // A process group of its own, so that all of its processes can be ended.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  })
  const running: Running = { said: "", complained: "", ended: ended(), stop }
  shell.stdout.on("data", (text) => (running.said += text))
  shell.stderr.on("data", (text) => (running.complained += text))
  let isOver = false
  function stop() {
    if (isOver) return
    try {
      process.kill(-shell.pid!, "SIGKILL")
    } catch {
      // They have just ended.
    }
  }
  async function ended(): Promise<Ran> {
    process.on("exit", stop)
    const [code] = (await once(shell, "close")) as [number | null]
    isOver = true
    process.off("exit", stop)
    return { code, said: running.said, complained: running.complained }
  }
  return running
}

/** How package managers say that they reach no registry: npm, pip, Go, curl, and proxies that refuse. */
const noNetwork =
  /\bE(NOTFOUND|AI_AGAIN|CONN[A-Z]+|TIMEDOUT|NETUNREACH|HOSTUNREACH)\b|\bdial tcp\b|no such host|connection (refused|reset|timed out)|i\/o timeout|name resolution|could not resolve|NewConnectionError|ConnectTimeout|ProxyError|network is unreachable|\b(403 forbidden|407 proxy|502 bad gateway|503 service)/i

const isUnreachable = ({ code, said, complained }: Ran, pattern: RegExp) => code !== 0 && pattern.test(said + complained)

function succeeded(sentence: string, { code, said, complained }: Ran): string {
  if (code !== 0) throw new Error(`Not true: ${sentence} (exit code ${code})\n${complained}\n${said}`)
  return said
}

/** What npm and Jest add to the environment; of npm's settings, those of the network and the user stay. */
const added =
  /^(npm_(?!config_(registry|cache|userconfig|cafile|ca|(https?_?|no_?)?proxy)$)|JEST_|TEST_|NODE_(ENV|OPTIONS|PATH)$|INIT_CWD$)/i

/** A user's environment: without the variables and the programs of this repository, but with this Node. */
function environment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !added.test(name))
  const own = resolve("node_modules")
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((each) => relative(own, each).startsWith(".."))
  return { ...Object.fromEntries(entries), PATH: [dirname(process.execPath), ...path].join(delimiter) }
}
