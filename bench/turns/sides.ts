import type { ChildProcess } from "node:child_process"
import pg from "pg"
import { startArguments, startEnvironment, unbundled } from "../../scripts/start-arguments.js"
import { cores, end, freePort, root, startNode, untilAnswers } from "../processes.js"
import { earlierVersion } from "../requests.js"
import { type BenchCompany, vacuumed } from "./fixtures.js"

/**
 * Ours is the built server, before an earlier version of it, a tenth the built server on a database with a tenth of the chats, the reference
 * hand-written SQL on plain node:http.
 */
export type Contestant = "ours" | "before" | "a tenth" | "reference"

/** Who is measured: ours and what it is compared with. */
export const contestantsOf = (isWithTenth: boolean): readonly Contestant[] =>
  isWithTenth ? ["ours", "a tenth"] : earlierVersion ? ["ours", "before", "reference"] : ["ours", "reference"]

/** Whose statements are counted: an earlier version has packages of its own, which the counter does not find. */
export const isCounted = (contestant: Contestant) => contestant !== "before"

/** A contestant's process with its own database. */
export interface Side {
  contestant: Contestant
  /** The companies of its database that customers write to. */
  companies: BenchCompany[]
  url: string
  pid: number
  client: pg.Client
  pause(): void
  resume(): void
  /** The number of SQL statements that the process has sent; only when it was started to count them. */
  statements(): Promise<number>
  /** Sends a request and returns the number of its statements. */
  counted(request: (headers: Record<string, string>) => Promise<unknown>): Promise<number>
}

/** Starts a contestant on its database; the stack ends it. */
export async function startSide(
  stack: AsyncDisposableStack,
  { contestant, companies }: Pick<Side, "contestant" | "companies">,
  environment: NodeJS.ProcessEnv & { DATABASE_URL: string },
  isCounting = false,
): Promise<Side> {
  const port = await freePort()
  const directory = contestant === "before" ? earlierVersion! : root
  const program = contestant === "reference" ? ["--import", "tsx", "bench/turns/reference.ts"] : startArguments(directory)
  const counter = isCounting ? ["--import", "./bench/count.ts"] : []
  const args = [...counter, ...(isCounting ? unbundled(program) : program)]
  const settings = contestant === "reference" ? {} : startEnvironment(directory)
  const child = startNode(cores.server, args, { ...settings, ...environment, PORT: String(port) }, { ipc: isCounting, directory })
  stack.defer(() => end(child))
  const url = `http://127.0.0.1:${port}`
  await untilAnswers(child, `${url}/health/ready`)
  const client = new pg.Client({ connectionString: environment.DATABASE_URL })
  await client.connect()
  stack.defer(() => client.end())
  let numbers = 0
  return {
    contestant,
    companies,
    url,
    pid: child.pid!,
    client,
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    statements() {
      const counted = countOf(child, "all")
      child.send("all")
      return counted
    },
    async counted(request) {
      const number = String(++numbers)
      const counted = countOf(child, number)
      await request({ "X-Number": number })
      return counted
    },
  }
}

/** The count that a process sends under a number. */
function countOf(child: ChildProcess, number: string): Promise<number> {
  return new Promise((resolve) => {
    const hear = (message: unknown) => {
      const told = message as { number?: string; statements: number }
      if (told.number !== number) return
      child.off("message", hear)
      resolve(told.statements)
    }
    child.on("message", hear)
  })
}

/** Vacuums a side's tables, so that each measurement begins alike. */
export async function tidy({ client }: Side) {
  for (const table of vacuumed) await client.query(`vacuum (analyze) ${table}`)
  await client.query("checkpoint").catch(() => {})
}
