import { EventEmitter, once } from "node:events"
import { pageOf } from "./answers.js"
import { type ComparisonContext, parametersOf, send } from "./comparison.js"
import { programOf, type Server, startProgram } from "./contestants.js"
import { databaseOf } from "./database.js"
import type { Workload } from "./options.js"
import { type Contestant, contestants, pageSize, requestFor } from "./requests.js"

/** The largest number of SQL statements that a request of a contestant takes, by page size. */
export interface StatementCount {
  contestant: Contestant
  workload: Workload
  bySize: Map<number, number>
}

/** Page sizes of our server; the others have one. */
export const countedSizes = [1, 10, 50, 100]
const pagesPerSize = 20

/** A server that reports how many statements a request took, by the request's number. */
interface Counting {
  server: Server
  counts: EventEmitter
}

let numbers = 0

/** Counts in separate servers, so that the measured ones have no counter. Throws when a larger page takes more statements. */
export async function countStatements(context: ComparisonContext, workloads: Workload[]): Promise<StatementCount[]> {
  const found: StatementCount[] = []
  // The use of a token is stored once a minute, by the first request; this prevents it.
  const databases = [context.database, context.earlier]
  for (const { client } of databases) await client.query("update access_token set last_used_at = now() + interval '1 hour'")
  for (const program of new Set(contestants.map(programOf))) {
    const counts = new EventEmitter()
    const hear = (message: unknown) => {
      const { number, statements } = message as { number?: string; statements: number }
      if (number) counts.emit(number, statements)
    }
    const server = await startProgram(program, databaseOf(context, program), ["--import", "./bench/count.ts"], hear)
    try {
      for (const contestant of contestants.filter((each) => programOf(each) === program)) {
        for (const workload of workloads) found.push(await countOne(context, { server, counts }, contestant, workload))
      }
    } finally {
      await server.stop()
    }
  }
  for (const { client } of databases) await client.query("update access_token set last_used_at = null")
  for (const { contestant, workload, bySize } of found) {
    // A page of one row may lack a relation that other pages read, such as a folder.
    if (bySize.get(100)! > bySize.get(10)!) {
      const counted = [...bySize].map(([size, statements]) => `${statements} for ${size}`).join(", ")
      throw new Error(`The SQL statements of ${contestant} under ${workload} depend on the size of the page: ${counted}`)
    }
  }
  return found
}

async function countOne(
  context: ComparisonContext,
  counting: Counting,
  contestant: Contestant,
  workload: Workload,
): Promise<StatementCount> {
  const isSized = programOf(contestant) === "ours" && workload !== "W5"
  const bySize = new Map<number, number>()
  for (const size of isSized ? countedSizes : [pageSize(workload)]) {
    bySize.set(size, await mostOf(context, counting, contestant, workload, size, pagesPerSize))
  }
  return { contestant, workload, bySize }
}

/** Pages through a list, or repeats the request where there are no pages, and returns the largest number of statements. */
async function mostOf(
  context: ComparisonContext,
  { server, counts }: Counting,
  contestant: Contestant,
  workload: Workload,
  size: number,
  pages: number,
) {
  const parameters = parametersOf(context, contestant, workload, 1)
  const isWalk = programOf(contestant) === "ours" && workload !== "W5"
  let most = 0
  for (let page = 0; page < pages; page++) {
    const number = String(++numbers)
    const request = requestFor(contestant, workload, { ...parameters, size: isWalk ? size : undefined })
    const counted = once(counts, number)
    const answer = await send(server, { ...request, headers: { ...request.headers, "X-Number": number } })
    const [statements] = await counted
    if (!(statements > 0)) throw new Error(`The statements of ${contestant} under ${workload} were not counted`)
    most = Math.max(most, statements)
    if (!isWalk) continue
    parameters.cursor = pageOf(contestant, workload, answer).next
    if (!parameters.cursor) break
  }
  return most
}
