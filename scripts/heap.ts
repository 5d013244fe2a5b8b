import { fork } from "node:child_process"
import { once } from "node:events"
import { resolve } from "node:path"
import type { Heap } from "./heap-sampler.ts"

type Node = Heap["profile"]["head"]

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1).padStart(7)

/** Starts the server from its modules, not from its bundle, with new data in a folder, and returns the heap at rest as lines: megabytes by package and by folder of `src`. */
export async function heapByModule(folder: string, shown = 25): Promise<string[]> {
  const { PATH, HOME } = process.env
  const server = fork(resolve("dist/src/main.js"), {
    cwd: folder,
    env: { PATH, HOME, PORT: "0" },
    // Compiled: Node would load its compiler for the source.
    execArgv: ["--import", resolve("dist/scripts/heap-sampler.js")],
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  })
  const closed = once(server, "close")
  try {
    for await (const text of server.stdout!) if (String(text).includes("Listening on")) break
    server.send("heap")
    const answered = await Promise.race([once(server, "message"), closed.then(() => null)])
    if (!answered) throw new Error("The server has ended without an answer")
    const [heap] = answered as [Heap]
    return linesOf(heap).slice(0, shown + 1)
  } finally {
    server.kill("SIGINT")
    await closed
  }
}

function linesOf({ scripts, profile }: Heap): string[] {
  const sizes = new Map<string, { text: number; objects: number }>()
  const add = (module: string, text: number, objects: number) => {
    const known = sizes.get(module) ?? { text: 0, objects: 0 }
    sizes.set(module, { text: known.text + text, objects: known.objects + objects })
  }
  for (const { url, length } of scripts) add(moduleOf(url) ?? "Node", length, 0)
  // An object counts for the last module before the function that made it: libraries call Node.
  const visit = ({ callFrame, selfSize, children }: Node, caller: string) => {
    const module = moduleOf(callFrame.url) ?? caller
    add(module, 0, selfSize)
    for (const child of children) visit(child, module)
  }
  visit(profile.head, "Node")
  const rows = [...sizes].sort(([, one], [, other]) => other.text + other.objects - one.text - one.objects)
  return ["   text objects  in MB", ...rows.map(([module, { text, objects }]) => `${megabytes(text)} ${megabytes(objects)}  ${module}`)]
}

/** The package of a script, or its folder below `src`; null for Node's own. */
function moduleOf(url: string): string | null {
  const name = [...url.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].at(-1)?.[1]
  return name ?? /\/(src\/[^/]+)\//.exec(url)?.[1] ?? null
}
