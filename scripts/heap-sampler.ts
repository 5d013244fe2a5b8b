import { type HeapProfiler, Session } from "node:inspector"
import { promisify } from "node:util"

/** What a process answers to "heap": the text of each script, in characters, and the objects that live, by the function that made them. */
export interface Heap {
  scripts: { url: string; length: number }[]
  profile: HeapProfiler.SamplingHeapProfile
}

// Loaded into a server by `--import`, before all of its modules.
const session = new Session()
const post = promisify(
  session.post.bind(session) as (method: string, params: object, done: (error: Error | null, result: object) => void) => void,
)
const scripts: Heap["scripts"] = []
session.connect()
session.on("Debugger.scriptParsed", ({ params: { url, length } }) => scripts.push({ url, length: length ?? 0 }))
await post("Debugger.enable", {})
await post("HeapProfiler.startSampling", { samplingInterval: 4_096 })
process.on("message", async (message) => {
  if (message !== "heap") return
  await post("HeapProfiler.collectGarbage", {})
  process.send!({ scripts, ...(await post("HeapProfiler.getSamplingProfile", {})) })
})
