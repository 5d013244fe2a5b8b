import { keepTemporaryFilesInMemory } from "../memory-folder.js"
import { reportChecks } from "../report-checks.js"
import { killAll } from "./instance.js"
import type { Results } from "./results.js"

export const say = (line: string) => process.stdout.write(`${line}\n`)

/**
 * Runs campaigns on a test bed and ends the process: 0 when every check holds, 1 otherwise. An interruption ends the servers, and what still
 * waits is not waited for.
 */
export async function runCampaigns<Bed extends { close(): Promise<void> }>(
  seed: number,
  open: () => Promise<Bed>,
  work: (bed: Bed) => Promise<Results>,
): Promise<never> {
  process.on("exit", killAll)
  keepTemporaryFilesInMemory()
  const begin = performance.now()
  say(`SEED=${seed}`)
  const opening = open()
  const interrupt = new Promise<number>((resolve) => {
    for (const [signal, code] of [["SIGINT", 130] as const, ["SIGTERM", 143] as const]) process.once(signal, () => resolve(code))
  })
  const judge = async () => {
    const results = await work(await opening)
    say(`\nSEED=${seed}, ${Math.round((performance.now() - begin) / 1_000)} s`)
    reportChecks(results)
    return results.failed > 0 ? 1 : 0
  }
  try {
    process.exitCode = await Promise.race([judge(), interrupt])
  } finally {
    killAll()
    await opening.then((bed) => bed.close())
  }
  process.exit()
}
