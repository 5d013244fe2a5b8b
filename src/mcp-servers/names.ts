import { mcpServerLimits } from "./limits.js"

/** What a model's vendors do not accept in names of tools. */
const plain = (text: string) => text.replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^_+|_+$/g, "")

/**
 * The name of a tool for an assistant: the server's and its own, within the limit and not among `taken`. It is given once, when the tool is
 * enabled for the first time, and stays.
 */
export function nameFor(server: string, tool: string, taken: ReadonlySet<string>): string {
  const wanted = [plain(server), plain(tool)].filter(Boolean).join("_") || "tool"
  for (let number = 1; ; number += 1) {
    const ending = number === 1 ? "" : `_${number}`
    const name = wanted.slice(0, mcpServerLimits.toolName - ending.length) + ending
    if (!taken.has(name)) return name
  }
}
