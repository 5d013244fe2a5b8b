import { EventEmitter, once } from "node:events"
import { pageOf } from "./answers.js"
import { type ComparisonContext, parametersOf, send } from "./comparison.js"
import { programOf, type Server, startProgram } from "./contestants.js"
import type { Workload } from "./options.js"
import { type Contestant, contestants, pageSize, requestFor } from "./requests.js"

/** How many SQL statements the requests of a contestant take, by the size of the page: the most that any of them took. */
export interface StatementCount {
  contestant: Contestant
  workload: Workload
  bySize: Map<number, number>
}

/** Sizes that ours is asked for; the others know one. */
export const countedSizes = [1, 10, 50, 100]
const pagesPerSize = 20

/** A server that says how many statements a request took, by the request's number. */
interface Counting {
  server: Server
  counts: EventEmitter
}

let numbers = 0

/** Counts in servers of their own, so that those which are measured carry no counter. Throws when a larger page takes more statements. */
export async function countStatements(context: ComparisonContext, workloads: Workload[]): Promise<StatementCount[]> {
  const found: StatementCount[] = []
  // That a token was used is noted once a minute, by whichever request comes first: here by none.
  await context.database.client.query("update access_token set last_used_at = now() + interval '1 hour'")
  for (const program of new Set(contestants.map(programOf))) {
    const counts = new EventEmitter()
    const hear = (said: unknown) => {
      const { number, statements } = said as { number?: string; statements: number }
      if (number) counts.emit(number, statements)
    }
    const server = await startProgram(program, context.database, ["--import", "./bench/count.ts"], hear)
    try {
      for (const contestant of contestants.filter((each) => programOf(each) === program)) {
        for (const workload of workloads) found.push(await countOne(context, { server, counts }, contestant, workload))
      }
    } finally {
      await server.stop()
    }
  }
  await context.database.client.query("update access_token set last_used_at = null")
  for (const { contestant, workload, bySize } of found) {
    // A page of one row may lack what another page has to read, such as a folder.
    if (bySize.get(100)! > bySize.get(10)!) {
      const told = [...bySize].map(([size, statements]) => `${statements} for ${size}`).join(", ")
      throw new Error(`The SQL statements of ${contestant} under ${workload} depend on the size of the page: ${told}`)
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

/** Walks down a list, or asks again where there are no pages, and answers the most statements that a request took. */
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
