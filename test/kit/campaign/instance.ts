import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join, resolve } from "node:path"
import { startArguments, startEnvironment } from "../../../scripts/start-arguments.js"

/** An address where nobody listens (`fetch` would not even try port 1). */
const nowhere = "http://127.0.0.1:2"

const children = new Set<ChildProcess>()

/** Ends every server that still runs, at once. */
export function killAll() {
  for (const child of children) child.kill("SIGKILL")
}

const repository = resolve(import.meta.dirname, "../../..")

/** The environment of all servers; nothing else is inherited. They are started often, so what one has compiled serves the next. */
const bare = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  TZ: "UTC",
  ...startEnvironment(repository),
  NODE_COMPILE_CACHE: join(repository, "node_modules/.cache/node"),
}

/** The flags of `npm start`; and the process collects its garbage when it is sent SIGUSR2. */
const flags = startArguments(repository).slice(0, -1)
const collecting = ["--expose-gc", "--import", 'data:text/javascript,process.on("SIGUSR2", () => gc())']

/** Runs a file of a build; it is killed with the rest when the campaigns end. */
function run(build: string, file: string, args: string[], env: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, [...flags, ...collecting, join(build, file), ...args], { env: { ...bare, ...env } })
  children.add(child)
  child.once("exit", () => children.delete(child))
  return child
}

/** Runs a command of the administration; answers what it printed. */
// biome-ignore lint/suspicious/noExplicitAny: each command prints its own object.
export async function administer(build: string, env: Record<string, string>, args: string[]): Promise<any> {
  const child = run(build, "dist/server/admin.js", [...args, "--json"], env)
  const [out, err] = [gather(child.stdout!), gather(child.stderr!)]
  const [code] = await once(child, "close")
  if (code !== 0) throw new Error(`admin ${args.join(" ")}: ${err()}`)
  return JSON.parse(out())
}

function gather(stream: NodeJS.ReadableStream): () => string {
  let text = ""
  stream.on("data", (chunk) => {
    text = (text + chunk).slice(-50_000)
  })
  return () => text
}

/** A server as a process of its own, on the shared database. */
export class Instance {
  /** Where it listens; another port after each start. */
  url = nowhere
  starts = 0
  #child: ChildProcess | null = null
  #errors: (() => string)[] = []

  constructor(
    readonly name: string,
    private readonly build: string,
    private readonly env: Record<string, string>,
  ) {}

  /** ID of its process; undefined when it does not run. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Starts it and waits until it listens. */
  async start(): Promise<this> {
    const child = run(this.build, "dist/server/main.js", [], this.env)
    const [out, err] = [gather(child.stdout!), gather(child.stderr!)]
    this.#child = child
    this.#errors.push(err)
    this.starts += 1
    const address = new Promise<string>((resolve) => {
      child.stdout!.on("data", () => {
        const listening = /Listening on (http:\S+)\n/.exec(out())
        if (listening) resolve(listening[1]!)
      })
    })
    const gone = once(child, "exit").then(([code, signal]) => {
      throw new Error(`Server ${this.name} ended with ${code ?? signal} before it listened: ${err()}`)
    })
    this.url = await Promise.race([address, gone])
    gone.catch(() => {})
    return this
  }

  /** kill -9, and waits until it is gone. */
  kill() {
    return this.end("SIGKILL")
  }

  /** SIGTERM, and waits until it has ended what it was doing. */
  stop() {
    return this.end("SIGTERM")
  }

  /** Pauses the process, or lets it continue. */
  freeze(frozen: boolean) {
    this.#child?.kill(frozen ? "SIGSTOP" : "SIGCONT")
  }

  /** Has it collect all of its garbage at once, so that what it uses is what it keeps. */
  collectGarbage() {
    this.#child?.kill("SIGUSR2")
  }

  /** What it logged, over all its lives. */
  get log(): string {
    return this.#errors.map((read) => read()).join("")
  }

  /** The exit code or signal of a process that ended by itself; null while it runs, and after it was told to end. */
  get ended(): string | null {
    const { exitCode = null, signalCode = null } = this.#child ?? {}
    return exitCode === null && signalCode === null ? null : String(exitCode ?? signalCode)
  }

  private async end(signal: NodeJS.Signals) {
    const child = this.#child
    this.#child = null
    // The next process on this port must not get requests.
    this.url = nowhere
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, "exit")
    child.kill(signal)
    await gone
  }
}
