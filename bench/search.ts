import "reflect-metadata"
import { freshServer } from "./fresh-server.js"
import { cpuMs, postgresCpuMs, residentMb } from "./processes.js"
import { fillSearched, type SearchedAssistant, sizes } from "./search-fill.js"

const targetMs = 20

/** K1: searches of an assistant's knowledge over REST, one after the other; returns the report. */
export async function measureSearch(say: (line: string) => void): Promise<string> {
  await using stack = new AsyncDisposableStack()
  const { url, pid, postmaster, filled } = await freshServer(stack, "search", say, (client) => {
    say(`filling ${sizes.items * sizes.chunksOfItem} chunks, and as many for each of ${sizes.strangers} other companies …`)
    return fillSearched(client)
  })
  return report(await measure(url, pid, postmaster, filled))
}

interface Measured {
  /** Milliseconds of the first search, which reads the vectors, and of the others, the shortest first. */
  first: number
  times: number[]
  /** CPU milliseconds of a search in the server and in PostgreSQL; unlike the times, independent of other load. */
  cpu: number[]
  /** Resident memory of the server before the first search and after the last one, in megabytes. */
  before: number
  after: number
}

async function measure(
  url: string,
  pid: number,
  postmaster: number | null,
  { token, assistantId, queries }: SearchedAssistant,
): Promise<Measured> {
  const search = async (query: string) => {
    const begin = performance.now()
    const response = await fetch(`${url}/api/assistant-knowledge-new/query`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Access-Token": token },
      body: JSON.stringify({ assistantId, query }),
    })
    const { data: found } = (await response.json()) as { data?: { content: string }[] }
    const took = performance.now() - begin
    if (response.status !== 201 || found?.length !== 5) throw new Error(`A search answered ${response.status} with ${found?.length} chunks`)
    if (!query.split(" ").some((word) => found[0]!.content.includes(word)))
      throw new Error(`Nothing of "${query}" is in ${found[0]!.content}`)
    return took
  }
  // Warms up: connections, compiled code.
  for (let warm = 0; warm < queries.length; warm++)
    await (await fetch(`${url}/api/assistant-knowledge-new?take=50`, { headers: { "X-Access-Token": token } })).arrayBuffer()
  const before = residentMb(pid)
  const first = await search(queries[0]!)
  for (const query of queries.slice(0, 50)) await search(query)
  const times: number[] = []
  const cpuBefore = [cpuMs(pid), postgresCpuMs(postmaster)]
  for (const query of queries) times.push(await search(query))
  const cpu = [cpuMs(pid), postgresCpuMs(postmaster)].map((each, index) => (each - cpuBefore[index]!) / queries.length)
  return { first, times: times.sort((one, other) => one - other), cpu, before, after: residentMb(pid) }
}

function report({ first, times, cpu, before, after }: Measured): string {
  const chunks = sizes.items * sizes.chunksOfItem
  const at = (share: number) => times[Math.floor(times.length * share)]!
  return [
    `K1  search over REST in ${chunks} chunks of one assistant, among ${chunks * (1 + sizes.strangers)}, without pgvector`,
    `    the first ${first.toFixed(0)} ms (it reads the vectors); then median ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms, of ${times.length}`,
    `    CPU of one: ${cpu[0]!.toFixed(1)} ms in the server, ${cpu[1]!.toFixed(1)} ms in PostgreSQL`,
    `    resident ${before.toFixed(0)} MB before, ${after.toFixed(0)} MB after`,
    `K1  ${at(0.5).toFixed(1)} ms median, target at most ${targetMs}: ${at(0.5) <= targetMs ? "ok" : "missed"}`,
  ].join("\n")
}
